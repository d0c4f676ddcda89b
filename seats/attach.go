package seats

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/text"
)

// Other packages have rows that are locked, checked and written with a claim: sessions, slots of a waiting room, entries of a
// waiting list. They queue their own statements in the batch, in the order of locks: slots and entries after the holds and
// before the seats, sessions after the seats. Their writes come before the counter row.

// Sessions keeps the sessions of visitors (package sessions).
type Sessions interface {
	// Lock queues the statement that finds which sessions have not ended, and keeps them until the batch is committed.
	Lock(q *pgx.Batch, keys []string, found func(key string, end time.Time))
	// Insert queues new sessions. With again, an earlier try may have written them.
	Insert(q *pgx.Batch, sessions []Session, again bool)
	// Extend queues later ends.
	Extend(q *pgx.Batch, keys []string, ends []time.Time)

	Remember(key string, data []byte) // on this node
	Forget(key string)
}

// Session is a new session row.
type Session struct {
	Key  string
	Data []byte
	End  time.Time
}

// Admission is what a batch has to do with the waiting room of its event (package waitingroom). Each try of a batch has its
// own. An event without a waiting room has none.
type Admission interface {
	// Lock queues the statements that lock the slots of the holders, after their holds and before the seats.
	Lock(q *pgx.Batch, holders []ID)
	// Admits reports whether the holder may claim seats.
	Admits(holder ID, now time.Time) bool
	// Write queues what the batch means for slots, before the counter row.
	Write(q *pgx.Batch, now time.Time, outcomes []Outcome)
}

// Outcome is what a batch did for a holder.
type Outcome struct {
	Holder ID
	Until  time.Time // the end of their hold, if it has seats and was changed
	Bought int       // seats, after which the holder has none
}

// Entries queues the statement that locks entries of a waiting list, and finds those that wait and since when.
type Entries func(q *pgx.Batch, event int64, entries []int64, found func(entry int64, since time.Time))

// Visit is the session of a request that changes seats. The batch checks that it has not ended, renews it, or writes that of
// a newcomer with the claim that won.
type Visit struct {
	Sessions Sessions
	Found    string   // the key of its row as it was found; empty if it was not
	Newcomer Newcomer // nothing is stored of the visitor; nil if something is

	fresh *Session // of a newcomer
}

// Newcomer makes the session of a visitor with an id made a moment ago: the key of its row, its data and its end.
type Newcomer func() (key string, data []byte, end time.Time)

// SessionLength is how long a session lasts that holds nothing. One that does is renewed.
const SessionLength = 24 * time.Hour

// begin makes the session of a newcomer.
func (v *Visit) begin() {
	if v.isNew() {
		key, data, end := v.Newcomer()
		v.fresh = &Session{key, data, end}
	}
}

// isNew reports whether the visitor has no stored session.
func (v *Visit) isNew() bool { return v != nil && v.Newcomer != nil }

type visitKey struct{}

// WithVisit is the context of a request of this session; nil for one of no session.
func WithVisit(ctx context.Context, v *Visit) context.Context {
	return context.WithValue(ctx, visitKey{}, v)
}

// VisitOf is the session that a request comes from; nil if none.
func VisitOf(ctx context.Context) *Visit {
	v, _ := ctx.Value(visitKey{}).(*Visit)
	return v
}

// sessions returns the store of the sessions that the commands come from; nil if they come from none.
func (b *batch) sessions() Sessions {
	for _, c := range b.commands {
		if c.visit != nil {
			return c.visit.Sessions
		}
	}
	return nil
}

// queueVisits reads with the locks when the sessions end. A session that was found may have ended since. None ends before
// the batch is committed, so its end releases the seats.
func (b *batch) queueVisits(q *pgx.Batch) {
	var keys []string
	for _, c := range b.commands {
		if c.visit != nil && c.visit.Found != "" {
			keys = append(keys, c.visit.Found)
		}
	}
	if len(keys) == 0 {
		return
	}
	b.visits = make(map[string]time.Time, len(keys))
	b.sessions().Lock(q, keys, func(key string, end time.Time) { b.visits[key] = end })
}

// ended reports whether the session of a command ended without this node's knowledge.
func (b *batch) ended(c *command) bool {
	if c.visit == nil || c.visit.Found == "" {
		return false
	}
	if _, there := b.visits[c.visit.Found]; there {
		return false
	}
	c.visit.Sessions.Forget(c.visit.Found)
	return true
}

