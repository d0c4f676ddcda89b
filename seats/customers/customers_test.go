package customers_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/customers"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// fixture is a team with an event.
type fixture struct {
	db     *pgxpool.Pool
	all    *customers.Customers
	sale   *seats.Sale
	orders *orders.Orders
	ann    organizers.Member
	next   int // seat
}

func open(t *testing.T) *fixture {
	t.Helper()
	h := &fixture{db: seatstest.DB(t)}
	h.all = customers.New(h.db, func(context.Context) (func(string) []byte, error) {
		return func(email string) []byte { hash := sha256.Sum256([]byte(email)); return hash[:] }, nil
	})
	p, _ := plan.Named("theatre")
	if _, err := events.Create(t.Context(), h.db, events.Settings{Name: "Evening", StartsAt: time.Date(2030, 5, 1, 19, 0, 0, 0, time.UTC)}, p); err != nil {
		t.Fatal(err)
	}
	office := seats.NewInventory(h.db, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- office.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	var err error
	if h.sale, err = office.Sale(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	h.orders = orders.New(h.db)
	h.orders.Open(office, "http://localhost")
	h.ann = organizers.Member{Team: h.sale.Event.Team, Name: "Ann"}
	return h
}

// sold is an order of a seat by a person, in cash.
func (h *fixture) sold(t *testing.T, name, email string) orders.Order {
	t.Helper()
	h.next++
	code, err := h.orders.SellAtOffice(t.Context(), h.sale, orders.OfficeForm{Key: seats.NewID().String(), Seats: []int{h.next}, Method: payments.Cash, Name: name, Email: email}, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := h.orders.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func emails(list []customers.Customer) string {
	found := []string{}
	for _, c := range list {
		found = append(found, c.Email)
	}
	return strings.Join(found, " ")
}

func TestCustomers_AreListedOnceTheLatestFirst(t *testing.T) {
	t.Parallel()
	h := open(t)
	first := h.sold(t, "Zoe Ørsted", "Zoe@example.org")
	h.sold(t, "Bob", "bob@example.org")
	h.sold(t, "", "")
	h.sold(t, "Zoe O.", "zoe@EXAMPLE.org")
	list, next, err := h.all.Latest(t.Context(), h.ann, paging.Page{Limit: customers.Rows})
	if err != nil || emails(list) != "zoe@example.org bob@example.org" || next != nil {
		t.Fatalf("customers are %+v, %v, %v", list, next, err)
	}
	if c := list[0]; c.ID != first.ID || c.Orders != 2 || c.Name != "Zoe O." {
		t.Errorf("Zoe is %+v", c)
	}
}

func TestCustomers_ArePagedWithoutAGapOrARepeat(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.sold(t, "Bob", "bob@example.org")
	h.copies(t, 3*customers.Rows-1, "person%s@example.org")
	seen := map[string]bool{}
	from := &paging.Place{}
	for pages := 1; from != nil; pages++ {
		list, next, err := h.all.Latest(t.Context(), h.ann, paging.Page{After: *from, Limit: customers.Rows})
		if err != nil || len(list) != customers.Rows || pages > 3 {
			t.Fatalf("page %d has %d, %v", pages, len(list), err)
		}
		for _, c := range list {
			seen[c.Email] = true
		}
		from = next
	}
	if len(seen) != 3*customers.Rows {
		t.Errorf("%d customers were listed", len(seen))
	}
}

// copies makes n orders like the first one, at one and the same time; %s in the address stands for a number.
func (h *fixture) copies(t *testing.T, n int, address string) {
	t.Helper()
	if _, err := h.db.Exec(t.Context(), `
		WITH first AS (SELECT * FROM orders ORDER BY created_at LIMIT 1)
		INSERT INTO orders (id, event_id, code, holder, hold_id, wish, name, email, method, currency, total, at_office, received, paid, created_at)
		SELECT gen_random_uuid(), event_id, code || '-' || n, holder, gen_random_uuid(), wish, 'Person ' || n, format($2, n), method, currency, total, true, received, paid, created_at + interval '1 second' * (n / 1000)
		  FROM first, generate_series(1, $1) n`, n, address); err != nil {
		t.Fatal(err)
	}
}

func TestFind_FindsByTheBeginningOfNameOrEmail(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.sold(t, "Zoe Ørsted", "zoe@example.org")
	h.sold(t, "Bob", "orsolya@example.org")
	h.sold(t, "Ørsted, Hans", "hc@example.org")
	h.sold(t, "100% Bob_", "percent@example.org")
	for prefix, want := range map[string]string{
		"ors": "orsolya@example.org hc@example.org zoe@example.org", "ZOE": "zoe@example.org", " zoe o": "zoe@example.org", "sted": "", "Bob": "orsolya@example.org percent@example.org",
		"100%": "percent@example.org", "%": "", "hc@example.org": "hc@example.org",
	} {
		if list, more, err := h.all.Find(t.Context(), h.ann, prefix, customers.Rows); err != nil || more || emails(list) != want {
			t.Errorf("%q finds %q, %v, %v, instead of %q", prefix, emails(list), more, err, want)
		}
	}
	h.copies(t, customers.Rows+1, "person%s@example.org")
	if list, more, err := h.all.Find(t.Context(), h.ann, "person", customers.Rows); err != nil || !more || len(list) != customers.Rows {
		t.Errorf("many are %d, %v, %v", len(list), more, err)
	}
}

func TestRecord_HasWhatTheTeamKnows(t *testing.T) {
	t.Parallel()
	h := open(t)
	first, second := h.sold(t, "Zoe", "zoe@example.org"), h.sold(t, "Zoe", "ZOE@example.org")
	h.sold(t, "Bob", "bob@example.org")
	if _, err := h.db.Exec(t.Context(), `INSERT INTO credit_account (kind, email, currency, balance) VALUES ('attendee', 'zoe@example.org', 'EUR', 0)`); err != nil {
		t.Fatal(err)
	}
	if _, err := h.db.Exec(t.Context(), `INSERT INTO unsubscribed (team_id, email) VALUES ($1, sha256('zoe@example.org'))`, h.ann.Team); err != nil {
		t.Fatal(err)
	}
	if _, err := h.db.Exec(t.Context(), `INSERT INTO entry (event_id, code, email, quantity, together, fewer, rank) VALUES ($1, 'c', 'zoe@example.org', 2, false, false, 1)`, h.sale.Event.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := h.db.Exec(t.Context(), `UPDATE event SET starts_at = now() - interval '1 hour'`); err != nil {
		t.Fatal(err)
	}
	if _, err := h.db.Exec(t.Context(), `INSERT INTO scan (event_id, ticket_id, key, place, scanned_at, admitted) VALUES ($1, $2, 'k', 'Online', now(), true)`, h.sale.Event.ID, first.Tickets[0].ID); err != nil {
		t.Fatal(err)
	}
	for _, id := range []seats.ID{first.ID, second.ID} {
		r, err := h.all.Record(t.Context(), h.ann, id)
		if err != nil {
			t.Fatal(err)
		}
		if r.ID != first.ID || r.Orders != 2 || r.Email != "zoe@example.org" || !slices.Equal(r.Spent, []customers.Sum{{"EUR", first.Total + second.Total}}) || r.Tickets != 2 || r.Came != 1 {
			t.Errorf("the record is %+v", r)
		}
		if len(r.Credit) != 1 || len(r.Unsubscribed) != 1 || len(r.Waiting) != 1 || r.Waiting[0].Quantity != 2 || len(r.Purchases) != 2 || r.Purchases[0].Code != second.Code || r.Purchases[1].Came != 1 {
			t.Errorf("the record is %+v", r)
		}
	}
}

func TestCustomers_OfAnotherTeamDoNotExist(t *testing.T) {
	t.Parallel()
	h := open(t)
	mine := h.sold(t, "Zoe", "zoe@example.org")
	var team int64
	if err := h.db.QueryRow(t.Context(), `INSERT INTO team (name) VALUES ('Other') RETURNING id`).Scan(&team); err != nil {
		t.Fatal(err)
	}
	other := organizers.Member{Team: team}
	list, _, err := h.all.Latest(t.Context(), other, paging.Page{Limit: customers.Rows})
	if err != nil || len(list) != 0 {
		t.Errorf("another team lists %+v, %v", list, err)
	}
	if list, _, err := h.all.Find(t.Context(), other, "zoe", customers.Rows); err != nil || len(list) != 0 {
		t.Errorf("another team finds %+v, %v", list, err)
	}
	for _, id := range []seats.ID{mine.ID, seats.NewID()} {
		if _, err := h.all.Record(t.Context(), other, id); !errors.Is(err, customers.ErrNone) {
			t.Errorf("another team reads: %v", err)
		}
	}
}

func TestCustomers_AreReadByIndexes(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.sold(t, "Bob", "bob@example.org")
	h.copies(t, 3_000, "person%s@example.org")
	if _, err := h.db.Exec(t.Context(), `ANALYZE orders`); err != nil {
		t.Fatal(err)
	}
	last := seats.ID{}
	for sql, args := range map[string][]any{
		customers.LatestSQL: {h.ann.Team, nil, last, 51, nil}, customers.ByEmailSQL: {h.ann.Team, "person1", 51}, customers.ByNameSQL: {h.ann.Team, "person 1", 51}, customers.ByLastNameSQL: {h.ann.Team, "person 1", 51, "1"}, customers.HeadSQL: {h.ann.Team, last},
	} {
		rows, err := h.db.Query(t.Context(), "EXPLAIN (ANALYZE) "+sql, args...)
		if err != nil {
			t.Fatal(err)
		}
		steps, line := []string{}, ""
		for rows.Next() {
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			steps = append(steps, line)
		}
		if written := strings.Join(steps, "\n"); rows.Err() != nil || strings.Contains(written, "Seq Scan on orders") {
			t.Errorf("%v\n%s", rows.Err(), written)
		}
	}
}

// A person with many orders costs a look into an index for each, and not a look at all of them.
func TestCustomers_WithManyOrdersAreReadInProportion(t *testing.T) {
	t.Parallel()
	h := open(t)
	const many = 2_000
	zoe := h.sold(t, "Zoe", "zoe@example.org")
	h.copies(t, many, "zoe@example.org")
	h.merges(t, zoe.ID, h.sold(t, "Zoe", "zoe@work.example").ID)
	h.sold(t, "Zoe", "zoe@example.org")
	lines := []string{"email"}
	for n := range 100 {
		lines = append(lines, fmt.Sprintf("person%d@example.org", n))
	}
	h.imported(t, lines...)
	if _, err := h.db.Exec(t.Context(), `ANALYZE`); err != nil {
		t.Fatal(err)
	}
	var plan []struct {
		Plan struct {
			Blocks int `json:"Shared Hit Blocks"`
		}
	}
	if err := h.db.QueryRow(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+customers.LatestSQL, h.ann.Team, nil, seats.ID{}, customers.Rows+1, nil).Scan(&plan); err != nil {
		t.Fatal(err)
	}
	if blocks := plan[0].Plan.Blocks; blocks == 0 || blocks > 30*many {
		t.Errorf("the first page looks at %d blocks for %d orders", blocks, many)
	}
	list, _, err := h.all.Latest(t.Context(), h.ann, paging.Page{Limit: 2 * 100})
	at := slices.IndexFunc(list, func(c customers.Customer) bool { return c.Email == "zoe@example.org" })
	if err != nil || len(list) != 101 || at < 0 || list[at].Orders != many+3 {
		t.Errorf("%d customers are listed, Zoe in place %d of %+v, %v", len(list), at, list, err)
	}
}

// noted writes a note about the customer of an order.
func (h *fixture) noted(t *testing.T, m organizers.Member, o orders.Order, n customers.Note) error {
	t.Helper()
	return h.all.SetNote(t.Context(), organizers.New(h.db, func() {}), m, seats.NewID().String(), o.ID, n)
}

// A trigger looks for the record of each line of a list, and the first look of a program for that of each order.
func TestChanged_CustomersAreNotedInProportion(t *testing.T) {
	t.Parallel()
	h := open(t)
	zoe := h.sold(t, "Zoe", "zoe@example.org")
	h.copies(t, 2_000, "zoe@example.org")
	h.merges(t, zoe.ID, h.sold(t, "Zoe", "zoe@work.example").ID)
	if _, err := h.db.Exec(t.Context(), `VACUUM ANALYZE`); err != nil { // the database may have had orders of another test
		t.Fatal(err)
	}
	var plan []struct {
		Plan struct {
			Blocks int `json:"Shared Hit Blocks"`
		}
	}
	db, err := h.db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Release()
	for range 2 { // a connection that never did it reads a thousand blocks of the catalog
		if err := db.QueryRow(t.Context(), `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT customer_of($1, 'zoe@example.org')`, h.ann.Team).Scan(&plan); err != nil {
			t.Fatal(err)
		}
	}
	if blocks := plan[0].Plan.Blocks; blocks == 0 || blocks > 500 {
		t.Errorf("the record of an address takes %d blocks", blocks)
	}
}

func TestNote_IsOfTheTeamAndFoundByItsTags(t *testing.T) {
	t.Parallel()
	h := open(t)
	zoe, again, bob := h.sold(t, "Zoe", "zoe@example.org"), h.sold(t, "Zoe", "ZOE@example.org"), h.sold(t, "Bob", "bob@example.org")
	for _, err := range []error{
		h.noted(t, h.ann, zoe, customers.Note{Text: " likes the aisle\r\nand the front ", Tags: customers.ReadTags("Press,  member , press\nMEMBER")}),
		h.noted(t, h.ann, bob, customers.Note{Tags: []string{"member"}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := h.all.Record(t.Context(), h.ann, again.ID)
	if err != nil || r.Note.Text != "likes the aisle\nand the front" || !slices.Equal(r.Note.Tags, []string{"member", "press"}) || r.Note.ChangedBy != "Ann" || r.Note.ChangedAt.IsZero() {
		t.Errorf("the note is %+v, %v", r.Note, err)
	}
	tags, err := h.all.Tags(t.Context(), h.ann)
	if err != nil || !slices.Equal(tags, []customers.Tag{{"member", 2}, {"press", 1}}) {
		t.Errorf("the tags are %v, %v", tags, err)
	}
	for tag, want := range map[string]string{"member": "bob@example.org zoe@example.org", "press": "zoe@example.org", "none": ""} {
		if list, err := h.all.Tagged(t.Context(), h.ann, tag); err != nil || emails(list) != want {
			t.Errorf("with %s there are %q, %v", tag, emails(list), err)
		}
	}
	var invalid *seats.ValidationError
	for _, n := range []customers.Note{{Text: strings.Repeat("ä", customers.MostNote+1)}, {Tags: strings.Fields("a b c d e f g h i j k")}, {Tags: []string{strings.Repeat("x", 41)}}} {
		if err := h.noted(t, h.ann, zoe, n); !errors.As(err, &invalid) {
			t.Errorf("a note of %d characters and %d tags: %v", len(n.Text), len(n.Tags), err)
		}
	}
	other := organizers.Member{Name: "Eve"}
	if err := h.db.QueryRow(t.Context(), `INSERT INTO team (name) VALUES ('Other') RETURNING id`).Scan(&other.Team); err != nil {
		t.Fatal(err)
	}
	if err := h.noted(t, other, zoe, customers.Note{Text: "theirs"}); !errors.Is(err, customers.ErrNone) {
		t.Errorf("another team notes: %v", err)
	}
	if tags, err := h.all.Tags(t.Context(), other); err != nil || len(tags) > 0 {
		t.Errorf("another team reads %v, %v", tags, err)
	}
	if err := h.noted(t, h.ann, bob, customers.Note{}); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := h.db.QueryRow(t.Context(), `SELECT count(*) FROM customer_note`).Scan(&left); err != nil || left != 1 {
		t.Errorf("%d notes are left, %v", left, err)
	}
}

func TestNote_GoesWithThePersonsOrders(t *testing.T) {
	t.Parallel()
	h := open(t)
	zoe, bob := h.sold(t, "Zoe", "zoe@example.org"), h.sold(t, "Bob", "bob@example.org")
	for _, o := range []orders.Order{zoe, bob} {
		if err := h.noted(t, h.ann, o, customers.Note{Text: "likes the aisle"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := pgx.BeginFunc(t.Context(), h.db, func(tx pgx.Tx) error {
		if list, err := customers.Export(t.Context(), tx, h.ann.Team, "bob@example.org"); err != nil || !strings.Contains(string(list), "likes the aisle") {
			t.Errorf("the export is %s, %v", list, err)
		}
		if _, err := orders.Erase(t.Context(), tx, []int64{h.sale.Event.ID}, "zoe@example.org"); err != nil {
			return err
		}
		return customers.Erase(t.Context(), tx, h.ann.Team)
	}); err != nil {
		t.Fatal(err)
	}
	var left string
	if err := h.db.QueryRow(t.Context(), `SELECT string_agg(email, ' ') FROM customer_note`).Scan(&left); err != nil || left != "bob@example.org" {
		t.Errorf("notes are left of %s, %v", left, err)
	}
}
