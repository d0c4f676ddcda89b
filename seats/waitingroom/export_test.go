package waitingroom

import (
	"context"
	"time"

	"github.com/usherbox/usher/seats"
)

// Read has a node without loops look at the room.
func (r *Room) Read(ctx context.Context) error { return r.read(ctx) }

// Look has a node without loops do once what its loop does.
func (rs *Rooms) Look(ctx context.Context) error { return rs.refresh(ctx) }

// RunDeaf is Run on a node that gets no notifications.
func (rs *Rooms) RunDeaf(ctx context.Context) error { return rs.runUntilDone(ctx, rs.refreshLoop) }

// Forget has a node forget what it remembers of a room.
func (r *Room) Forget() {
	r.draw.Store(nil)
	r.record.Store(nil)
	r.status.Store(nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recent = map[seats.ID]Place{}
}

// Tick has a node without loops call numbers, from what it knew of the room before.
func (r *Room) Tick(ctx context.Context) error { return r.tick(ctx) }

// Pace is how long the loop of a node would sleep now, without a notification.
func (rs *Rooms) Pace() time.Duration { return rs.pace() }

// Still has the room have seen no change for so long that it is no longer in use.
func (r *Room) Still() { r.changedAt.Store(0) }

// HereAt is Here at another time.
func (r *Room) HereAt(p Place, at time.Time) { r.here(p, at) }

// CountAt has a node without loops do what it does when the window of signs of life at that time begins.
func (r *Room) CountAt(ctx context.Context, at time.Time) error {
	return r.count(ctx, r.state.Load(), at)
}

// ReadPresence has a node without loops read what all nodes counted.
func (r *Room) ReadPresence(ctx context.Context) error { return r.readPresence(ctx) }

// Present is the last count of visitors; nil before the first one.
func (r *Room) Present() *Presence {
	p, _ := r.present(r.state.Load())
	return p
}

// DrawnFor reports whether a place is to give a sign of life in the window at a time.
func DrawnFor(p Place, at time.Time, share float64) bool { return drawnFor(p, windowAt(at), share) }

// Lately is the shares of the claims of the last seconds that were slow and that failed.
func (rs *Rooms) Lately(now time.Time) (slow, failed float64) { return rs.claims.lately(now) }

// Habits is what a tick would think now of what people do.
func (r *Room) Habits(ctx context.Context) (Habits, error) {
	seen, _, err := r.see(ctx, r.state.Load())
	return seen.Habits, err
}

// Seen is what a tick would see now.
func (r *Room) Seen(ctx context.Context) (Seen, error) {
	seen, _, err := r.see(ctx, r.state.Load())
	return seen, err
}

// RecordDepartures has a node without loops note who went away.
func (r *Room) RecordDepartures(ctx context.Context) error { return r.recordDepartures(ctx) }

// ChallengeAt makes work at another time.
func (r *Room) ChallengeAt(ctx context.Context, now time.Time) (Challenge, error) {
	return r.challengeAt(ctx, now)
}

// ProveAt is Prove at another time.
func (r *Room) ProveAt(ctx context.Context, p *Proof, now time.Time) error {
	return r.proveAt(ctx, p, now)
}

// SignedAgain is a challenge with other parameters, as only the fixture can make it.
func (rs *Rooms) SignedAgain(ctx context.Context, c Challenge, change func(*Parameters)) (Challenge, error) {
	k, err := rs.keys.signing(ctx)
	change(&c.Parameters)
	c.Signature = k.challenge(&c.Parameters)
	return c, err
}

// SetAhead has the database's clock go ahead of this machine's.
func (rs *Rooms) SetAhead(by time.Duration) {
	ring := *rs.keys.known.Load()
	ring.now = ring.now.Add(by)
	rs.keys.known.Store(&ring)
}

// AskForKeys has the database be asked for keys, until what it returns is called.
func (rs *Rooms) AskForKeys() (answered func()) {
	rs.keys.asked.Lock()
	return rs.keys.asked.Unlock
}

const CohortsSQL = cohortsSQL

// Asking is how many people wait for the next statement that lets people in.
func (r *Room) Asking() int { return r.admissions.Waiting() }

// Joining is how many people wait for the next statement that gives places.
func (r *Room) Joining() int { return r.joins.Waiting() }

// Shows has these people give a sign of life at once.
func (r *Room) Shows(ctx context.Context, holders ...seats.ID) error {
	return r.findInside(ctx, requestsOf(holders))
}

// ComesBack has these people ask at once to be let in, after their time inside.
func (r *Room) ComesBack(ctx context.Context, holders ...seats.ID) error {
	return r.tryAdmit(ctx, requestsOf(holders))
}

func requestsOf(holders []seats.ID) (list []*admissionRequest) {
	for i, holder := range holders {
		list = append(list, &admissionRequest{holder: holder, number: int64(i + 1)})
	}
	return list
}
