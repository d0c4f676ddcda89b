package verify

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/usherbox/usher/seats"
)

// seatsPerLeaf is how many seats a leaf of a version has at most.
const seatsPerLeaf = 1500

// statuses are those of an event, as leaves number them.
var statuses = []string{"draft", "on sale", "paused", "closed", "cancelled"}

// number appends a number or time of 8 bytes.
func number(b []byte, n int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(n)) }

// beginLeaves makes the leaf of version 0, which is no row of the change log: the event as it was made, with all seats free.
func (b *books) beginLeaves() {
	if b.public == nil {
		return
	}
	c := &change{counts: counts{{b.public.seats}}}
	if len(b.terms) > 0 {
		c.at = b.terms[0].at
	}
	b.makeLeaves(c)
}

// makeLeaves makes the leaves of a version that the public log has passed.
func (b *books) makeLeaves(c *change) {
	p := b.public
	if p == nil || c.version > p.version || len(c.state) != len(c.idx) || len(c.holder) != len(c.idx) {
		return
	}
	p.makeStatements()
	rules := p.rulesOf(b.terms, c.version)
	parts := max(1, (len(c.idx)+seatsPerLeaf-1)/seatsPerLeaf)
	if p.next > p.size-int64(parts) {
		b.broken(h1, none, "version %d has no leaf, and its public log has passed it", c.version)
		return
	}
	row := p.row(c.version)
	for part := range parts {
		l := number(append(p.buffer[:0], 1), c.version)
		l = number(l, c.at.UnixMicro())
		l = binary.BigEndian.AppendUint16(l, uint16(part))
		l = binary.BigEndian.AppendUint16(l, uint16(parts))
		for _, kind := range c.counts {
			sum := 0
			for _, n := range kind {
				sum += n
			}
			l = binary.BigEndian.AppendUint32(l, uint32(sum))
		}
		if l = append(l, 0); part == 0 && rules != nil {
			l[len(l)-1] = 1
			l = rules.appendTo(l, p.seats)
		}
		from, to := part*seatsPerLeaf, min((part+1)*seatsPerLeaf, len(c.idx))
		l = binary.BigEndian.AppendUint16(l, uint16(to-from))
		for i := from; i < to; i++ {
			l = binary.BigEndian.AppendUint32(l, uint32(c.idx[i]))
			l = append(l, byte(c.state[i]))
			l = p.appendCommitment(l, row, c.idx[i], seats.State(c.state[i]), c.holder[i])
			if seats.State(c.state[i]) == seats.Sold {
				p.sold[c.idx[i]] = place{p.next, c.version}
			}
		}
		p.buffer = l
		p.add(c.version, c.version, part)
	}
	p.last = c.version
}

// rulesOf returns the rules that came with a version; nil if it has none.
func (p *publicLog) rulesOf(terms []term, version int64) (rules *term) {
	for p.term+1 < len(terms) && terms[p.term+1].version <= version {
		p.term++
		if rules = &terms[p.term]; rules.version > 0 {
			p.seats += rules.added
		}
		if rules.version < version {
			rules = nil
		}
	}
	return rules
}

// appendTo appends rules, with how many seats there are.
func (t *term) appendTo(b []byte, count int) []byte {
	opens := int64(math.MinInt64)
	if t.opensAt != nil {
		opens = t.opensAt.UnixMicro()
	}
	b = number(append(b, byte(max(0, slices.Index(statuses, t.status)))), opens)
	return binary.BigEndian.AppendUint32(b, uint32(count))
}

// row is what the salts of a version follow from.
func (p *publicLog) row(version int64) []byte {
	p.salts.Reset()
	p.salts.Write(number([]byte("usher-log/row/v1"), version)) // never fails, as those below
	return p.salts.Sum(nil)
}

// appendCommitment appends the commitment to the holder of a seat; zeros if it is free.
func (p *publicLog) appendCommitment(b, row []byte, idx int32, state seats.State, holder seats.ID) []byte {
	if state == seats.Free {
		return append(b, make([]byte, sha256.Size)...)
	}
	p.rows.Reset()
	p.rows.Write([]byte("usher-log/salt/v1"))
	p.rows.Write(row)
	p.rows.Write(binary.BigEndian.AppendUint32(nil, uint32(idx)))
	var salt [sha256.Size]byte
	p.rows.Sum(salt[:0])
	p.rows.Reset()
	p.rows.Write([]byte("usher-log/holder/v1"))
	p.rows.Write(salt[:16])
	p.rows.Write(holder[:])
	return p.rows.Sum(b)
}