// bind notes that a hold is written with a new end: least(hold, session). A known session lasts at least as long as the hold
// from now on, and is written once in half of its length; the session of a newcomer stays what their cookie says.
func (b *batch) bind(c *command, h *holdRow) {
	switch end, there := b.visitEnd(c); {
	case !there:
		h.session = nil // that of an earlier hold in this row
	case end.Sub(b.now) < SessionLength/2 || end.Before(h.expiresAt):
		if c.visit.fresh == nil {
			end = b.now.Add(max(SessionLength, h.expiresAt.Sub(b.now)))
			if b.renewed == nil {
				b.renewed = map[string]time.Time{}
			}
			b.visits[c.visit.Found], b.renewed[c.visit.Found] = end, end
		}
		h.session = &end
	default:
		h.session = &end
	}
	if h.session != nil && h.expiresAt.After(*h.session) {
		h.expiresAt = *h.session
	}
	h.touched = true
	b.ends(h)
}

// visitEnd returns when the session of a command ends, if it has one.
func (b *batch) visitEnd(c *command) (end time.Time, there bool) {
	if ends := c.visit.ends(); ends != nil {
		return *ends, true
	}
	if c.visit == nil {
		return end, false
	}
	end, there = b.visits[c.visit.Found]
	return end, there
}

// ends returns when the new session of a newcomer ends; nil if there is none.
func (v *Visit) ends() *time.Time {
	if v == nil || v.fresh == nil {
		return nil
	}
	return &v.fresh.End
}

// queueRenewals writes later ends of sessions, in one order.
func (b *batch) queueRenewals(q *pgx.Batch) {
	if len(b.renewed) == 0 {
		return
	}
	keys := slices.Sorted(maps.Keys(b.renewed))
	ends := make([]time.Time, len(keys))
	for i, key := range keys {
		ends[i] = b.renewed[key]
	}
	b.sessions().Extend(q, keys, ends)
}

// queueSessions writes the new sessions of claims that won.
func (b *batch) queueSessions(q *pgx.Batch) {
	var list []Session
	again := false
	for i, c := range b.commands {
		if c.visit != nil && c.visit.fresh != nil && b.answers[i].err == nil {
			list, again = append(list, *c.visit.fresh), again || c.tries > 0
		}
	}
	if len(list) > 0 {
		b.sessions().Insert(q, list, again)
	}
}

// queueLostSessions writes, before seats are locked, the new sessions of claims with a first try that was lost with its
// connection. The server may still run that try, which writes sessions before it locks seats. A batch in the other order
// could deadlock with it.
func (b *batch) queueLostSessions(q *pgx.Batch) {
	var list []Session
	for _, c := range b.commands {
		if c.lost && c.visit != nil && c.visit.fresh != nil {
			list = append(list, *c.visit.fresh)
		}
	}
	if len(list) > 0 {
		b.sessions().Insert(q, list, true)
	}
}

// rememberVisits keeps the sessions in memory that were just written.
func (b *batch) rememberVisits() {
	for i, c := range b.commands {
		if c.visit != nil && c.visit.fresh != nil && b.answers[i].err == nil {
			c.visit.Sessions.Remember(c.visit.fresh.Key, c.visit.fresh.Data)
		}
	}
}

// errRoom has a batch tried again: the event has another waiting room than this node knew.
var errRoom = errors.New("the event has another waiting room than this node knew")

// checkRoom notes which room the event has now.
func (b *batch) checkRoom() error {
	if b.terms.room == b.room {
		return nil
	}
	b.sale.room.Store(b.terms.room)
	return errRoom
}

// admission returns the waiting room's part in a batch; nil if the event has no room.
func (s *Sale) admission(room int64) Admission {
	if room == 0 {
		return nil
	}
	return s.inventory.Admission(room, s.Event.ID)
}

// closed is the admission of a node that knows no waiting rooms: it admits no holder.
type closed struct{}

func (closed) Lock(*pgx.Batch, []ID)                  {}
func (closed) Admits(ID, time.Time) bool              { return false }
func (closed) Write(*pgx.Batch, time.Time, []Outcome) {}

// outside refuses a claim of a visitor whom the waiting room of the event has not admitted.
func (b *batch) outside(c *command) error {
	if b.admission == nil || b.admission.Admits(c.holder, b.now) {
		return nil
	}
	return &Conflict{Code: CodeWaitingRoom, Message: text.Mark("This event has a waiting room. It is not your turn yet, or your time is over. Any seats you already have are still held. Go to the waiting room to see your number.")}
}

// queueAdmission tells the waiting room which holds last longer and who bought.
func (b *batch) queueAdmission(q *pgx.Batch) {
	if b.admission == nil {
		return
	}
	var outcomes []Outcome
	for holder, h := range b.holds {
		if h.touched && len(h.seats) > 0 {
			outcomes = append(outcomes, Outcome{Holder: holder, Until: h.expiresAt})
		}
	}
	for i, c := range b.commands {
		if h := b.holds[c.holder]; c.sells && b.answers[i].err == nil && h != nil && len(h.seats) == 0 {
			outcomes = append(outcomes, Outcome{Holder: c.holder, Bought: len(b.answers[i].hold.Seats)})
		}
	}
	b.admission.Write(q, b.now, outcomes)
}
