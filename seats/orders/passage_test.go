package orders_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/plan"
)

// device is a door with a link of its own.
func (h *fixture) device(t testing.TB, name, gate string) orders.Doorway {
	t.Helper()
	secret, err := h.orders.OpenDoorFor(t.Context(), "evening", orders.Device{Name: name, Gate: gate}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := h.orders.Doorway(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// opened lets all doors have been open for a while, so that devices may have been offline.
func (h *fixture) opened(t testing.TB, ago string) {
	t.Helper()
	h.exec(t, `UPDATE door SET created_at = clock_timestamp() - $1::interval`, ago)
}

func (h *fixture) turnout(t testing.TB) orders.Turnout {
	t.Helper()
	turnout, err := h.orders.Turnout(t.Context(), h.sale.Event.ID)
	if err != nil {
		t.Fatal(err)
	}
	return turnout
}

// sectionsOf are the names of two sections of a plan, with a seat of each.
func sectionsOf(t testing.TB, h *fixture) (one, two string, seat, other int) {
	t.Helper()
	p := h.sale.Plan
	for i := range p.Seats {
		if p.Seats[i].Section != p.Seats[0].Section {
			return p.Sections[p.Seats[0].Section].Name, p.Sections[p.Seats[i].Section].Name, 0, i
		}
	}
	t.Fatal("the plan has one section")
	return "", "", 0, 0
}

func TestGate_AdmitsTicketsOfItsSections(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	one, two, seat, other := sectionsOf(t, h)
	h.exec(t, `UPDATE event SET gates = $1::jsonb`, fmt.Sprintf(`[{"name": "North", "sections": [%q]}, {"name": "South", "sections": [%q]}, {"name": "Lift"}]`, one, two))
	order := h.soldAtOffice(t, orders.OfficeForm{Key: "k", Seats: []int{seat, other}, Method: payments.Terminal})
	north, anywhere, lift, gone := h.device(t, "North 1", "North"), h.device(t, "", ""), h.device(t, "", "Lift"), h.device(t, "", "West")
	code := of(order, other).Code

	v := h.scan(t, north, orders.Scan{Key: "1", Code: code})
	if v.Word != orders.ScanGate || !slices.Equal(v.Gates, []string{"South", "Lift"}) {
		t.Errorf("a ticket for South gets %+v at North", v)
	}
	if v := h.scan(t, north, orders.Scan{Key: "2", Code: order.Code, Ticket: of(order, other).ID}); v.Word != orders.ScanGate {
		t.Errorf("the same by the code of its order gets %q", v.Word)
	}
	if h.count(t, "scan") != 0 {
		t.Error("a ticket was used at the wrong gate")
	}
	list, err := h.orders.Expected(t.Context(), north)
	if err != nil || len(list) != 2 || len(list[0].Gates) != 0 || len(list[1].Gates) != 2 {
		t.Errorf("North expects %+v, %v", list, err)
	}
	if v := h.scan(t, north, orders.Scan{Key: "3", Code: of(order, seat).Code}); v.Word != orders.ScanIn {
		t.Errorf("a ticket for North gets %q there", v.Word)
	}
	if v := h.scan(t, lift, orders.Scan{Key: "4", Code: code}); v.Word != orders.ScanIn {
		t.Errorf("a gate for all sections says %q", v.Word)
	}
	for i, d := range []orders.Doorway{anywhere, gone} {
		if v := h.scan(t, d, orders.Scan{Key: fmt.Sprint("any", i), Code: code}); v.Word != orders.ScanAgain {
			t.Errorf("a door without a gate says %q", v.Word)
		}
	}
}

func TestGate_OfDeviceThatWasOfflineCounts(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	one, _, seat, other := sectionsOf(t, h)
	order := h.soldAtOffice(t, orders.OfficeForm{Key: "k", Seats: []int{seat, other}, Method: payments.Terminal})
	h.exec(t, `UPDATE event SET gates = $1::jsonb`, fmt.Sprintf(`[{"name": "North", "sections": [%q]}, {"name": "South"}]`, one))
	north := h.device(t, "North 1", "North")
	h.opened(t, "2 hours")
	if v := h.scan(t, north, orders.Scan{Key: "k", Code: of(order, other).Code, At: time.Now().Add(-time.Hour)}); v.Word != orders.ScanIn {
		t.Errorf("a person whom the device let in is told %q", v.Word)
	}
	if v := h.scan(t, h.device(t, "", "South"), orders.Scan{Key: "k2", Code: of(order, other).Code}); v.Word != orders.ScanAgain || v.By != "North 1" {
		t.Errorf("the ticket lets a second person in: %+v", v)
	}
}

func TestScan_TicketComesInAgainAfterItWentOut(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{Reentry: true})
	d, ticket := h.device(t, "Anna’s phone", ""), h.ordered(t, 1).Tickets[0]
	for i, step := range []struct {
		out    bool
		word   string
		inside int
	}{
		{false, orders.ScanIn, 1},
		{false, orders.ScanAgain, 1},
		{true, orders.ScanOut, 0},
		{true, orders.ScanOutside, 0},
		{false, orders.ScanIn, 1},
		{false, orders.ScanAgain, 1},
		{true, orders.ScanOut, 0},
		{false, orders.ScanIn, 1},
	} {
		s := orders.Scan{Key: fmt.Sprint(i), Code: ticket.Code, Out: step.out}
		for range 2 { // it is sent again
			if v := h.scan(t, d, s); v.Word != step.word || v.Word == orders.ScanAgain && v.By != "Anna’s phone" {
				t.Errorf("scan %d gets %+v, want %q", i, v, step.word)
			}
		}
		if turnout := h.turnout(t); turnout.Came != 1 || turnout.Inside != step.inside || len(turnout.Conflicts) > 0 {
			t.Errorf("after scan %d: %+v", i, turnout)
		}
	}
	if _, err := h.orders.Scan(t.Context(), d, orders.Scan{Key: "0", Code: h.ordered(t, 1).Tickets[0].Code}); err == nil {
		t.Error("the key of one scan was taken for another ticket")
	}
}

func TestScan_WithoutReentryAnExitIsFinal(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	d, ticket := h.door(t), h.ordered(t, 1).Tickets[0]
	for i, step := range []struct {
		out  bool
		word string
	}{{false, orders.ScanIn}, {true, orders.ScanOut}, {false, orders.ScanAgain}} {
		if v := h.scan(t, d, orders.Scan{Key: fmt.Sprint(i), Code: ticket.Code, Out: step.out}); v.Word != step.word {
			t.Errorf("scan %d gets %q, want %q", i, v.Word, step.word)
		}
	}
	if turnout := h.turnout(t); turnout.Came != 1 || turnout.Inside != 0 {
		t.Errorf("it counts %+v", turnout)
	}
}

func TestScan_OneOfManyComesInAgain(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{Reentry: true})
	d, ticket := h.door(t), h.ordered(t, 1).Tickets[0]
	h.scan(t, d, orders.Scan{Key: "in", Code: ticket.Code})
	for round := range 20 {
		h.scan(t, d, orders.Scan{Key: fmt.Sprint("out", round), Code: ticket.Code, Out: true})
		var in atomic.Int32
		var crowd sync.WaitGroup
		for i := range 8 {
			crowd.Go(func() {
				if v := h.scan(t, d, orders.Scan{Key: fmt.Sprint(round, i), Code: ticket.Code}); v.Word == orders.ScanIn {
					in.Add(1)
				}
			})
		}
		crowd.Wait()
		if in.Load() != 1 {
			t.Fatalf("%d came in again by one ticket", in.Load())
		}
	}
}

func TestScan_OfflinePassagesCountInTheOrderOfTheirTimes(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{Reentry: true})
	ticket := h.ordered(t, 1).Tickets[0]
	north, south := h.device(t, "North 1", ""), h.device(t, "South 1", "")
	h.opened(t, "5 hours")
	ago := func(minutes int) time.Time { return time.Now().Add(-time.Duration(minutes) * time.Minute) }
	// In at 90, out at 60 by North; in again at 30 by South, which is the first to be back.
	h.scan(t, south, orders.Scan{Key: "s1", Code: ticket.Code, At: ago(30)})
	h.scan(t, north, orders.Scan{Key: "n1", Code: ticket.Code, At: ago(90)})
	if turnout := h.turnout(t); len(turnout.Conflicts) != 1 || turnout.Conflicts[0].By != "South 1" || turnout.Conflicts[0].OtherBy != "North 1" {
		t.Errorf("two entries without an exit are %+v", turnout.Conflicts)
	}
	h.scan(t, north, orders.Scan{Key: "n2", Code: ticket.Code, Out: true, At: ago(60)})
	turnout := h.turnout(t)
	if len(turnout.Conflicts) != 0 || turnout.Came != 1 || turnout.Inside != 1 {
		t.Errorf("with the exit between them: %+v", turnout)
	}
	if v := h.scan(t, north, orders.Scan{Key: "n3", Code: ticket.Code}); v.Word != orders.ScanAgain {
		t.Errorf("a ticket that is inside gets %q", v.Word)
	}
}

