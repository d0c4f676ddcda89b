package desk

import (
	"context"
	"sync"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

const (
	LeastRest = 600 * time.Millisecond // between two pictures of a board: with all that comes after it, a sale is seen within a second
	mostRest  = 2 * time.Second
	costShare = 15               // a board draws a fifteenth of the time at most, so that claims do not feel it
	ByClock   = 10 * time.Second // rates sink while nothing is sold: then it is looked at by the clock
	linger    = 10 * time.Second // a page that is loaded comes back for its feed
	drawTime  = 10 * time.Second
)

// board draws one watched event.
type board struct {
	desks   *Desks
	event   seats.Event       // as it was when the board began
	team    organizers.Member // it reads as this member of the team
	evening *sales.Evening
	wake    chan struct{} // something changed

	drawing sync.Mutex // held while evening is asked

	Mu      sync.Mutex
	Visited time.Time // when it was last watched
	Screens map[way]*screen
}

func (b *board) ring() {
	select {
	case b.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// run draws while the board is watched, and a while longer.
func (b *board) run() {
	defer b.save()
	for {
		began := time.Now()
		b.draw()
		rest := min(max(LeastRest, costShare*time.Since(began)), mostRest)
		if !sleepFor(b.desks.ctx, rest) {
			return
		}
		select {
		case <-b.desks.ctx.Done():
			return
		case <-b.wake:
		case <-time.After(ByClock):
		}
		if b.end() {
			return
		}
	}
}

func sleepFor(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// end removes the board if it is not watched any more.
func (b *board) end() bool {
	b.desks.Mu.Lock()
	defer b.desks.Mu.Unlock()
	b.Mu.Lock()
	defer b.Mu.Unlock()
	for look, s := range b.Screens {
		if len(s.Watchers) == 0 {
			delete(b.Screens, look)
		}
	}
	if len(b.Screens) > 0 || time.Since(b.Visited) < linger {
		return false
	}
	delete(b.desks.Boards, b.event.ID)
	b.desks.Open.Add(-1)
	return true
}

// save writes down how far the board read.
func (b *board) save() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.desks.ctx), drawTime)
	defer cancel()
	if err := b.desks.sales.Save(ctx, b.team, b.evening); err != nil {
		b.desks.log.Warn("how far a desk read its change log was not kept", "event", b.event.Slug, "error", err)
	}
}

// watched lists the screens that have watchers now.
func (b *board) watched() map[way]*screen {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	list := map[way]*screen{}
	for look, s := range b.Screens {
		if len(s.Watchers) > 0 {
			list[look] = s
		}
	}
	return list
}

// draw makes a picture for each watched way.
func (b *board) draw() {
	for look, s := range b.watched() {
		ctx, cancel := context.WithTimeout(b.desks.ctx, drawTime)
		ctx = text.With(ctx, look.language)
		model, err := b.model(ctx, look)
		var parts []part
		if err == nil {
			parts, err = render(ctx, model)
		}
		cancel()
		if err != nil && b.desks.ctx.Err() == nil {
			b.desks.log.Warn("a desk could not be drawn; the next try is in a moment", "event", b.event.Slug, "error", err)
			b.ring()
		}
		b.show(s, model.Live.At, parts, err)
	}
}

// model is everything there is to see at this moment.
func (b *board) model(ctx context.Context, look way) (p desk.Live, err error) {
	sale, err := b.desks.office.Sale(ctx, b.event.Slug) // it may have been edited
	if err != nil {
		return p, err
	}
	p = desk.Live{
		Sale:   shop.Sale{Event: sale.Event, Plan: sale.Plan},
		Window: look.window, Names: look.names, Wall: look.wall, MayNames: look.mayNames, MaySee: look.maySee, MayManage: look.manage,
	}
	b.drawing.Lock()
	defer b.drawing.Unlock()
	if p.Live, err = b.desks.sales.Live(ctx, b.team, b.evening, sale, look.window, look.names); err != nil {
		return p, err
	}
	p.Map, p.Waitlisted = sale.Snapshot(), len(sale.Waitlisted())
	if b.desks.Limits != nil {
		e := b.desks.Limits.Of(sale)
		p.Guard, p.Limits = e.State(time.Now()), e.Figures()
	}
	if room := b.desks.rooms.Of(sale.Event.ID); room != nil {
		state := room.State()
		p.Room, p.Shown = &state, room.Status().Shown
		p.Told, _ = room.Calibration()
	}
	return p, nil
}
