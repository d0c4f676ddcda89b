package waitingroom

import (
	"context"
	"errors"
	"time"

	"github.com/usherbox/usher/seats"
)

// Visit is what somebody who comes to an event of a room is told.
type Visit struct {
	Inside bool
	Until  time.Time // inside: when the slot ends, if nothing happens; called: until when the number may be used
	Place  Place     // the zero place if they have none
	Number int64     // 0 while it is not known, or there is no place
	Token  string    // what their browser is to keep now; empty: what it keeps is worth nothing
	Why    string    // not inside: one of the reasons above, or empty if they have no place yet
}

// Enter lets a holder in if they may come in now, and says where they stand if not. token is what their browser kept. In
// a room that lets everybody through it gives them a place as well. Call it for holders whose session came back, or, in
// through only, with the claim that makes their session.
//
// It fails closed: with the database gone it is an error, and nobody is let in. Look tells where they stand then.
func (r *Room) Enter(ctx context.Context, holder seats.ID, token string) (Visit, error) {
	v := Visit{}
	p, err := r.place(ctx, token, holder)
	switch {
	case err == nil:
		v.Place, v.Token = p, token
	case !errors.Is(err, ErrNoPlace):
		return v, err
	case r.state.Load().Phase == PhaseThrough && r.state.Load().Entry == EntryBrowser:
		if v.Place, v.Token, err = r.Join(ctx, holder, ""); err != nil {
			return v, err
		}
	}
	if v.Place != (Place{}) {
		v.Number = r.Number(v.Place)
	}
	if s := r.state.Load(); v.Place != (Place{}) && s.Phase != PhaseThrough && (v.Number == 0 || v.Number > s.Serving) {
		v.Why = WhyNotCalled // it costs the database nothing
		return v, nil
	}
	inside, err := r.ask(ctx, holder, v.Place.Epoch, v.Number)
	if inside.Inside {
		v.Number = inside.Number
	}
	v.Inside, v.Until, v.Why = inside.Inside, inside.Until, inside.Why
	return v, err
}

// Look tells where a holder stands without letting them in. It asks nobody, so that it is answered while the database is
// gone.
func (r *Room) Look(ctx context.Context, holder seats.ID, token string) Visit {
	p, err := r.place(ctx, token, holder)
	if err != nil {
		return Visit{}
	}
	return Visit{Place: p, Number: r.Number(p), Token: token}
}

// Again gives somebody a new place, at the end of the line, whose number let them in or was not used in time. Whoever has
// a place that is still worth something keeps that.
func (r *Room) Again(ctx context.Context, holder seats.ID, token string) (Place, string, error) {
	return r.again(ctx, &joiner{holder: holder}, token)
}

func (r *Room) again(ctx context.Context, j *joiner, token string) (Place, string, error) {
	v, err := r.Enter(ctx, j.holder, token)
	if err != nil && !errors.Is(err, ErrWork) {
		return Place{}, "", err
	}
	if v.Place != (Place{}) && v.Why != WhyLate && v.Why != WhyLeft {
		return v.Place, v.Token, nil
	}
	if err := r.state.Load().asks(); err != nil && j.person == nil {
		return Place{}, "", err
	}
	j.again = v.Place != (Place{})
	return r.join(ctx, j)
}