func TestCloseDoor_OtherDevicesGoOn(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	tickets := h.ordered(t, 2).Tickets
	secret, err := h.orders.OpenDoorFor(t.Context(), "evening", orders.Device{Name: "  Anna’s phone "}, nil)
	if err != nil {
		t.Fatal(err)
	}
	anna, err := h.orders.Doorway(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	ben := h.device(t, "Ben", "")
	if _, err := h.orders.Expected(t.Context(), anna); err != nil {
		t.Fatal(err)
	}
	h.scan(t, anna, orders.Scan{Key: "1", Code: tickets[0].Code})
	links := h.turnout(t).Links
	if l := links[1]; l.Name != "Anna’s phone" || l.Scans != 1 || l.Admitted != 1 || l.SeenAt == nil || links[0].Name != "Ben" || links[0].SeenAt != nil {
		t.Fatalf("the desk lists %+v", links)
	}
	for i := range 2 {
		if err := h.orders.CloseDoor(t.Context(), h.sale.Event.ID, links[1].ID, nil); err != nil {
			t.Errorf("closing it for time %d: %v", i+1, err)
		}
	}
	if err := h.orders.CloseDoor(t.Context(), h.sale.Event.ID+1, links[0].ID, nil); !errors.Is(err, orders.ErrNoDoor) {
		t.Errorf("another event closes it: %v", err)
	}
	if _, err := h.orders.Doorway(t.Context(), secret); err == nil {
		t.Error("a closed link opens the door")
	}
	if turnout := h.turnout(t); turnout.Open() != 1 || turnout.Links[0].ClosedAt != nil {
		t.Errorf("with one of two closed, the desk lists %+v", turnout.Links)
	}
	if v := h.scan(t, ben, orders.Scan{Key: "2", Code: tickets[0].Code}); v.Word != orders.ScanAgain || v.By != "Anna’s phone" {
		t.Errorf("the other device says %+v", v)
	}
	if _, err := h.orders.OpenDoorFor(t.Context(), "evening", orders.Device{Name: strings.Repeat("x", 61)}, nil); err == nil {
		t.Error("a name of 61 characters was taken")
	}
}

func TestPassages_SayByWhichDevice(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{Reentry: true})
	order := h.ordered(t, 2)
	d := h.device(t, "North 1", "")
	h.opened(t, "2 hours")
	h.scan(t, d, orders.Scan{Key: "1", Code: order.Tickets[0].Code, At: time.Now().Add(-time.Hour)})
	h.scan(t, d, orders.Scan{Key: "2", Code: order.Tickets[0].Code, Out: true})
	h.scan(t, d, orders.Scan{Key: "3", Code: order.Tickets[1].Code})
	list, err := h.orders.Passages(t.Context(), order.ID)
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	for i, want := range []string{orders.ScanIn, orders.ScanOut, orders.ScanIn} {
		if list[i].Said != want || list[i].By != "North 1" || list[i].Offline != (i == 0) {
			t.Errorf("scan %d is %+v", i, list[i])
		}
	}
}

