package audit

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/publiclog"
)

// seat is one seat during the replay.
type seat struct {
	state    byte
	declared bool // it was blocked before the doors opened, and was not free since
	version  uint64
}

// sale is the replay of a log.
type sale struct {
	*auditor
	seats   []seat
	in      [blocked + 1]int // seats in each state
	rules   publiclog.Rules
	open    bool
	presale bool
	version int64 // -1: none yet
	part    publiclog.Leaf
	at      int64
	rooms   []string // that committed to a draw
	draws   map[draw]commitment
}

type draw struct{ room, epoch string }

type commitment struct {
	to string
	at int64 // the newest time in the log up to it
}

func moment(micros int64) string {
	return time.UnixMicro(micros).UTC().Format("2006-01-02 15:04:05.000 UTC")
}

// replay plays all leaves and holds each against the rules of docs/audit-log.md.
func (a *auditor) replay(ctx context.Context) error {
	s := &sale{auditor: a, version: -1, draws: map[draw]commitment{}}
	for i, b := range a.leaves {
		leaf, err := publiclog.ParseLeaf(b)
		if err != nil {
			a.wrong("Leaf %d: %v.", i, err)
			return nil
		}
		if leaf.At < s.at-skew.Microseconds() {
			a.wrong("Leaf %d is of %s, and stands behind one of %s: it was written later than it says.", i, moment(leaf.At), moment(s.at))
		}
		s.at = max(s.at, leaf.At)
		if leaf.Kind == publiclog.Statement {
			s.state(leaf.Text)
			continue
		}
		s.play(int64(i), &leaf)
	}
	a.Versions, a.Seats = s.version+1, len(s.seats)
	if s.part.Parts > 0 && s.part.Part+1 != s.part.Parts {
		a.wrong("The log ends within version %d.", s.version)
	}
	a.Free, a.Held, a.Sold, a.Blocked = s.counts()
	switch {
	case a.shown == nil || a.Shown >= 0:
	case a.shown.Version > s.version:
		a.wrong("The house shows version %d of the map, and %v later its log ends with version %d.", a.shown.Version, a.patience, s.version)
	default:
		a.wrong("The house shows version %d of the map, which is not in the log.", a.shown.Version)
	}
	return s.checkDraws(ctx)
}

// state takes in a statement.
func (s *sale) state(text string) {
	word, rest, _ := strings.Cut(text, "\n")
	fields := map[string]string{}
	for line := range strings.Lines(rest) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		fields[name] = value
	}
	switch word {
	case "presale":
		s.presale = true
	case "draw":
		of := draw{fields["room"], fields["epoch"]}
		before, twice := s.draws[of]
		if twice && before.to != fields["commitment"] {
			s.wrong("Room %s committed to draw %s twice, to %s and to %s.", of.room, of.epoch, before.to, fields["commitment"])
		}
		if !slices.Contains(s.rooms, of.room) {
			s.rooms = append(s.rooms, of.room)
		}
		if !twice {
			s.draws[of] = commitment{fields["commitment"], s.at}
		}
	}
}

