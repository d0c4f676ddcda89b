package memberships_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/lists"
	"github.com/usherbox/usher/seats/memberships"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// fixture is a team with an event and one kind of membership, and another team.
type fixture struct {
	db      *pgxpool.Pool
	office  *seats.Inventory
	all     *memberships.Memberships
	ann     organizers.Member
	other   organizers.Member
	friends int64
}

func open(t *testing.T) *fixture {
	t.Helper()
	h := &fixture{db: seatstest.DB(t), ann: organizers.Member{Name: "Ann"}, other: organizers.Member{Name: "Eve"}}
	p, _ := plan.Named("theatre")
	if _, err := events.Create(t.Context(), h.db, events.Settings{Name: "Evening", StartsAt: time.Date(2080, 5, 1, 19, 0, 0, 0, time.UTC)}, p); err != nil {
		t.Fatal(err)
	}
	h.office = seats.NewInventory(h.db, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.office.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	if err := h.db.QueryRow(t.Context(), `SELECT first_team()`).Scan(&h.ann.Team); err != nil {
		t.Fatal(err)
	}
	if err := h.db.QueryRow(t.Context(), `INSERT INTO team (name) VALUES ('Other') RETURNING id`).Scan(&h.other.Team); err != nil {
		t.Fatal(err)
	}
	h.all = memberships.New(h.db, organizers.New(h.db, func() {}))
	h.friends = h.kind(t, h.ann, "Friends")
	return h
}

// kind adds a kind of membership.
func (h *fixture) kind(t *testing.T, m organizers.Member, name string) (id int64) {
	t.Helper()
	if err := h.all.SetKind(t.Context(), m, key(), memberships.Kind{Name: name, Currency: "EUR", Price: 4500, Months: 12}); err != nil {
		t.Fatal(err)
	}
	if err := h.db.QueryRow(t.Context(), `SELECT id FROM membership_kind WHERE team_id = $1 AND name = $2`, m.Team, name).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

func key() string { return seats.NewID().String() }

func (h *fixture) imports(t *testing.T, lines ...string) (int, error) {
	t.Helper()
	list, err := memberships.Read(strings.Join(lines, "\n"))
	if err != nil {
		return 0, err
	}
	return h.all.Import(t.Context(), h.ann, key(), h.friends, list)
}

func (h *fixture) list(t *testing.T, m organizers.Member, f memberships.Filter) []memberships.Membership {
	t.Helper()
	list, _, err := h.all.List(t.Context(), m, f, paging.Page{Limit: memberships.Rows})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func (h *fixture) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := h.db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

// coded makes a code for the presale of each member, and returns what it unlocks while it is good.
func (h *fixture) coded(t *testing.T) map[string]*seats.Access {
	t.Helper()
	var event int64
	if err := h.db.QueryRow(t.Context(), `SELECT id FROM event`).Scan(&event); err != nil {
		t.Fatal(err)
	}
	to, err := h.all.Recipients(t.Context(), h.ann, h.friends, event)
	if err != nil {
		t.Fatal(err)
	}
	var codes, emails []string
	var members []seats.ID
	for _, one := range to {
		codes, emails, members = append(codes, pricing.NewCode()), append(emails, one.Email), append(members, one.Membership)
	}
	if err := events.AddCodes(t.Context(), h.office, []events.CodesIn{{Slug: "evening", Terms: pricing.Code{Name: "Friends", Presale: true}}}, codes, pricing.Mailing{Emails: emails, Members: members}, nil, nil); err != nil {
		t.Fatal(err)
	}
	found := map[string]*seats.Access{}
	for i, code := range codes {
		c := h.code(t, event, code)
		if c.Members != "Friends" {
			t.Errorf("the code is for members of %q", c.Members)
		}
		if found[emails[i]], err = pricing.AccessOf(t.Context(), h.db, event, []pricing.Code{c}); err != nil || found[emails[i]] == nil {
			t.Fatalf("the code of %s is %s, %v", emails[i], c.State, err)
		}
	}
	return found
}

func (h *fixture) code(t *testing.T, event int64, code string) pricing.Code {
	t.Helper()
	c, err := pricing.FindCode(t.Context(), h.db, event, code)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// claims claims a seat before the event is on sale, with what a code unlocked when it was typed.
func (h *fixture) claims(t *testing.T, seat int, access *seats.Access) error {
	t.Helper()
	s, err := h.office.Sale(t.Context(), "evening")
	if err == nil {
		err = s.CatchUp(t.Context())
	}
	if err == nil {
		s, err = h.office.Sale(t.Context(), "evening")
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{s.Plan.Label(seat)}, Access: access})
	return err
}

// scheduled has the event go on sale later.
func (h *fixture) scheduled(t *testing.T) {
	t.Helper()
	for _, to := range []events.Change{{Status: seats.Paused, Reason: "x"}, {Status: seats.Scheduled, OpensAt: time.Now().Add(time.Hour)}} {
		if _, err := events.SetStatus(t.Context(), h.office, "evening", to, nil); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMemberships_OneThatIsOverOpensNoPresale(t *testing.T) {
	t.Parallel()
	h := open(t)
	if n, err := h.imports(t, "ann@example.org,Ann", "bob@example.org,Bob", "cleo@example.org,Cleo", "dora@example.org,Dora", "gone@example.org,Gone,2020-01-01,2020-12-31", "next@example.org,Next,2070-01-01"); err != nil || n != 6 {
		t.Fatal(n, err)
	}
	access := h.coded(t)
	if len(access) != 4 || access["gone@example.org"] != nil || access["next@example.org"] != nil {
		t.Errorf("codes are for %v", access)
	}
	h.scheduled(t)
	var refusal *seats.Conflict
	if err := h.claims(t, 0, nil); !errors.As(err, &refusal) || refusal.Code != seats.CodeShut {
		t.Errorf("without a code: %v", err)
	}
	if err := h.claims(t, 0, access["ann@example.org"]); err != nil {
		t.Errorf("a member is refused: %v", err)
	}
	for _, m := range h.list(t, h.ann, memberships.Filter{Words: "bob@"}) {
		if err := h.all.End(t.Context(), h.ann, key(), m.ID); err != nil {
			t.Fatal(err)
		}
	}
	h.exec(t, `UPDATE membership SET from_on = '2020-01-01', until_on = (clock_timestamp() AT TIME ZONE 'UTC')::date - 1 WHERE email = 'cleo@example.org'`)
	if err := pgx.BeginFunc(t.Context(), h.db, func(tx pgx.Tx) error { return memberships.Erase(t.Context(), tx, h.ann.Team, "dora@example.org") }); err != nil {
		t.Fatal(err)
	}
	for i, email := range []string{"bob@example.org", "cleo@example.org", "dora@example.org"} {
		if err := h.claims(t, 10+i, access[email]); !errors.As(err, &refusal) || refusal.Code != seats.CodeShut {
			t.Errorf("the code of %s, a member no longer: %v", email, err)
		}
	}
	var over int
	rows, _ := h.db.Query(t.Context(), `SELECT event_id, code FROM code`)
	type one struct {
		Event int64
		Code  string
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[one])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if h.code(t, c.Event, c.Code).State == pricing.CodeOver {
			over++
		}
	}
	if over != 3 {
		t.Errorf("%d codes are over", over)
	}
	if n, err := h.imports(t, "cleo@example.org,Cleo"); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if err := h.claims(t, 11, access["cleo@example.org"]); err != nil {
		t.Errorf("with another membership of the kind: %v", err)
	}
}

func TestImport_GivesNothingTwiceAndNothingBack(t *testing.T) {
	t.Parallel()
	h := open(t)
	lines := []string{"Email;Name;From;Until;Card", "Ann@Example.org;Ann;1.1.2040;31.12.2040;F-1", `bob@example.org;"Bob; the elder";2040-01-01`, "", "cleo@example.org", "cleo@example.org"}
	if n, err := h.imports(t, lines...); err != nil || n != 3 {
		t.Fatalf("%d, %v", n, err)
	}
	list := h.list(t, h.ann, memberships.Filter{Show: memberships.ShowAll})
	if len(list) != 3 || list[0].Email != "cleo@example.org" {
		t.Fatalf("the list is %+v", list)
	}
	if b := h.list(t, h.ann, memberships.Filter{Words: "the eld"})[0]; b.Name != "Bob; the elder" || b.Until.Format(time.DateOnly) != "2040-12-31" || b.Price != 4500 || b.GivenBy != "Ann" {
		t.Errorf("Bob is %+v", b)
	}
	if a := h.list(t, h.ann, memberships.Filter{Words: "F-1"}); len(a) != 1 || a[0].Email != "ann@example.org" {
		t.Errorf("the card is of %+v", a)
	}
	if err := h.all.End(t.Context(), h.ann, key(), list[0].ID); err != nil {
		t.Fatal(err)
	}
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if n, err := h.imports(t, lines...); err != nil || n != 0 {
				t.Errorf("again: %d, %v", n, err)
			}
		})
	}
	both.Wait()
	if list := h.list(t, h.ann, memberships.Filter{Show: memberships.ShowAll}); len(list) != 3 {
		t.Errorf("after that there are %+v", list)
	}
	if err := h.all.Give(t.Context(), h.ann, key(), h.friends, memberships.Given{Email: "cleo@example.org"}); err != nil {
		t.Errorf("by hand, one that was ended: %v", err)
	}
}

func TestImport_OfAListWithoutDaysIsTheSameOnAnotherDay(t *testing.T) {
	t.Parallel()
	h := open(t)
	if n, err := h.imports(t, "ann@example.org", "ben@example.org"); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	h.exec(t, `UPDATE membership SET from_on = from_on - 3, until_on = until_on - 3, ended_at = CASE WHEN email = 'ann@example.org' THEN clock_timestamp() END`)
	if n, err := h.imports(t, "ann@example.org", "ben@example.org", "cleo@example.org"); n != 1 || err != nil {
		t.Errorf("three days later %d are new, %v; want 1: one was ended, and one goes on", n, err)
	}
}

func TestImport_NamesEachWrongLineAndGivesNothing(t *testing.T) {
	t.Parallel()
	h := open(t)
	_, err := h.imports(t, "ann@example.org,Ann", "bob.example.org,Bob", "cleo@example.org,Cleo,yesterday", "dora@example.org,Dora,2040-02-01,2040-01-31", `eve@example.org,"Eve`, "a@b.org,1,2040-01-01,2040-12-31,5,6")
	for _, want := range []string{"Line 2: “bob.example.org”", "Line 3: “yesterday” is not a day", "Line 4: It ends before", "Line 5: Its quotation", "Line 6: There is more", "Nothing was imported."} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
	if n, err := h.imports(t, "ann@example.org,Ann,2040-01-01"); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	_, err = h.imports(t, "new@example.org", "ann@example.org,Ann,2040-06-01", "old@example.org,Old,,2001-01-01", "new@example.org,New,2070-01-01", "new@example.org,New,2070-02-01")
	for _, want := range []string{"Line 2: ann@example.org is a member from 2040-01-01 until 2040-12-31 already.", "Line 3: It ends before", "Line 5: new@example.org is a member from 2070-01-01"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
	if list := h.list(t, h.ann, memberships.Filter{Show: memberships.ShowAll}); len(list) != 1 {
		t.Errorf("of a list with wrong lines there are %+v", list)
	}
	var invalid *seats.ValidationError
	for _, typed := range []string{"", " \n", "email,name", strings.Repeat("a@example.org\n", lists.MostLines+1)} {
		if _, err := memberships.Read(typed); !errors.As(err, &invalid) {
			t.Errorf("%.20q: %v", typed, err)
		}
	}
}

func TestGive_AsLongAsTheKindIsValid(t *testing.T) {
	t.Parallel()
	h := open(t)
	day := func(d string) time.Time { at, _ := time.Parse(time.DateOnly, d); return at }
	for from, until := range map[string]string{"2040-01-01": "2040-12-31", "2040-02-29": "2041-02-28", "2043-07-15": "2044-07-14"} {
		email := from + "@example.org"
		if err := h.all.Give(t.Context(), h.ann, key(), h.friends, memberships.Given{Email: email, From: day(from)}); err != nil {
			t.Fatal(err)
		}
		if got := h.list(t, h.ann, memberships.Filter{Words: email}); len(got) != 1 || !got[0].Until.Equal(day(until)) || got[0].State != memberships.Early {
			t.Errorf("from %s: %+v", from, got)
		}
	}
	once := key()
	for range 2 {
		if err := h.all.Give(t.Context(), h.ann, once, h.friends, memberships.Given{Email: "zoe@example.org", Name: "Zoe"}); err != nil {
			t.Fatal(err)
		}
	}
	var refusal *seats.Conflict
	for _, g := range []memberships.Given{{Email: "Zoe@example.org"}, {Email: "zoe@example.org", Until: day("2090-01-01")}} {
		if err := h.all.Give(t.Context(), h.ann, key(), h.friends, g); !errors.As(err, &refusal) {
			t.Errorf("a second one on the same day: %v", err)
		}
	}
	if kinds, err := h.all.Kinds(t.Context(), h.ann); err != nil || len(kinds) != 1 || kinds[0].Valid != 1 {
		t.Errorf("the kinds are %+v, %v", kinds, err)
	}
	if err := h.all.SetKind(t.Context(), h.ann, key(), memberships.Kind{ID: h.friends, Name: "Friends", Currency: "EUR", Price: 9900, Months: 1}); err != nil {
		t.Fatal(err)
	}
	if z := h.list(t, h.ann, memberships.Filter{Words: "zoe"})[0]; z.Price != 4500 || z.State != memberships.Valid {
		t.Errorf("after the kind changed, Zoe is %+v", z)
	}
	if err := h.all.Give(t.Context(), h.ann, key(), h.friends, memberships.Given{Email: "max@example.org", Name: "Max"}); err != nil {
		t.Fatal(err)
	}
	h.exec(t, `UPDATE membership SET until_on = (clock_timestamp() AT TIME ZONE 'UTC')::date + 10 WHERE email = 'max@example.org'`)
	if soon := h.list(t, h.ann, memberships.Filter{Show: memberships.ShowSoon}); len(soon) != 1 || soon[0].Name != "Max" || soon[0].State != memberships.Soon {
		t.Errorf("ending soon: %+v", soon)
	}
}

func TestMemberships_OfAnotherTeamAreUnreachable(t *testing.T) {
	t.Parallel()
	h := open(t)
	if _, err := h.imports(t, "ann@example.org,Ann"); err != nil {
		t.Fatal(err)
	}
	mine := h.list(t, h.ann, memberships.Filter{})[0]
	g := memberships.Given{Email: "eve@example.org"}
	for call, do := range map[string]func() error{
		"give": func() error { return h.all.Give(t.Context(), h.other, key(), h.friends, g) },
		"import": func() error {
			_, err := h.all.Import(t.Context(), h.other, key(), h.friends, []memberships.Given{g})
			return err
		},
		"end": func() error { return h.all.End(t.Context(), h.other, key(), mine.ID) },
		"change": func() error {
			return h.all.SetKind(t.Context(), h.other, key(), memberships.Kind{ID: h.friends, Name: "Theirs", Currency: "EUR", Months: 1})
		},
		"mail": func() error { _, err := h.all.Recipients(t.Context(), h.other, h.friends, 1); return err },
	} {
		if err := do(); !errors.Is(err, memberships.ErrNone) {
			t.Errorf("%s: %v", call, err)
		}
	}
	if list := h.list(t, h.other, memberships.Filter{Show: memberships.ShowAll}); len(list) > 0 {
		t.Errorf("another team lists %+v", list)
	}
	if list, err := h.all.Of(t.Context(), h.other, []string{"ann@example.org"}); err != nil || len(list) > 0 {
		t.Errorf("another team reads %+v, %v", list, err)
	}
	if kinds, err := h.all.Kinds(t.Context(), h.other); err != nil || len(kinds) > 0 {
		t.Errorf("another team has %+v, %v", kinds, err)
	}
	h.kind(t, h.other, "Friends") // a name that another team has
	if list, err := h.all.Of(t.Context(), h.ann, []string{"ann@example.org"}); err != nil || len(list) != 1 || list[0].State != memberships.Valid {
		t.Errorf("ours is %+v, %v", list, err)
	}
}

func TestMemberships_AreExportedAndErasedWithThePerson(t *testing.T) {
	t.Parallel()
	h := open(t)
	if _, err := h.imports(t, "ann@example.org,Ann,,,F-1", "bob@example.org,Bob"); err != nil {
		t.Fatal(err)
	}
	if err := pgx.BeginFunc(t.Context(), h.db, func(tx pgx.Tx) error {
		if list, err := memberships.Export(t.Context(), tx, h.ann.Team, "ann@example.org"); err != nil || !strings.Contains(string(list), `"card" : "F-1"`) || strings.Contains(string(list), "bob") {
			t.Errorf("the export is %s, %v", list, err)
		}
		return memberships.Erase(t.Context(), tx, h.ann.Team, "ann@example.org")
	}); err != nil {
		t.Fatal(err)
	}
	if list := h.list(t, h.ann, memberships.Filter{Show: memberships.ShowAll}); len(list) != 1 || list[0].Name != "Bob" {
		t.Errorf("after the erasure there are %+v", list)
	}
	var left int
	if err := h.db.QueryRow(t.Context(), `SELECT count(*) FROM membership m WHERE m::text ~* 'ann@|F-1'`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d rows have the person, %v", left, err)
	}
}
