package orders_test

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/payments"
)

// named places an order with a name for each ticket.
func (h *fixture) named(t testing.TB, names ...string) orders.Order {
	t.Helper()
	who := seats.NewID()
	f := h.form(t, who, len(names))
	f.Names = map[int]string{}
	for i, name := range names {
		f.Names[f.Seats[i]] = name
	}
	code, err := h.orders.Place(t.Context(), h.sale, who, f)
	if err != nil {
		t.Fatal(err)
	}
	return h.find(t, code)
}

// namesOn are the names on the valid tickets of an order.
func namesOn(o orders.Order) (names []string) {
	for _, t := range o.Tickets {
		if !t.Revoked {
			names = append(names, o.NameOn(t))
		}
	}
	return names
}

func TestTicketNames_RequiredOneMayNotBeLeftOut(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{TicketNames: seats.NamesRequired})
	who := seats.NewID()
	f := h.form(t, who, 2)
	f.Names = map[int]string{f.Seats[0]: " Bea  Ek ", f.Seats[1]: "\u200b"}
	field := orders.FieldTicketName(strconv.Itoa(f.Seats[1]))
	for name, want := range map[string]string{"": "Enter the name of the attendee.", "\u200b": "Enter the name of the attendee.", "a\x00b": "The name has characters that cannot be printed.", strings.Repeat("x", 201): "The name is longer than 200 characters."} {
		f.Names[f.Seats[1]] = name
		var m orders.Mistakes
		if _, err := h.orders.Place(t.Context(), h.sale, who, f); !errors.As(err, &m) || len(m) != 1 || m.About(field) != want {
			t.Errorf("name %.10q: %v", name, err)
		}
	}
	if hold, err := h.sale.Hold(t.Context(), who); err != nil || len(hold.Seats) != 2 || h.count(t, "orders") != 0 {
		t.Errorf("after the mistakes: %v, %v", hold.Seats, err)
	}
	f.Names[f.Seats[1]] = "Cid"
	code, err := h.orders.Place(t.Context(), h.sale, who, f)
	if err != nil {
		t.Fatal(err)
	}
	if got := namesOn(h.find(t, code)); !slices.Equal(got, []string{"Bea Ek", "Cid"}) {
		t.Errorf("the tickets are of %q", got)
	}
	if methods := h.orders.AloneMethods(h.sale.Event, 0); methods != nil {
		t.Errorf("an order that nobody names is placed by %v", methods)
	}
	office := h.soldAtOffice(t, orders.OfficeForm{Key: "k", Seats: []int{90}, Method: payments.Cash, Name: "Ann"})
	if got := namesOn(office); !slices.Equal(got, []string{"Ann"}) {
		t.Errorf("the box office sold to %q", got)
	}
}

func TestTicketNames_AreKeptOnlyIfAsked(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	if got := namesOn(h.named(t, "Bea")); !slices.Equal(got, []string{"Ann Ørsted"}) {
		t.Errorf("not asked for: %q", got)
	}
	h.exec(t, `UPDATE event SET ticket_names = 'optional'`)
	other := h.another(t)
	if got := namesOn(other.named(t, "", "Cid")); !slices.Equal(got, []string{"Ann Ørsted", "Cid"}) {
		t.Errorf("optional: %q", got)
	}
}

// another is another node of the fixture, which reads the event anew.
func (h *fixture) another(t testing.TB) *fixture {
	t.Helper()
	other := &fixture{db: h.db, orders: orders.New(h.db)}
	office, sale := h.node(t)
	other.sale = sale
	other.orders.Open(office, "http://localhost")
	return other
}

func TestTicketNames_BuyerChangesThemUntilTheTicketIsUsed(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{TicketNames: seats.NamesRequired})
	o := h.named(t, "Bea", "Cid", "Dan")
	change := func(key string, names map[string]string) error {
		return h.orders.ChangeDetails(t.Context(), h.sale.Event, o, key, orders.Details{Name: o.Name, Names: names})
	}
	id := func(i int) string { return o.Tickets[i].ID.String() }
	for range 2 {
		if err := change("a", map[string]string{id(0): " Eva  Ek ", id(1): "Cid"}); err != nil {
			t.Fatal(err)
		}
	}
	after := h.find(t, o.Code)
	if got := namesOn(after); !slices.Equal(got, []string{"Eva Ek", "Cid", "Dan"}) || after.Tickets[0].Code != o.Tickets[0].Code {
		t.Errorf("the tickets are of %q", got)
	}
	var m orders.Mistakes
	if err := change("b", map[string]string{id(1): " ", id(2): "Flo"}); !errors.As(err, &m) || m.About(orders.FieldTicketName(id(1))) == "" {
		t.Errorf("a required name was taken away: %v", err)
	}
	for _, foreign := range []string{"x", seats.NewID().String()} {
		if err := change("c"+foreign, map[string]string{foreign: "Flo"}); !errors.Is(err, orders.ErrNoTicket) {
			t.Errorf("a ticket of another order: %v", err)
		}
	}
	h.scanned(t, o.Tickets[1])
	wantConflict(t, change("d", map[string]string{id(1): "Flo", id(2): "Flo"}), seats.CodeChanged)
	personal := h.sale.Event
	personal.Policy.NoTransfers = true
	if err := h.orders.ChangeDetails(t.Context(), personal, after, "e", orders.Details{Name: o.Name, Names: map[string]string{id(2): "Flo"}}); !errors.As(err, &m) {
		t.Errorf("a personal ticket got another name: %v", err)
	}
	if len(after.Nameable(personal)) != 0 || len(h.find(t, o.Code).Nameable(h.sale.Event)) != 2 {
		t.Errorf("tickets with a name to change: %d, %d", len(after.Nameable(personal)), len(h.find(t, o.Code).Nameable(h.sale.Event)))
	}
	h.exec(t, `UPDATE event SET starts_at = clock_timestamp()`)
	wantConflict(t, change("f", map[string]string{id(2): "Flo"}), orders.CodeStarted)
	if got := namesOn(h.find(t, o.Code)); !slices.Equal(got, []string{"Eva Ek", "Cid", "Dan"}) {
		t.Errorf("what was refused was saved: %q", got)
	}
}