// play takes in one part of a version.
func (s *sale) play(index int64, leaf *publiclog.Leaf) {
	next := s.part.Parts > 0 && s.part.Part+1 < s.part.Parts
	switch {
	case next && (leaf.Version != s.part.Version || leaf.Part != s.part.Part+1 || leaf.Parts != s.part.Parts || leaf.Rules != nil || len(s.part.Entries) != publiclog.SeatsPerLeaf):
		s.wrong("Leaf %d is not the next part of version %d.", index, s.version)
	case !next && (int64(leaf.Version) != s.version+1 || leaf.Part != 0):
		s.wrong("Leaf %d is version %d, part %d, and the one before is version %d: a change is missing, or stands twice.", index, leaf.Version, leaf.Part, s.version)
	}
	s.version, s.part = int64(leaf.Version), *leaf
	if r := leaf.Rules; r != nil {
		if int(r.Seats) < len(s.seats) || r.Seats > 1<<20 {
			s.wrong("Version %d has %d seats, and there were %d.", leaf.Version, r.Seats, len(s.seats))
		} else {
			s.in[free] += int(r.Seats) - len(s.seats)
			s.seats = append(s.seats, make([]seat, int(r.Seats)-len(s.seats))...)
		}
		s.rules = *r
	}
	if !s.open && s.rules.Status == publiclog.OnSale && leaf.At >= s.rules.Opens {
		s.openDoors(leaf)
	}
	for i := range leaf.Entries {
		s.change(leaf, &leaf.Entries[i])
	}
	if leaf.Part+1 != leaf.Parts {
		return
	}
	free, held, sold, blocked := s.counts()
	if got, said := fmt.Sprint(free, held, sold, blocked), fmt.Sprint(leaf.Free, leaf.Held, leaf.Sold, leaf.Blocked); got != said {
		s.wrong("Version %d was shown with %s seats free, held, sold and blocked; they were %s.", leaf.Version, said, got)
	}
	s.compareShown()
}

func (s *sale) openDoors(leaf *publiclog.Leaf) {
	s.open, s.Doors = true, time.UnixMicro(leaf.At).UTC()
	for _, seat := range s.seats {
		if seat.declared {
			s.Declared++
			if seat.state != blocked {
				s.EarlyBlocks++
			}
		}
	}
}

const (
	free    = byte(seats.Free)
	held    = byte(seats.Held)
	expired = byte(seats.Expired)
	paying  = byte(seats.Paying)
	sold    = byte(seats.Sold)
	blocked = byte(seats.Blocked)
)

// change takes one seat into its next state.
func (s *sale) change(leaf *publiclog.Leaf, e *publiclog.Entry) {
	if int(e.Seat) >= len(s.seats) || e.State > blocked {
		s.wrong("Version %d names seat %d in state %d; there are %d seats and six states.", leaf.Version, e.Seat, e.State, len(s.seats))
		return
	}
	seat := &s.seats[e.Seat]
	switch {
	case seat.version == leaf.Version && leaf.Version > 0:
		s.wrong("Version %d names seat %d twice.", leaf.Version, e.Seat)
	case (e.State == free) != (e.Commitment == [32]byte{}):
		s.wrong("Version %d has seat %d with the wrong number of holders.", leaf.Version, e.Seat)
	case seat.state == sold && e.State == sold:
		s.wrong("Seat %d was sold in version %d and sold again in version %d.", e.Seat, seat.version, leaf.Version)
	case seat.state == sold && e.State != free:
		s.Returned++
	}
	if e.State == blocked && seat.state != blocked && s.open {
		s.LateBlocks++
	}
	if !s.open {
		s.early(leaf, e, seat)
	}
	seat.declared = e.State != free && e.State != expired && (seat.declared || e.State == blocked && !s.open)
	s.in[seat.state]--
	s.in[e.State]++
	seat.state, seat.version = e.State, leaf.Version
}

// early judges a change before the doors open.
func (s *sale) early(leaf *publiclog.Leaf, e *publiclog.Entry, was *seat) {
	taken := e.State == held || e.State == paying || e.State == sold
	if !taken || was.declared || was.state == held || was.state == paying {
		return
	}
	if s.presale {
		s.Presale++
		return
	}
	opens := "no time was set for them"
	if s.rules.Opens != publiclog.AtOnce {
		opens = "they opened at " + moment(s.rules.Opens)
	}
	s.wrong("Seat %d was taken in version %d, at %s, before the doors opened (%s), and was in no block declared before.", e.Seat, leaf.Version, moment(leaf.At), opens)
}

// counts are the seats as pages count them.
func (s *sale) counts() (nFree, nHeld, nSold, nBlocked int) {
	n := s.in
	return n[free] + n[expired], n[held] + n[paying], n[sold], n[blocked]
}

