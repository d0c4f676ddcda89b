package seats

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Step is one change of an event, to be made together with changes of other events: Inventory.Together. It is decided as it would
// be alone, under the same locks and by the same guard.
type Step struct {
	sale    *Sale
	command *command
	visits  bool // its hold is of the session of the request, if that is stored
}

// Selling is the step of Sell.
func (s *Sale) Selling(d Purchase) (Step, error) { return s.step(s.selling(d)) }

// Paying is the step of Pay.
func (s *Sale) Paying(d Purchase) Step { return Step{s, s.paying(d), true} }

// GivingBack is the step of GiveBack.
func (s *Sale) GivingBack(holder, order ID, seats []int, keys []ID, write TxHook) Step {
	return Step{sale: s, command: s.givingBack(holder, order, seats, keys, write)}
}

// Claiming is the step of Claim. It names its seats, and its visitor has a session that is stored: none is written with it.
func (s *Sale) Claiming(holder ID, key string, w ClaimRequest) (Step, error) {
	if len(w.Seats) == 0 {
		return Step{}, errors.New("seats: a claim together with others names its seats")
	}
	c := &command{claim: true, holder: holder, key: key, access: w.Access, request: w.hash()}
	c.decide = func(b *batch) (Hold, error) { return b.claim(c) }
	return Step{s, c, true}, s.understand(c, w)
}

// Extending is the step of Extend. Each event gives its own hold length, and counts its own extensions.
func (s *Sale) Extending(holder ID, key string) Step { return Step{s, s.extending(holder, key), true} }

// Releasing is the step of ReleaseOnce. Nothing happens to a holder who has nothing.
func (s *Sale) Releasing(holder ID, seats ...int) Step {
	c := &command{holder: holder}
	seats = s.WithWhole(seats)
	c.decide = func(b *batch) (Hold, error) {
		hold, err := b.release(c, seats)
		if errors.Is(err, ErrNoHold) {
			err = nil
		}
		return hold, err
	}
	return Step{sale: s, command: c}
}

func (s *Sale) step(c *command, err error) (Step, error) { return Step{sale: s, command: c}, err }

// StepError says which step refused all of them.
type StepError struct {
	Step int
	Sale *Sale
	Err  error
}

func (e *StepError) Error() string { return fmt.Sprintf("event %d: %v", e.Sale.Event.ID, e.Err) }

func (e *StepError) Unwrap() error { return e.Err }

// Together makes changes of several events in one transaction: all of them, or none. Steps of one event are decided in their order.
// It returns what each step returns alone. A *StepError if one is refused; what it wraps is the refusal. Claims, extensions and payments are bound to
// the session of the context, as they are alone: see WithVisit.
// What also queues is committed with them, after what the steps write.
//
// Each event gets its batch, its version, its change row and its notification, as if it were alone. Batches take their locks class by class, and in a
// class by the id of their event: holds, slots and seats of all events first, counter rows last. So this transaction waits for those of one
// event, and for others of its kind, in one order. It runs beside the queues of its events, as a batch of another node does.
func (o *Inventory) Together(ctx context.Context, also TxHook, steps ...Step) ([]Hold, error) {
	o.queues.Add(1)
	defer o.queues.Done()
	for _, st := range steps {
		if st.visits {
			st.command.visit = VisitOf(ctx)
		}
	}
	ctx, cancel := context.WithTimeout(forBatch(WithVisit(context.WithoutCancel(ctx), nil)), batchTime)
	defer cancel()
	for tries := 1; ; tries++ {
		g := newGroup(steps)
		err := g.run(ctx, o, also)
		var refusal *StepError
		switch {
		case err == nil:
			for _, b := range g.batches {
				b.sale.committed(ctx, b)
			}
			return g.holds(), nil
		case errors.As(err, &refusal):
			return nil, refusal
		}
		o.count(err)
		most := batchTries
		if outOfQuota(err) || shutMeanwhile(err) || errors.Is(err, errPrices) {
			most = priceTries
			for _, b := range g.batches {
				b.sale.latest(ctx)
			}
		}
		unlocked := !g.locked && connectionLost(err) && Sleep(ctx, retryPause) == nil // nothing was decided
		if !unlocked && (!retryable(err) || tries >= most) {
			return nil, fmt.Errorf("seats: %d steps together: %w", len(steps), err)
		}
	}
}

// group is one transaction of batches, one for each event, by the id of their event.
type group struct {
	batches []*batch
	of      [][2]int // of each step: its batch, and its command there
	steps   []Step
	locked  bool // all locks were taken
}

func newGroup(steps []Step) *group {
	g := &group{steps: steps, of: make([][2]int, len(steps))}
	commands, sales := map[int64][]*command{}, map[int64]*Sale{}
	for _, st := range steps {
		id := st.sale.Event.ID
		sales[id], commands[id] = st.sale.now.Load(), append(commands[id], st.command)
	}
	ids := make([]int64, 0, len(sales))
	for id := range sales {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		g.batches = append(g.batches, newBatch(sales[id], commands[id], nil))
	}
	for i, st := range steps {
		at := slices.Index(ids, st.sale.Event.ID)
		g.of[i] = [2]int{at, slices.Index(g.batches[at].commands, st.command)}
	}
	return g
}

// run locks, decides and writes.
func (g *group) run(ctx context.Context, o *Inventory, also TxHook) (err error) {
	conn, err := o.db.Acquire(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if conn != nil {
			conn.Release()
		}
	}()
	if err := lockBatches(ctx, conn.Conn(), g.batches...); err != nil {
		return errors.Join(err, rollback(conn.Conn()))
	}
	g.locked = true
	if err := g.decide(); err != nil {
		return errors.Join(err, rollback(conn.Conn()))
	}
	err = saveBatches(ctx, conn.Conn(), also, g.batches...)
	switch {
	case err == nil:
		return nil
	case !connectionLost(err):
		return errors.Join(err, rollback(conn.Conn()))
	}
	conn.Release() // it ended; the question needs another one
	conn = nil
	return g.findCommit(o.db, err)
}

// decide decides all steps by one clock: the latest of the batches, which is after the last lock.
func (g *group) decide() error {
	now := g.batches[0].now
	for _, b := range g.batches {
		if b.now.After(now) {
			now = b.now
		}
	}
	for _, b := range g.batches {
		b.now = now
		b.decide()
	}
	for i, of := range g.of {
		if err := g.batches[of[0]].answers[of[1]].err; err != nil {
			return &StepError{Step: i, Sale: g.batches[of[0]].sale, Err: err}
		}
	}
	return nil
}

// findCommit resolves a lost answer to COMMIT. One batch with a version answers for all: they were committed together.
func (g *group) findCommit(db *pgxpool.Pool, lost error) error {
	found := false
	for _, b := range g.batches {
		committed, err := b.findCommit(db)
		if err != nil {
			return errors.Join(lost, err)
		}
		found = found || committed
	}
	if found {
		return nil
	}
	return lost
}

func (g *group) holds() []Hold {
	holds := make([]Hold, len(g.of))
	for i, of := range g.of {
		holds[i] = g.batches[of[0]].answers[of[1]].hold
	}
	return holds
}
