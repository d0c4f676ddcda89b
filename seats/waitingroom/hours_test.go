package waitingroom_test

import (
	"errors"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/waitingroom"
)

const (
	simNodes  = 2
	simCrowd  = 7
	simValid  = 2 * time.Minute
	simIdle   = 40 * time.Second
	simWave   = 5 * time.Minute
	simBroken = time.Minute // the longest that the database is gone
)

// waiter is a visitor in simulated hours, and what they were told.
type waiter struct {
	person
	inside bool
	unsure bool      // they got no answer, and may be inside or not
	until  time.Time // inside at least until then, by the database's clock
	holds  time.Time // seats, until then; by the same clock
	slow   bool      // they look seldom, and come in late when they are called
	done   bool      // they need not come in any more
}

// hours is a room of several nodes for hours that pass in seconds. Everything may break but what it promised.
type hours struct {
	*seatstest.Hours
	fixture
	nodes   [simNodes]*node
	serving [simNodes]int64
	people  []*waiter
	holders map[waitingroom.Place]seats.ID
	frozen  int64 // places of the lobby once it closed; negative before
	paused  bool
	slots   int
}

// Hours of people who come in crowds, wait, come in, choose, buy, give up or go away, of an organizer who steers, and of nodes
// that die, connections that are cut, a database that is gone for a while and a clock of it that is wrong and jumps ahead. With
// an even seed the room has a lobby first; else people come again some hours later.
func TestHours_VisitorsAreLetInInTurn(t *testing.T) {
	t.Parallel()
	seatstest.Through(t, live)
}

func newHours(s *seatstest.Hours) *hours {
	h := &hours{
		Hours: s, fixture: fixture{ctx: s.T.Context(), db: s.DB}, holders: map[waitingroom.Place]seats.ID{}, frozen: -1, slots: 2,
	}
	h.c = waitingroom.Control{DB: h.db, Who: "test"}
	h.Wrongs()
	p, ok := plan.Named("conference")
	if !ok {
		h.T.Fatal("there is no plan for it")
	}
	if _, err := events.Create(h.ctx, h.db, events.Settings{Name: "Evening", StartsAt: time.Now().Add(1000 * time.Hour), HoldLength: time.Minute}, p); err != nil {
		h.T.Fatal(err)
	}
	n := waitingroom.NewRoom{Name: "Evening", Events: []string{"evening"}, Slots: h.slots, Valid: simValid, Idle: simIdle, Stay: 5 * time.Minute}
	if h.Seed%2 == 0 {
		opens := h.Now().Add(45 * time.Second)
		n.OpensAt = &opens
	}
	if _, err := h.c.Create(h.ctx, n); err != nil {
		h.T.Fatal(err)
	}
	for i := range h.nodes {
		h.start(i)
	}
	return h
}

// start starts a node that knows nothing.
func (h *hours) start(i int) {
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	office := seats.NewInventory(h.db, log)
	office.Admission = waitingroom.Admission
	n := &node{db: h.db, office: office, rooms: waitingroom.New(h.db, "", log)}
	n.rooms.Ended = office.Ended
	n.start(office.Run)
	n.start(n.rooms.RunDeaf)
	h.nodes[i], h.serving[i] = n, 0
	for n.room == nil || n.sale == nil {
		room, err := n.rooms.Room(h.ctx, "evening")
		sale, err2 := office.Sale(h.ctx, "evening")
		if errors.Join(err, err2) == nil {
			n.room, n.sale = room, sale
			return
		}
		time.Sleep(time.Second)
	}
}

// live has crowds come and things break, heals all of it, and wants everybody to have come in at last.
func live(s *seatstest.Hours) {
	h := newHours(s)
	for range h.Times {
		for range simCrowd {
			h.come()
		}
		end := time.Now().Add(simWave)
		for i := 0; time.Now().Before(end) && !h.Found(); i++ {
			switch i % 6 {
			case 2: // this and the other one would come too seldom by chance
				h.pause()
			case 5:
				h.everybody()
				h.claim(h.insider())
			default:
				h.step()
			}
			h.Rest(8 * time.Second)
			if h.Random.IntN(3) == 0 || h.Fault != "" {
				h.look()
			}
		}
		if h.Seed%2 == 1 { // everybody went home; a room that opened at a time goes on looking for them
			h.Rest(time.Hour)
		}
	}
	if !h.Found() {
		h.heal()
	}
	for _, n := range h.nodes {
		n.stop()
	}
}