// Each code that does not let in gets its own word.
func TestScan_SaysWhatIsWrongWithACode(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	p, _ := plan.Named("theatre")
	for _, slug := range []string{"tomorrow", "elsewhere"} {
		if _, err := events.Create(t.Context(), h.db, events.Settings{Slug: slug, Name: "The Seagull", StartsAt: time.Date(2030, 5, 2, 19, 0, 0, 0, time.UTC)}, p); err != nil {
			t.Fatal(err)
		}
	}
	h.exec(t, `INSERT INTO team (name) VALUES ('Another house')`)
	h.exec(t, `UPDATE event SET team_id = (SELECT max(id) FROM team) WHERE slug = 'elsewhere'`)
	one, two, seat, other := sectionsOf(t, h)
	h.exec(t, `UPDATE event SET gates = $1::jsonb WHERE slug = 'evening'`, fmt.Sprintf(`[{"name": "North", "sections": [%q]}, {"name": "South", "sections": [%q]}]`, one, two))
	order := h.soldAtOffice(t, orders.OfficeForm{Key: "k", Seats: []int{seat, seat + 1, seat + 2, seat + 3, other}, Method: payments.Terminal, Name: "Ann", Email: "ann@example.org"})
	north := h.device(t, "North 1", "North")
	code := func(idx int) string { return of(order, idx).Code }

	sent := &pair{fixture: h, t: t, code: order.Code, door: north}
	friends := sent.accepted(sent.offer(seat+1, ""), "Ben").Tickets[0].Code
	if err := h.orders.Revoke(t.Context(), h.sale, h.find(t, order.Code), false, of(order, seat+2).ID); err != nil {
		t.Fatal(err)
	}
	h.scan(t, north, orders.Scan{Key: "first", Code: code(seat)})
	codes := map[string]string{}
	node, _ := h.node(t)
	for _, slug := range []string{"tomorrow", "elsewhere"} {
		sale, err := node.Sale(t.Context(), slug)
		if err != nil {
			t.Fatal(err)
		}
		at, err := h.orders.SellAtOffice(t.Context(), sale, orders.OfficeForm{Key: slug, Seats: []int{0}, Method: payments.Terminal}, nil)
		if err != nil {
			t.Fatal(err)
		}
		codes[slug] = h.find(t, at).Tickets[0].Code
	}
	forged := []byte(code(seat + 3))
	forged[100] = map[bool]byte{true: '1', false: '0'}[forged[100] == '0']
	strange := open(t, "theatre", events.Settings{})
	theirs := strange.soldAtOffice(t, orders.OfficeForm{Key: "k", Seats: []int{seat}, Method: payments.Terminal}).Tickets[0].Code

	for name, c := range map[string]struct{ code, word string }{
		"forged":           {string(forged), orders.ScanUnknown},
		"no code":          {"hello", orders.ScanUnknown},
		"of another house": {theirs, orders.ScanUnknown},
		"doubled":          {code(seat), orders.ScanAgain},
		"transferred":      {code(seat + 1), orders.ScanRevoked},
		"cancelled":        {code(seat + 2), orders.ScanRevoked},
		"wrong gate":       {code(other), orders.ScanGate},
		"wrong day":        {codes["tomorrow"], orders.ScanForeign},
		"of another team":  {codes["elsewhere"], orders.ScanForeign},
		"the friend’s":     {friends, orders.ScanIn},
	} {
		v := h.scan(t, north, orders.Scan{Key: name, Code: c.code})
		if v.Word != c.word {
			t.Errorf("%s gets %q, want %q", name, v.Word, c.word)
		}
		if (name == "transferred") != v.Ticket.Replaced || (name == "wrong day") != (v.Other != nil) {
			t.Errorf("%s gets %+v", name, v)
		}
		if name == "wrong day" && (v.Other == nil || v.Other.Name != "The Seagull" || v.Other.StartsAt.Day() != 2) {
			t.Errorf("the other day is %+v", v.Other)
		}
	}
	h.exec(t, `UPDATE ticket_key SET revoked_at = clock_timestamp(), signs = false`)
	if v := h.scan(t, north, orders.Scan{Key: "old key", Code: code(seat + 3)}); v.Word != orders.ScanUnknown {
		t.Errorf("a code of a revoked key gets %q", v.Word)
	}
	h.exec(t, `UPDATE event SET starts_at = clock_timestamp() - interval '4 days'; UPDATE door SET created_at = clock_timestamp() - interval '5 days'`)
	secret, err := h.orders.OpenDoor(t.Context(), "evening", nil)
	if err != nil {
		t.Fatal(err)
	}
	h.exec(t, `UPDATE door SET created_at = clock_timestamp() - interval '5 days'`)
	if _, err := h.orders.Doorway(t.Context(), secret); !errors.Is(err, orders.ErrNoDoor) {
		t.Errorf("a link of an event that is over gets %v", err)
	}
}
