package desk

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/views/desk"
)

// Desks keeps the live desks of this node up to date. Each watched event has one board, which draws what
// changed once for all viewers of the same way. An event without viewers has no board.
type Desks struct {
	sales  *sales.Sales
	office *seats.Inventory
	rooms  *waitingroom.Rooms
	log    *slog.Logger

	Limits *limit.Events // nil: pages do not show them

	ctx    context.Context // boards outlive the requests that begin them; Run ends them
	cancel context.CancelFunc
	wait   sync.WaitGroup
	Open   atomic.Int32 // boards

	Mu     sync.Mutex
	Boards map[int64]*board // by event
}

// NewDesks returns the live desks of a node. Hand Changed to the office, and Run ends them.
func NewDesks(s *sales.Sales, o *seats.Inventory, g *waitingroom.Rooms, log *slog.Logger) *Desks {
	ctx, cancel := context.WithCancel(context.Background())
	return &Desks{sales: s, office: o, rooms: g, log: log, ctx: ctx, cancel: cancel, Boards: map[int64]*board{}}
}

// Run waits until ctx is done; then it ends every board and every feed.
func (d *Desks) Run(ctx context.Context) error {
	<-ctx.Done()
	d.Mu.Lock() // no board begins after this
	d.cancel()
	d.Mu.Unlock()
	d.wait.Wait()
	return ctx.Err()
}

// Changed is told that an event's map moved on. While no desk is open that costs one look at a number.
func (d *Desks) Changed(s *seats.Sale) { d.EventChanged(s.Event.ID) }

// EventChanged is Changed for who knows only the number of the event.
func (d *Desks) EventChanged(event int64) {
	if d.Open.Load() == 0 {
		return
	}
	d.Mu.Lock()
	defer d.Mu.Unlock()
	if b := d.Boards[event]; b != nil {
		b.ring()
	}
}

// RoomChanged is told that a waiting room shows everybody something else.
func (d *Desks) RoomChanged(room *waitingroom.Room) {
	if d.Open.Load() == 0 {
		return
	}
	d.Mu.Lock()
	defer d.Mu.Unlock()
	for event, b := range d.Boards {
		if d.rooms.Of(event) == room {
			b.ring()
		}
	}
}

// board returns that of an event, which begins if there is none. nil if the box office is about to close. The caller
// holds d.mu.
func (d *Desks) board(s *seats.Sale, m organizers.Member) *board {
	if d.ctx.Err() != nil {
		return nil
	}
	b := d.Boards[s.Event.ID]
	if b == nil {
		b = &board{desks: d, event: s.Event, team: m, evening: &sales.Evening{}, wake: make(chan struct{}, 1), Screens: map[way]*screen{}}
		d.Boards[s.Event.ID] = b
		d.Open.Add(1)
		d.wait.Go(b.run)
	}
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.Visited = time.Now()
	return b
}

// way is one view of a live desk: all viewers of the same way see the same.
type way struct {
	window      sales.Window
	names, wall bool

	mayNames, maySee, manage bool

	language string // of the reader
}

// picture is how an event stands now, for a page that is loaded.
func (d *Desks) picture(ctx context.Context, s *seats.Sale, m organizers.Member, look way) (desk.Live, error) {
	d.Mu.Lock()
	b := d.board(s, m)
	d.Mu.Unlock()
	if b == nil {
		return desk.Live{}, errClosing
	}
	return b.model(ctx, look)
}

// join adds a page that is to be kept live; leave takes it away. nil if the box office is about to close.
func (d *Desks) join(s *seats.Sale, m organizers.Member, look way) *watcher {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	b := d.board(s, m)
	if b == nil {
		return nil
	}
	b.Mu.Lock()
	defer b.Mu.Unlock()
	if b.Screens[look] == nil {
		b.Screens[look] = &screen{ready: make(chan struct{}), Watchers: map[*watcher]bool{}}
		b.ring()
	}
	w := &watcher{board: b, screen: b.Screens[look], wake: make(chan struct{}, 1)}
	if w.screen.Watchers[w] = true; w.screen.picture > 0 {
		w.wake <- struct{}{} // what is there is new to it
	}
	return w
}