// compareShown holds the map of the house against the replay, when that has come to its version.
func (s *sale) compareShown() {
	if s.shown == nil || s.shown.Version != s.version {
		return
	}
	s.Shown = s.version
	nFree, nHeld, nSold, nBlocked := s.counts()
	var all struct{ Free, Held, Sold, Blocked int }
	for _, c := range s.shown.Counts {
		all.Free, all.Held, all.Sold, all.Blocked = all.Free+c.Free, all.Held+c.Held, all.Sold+c.Sold, all.Blocked+c.Blocked
	}
	if got, want := fmt.Sprint(all.Free, all.Held, all.Sold, all.Blocked), fmt.Sprint(nFree, nHeld, nSold, nBlocked); got != want {
		s.wrong("The house shows %s seats free, held, sold and blocked at version %d; the log has %s.", got, s.version, want)
	}
	if len(s.shown.States) != len(s.seats) {
		s.wrong("The house shows %d seats, the log has %d.", len(s.shown.States), len(s.seats))
		return
	}
	digits := [...]byte{free: '0', held: '1', expired: '0', paying: '1', sold: '2', blocked: '3'}
	for idx, seat := range s.seats {
		if s.shown.States[idx] != digits[seat.state] {
			s.wrong("The house shows seat %d as %c at version %d; by the log it is %c.", idx, s.shown.States[idx], s.version, digits[seat.state])
		}
	}
}

// checkTicket looks for a ticket: its code, and if it is the whole proof, its seat, salt and order.
func (a *auditor) checkTicket(context.Context) error {
	if a.Options.Ticket == "" {
		return nil
	}
	parts := strings.Split(strings.TrimSpace(a.Options.Ticket), ".")
	index, begins, ok := publiclog.ParseCode(parts[0])
	if !ok || len(parts) != 1 && len(parts) != 4 {
		return fmt.Errorf("%q is no code of a ticket, such as 1042-7Q2M-4KXD-9F3A-T8WN", a.Options.Ticket)
	}
	if index >= int64(len(a.leaves)) || len(a.tree) == 0 {
		a.wrong("The ticket is not in the log: there is no leaf %d.", index)
		return nil
	}
	hashes, err := a.tree.ReadHashes([]int64{tlog.StoredHashIndex(0, index)})
	if err != nil {
		return err
	}
	if string(hashes[0][:len(begins)]) != string(begins) {
		a.wrong("The ticket is not in the log: leaf %d is another one.", index)
		return nil
	}
	leaf, err := publiclog.ParseLeaf(a.leaves[index])
	if err != nil {
		return err
	}
	var list []string
	for _, e := range leaf.Entries {
		if e.State == sold && (len(parts) == 1 || parts[1] == fmt.Sprint(e.Seat)) {
			if len(parts) == 4 && !opens(e.Commitment, parts[2], parts[3]) {
				a.wrong("Leaf %d sold seat %d to another order.", index, e.Seat)
				return nil
			}
			if later := a.lastOf(e.Seat); later != index {
				a.wrong("Seat %d was sold by leaf %d, and leaf %d changed it later.", e.Seat, index, later)
			}
			list = append(list, fmt.Sprint(e.Seat))
		}
	}
	if len(list) == 0 {
		a.wrong("Leaf %d did not sell the seat of the ticket.", index)
		return nil
	}
	a.Report.Ticket = fmt.Sprintf("Leaf %d of %s sold seat %s.", index, moment(leaf.At), strings.Join(list, ", "))
	return nil
}

// lastOf is the leaf that changed a seat the last time.
func (a *auditor) lastOf(seat uint32) int64 {
	for i := len(a.leaves) - 1; i >= 0; i-- {
		leaf, err := publiclog.ParseLeaf(a.leaves[i])
		if err != nil {
			continue // the replay reported it
		}
		for _, e := range leaf.Entries {
			if e.Seat == seat {
				return int64(i)
			}
		}
	}
	return -1
}

func opens(commitment [32]byte, salt, order string) bool {
	s, err := hex.DecodeString(salt)
	id, err2 := seats.ParseID(order)
	return err == nil && err2 == nil && len(s) == len(publiclog.Salt{}) && publiclog.Commitment(publiclog.Salt(s), id) == commitment
}
