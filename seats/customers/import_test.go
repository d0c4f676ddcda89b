package customers_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/customers"
	"github.com/usherbox/usher/seats/lists"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
)

func (h *fixture) desk() *organizers.Desk { return organizers.New(h.db, func() {}) }

func key() string { return seats.NewID().String() }

func (h *fixture) imports(t *testing.T, lines ...string) (customers.Imported, error) {
	t.Helper()
	list, err := customers.Read(strings.Join(lines, "\n"))
	if err != nil {
		return customers.Imported{}, err
	}
	return h.all.Import(t.Context(), h.desk(), h.ann, key(), list)
}

// imported imports a list that is right.
func (h *fixture) imported(t *testing.T, lines ...string) customers.Imported {
	t.Helper()
	done, err := h.imports(t, lines...)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// record is the record of an address.
func (h *fixture) record(t *testing.T, email string) customers.Record {
	t.Helper()
	id, err := h.all.ByEmail(t.Context(), h.ann, email)
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.all.Record(t.Context(), h.ann, id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tables is all that the database has about customers of lists, without when they were listed.
func (h *fixture) tables(t *testing.T) (rows string) {
	t.Helper()
	if err := h.db.QueryRow(t.Context(), `
		SELECT coalesce((SELECT string_agg(concat_ws(' ', id, email, name, phone, language, agreed_on, agreed_by, imported_at), E'\n' ORDER BY email) FROM customer), '')
		    || coalesce((SELECT string_agg(n::text, E'\n' ORDER BY email) FROM customer_note n), '')`).Scan(&rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestImport_ReadsColumnsByTheirNames(t *testing.T) {
	t.Parallel()
	h := open(t)
	done := h.imported(t, "\ufeffTags;Last_Name;First name;E-Mail;Phone;Language;Note;Consent;Consent source;",
		`"Member, press";Ørsted;Zoe;ZOE@example.org;+49 89 123;de-at;"likes the aisle`, `and the front";31.1.2020;Form at the door`,
		";;;max@example.org;;;;;;", ";;;;;;;;;")
	if done != (customers.Imported{Added: 2}) {
		t.Errorf("the import did %+v", done)
	}
	r := h.record(t, "zoe@example.org")
	if r.Name != "Zoe Ørsted" || r.Orders != 0 || len(r.Imported) != 1 || r.Note.Text != "likes the aisle\nand the front" || !slices.Equal(r.Note.Tags, []string{"member", "press"}) {
		t.Fatalf("the record is %+v", r)
	}
	if c := r.Imported[0]; c.Phone != "+49 89 123" || c.Language != "de-AT" || c.AgreedOn.Format("2006-01-02") != "2020-01-31" || c.AgreedBy != "Form at the door" || c.By != "Ann" {
		t.Errorf("the list had %+v", c)
	}
	for prefix, want := range map[string]string{"zoe": "zoe@example.org", "Zoe O": "zoe@example.org", "max": "max@example.org", "ørs": "zoe@example.org"} {
		if list, _, err := h.all.Find(t.Context(), h.ann, prefix, customers.Rows); err != nil || emails(list) != want {
			t.Errorf("%q finds %q, %v", prefix, emails(list), err)
		}
	}
	if list, err := h.all.Tagged(t.Context(), h.ann, "press"); err != nil || emails(list) != "zoe@example.org" {
		t.Errorf("with the tag there are %q, %v", emails(list), err)
	}
}

func TestImport_NamesEachWrongLineAndStoresNothing(t *testing.T) {
	t.Parallel()
	h := open(t)
	for list, want := range map[string][]string{
		"":                                  {"The list is empty."},
		"email\n":                           {"The list is empty."},
		"name\nZoe":                         {"No column is named “email”."},
		"email,shoe size\na@example.org,42": {"no column “shoe size”"},
		"email,E-Mail\na@example.org,":      {"Two columns are named “email”."},
		"email,consent,phone,language,consent source\nx,,,,\na@example.org,soon,,,\nb@example.org,,many,,\nc@example.org,,,,\nd@example.org,,,klingon1234,\nC@example.org,,,,\ne@example.org,,,,Form\nf@example.org,,,,,more": {
			"Line 2: “x” is not an email address.", "Line 3: “soon” is not a day", "Line 4: “many” is not a phone number.", "Line 6: “klingon1234” is not a language", "Line 7: c@example.org is on line 5 already.",
			"Line 8: The source of a consent needs its day.", "Line 9: It has a field below no name of a column.", "Nothing was imported.",
		},
		"email,name\na@example.org,\"Zoe\nb@example.org,Bob":                                        {"Line 2: Its quotation marks do not match."},
		"email,consent\na@example.org,2199-01-01\nb@example.org,2020-01-01":                         {"Line 2: The day of the consent, 2199-01-01, is yet to come."},
		"email,tags\na@example.org,\"" + strings.Join(strings.Split("abcdefghijk", ""), ",") + "\"": {"Line 2: A note has at most 2,000 characters, and a customer 10 tags"},
		"email\n" + strings.Repeat("a@example.org\n", lists.MostLines+1):                            {"Import at most 5,000 customers at once."},
	} {
		_, err := h.imports(t, strings.Split(list, "\n")...)
		var invalid *seats.ValidationError
		if !errors.As(err, &invalid) {
			t.Errorf("%.60q: %v", list, err)
			continue
		}
		for _, words := range want {
			if !strings.Contains(invalid.Error(), words) {
				t.Errorf("%.60q is refused with %q, without %q", list, invalid.Error(), words)
			}
		}
	}
	// A note that is too long only with the one that is there is found when the list is stored: after the rows of lines before it.
	h.imported(t, "email,note", "a@example.org,"+strings.Repeat("x", customers.MostNote))
	before := h.tables(t)
	if _, err := h.imports(t, "email,note", "b@example.org,", "a@example.org,more"); err == nil || !strings.Contains(err.Error(), "Line 3: With what is noted already") {
		t.Errorf("a note that grows too long: %v", err)
	}
	if after := h.tables(t); after != before {
		t.Errorf("a refused list left %s", after)
	}
}

func TestImport_OfTheSameListChangesNothing(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.sold(t, "Zoe", "zoe@example.org")
	list := []string{"email,name,phone,tags,note,consent,consent source", "zoe@example.org,Zoe Example,1 23,member,likes the aisle,2020-01-31,Form", "max@example.org,,,,,,"}
	if done := h.imported(t, list...); done != (customers.Imported{Added: 2}) {
		t.Errorf("the first time: %+v", done)
	}
	before := h.tables(t)
	if done := h.imported(t, list...); done != (customers.Imported{Same: 2}) || h.tables(t) != before {
		t.Errorf("the second time: %+v,\n%s\ninstead of\n%s", done, h.tables(t), before)
	}
	// Empty fields and earlier consents change nothing either.
	if done := h.imported(t, "email,name,consent", "zoe@example.org,,2019-01-01"); done != (customers.Imported{Same: 1}) || h.tables(t) != before {
		t.Errorf("an empty line: %+v", done)
	}
	if done := h.imported(t, "email,tags,consent", "zoe@example.org,press,2020-02-01", "max@example.org,,2020-02-01"); done != (customers.Imported{Changed: 2}) {
		t.Errorf("a list with more: %+v", done)
	}
	if r := h.record(t, "zoe@example.org"); !slices.Equal(r.Note.Tags, []string{"member", "press"}) || r.Orders != 1 || r.Imported[0].Name != "Zoe Example" || r.Imported[0].AgreedOn.Day() != 1 {
		t.Errorf("the record is %+v", r)
	}
}

func TestImport_GivesNoConsentOverAWithdrawal(t *testing.T) {
	t.Parallel()
	h := open(t)
	zoe, again := h.sold(t, "Zoe", "zoe@example.org"), h.sold(t, "Zoe", "zoe@work.example")
	if _, err := h.db.Exec(t.Context(), `INSERT INTO unsubscribed (team_id, email) VALUES ($1, sha256('zoe@example.org'))`, h.ann.Team); err != nil {
		t.Fatal(err)
	}
	h.merges(t, zoe.ID, again.ID)
	done := h.imported(t, "email,consent,consent source", "Zoe@example.org,2020-01-31,Form", "zoe@work.example,2020-01-31,Form", "max@example.org,2020-01-31,Form")
	if done != (customers.Imported{Added: 3, Withheld: 2}) {
		t.Errorf("the import did %+v", done)
	}
	var agreed string
	if err := h.db.QueryRow(t.Context(), `SELECT string_agg(email, ' ') FROM customer WHERE agreed_on IS NOT NULL OR agreed_by <> ''`).Scan(&agreed); err != nil || agreed != "max@example.org" {
		t.Errorf("those who agreed are %s, %v", agreed, err)
	}
	var left int
	if err := h.db.QueryRow(t.Context(), `SELECT count(*) FROM unsubscribed`).Scan(&left); err != nil || left != 1 {
		t.Errorf("%d addresses are unsubscribed, %v", left, err)
	}
	// Who unsubscribes afterwards has agreed no more.
	if _, err := h.db.Exec(t.Context(), `INSERT INTO unsubscribed (team_id, email) VALUES ($1, sha256('max@example.org'))`, h.ann.Team); err != nil {
		t.Fatal(err)
	}
	if r := h.record(t, "max@example.org"); len(r.Unsubscribed) != 1 || !r.Imported[0].AgreedOn.IsZero() || r.Imported[0].AgreedBy != "" {
		t.Errorf("the record is %+v", r)
	}
}

// An erasure also deletes that the person unsubscribed, so what they agreed to before is over with it.
func TestImport_GivesNoConsentOfBeforeAnErasure(t *testing.T) {
	t.Parallel()
	h := open(t)
	var other int64
	if err := h.db.QueryRow(t.Context(), `INSERT INTO team (name) VALUES ('Other') RETURNING id`).Scan(&other); err != nil {
		t.Fatal(err)
	}
	if _, err := h.db.Exec(t.Context(), `
		INSERT INTO erasure (team_id, person, complete, orders, at)
		VALUES ($1, sha256('zoe@example.org'), true, 1, '2020-01-15T12:00Z'), ($1, sha256('zoe@example.org'), true, 0, '2020-01-31T12:00Z'), ($2, sha256('max@example.org'), true, 0, '2020-02-29T12:00Z')`, h.ann.Team, other); err != nil {
		t.Fatal(err)
	}
	agreed := func(want string) {
		t.Helper()
		var agreed string
		if err := h.db.QueryRow(t.Context(), `SELECT coalesce(string_agg(concat_ws(' ', email, agreed_on, agreed_by), ', ' ORDER BY email), '') FROM customer WHERE agreed_on IS NOT NULL OR agreed_by <> ''`).Scan(&agreed); err != nil || agreed != want {
			t.Errorf("those who agreed are %q, %v, instead of %q", agreed, err, want)
		}
	}
	list := []string{"email,consent,consent source", "zoe@example.org,2020-01-31,Form", "max@example.org,2020-01-31,Form"}
	if done := h.imported(t, list...); done != (customers.Imported{Added: 2, Withheld: 1}) {
		t.Errorf("the import did %+v", done)
	}
	agreed("max@example.org 2020-01-31 Form")
	if done := h.imported(t, list...); done != (customers.Imported{Same: 2, Withheld: 1}) {
		t.Errorf("the second import did %+v", done)
	}
	// Another address of the person has no consent of then either.
	h.imported(t, "email", "zoe@work.example")
	h.merges(t, h.record(t, "zoe@example.org").ID, h.record(t, "zoe@work.example").ID)
	if done := h.imported(t, "email,consent", "zoe@work.example,2020-01-01"); done != (customers.Imported{Same: 1, Withheld: 1}) {
		t.Errorf("the import of another address did %+v", done)
	}
	agreed("max@example.org 2020-01-31 Form")
	if done := h.imported(t, "email,consent", "zoe@example.org,2020-02-02"); done != (customers.Imported{Changed: 1}) {
		t.Errorf("the import of a later consent did %+v", done)
	}
	agreed("max@example.org 2020-01-31 Form, zoe@example.org 2020-02-02 ")
}

// Another team gave the credit: a team that has only the address on a list does not see it.
func TestRecord_OfAnImportedAddressHasNoCreditOfOtherTeams(t *testing.T) {
	t.Parallel()
	h := open(t)
	zoe := h.sold(t, "Zoe", "zoe@example.org")
	if _, err := h.db.Exec(t.Context(), `INSERT INTO credit_account (kind, email, currency, balance) VALUES ('attendee', 'zoe@example.org', 'EUR', 0)`); err != nil {
		t.Fatal(err)
	}
	other := &fixture{db: h.db, all: h.all, ann: organizers.Member{Name: "Eve"}}
	if err := h.db.QueryRow(t.Context(), `INSERT INTO team (name) VALUES ('Other') RETURNING id`).Scan(&other.ann.Team); err != nil {
		t.Fatal(err)
	}
	other.imported(t, "email,name", "zoe@example.org,Zoe", "zoe@work.example,Zoe")
	other.merges(t, other.record(t, "zoe@example.org").ID, other.record(t, "zoe@work.example").ID)
	if r := other.record(t, "zoe@example.org"); len(r.Emails) != 2 || len(r.Credit) > 0 {
		t.Errorf("the team that imported the address sees %+v", r)
	}
	h.imported(t, "email,name", "zoe@work.example,Zoe")
	h.merges(t, zoe.ID, h.record(t, "zoe@work.example").ID)
	if r := h.record(t, "zoe@work.example"); len(r.Emails) != 2 || !slices.Equal(r.Credit, []customers.Sum{{"EUR", 0}}) {
		t.Errorf("the team of the order sees %+v", r)
	}
	if _, err := h.db.Exec(t.Context(), `UPDATE orders SET email = '' WHERE id = $1`, zoe.ID); err != nil {
		t.Fatal(err)
	}
	if r := h.record(t, "zoe@work.example"); len(r.Credit) > 0 {
		t.Errorf("without an order the team sees %+v", r)
	}
}

// Lists with the same persons in another order wait for each other, and none is refused.
func TestImport_TwoListsAtOnceLoseNothing(t *testing.T) {
	t.Parallel()
	h := open(t)
	var all sync.WaitGroup
	for i, tag := range []string{"member", "press", "guest", "staff"} {
		var lines []string
		for n := range 300 {
			lines = append(lines, fmt.Sprintf("person%d@example.org,%s", n, tag))
		}
		if i%2 == 1 {
			slices.Reverse(lines)
		}
		all.Go(func() {
			if _, err := h.imports(t, append([]string{"email,tags"}, lines...)...); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if r := h.record(t, "person7@example.org"); !slices.Equal(r.Note.Tags, []string{"guest", "member", "press", "staff"}) {
		t.Errorf("the tags are %v", r.Note.Tags)
	}
}

func TestCustomers_OfListsAreListedUntilTheyOrder(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.sold(t, "Bob", "bob@example.org")
	h.imported(t, "email,name", "zoe@example.org,Zoe", "bob@example.org,Robert")
	list, _, err := h.all.Latest(t.Context(), h.ann, paging.Page{Limit: customers.Rows})
	if err != nil || emails(list) != "zoe@example.org bob@example.org" || list[0].Orders != 0 || list[1].Name != "Bob" {
		t.Errorf("customers are %+v, %v", list, err)
	}
	before := list[0].ID
	order := h.sold(t, "Zoe", "ZOE@example.org")
	if list, _, err = h.all.Latest(t.Context(), h.ann, paging.Page{Limit: customers.Rows}); err != nil || emails(list) != "zoe@example.org bob@example.org" || list[0].ID != order.ID || list[0].Orders != 1 {
		t.Errorf("then customers are %+v, %v", list, err)
	}
	if r, err := h.all.Record(t.Context(), h.ann, before); err != nil || r.ID != order.ID || r.Orders != 1 {
		t.Errorf("the old address of the page leads to %+v, %v", r, err)
	}
	other := organizers.Member{}
	if err := h.db.QueryRow(t.Context(), `INSERT INTO team (name) VALUES ('Other') RETURNING id`).Scan(&other.Team); err != nil {
		t.Fatal(err)
	}
	if _, err := h.all.Record(t.Context(), other, before); !errors.Is(err, customers.ErrNone) {
		t.Errorf("another team reads: %v", err)
	}
	if list, _, err := h.all.Latest(t.Context(), other, paging.Page{Limit: customers.Rows}); err != nil || len(list) > 0 {
		t.Errorf("another team lists %+v, %v", list, err)
	}
}