// makeStatements makes the leaves of the statements that stand at the place that was come to.
func (p *publicLog) makeStatements() {
	for p.next < p.size {
		said, there := p.notes[p.next]
		if !there {
			return
		}
		p.buffer = append(p.buffer[:0], said...)
		p.noted++
		p.add(statement, p.last+1, 0)
	}
}

// add takes the leaf in the buffer, which is of a version, or after one. A tile that is full is held against the stored one.
func (p *publicLog) add(of, version int64, part int) {
	if len(p.tile) == 0 {
		p.first, p.part = version, part
	}
	h := tlog.RecordHash(p.buffer)
	p.tile, p.of, p.next = append(p.tile, h[:]...), append(p.of, of), p.next+1
	if len(p.of) == tileWidth {
		p.compareTile()
	}
}

// compareTile notes the tile at hand if the stored one is another.
func (p *publicLog) compareTile() {
	if len(p.tile) == 0 {
		return
	}
	n := (p.next - 1) / tileWidth
	s, there := p.stored[n]
	switch {
	case !there || s.bytes != len(p.tile): // told as H2, or as versions without leaves
	case s.sum == sha256.Sum256(p.tile) && s.version == p.first && s.part == p.part:
	case len(p.strange) == mostFindings:
		p.more++
	default:
		p.strange = append(p.strange, strange{n, slices.Clone(p.tile), slices.Clone(p.of)})
	}
	p.tile, p.of = p.tile[:0], p.of[:0]
}

const tileSQL = `SELECT hashes FROM public_log_tile WHERE event_id = $1 AND level = 0 AND n = $2 LIMIT 1`

// checkLeaves tells where the stored leaves are not those that the change log makes: H1.
func (b *books) checkLeaves(ctx context.Context, tx pgx.Tx) error {
	p := b.public
	if p == nil {
		return nil
	}
	b.public = nil // it is large
	p.makeStatements()
	p.compareTile()
	if p.next < p.size {
		b.broken(h1, none, "the leaves %d to %d of its public log are of no version", p.next, p.size-1)
	}
	if n := len(p.notes) - p.noted; n > 0 {
		b.broken(h1, none, "%d statements of its public log stand where there is no place for them", n)
	}
	for _, s := range p.strange {
		var hashes []byte
		if err := tx.QueryRow(ctx, tileSQL, b.id, s.n).Scan(&hashes); err != nil {
			return err
		}
		b.tellStrange(s, hashes)
	}
	for range p.more {
		b.broken(h1, none, "another tile of its public log has leaves that do not follow from the change log")
	}
	if p.next == p.size && len(p.strange) == 0 {
		return b.checkSold(ctx, tx, p)
	}
	return nil
}

// tellStrange names the first leaf of a tile that is another.
func (b *books) tellStrange(s strange, hashes []byte) {
	first, others := -1, 0
	for i := range s.of {
		if string(hashes[i*hashBytes:][:hashBytes]) == string(s.hashes[i*hashBytes:][:hashBytes]) {
			continue
		}
		if first < 0 {
			first = i
		} else {
			others++
		}
	}
	besides := ""
	if others > 0 {
		besides = fmt.Sprintf(" (and %d more in its tile are others)", others)
	}
	switch leaf := s.n*tileWidth + int64(first); {
	case first < 0:
		b.broken(h1, none, "tile %d of its public log names another version as that of its first leaf", s.n)
	case s.of[first] == statement:
		b.broken(h1, none, "leaf %d of its public log is not the statement that is stored for it%s", leaf, besides)
	default:
		b.broken(h1, none, "leaf %d of its public log does not follow from version %d%s", leaf, s.of[first], besides)
	}
}

const soldLeavesSQL = `SELECT idx, leaf, version FROM public_log_seat WHERE event_id = $1`

// checkSold holds the codes of tickets against the leaves that sold their seats: H1.
func (b *books) checkSold(ctx context.Context, tx pgx.Tx, p *publicLog) error {
	rows, err := tx.Query(ctx, soldLeavesSQL, b.id)
	if err != nil {
		return err
	}
	var idx int32
	var at place
	_, err = pgx.ForEachRow(rows, []any{&idx, &at.leaf, &at.version}, func() error {
		if sold, ever := p.sold[idx]; !ever {
			b.broken(h1, int(idx), "was never sold by a leaf, and its code names leaf %d", at.leaf)
		} else if sold != at {
			b.broken(h1, int(idx), "was sold by leaf %d in version %d, and its code names leaf %d and version %d", sold.leaf, sold.version, at.leaf, at.version)
		}
		delete(p.sold, idx)
		return nil
	})
	for _, idx := range slices.Sorted(maps.Keys(p.sold)) {
		b.broken(h1, int(idx), "was sold by leaf %d, and has no code", p.sold[idx].leaf)
	}
	return err
}