// scanned lets a ticket in.
func (h *fixture) scanned(t testing.TB, ticket orders.Ticket) {
	t.Helper()
	d := h.door(t)
	if v, err := h.orders.Scan(t.Context(), d, orders.Scan{Key: ticket.ID.String(), Code: ticket.Code}); err != nil || v.Word != orders.ScanIn {
		t.Fatalf("scan: %s, %v", v.Word, err)
	}
}

func TestTicketNames_AreSaidWhereverTheTicketIs(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{TicketNames: seats.NamesOptional})
	o := h.named(t, "Bea Ødegård", "", "Cid")
	want := map[seats.ID]string{o.Tickets[0].ID: "Bea Ødegård", o.Tickets[1].ID: "Ann Ørsted", o.Tickets[2].ID: "Cid"}

	d := h.door(t)
	for id, name := range want {
		v, err := h.orders.Scan(t.Context(), d, orders.Scan{Key: "typed" + id.String(), Code: o.Code, Ticket: id})
		if err != nil || v.Name != name {
			t.Errorf("the door says %q for %q: %v", v.Name, name, err)
		}
	}
	v, err := h.orders.Scan(t.Context(), d, orders.Scan{Key: "again", Code: o.Tickets[2].Code})
	if err != nil || v.Word != orders.ScanAgain || v.Name != "Cid" {
		t.Errorf("the door says %s, %q, %v", v.Word, v.Name, err)
	}
	got := map[seats.ID]string{}
	list, err := h.orders.Expected(t.Context(), d)
	for _, e := range list {
		got[e.ID] = e.Name
	}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("the list of the door: %v, %v", got, err)
	}
	clear(got)
	if err := h.orders.Lines(t.Context(), "evening", func(l orders.Line) error { got[l.Ticket] = l.On; return nil }); err != nil || !maps.Equal(got, want) {
		t.Errorf("the export: %v, %v", got, err)
	}
	if found, _, err := h.orders.Search(t.Context(), h.sale, orders.Search{Words: "odegard", Page: paging.Page{Limit: 10}}); err != nil || len(found) != 1 || found[0].Code != o.Code {
		t.Errorf("searched for an attendee: %v, %v", found, err)
	}
}

func TestTicketNames_StayOnATicketThatMoves(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{TicketNames: seats.NamesRequired})
	o := h.named(t, "Bea", "Cid")
	if err := h.orders.Move(t.Context(), h.sale, o, orders.Moving{Key: "m", Tickets: []seats.ID{o.Tickets[0].ID}, To: []int{90}}, nil); err != nil {
		t.Fatal(err)
	}
	moved := h.find(t, o.Code)
	names := map[int]string{}
	for _, one := range moved.Tickets {
		names[one.Idx] = moved.NameOn(one)
	}
	if !maps.Equal(names, map[int]string{90: "Bea", o.Tickets[1].Idx: "Cid"}) {
		t.Errorf("after the move: %v", names)
	}
}

func TestTicketNames_FriendWhoAcceptsHasTheirNameOnTheTicket(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{TicketNames: seats.NamesRequired})
	o := h.named(t, "Bea", "Cid")
	if err := h.orders.Offer(t.Context(), o, "o", o.Tickets[0].ID, ""); err != nil {
		t.Fatal(err)
	}
	offered := h.find(t, o.Code)
	if got := namesOn(offered); !slices.Equal(got, []string{"Bea", "Cid"}) {
		t.Errorf("before it is accepted: %q", got)
	}
	code, err := h.orders.Accept(t.Context(), offered.Tickets[0].Offer.Code, orders.Acceptance{Key: "a", Name: "Dan", Email: "dan@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	after := h.find(t, o.Code)
	if got := namesOn(after); !slices.Equal(got, []string{"Dan", "Cid"}) {
		t.Errorf("the buyer sees %q", got)
	}
	received, err := h.orders.ReceivedTicket(t.Context(), code)
	if err != nil || !slices.Equal(namesOn(received), []string{"Dan"}) {
		t.Errorf("the friend sees %q, %v", namesOn(received), err)
	}
	if v, err := h.orders.Scan(t.Context(), h.door(t), orders.Scan{Key: "s", Code: received.Tickets[0].Code}); err != nil || v.Name != "Dan" {
		t.Errorf("the door says %q, %v", v.Name, err)
	}
	id := after.Tickets[0].ID.String()
	wantConflict(t, h.orders.ChangeDetails(t.Context(), h.sale.Event, after, "d", orders.Details{Name: after.Name, Names: map[string]string{id: "Eva"}}), orders.CodeSent)
}
