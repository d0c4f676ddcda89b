package publiclog

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/usherbox/usher/seats"
)

// Kinds of leaves.
const (
	Version   = 1 // a change of seats or rules
	Statement = 2
)

// SeatsPerLeaf is how many seats a leaf has at most: a bundle has two bytes for the length of a leaf.
const SeatsPerLeaf = 1500

// AtOnce is the opening time of doors that open at once.
const AtOnce = math.MinInt64

// Leaf is a leaf of the log.
type Leaf struct {
	Kind byte
	At   int64 // microseconds since 1970

	// Of a version.
	Version                   uint64
	Part, Parts               uint16
	Free, Held, Sold, Blocked uint32
	Rules                     *Rules // nil: they did not change
	Entries                   []Entry

	Text string // of a statement
}

// Rules are those of the sale from a version on.
type Rules struct {
	Status byte  // its place in Statuses
	Opens  int64 // microseconds since 1970; AtOnce
	Seats  uint32
}

// Statuses are those of an event, as rules number them.
var Statuses = []string{"draft", "on sale", "paused", "closed", "cancelled"}

// OnSale is the number of the status in which seats may be claimed.
const OnSale = 1

// Entry is a seat after a version.
type Entry struct {
	Seat       uint32
	State      byte
	Commitment [32]byte // to its holder; zeros if it is free
}

// Append appends the bytes of a leaf.
func (l *Leaf) Append(b []byte) []byte {
	b = append(b, l.Kind)
	if l.Kind == Statement {
		return append(binary.BigEndian.AppendUint64(b, uint64(l.At)), l.Text...)
	}
	b = binary.BigEndian.AppendUint64(b, l.Version)
	b = binary.BigEndian.AppendUint64(b, uint64(l.At))
	b = binary.BigEndian.AppendUint16(b, l.Part)
	b = binary.BigEndian.AppendUint16(b, l.Parts)
	for _, n := range [...]uint32{l.Free, l.Held, l.Sold, l.Blocked} {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	if l.Rules == nil {
		b = append(b, 0)
	} else {
		b = append(b, 1, l.Rules.Status)
		b = binary.BigEndian.AppendUint64(b, uint64(l.Rules.Opens))
		b = binary.BigEndian.AppendUint32(b, l.Rules.Seats)
	}
	b = binary.BigEndian.AppendUint16(b, uint16(len(l.Entries)))
	for i := range l.Entries {
		e := &l.Entries[i]
		b = binary.BigEndian.AppendUint32(b, e.Seat)
		b = append(append(b, e.State), e.Commitment[:]...)
	}
	return b
}

const (
	headBytes  = 1 + 8 + 8 + 2 + 2 + 4*4 + 1
	rulesBytes = 1 + 8 + 4
	entryBytes = 4 + 1 + 32
)

// ErrLeaf is the error of bytes that are no leaf.
var ErrLeaf = errors.New("these bytes are no leaf of this log")

// ParseLeaf reads the bytes of a leaf. Errors: ErrLeaf.
func ParseLeaf(b []byte) (l Leaf, err error) {
	switch {
	case len(b) >= 9 && b[0] == Statement:
		return Leaf{Kind: Statement, At: int64(binary.BigEndian.Uint64(b[1:])), Text: string(b[9:])}, nil
	case len(b) < headBytes+2 || b[0] != Version:
		return l, ErrLeaf
	}
	big := binary.BigEndian
	l = Leaf{
		Kind: Version, Version: big.Uint64(b[1:]), At: int64(big.Uint64(b[9:])), Part: big.Uint16(b[17:]), Parts: big.Uint16(b[19:]),
		Free: big.Uint32(b[21:]), Held: big.Uint32(b[25:]), Sold: big.Uint32(b[29:]), Blocked: big.Uint32(b[33:]),
	}
	has := b[37]
	b = b[headBytes:]
	switch {
	case has > 1 || has == 1 && len(b) < rulesBytes+2:
		return l, ErrLeaf
	case has == 1:
		l.Rules = &Rules{b[0], int64(big.Uint64(b[1:])), big.Uint32(b[9:])}
		b = b[rulesBytes:]
	}
	n := int(big.Uint16(b))
	if b = b[2:]; len(b) != n*entryBytes {
		return l, ErrLeaf
	}
	l.Entries = make([]Entry, n)
	for i := range l.Entries {
		e := &l.Entries[i]
		e.Seat, e.State = big.Uint32(b), b[4]
		copy(e.Commitment[:], b[5:entryBytes])
		b = b[entryBytes:]
	}
	return l, nil
}

// leavesOf are the leaves of a version: one, or one for each 1,500 seats.
func leavesOf(c *seats.Change, rules *Rules, s *secret) []Leaf {
	head := Leaf{
		Kind: Version, Version: uint64(c.Version), At: c.At.UnixMicro(), Parts: uint16(max(1, (len(c.Idx)+SeatsPerLeaf-1)/SeatsPerLeaf)), Rules: rules,
		Free: sum(c.Counts.Free), Held: sum(c.Counts.Held), Sold: sum(c.Counts.Sold), Blocked: sum(c.Counts.Blocked),
	}
	list := make([]Leaf, head.Parts)
	row := s.row(c.Version)
	for part := range list {
		l := &list[part]
		*l = head
		if l.Part = uint16(part); part > 0 {
			l.Rules = nil
		}
		from, to := part*SeatsPerLeaf, min((part+1)*SeatsPerLeaf, len(c.Idx))
		l.Entries = make([]Entry, to-from)
		for i := range l.Entries {
			e, at := &l.Entries[i], from+i
			e.Seat, e.State = uint32(c.Idx[at]), byte(c.State[at])
			if seats.State(c.State[at]) != seats.Free {
				e.Commitment = Commitment(row.salt(c.Idx[at]), c.Holder[at])
			}
		}
	}
	return list
}

func sum(counts []int) (n uint32) {
	for _, c := range counts {
		n += uint32(c)
	}
	return n
}

func opens(at *time.Time) int64 {
	if at == nil {
		return AtOnce
	}
	return at.UnixMicro()
}