// node is one of those that run.
func (h *hours) node() *node { return h.nodes[h.Random.IntN(simNodes)] }

// look holds the books against every promise, and what the nodes know against what they knew and told before.
func (h *hours) look() {
	for _, problem := range h.books(h.T) {
		h.Wrong("%s", problem)
	}
	for i, n := range h.nodes {
		s := n.room.State()
		if h.Fault == "serving goes back" && s.Serving > 1 {
			h.serving[i] = s.Serving + 1
		}
		if s.Serving < h.serving[i] {
			h.Wrong("node %d called numbers up to %d, and now up to %d", i, h.serving[i], s.Serving)
		}
		h.serving[i] = s.Serving
		if s.Phase != waitingroom.PhaseLobby && s.Mode == waitingroom.ModeScheduled {
			if h.frozen >= 0 && s.Lobby != h.frozen {
				h.Wrong("the lobby closed with %d, and has %d", h.frozen, s.Lobby)
			}
			h.frozen = s.Lobby
		}
	}
	h.numbers()
}

// numbers holds the numbers of all places against each other: each is one person's, the same on every node that knows it.
func (h *hours) numbers() {
	byNumber := map[int64]waitingroom.Place{}
	for place := range h.holders {
		var known []int64
		for _, n := range h.nodes {
			if number := n.room.Number(place); number > 0 {
				known = append(known, number)
			}
		}
		if len(known) == 0 {
			continue
		}
		if other, taken := byNumber[known[0]]; taken || slices.Min(known) != slices.Max(known) {
			h.Wrong("place %+v has the numbers %v, and place %+v one of them", place, known, other)
		}
		byNumber[known[0]] = place
	}
}

// heal ends everything that is broken, and has everybody who is still there come in, one after the other leaving again.
func (h *hours) heal() {
	h.resume()
	within := 30 * time.Minute
	if h.Fault != "" {
		within = 3 * time.Minute
	}
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(2 * time.Second) {
		waiting := 0
		for _, w := range h.people {
			h.enter(w)
			switch {
			case w.done:
			case w.inside && h.Fault != "no visitor ever leaves":
				h.letGo(w)
				h.leave(w)
				w.done = !w.inside
			default:
				waiting++
			}
		}
		if waiting == 0 {
			h.look()
			return
		}
	}
	h.Wrong("nothing is broken any more, and within %v not everybody came in", within)
}

// What the hours find is only worth something if they find what is planted.
func TestPlantedBugsAreNoticedInSimulatedHours(t *testing.T) {
	t.Parallel()
	for planted, says := range map[string]string{
		"a place is given twice":               "a new visitor has place",
		"a visitor comes in before their turn": "before their number was called",
		"a pause is none":                      "the room is paused, and",
		"serving goes back":                    "called numbers up to",
		"who holds seats leaves":               "holds seats until",
		"no visitor ever leaves":               "not everybody came in",
	} {
		t.Run(planted, func(t *testing.T) {
			t.Parallel()
			seatstest.Notices(t, planted, says, live)
		})
	}
}

// step is the next action or the next fault.
func (h *hours) step() {
	w := h.people[h.Random.IntN(len(h.people))]
	switch dice := h.Random.IntN(24); {
	case dice == 0:
		h.come()
	case dice == 1:
		h.Cuts()
	case dice == 2:
		i := h.Random.IntN(simNodes)
		h.nodes[i].stop()
		h.start(i)
	case dice == 3:
		h.away()
	case dice == 4:
		h.Leaps()
	case dice < 7:
		h.steer()
	case dice < 9:
		h.leave(w)
	case dice < 13:
		h.claim(w)
	default:
		h.everybody()
	}
}

