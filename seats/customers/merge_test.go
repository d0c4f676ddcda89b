package customers_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/customers"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
)

func (h *fixture) merges(t *testing.T, id seats.ID, with ...seats.ID) {
	t.Helper()
	if err := h.all.Merge(t.Context(), h.desk(), h.ann, key(), id, with); err != nil {
		t.Fatal(err)
	}
}

// money is all accounts, orders and counts of persons.
func (h *fixture) money(t *testing.T) (rows string) {
	t.Helper()
	if err := h.db.QueryRow(t.Context(), `
		SELECT concat((SELECT string_agg(a::text, E'\n' ORDER BY id) FROM credit_account a), (SELECT string_agg(o::text, E'\n' ORDER BY id) FROM orders o), (SELECT string_agg(k::text, E'\n' ORDER BY k::text) FROM purchase_key k))`).Scan(&rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestMerge_ShowsOneRecordOfBothAndChangesNoOrderOrCredit(t *testing.T) {
	t.Parallel()
	h := open(t)
	zoe, work := h.sold(t, "Zoe Example", "zoe@example.org"), h.sold(t, "Z. Example", "zoe@work.example")
	h.sold(t, "Bob", "bob@example.org")
	for _, sql := range []string{
		`INSERT INTO credit_account (kind, email, currency, balance) VALUES ('attendee', 'zoe@example.org', 'EUR', 700), ('attendee', 'zoe@work.example', 'EUR', 300), ('attendee', 'zoe@work.example', 'CHF', 5), ('attendee', 'bob@example.org', 'EUR', 11)`,
		`INSERT INTO unsubscribed (team_id, email) VALUES (first_team(), sha256('zoe@work.example'))`,
	} {
		if _, err := h.db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{h.noted(t, h.ann, zoe, customers.Note{Text: "likes the aisle", Tags: []string{"member"}}), h.noted(t, h.ann, work, customers.Note{Text: "press card", Tags: []string{"member", "press"}})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	before := h.money(t)
	h.merges(t, zoe.ID, work.ID)
	for _, id := range []seats.ID{zoe.ID, work.ID} {
		r, err := h.all.Record(t.Context(), h.ann, id)
		if err != nil || r.ID != zoe.ID || r.Orders != 2 || len(r.Purchases) != 2 || r.Email != "zoe@work.example" || !slices.Equal(r.Emails, []string{"zoe@work.example", "zoe@example.org"}) {
			t.Errorf("the record is %+v, %v", r, err)
		}
		if !slices.Equal(r.Spent, []customers.Sum{{"EUR", zoe.Total + work.Total}}) || !slices.Equal(r.Credit, []customers.Sum{{"CHF", 5}, {"EUR", 1000}}) || !slices.Equal(r.Unsubscribed, []string{"zoe@work.example"}) {
			t.Errorf("the record is %+v", r)
		}
		if r.Note.Text != "likes the aisle\npress card" || !slices.Equal(r.Note.Tags, []string{"member", "press"}) {
			t.Errorf("the note is %+v", r.Note)
		}
	}
	if list, _, err := h.all.Latest(t.Context(), h.ann, paging.Page{Limit: customers.Rows}); err != nil || emails(list) != "bob@example.org zoe@work.example" {
		t.Errorf("customers are %q, %v", emails(list), err)
	}
	for _, prefix := range []string{"zoe@ex", "zoe@work", "zoe ex", "z. ex", "zoe"} {
		if list, _, err := h.all.Find(t.Context(), h.ann, prefix, customers.Rows); err != nil || emails(list) != "zoe@work.example" {
			t.Errorf("%q finds %q, %v", prefix, emails(list), err)
		}
	}
	if list, err := h.all.Tagged(t.Context(), h.ann, "member"); err != nil || emails(list) != "zoe@work.example" {
		t.Errorf("with the tag there are %q, %v", emails(list), err)
	}
	if tags, err := h.all.Tags(t.Context(), h.ann); err != nil || !slices.Equal(tags, []customers.Tag{{"member", 1}, {"press", 1}}) {
		t.Errorf("the tags are %v, %v", tags, err)
	}
	if after := h.money(t); after != before {
		t.Errorf("after the merge there is\n%s\ninstead of\n%s", after, before)
	}
	// A note that is changed is one note from then on.
	if err := h.noted(t, h.ann, work, customers.Note{Text: "only this"}); err != nil {
		t.Fatal(err)
	}
	if r := h.record(t, "zoe@example.org"); r.Note.Text != "only this" || len(r.Note.Tags) > 0 {
		t.Errorf("the note is %+v", r.Note)
	}
}

func TestSeparate_TakesAMergeBackAndTheLogHasBoth(t *testing.T) {
	t.Parallel()
	h := open(t)
	zoe, work, home := h.sold(t, "Zoe", "zoe@example.org"), h.sold(t, "Zoe", "zoe@work.example"), h.sold(t, "Zoe", "zoe@home.example")
	h.merges(t, zoe.ID, work.ID)
	h.merges(t, home.ID, work.ID)
	if r := h.record(t, "zoe@example.org"); r.Orders != 3 {
		t.Fatalf("the record is %+v", r)
	}
	var refused *seats.Conflict
	if err := h.all.Merge(t.Context(), h.desk(), h.ann, key(), zoe.ID, []seats.ID{home.ID}); !errors.As(err, &refused) {
		t.Errorf("merging them again: %v", err)
	}
	if err := h.all.Separate(t.Context(), h.desk(), h.ann, key(), zoe.ID, "zoe@work.example"); err != nil {
		t.Fatal(err)
	}
	if a, b := h.record(t, "zoe@example.org"), h.record(t, "zoe@work.example"); a.Orders != 2 || b.Orders != 1 || !slices.Equal(b.Emails, []string{"zoe@work.example"}) {
		t.Errorf("the records are %+v and %+v", a, b)
	}
	if err := h.all.Separate(t.Context(), h.desk(), h.ann, key(), zoe.ID, "zoe@work.example"); !errors.As(err, &refused) {
		t.Errorf("separating it again: %v", err)
	}
	if err := h.all.Separate(t.Context(), h.desk(), h.ann, key(), zoe.ID, "zoe@home.example"); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := h.db.QueryRow(t.Context(), `SELECT count(*) FROM customer_address`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d merged addresses are left, %v", left, err)
	}
	rows, _ := h.db.Query(t.Context(), `SELECT concat_ws(' ', what, subject, detail) FROM deed WHERE what LIKE '%merged%' OR what LIKE '%separated%' ORDER BY id`)
	log, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(log) != 4 {
		t.Fatalf("the log is %q, %v", log, err)
	}
	for i, ids := range [][]seats.ID{{zoe.ID, work.ID}, {home.ID, work.ID}, {zoe.ID, work.ID}, {zoe.ID, home.ID}} {
		for _, id := range ids {
			if !strings.Contains(log[i], id.String()) || strings.Contains(log[i], "@") {
				t.Errorf("the log has %q, without %s", log[i], id)
			}
		}
	}
}

func TestMerge_OfAnotherTeamIsRefused(t *testing.T) {
	t.Parallel()
	h := open(t)
	zoe, bob := h.sold(t, "Zoe", "zoe@example.org"), h.sold(t, "Bob", "bob@example.org")
	other := organizers.Member{Name: "Eve"}
	if err := h.db.QueryRow(t.Context(), `INSERT INTO team (name) VALUES ('Other') RETURNING id`).Scan(&other.Team); err != nil {
		t.Fatal(err)
	}
	if err := h.all.Merge(t.Context(), h.desk(), other, key(), zoe.ID, []seats.ID{bob.ID}); !errors.Is(err, customers.ErrNone) {
		t.Errorf("another team merges: %v", err)
	}
	h.merges(t, zoe.ID, bob.ID)
	if err := h.all.Separate(t.Context(), h.desk(), other, key(), zoe.ID, "bob@example.org"); !errors.Is(err, customers.ErrNone) {
		t.Errorf("another team separates: %v", err)
	}
	if err := h.all.Merge(t.Context(), h.desk(), h.ann, key(), zoe.ID, []seats.ID{seats.NewID()}); !errors.Is(err, customers.ErrNone) {
		t.Errorf("merging with an unknown one: %v", err)
	}
	if _, err := h.all.ByEmail(t.Context(), other, "zoe@example.org"); !errors.Is(err, customers.ErrNone) {
		t.Errorf("another team finds: %v", err)
	}
	if list, _, err := h.all.Duplicates(t.Context(), other); err != nil || len(list) > 0 {
		t.Errorf("another team is shown %+v, %v", list, err)
	}
}

func TestMerge_KeepsTheLimitsOfANote(t *testing.T) {
	t.Parallel()
	h := open(t)
	zoe, work := h.sold(t, "Zoe", "zoe@example.org"), h.sold(t, "Zoe", "zoe@work.example")
	for i, o := range []orders.Order{zoe, work} {
		if err := h.noted(t, h.ann, o, customers.Note{Text: strings.Repeat(string(rune('a'+i)), customers.MostNote/2)}); err != nil {
			t.Fatal(err)
		}
	}
	var invalid *seats.ValidationError
	if err := h.all.Merge(t.Context(), h.desk(), h.ann, key(), zoe.ID, []seats.ID{work.ID}); !errors.As(err, &invalid) {
		t.Errorf("a merge whose note is too long: %v", err)
	}
	if r := h.record(t, "zoe@example.org"); len(r.Emails) != 1 {
		t.Errorf("the record is %+v", r)
	}
}

// Whatever order they come in, merges at the same time make one person of all.
func TestMerge_ManyAtOnceMakeOnePerson(t *testing.T) {
	t.Parallel()
	h := open(t)
	var all []orders.Order
	for i := range 6 {
		all = append(all, h.sold(t, "Zoe", "zoe"+string(rune('0'+i))+"@example.org"))
	}
	var wait sync.WaitGroup
	for i := range 5 {
		wait.Go(func() {
			if err := h.all.Merge(t.Context(), h.desk(), h.ann, key(), all[i].ID, []seats.ID{all[i+1].ID}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if r := h.record(t, "zoe3@example.org"); r.Orders != 6 || len(r.Emails) != 6 {
		t.Errorf("the record has %d orders of %v", r.Orders, r.Emails)
	}
}

func TestDuplicates_AreThoseWithOneNameOrMailbox(t *testing.T) {
	t.Parallel()
	h := open(t)
	zoe := h.sold(t, "Zoë Example", "zoe@example.org")
	bob, smith := h.sold(t, "Bob", "bob@example.org"), h.sold(t, "B. Smith", "bob+opera@example.org")
	if _, err := h.db.Exec(t.Context(), `UPDATE orders SET keys = ARRAY[$1::uuid] WHERE id IN ($2, $3)`, seats.NewID(), bob.ID, smith.ID); err != nil { // as orders of the website have them
		t.Fatal(err)
	}
	h.sold(t, "zoe  example", "zoe@example.org")
	h.imported(t, "email,name", "z@work.example,ZOE EXAMPLE", "kim@example.org,Kim")
	read := func() (found []string) {
		list, more, err := h.all.Duplicates(t.Context(), h.ann)
		if err != nil || more {
			t.Fatalf("the duplicates are %+v, %v, %v", list, more, err)
		}
		for _, g := range list {
			found = append(found, string(g.Why)+" "+emails(g.List))
		}
		return found
	}
	if found := read(); !slices.Equal(found, []string{"key bob+opera@example.org bob@example.org", "name z@work.example zoe@example.org"}) {
		t.Errorf("the duplicates are %q", found)
	}
	h.merges(t, zoe.ID, h.record(t, "z@work.example").ID)
	if found := read(); !slices.Equal(found, []string{"key bob+opera@example.org bob@example.org"}) {
		t.Errorf("after the merge the duplicates are %q", found)
	}
}

func TestErase_LeavesNoAddressOfAPersonAndThoseOfOthers(t *testing.T) {
	t.Parallel()
	h := open(t)
	zoe, work := h.sold(t, "Zoe", "zoe@example.org"), h.sold(t, "Zoe", "zoe@work.example")
	h.sold(t, "Bob", "bob@example.org")
	h.imported(t, "email,note", "zoe@example.org,aisle", "zoe@work.example,", "kim@example.org,front")
	h.merges(t, zoe.ID, work.ID)
	erase := func(email string) {
		if err := pgx.BeginFunc(t.Context(), h.db, func(tx pgx.Tx) error {
			if err := customers.Lock(t.Context(), tx, h.ann.Team); err != nil {
				return err
			}
			if _, err := orders.Erase(t.Context(), tx, []int64{h.sale.Event.ID}, email); err != nil {
				return err
			}
			if err := customers.ErasePerson(t.Context(), tx, h.ann.Team, email); err != nil {
				return err
			}
			return customers.Erase(t.Context(), tx, h.ann.Team)
		}); err != nil {
			t.Fatal(err)
		}
	}
	erase("zoe@work.example")
	if r := h.record(t, "zoe@example.org"); r.Note.Text != "aisle" || !slices.Equal(r.Emails, []string{"zoe@example.org"}) {
		t.Errorf("with one address erased the record is %+v", r)
	}
	erase("zoe@example.org")
	var rest string
	if err := h.db.QueryRow(t.Context(), `SELECT concat((SELECT string_agg(email, ' ') FROM customer), ' ', (SELECT string_agg(email, ' ') FROM customer_note), ' ', (SELECT string_agg(email, ' ') FROM customer_address))`).Scan(&rest); err != nil || rest != "kim@example.org kim@example.org " {
		t.Errorf("there is left %q, %v", rest, err)
	}
	// An import makes a new record of who was erased.
	if done := h.imported(t, "email,note", "zoe@example.org,new"); done != (customers.Imported{Added: 1}) {
		t.Errorf("the import did %+v", done)
	}
	if r := h.record(t, "zoe@example.org"); r.Note.Text != "new" || r.Orders != 0 {
		t.Errorf("the record is %+v", r)
	}
}

func TestEraseOld_DeletesImportedCustomersAfterTheRetentionTime(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.sold(t, "Zoe", "zoe@example.org")
	h.imported(t, "email,note", "zoe@example.org,aisle", "old@example.org,front", "new@example.org,middle")
	run := func(want string) {
		t.Helper()
		if err := customers.EraseOld(context.Background(), h.db); err != nil {
			t.Fatal(err)
		}
		var left string
		if err := h.db.QueryRow(t.Context(), `SELECT concat((SELECT string_agg(email, ' ' ORDER BY email) FROM customer), ' ', (SELECT string_agg(note, ' ' ORDER BY note) FROM customer_note))`).Scan(&left); err != nil || left != want {
			t.Errorf("there is left %q, %v, instead of %q", left, err, want)
		}
	}
	if _, err := h.db.Exec(t.Context(), `UPDATE customer SET listed_at = now() - interval '13 months' WHERE email <> 'new@example.org'`); err != nil {
		t.Fatal(err)
	}
	run("new@example.org old@example.org zoe@example.org aisle front middle")
	if _, err := h.db.Exec(t.Context(), `INSERT INTO retention (team_id, months) VALUES ($1, 12)`, h.ann.Team); err != nil {
		t.Fatal(err)
	}
	run("new@example.org zoe@example.org aisle middle")
}