// everybody tries to come in, but those who were there an hour ago and went away.
func (h *hours) everybody() {
	for _, w := range h.people[max(0, len(h.people)-2*simCrowd):] {
		if h.Random.IntN(6) > 1 && !w.slow || h.Random.IntN(12) == 0 {
			h.enter(w)
		}
	}
}

// come has a new visitor join, as often as it takes to get an answer.
func (h *hours) come() {
	w := &waiter{person: person{holder: seats.NewID()}, slow: h.Random.IntN(3) == 0}
	for range 30 {
		var err error
		if w.place, w.token, err = h.node().room.Join(h.ctx, w.holder, ""); err == nil {
			break
		}
		time.Sleep(time.Second)
	}
	if h.Fault == "a place is given twice" && len(h.people) > 0 {
		w.place = h.people[0].place
	}
	if who, given := h.holders[w.place]; given || w.token == "" {
		h.Wrong("a new visitor has place %+v, which %v has", w.place, who)
	}
	if w.place.Kind == waitingroom.Lobby && h.frozen >= 0 {
		h.Wrong("place %+v is of a lobby that closed with %d", w.place, h.frozen)
	}
	h.holders[w.place] = w.holder
	h.people = append(h.people, w)
}

// enter has a visitor try to come in, and holds the answer against what all were told.
func (h *hours) enter(w *waiter) {
	if w.done {
		return
	}
	n := h.node()
	asked := h.Now()
	v, err := n.room.Enter(h.ctx, w.holder, w.token)
	if h.Fault == "a visitor comes in before their turn" && err == nil && !v.Inside && v.Number > 0 {
		v = waitingroom.Visit{Inside: true, Number: v.Number, Until: asked.Add(simIdle)}
		h.exec(h.T, `UPDATE slot SET epoch = 1, number = $2, holder = $1, since = clock_timestamp(), expires_at = clock_timestamp() + interval '30 s' WHERE slot = $3`, w.holder, v.Number, h.slots)
		h.exec(h.T, `INSERT INTO admission (room_id, epoch, number, holder) SELECT id, 1, $1, $2 FROM room ON CONFLICT DO NOTHING`, v.Number, w.holder)
	}
	switch {
	case err != nil:
		w.unsure = true
		return
	case v.Inside && h.Gone.Load():
		h.Wrong("the database is gone, and %v was let in", w.holder)
	case v.Inside && h.paused && !w.inside && !w.unsure:
		h.Wrong("the room is paused, and %v was let in", w.holder)
	case !v.Inside && w.inside && !w.unsure && asked.Before(w.until):
		h.Wrong("%v is inside until %v, and at %v they are not: %s", w.holder, w.until, asked, v.Why)
	case v.Why == waitingroom.WhyLate || v.Why == waitingroom.WhyLeft:
		h.again(w)
		return
	}
	w.unsure = false
	if w.inside = v.Inside; v.Inside {
		w.until = v.Until
	}
}

// again has a visitor with an invalid number join anew.
func (h *hours) again(w *waiter) {
	place, token, err := h.node().room.Again(h.ctx, w.holder, w.token)
	if err != nil || place == w.place {
		return
	}
	if who, given := h.holders[place]; given {
		h.Wrong("a visitor who joined again has place %+v, which %v has", place, who)
	}
	h.holders[place] = w.holder
	w.place, w.token, w.inside, w.unsure = place, token, false, false
}

// insider is a visitor inside, or nil.
func (h *hours) insider() (w *waiter) {
	for _, i := range h.Random.Perm(len(h.people)) {
		if w = h.people[i]; w.inside {
			break
		}
	}
	return w
}

// claim has a visitor take a place: they must be inside. Then they buy, let go, or go away without.
func (h *hours) claim(w *waiter) {
	n := h.node()
	asked := h.Now()
	var through bool // who comes then needs no slot
	if h.db.QueryRow(h.ctx, `SELECT phase = 'through' FROM room`).Scan(&through) != nil {
		return
	}
	hold, err := n.sale.Claim(h.ctx, w.holder, "", seats.ClaimRequest{Area: "Places", Quantity: 1})
	var refusal *seats.Conflict
	switch {
	case err == nil && !through && !w.inside && !w.unsure:
		h.Wrong("%v was not let in, and claimed", w.holder)
	case errors.As(err, &refusal) && refusal.Code == seats.CodeWaitingRoom && w.inside && !w.unsure && asked.Before(w.until):
		h.Wrong("%v is inside until %v, and may not claim at %v", w.holder, w.until, asked)
	case err != nil:
		return
	}
	w.holds = hold.ExpiresAt
	if hold.ExpiresAt.After(w.until) {
		w.until = hold.ExpiresAt // who holds a seat stays
	}
	switch h.Random.IntN(3) {
	case 0:
		w.holds = time.Time{}
		if _, err := seatstest.Order(h.ctx, h.db, n.sale, w.holder); err == nil {
			w.inside, w.done = false, true
		}
	case 1:
		h.letGo(w)
	default:
		h.leave(w)
	}
}

// letGo has a visitor release their hold.
func (h *hours) letGo(w *waiter) {
	w.until, w.holds = h.Now(), time.Time{} // they are not told how long their slot lasts then
	_, _ = h.node().sale.Release(h.ctx, w.holder)
}

// leave has a visitor ask to leave: holders of seats stay.
func (h *hours) leave(w *waiter) {
	left, err := h.node().room.Leave(h.ctx, w.holder, w.token)
	if h.Fault == "who holds seats leaves" && err == nil && !left && w.inside {
		h.exec(h.T, `UPDATE slot SET epoch = NULL, number = NULL, holder = NULL, since = NULL, expires_at = '-infinity' WHERE holder = $1`, w.holder)
		left = true
	}
	if left && h.Now().Before(w.holds) {
		h.Wrong("%v holds seats until %v, and left", w.holder, w.holds)
	}
	w.inside, w.unsure = w.inside && !left, w.unsure || err != nil
}

// steer is the organizer.
func (h *hours) steer() {
	if h.Random.IntN(2) == 0 {
		h.resume()
	} else if h.slots < 4 && h.c.Slots(h.ctx, "evening", h.slots+1) == nil {
		h.slots++
	}
}

// pause has the organizer stop a room with a called visitor and a free slot. No visitor may come in then.
func (h *hours) pause() {
	for _, w := range h.people {
		if w.inside {
			h.letGo(w)
			h.leave(w)
			break
		}
	}
	time.Sleep(3 * time.Second) // another number is called
	if h.c.Pause(h.ctx, "evening", "Wait.") != nil {
		return
	}
	h.paused = true
	if h.Fault == "a pause is none" {
		h.exec(h.T, `UPDATE room SET phase = 'open', version = version + 1`)
	}
	for _, w := range h.people {
		h.enter(w)
	}
	h.Rest(20 * time.Second)
	if h.Random.IntN(4) > 0 {
		h.resume()
	}
}

func (h *hours) resume() {
	var nonsense *seats.ValidationError
	if err := h.c.Resume(h.ctx, "evening"); err == nil || errors.As(err, &nonsense) {
		h.paused = false
	}
}

// away has the database be gone for a while, and people try to come in meanwhile.
func (h *hours) away() {
	h.Gone.Store(true)
	for end := time.Now().Add(time.Duration(h.Random.Int64N(int64(simBroken)))); time.Now().Before(end); {
		h.enter(h.people[h.Random.IntN(len(h.people))])
		time.Sleep(5 * time.Second)
	}
	for _, n := range h.nodes { // their place is still known, and what everybody is shown
		for _, w := range h.people[max(0, len(h.people)-3):] {
			if v := n.room.Look(h.ctx, w.holder, w.token); v.Place != w.place && v.Place != (waitingroom.Place{}) {
				h.Wrong("while the database is gone, %v has place %+v and not %+v", w.holder, v.Place, w.place)
			}
		}
		if len(n.room.Status().JSON) == 0 {
			h.Wrong("while the database is gone, nothing is shown")
		}
	}
	h.Gone.Store(false)
}
