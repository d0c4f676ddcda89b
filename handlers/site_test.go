package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/handlers/desk"
	"github.com/usherbox/usher/handlers/shop"
	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/alerts"
	"github.com/usherbox/usher/seats/blocks"
	"github.com/usherbox/usher/seats/bookings"
	"github.com/usherbox/usher/seats/books"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/customers"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/fairness"
	"github.com/usherbox/usher/seats/giftcards"
	"github.com/usherbox/usher/seats/guests"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/letters"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/memberships"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/seats/payments/demo"
	"github.com/usherbox/usher/seats/payments/stripe"
	"github.com/usherbox/usher/seats/payouts"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/privacy"
	"github.com/usherbox/usher/seats/programme"
	"github.com/usherbox/usher/seats/publiclog"
	"github.com/usherbox/usher/seats/rehearsal"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/series"
	"github.com/usherbox/usher/seats/sessions"
	"github.com/usherbox/usher/seats/sites"
	"github.com/usherbox/usher/seats/subscriptions"
	"github.com/usherbox/usher/seats/testsale"
	"github.com/usherbox/usher/seats/till"
	"github.com/usherbox/usher/seats/turns"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/seats/webhooks"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// site is a running box office with one event in the club's plan.
type site struct {
	db         *pgxpool.Pool
	office     *seats.Inventory
	sale       *seats.Sale
	sold       *orders.Orders
	organizers *organizers.Desk
	url        string
	config     Config
	tries      int // of what changes nothing in the end; see changes
}

func newSite(t *testing.T) *site { return newSiteFor(t, events.Settings{}) }

// newSiteFor opens a box office for one event. with may set it up further before it opens.
func newSiteFor(t *testing.T, e events.Settings, with ...func(*Config)) *site {
	t.Helper()
	return newSiteIn(t, seatstest.DB(t), e, with...)
}

// noProgram stands for the program of a rehearsal, which fails.
func noProgram(ctx context.Context, _ ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "/bin/sh", "-c", "exit 1")
}

func newSiteIn(t *testing.T, db *pgxpool.Pool, e events.Settings, with ...func(*Config)) *site {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	club, ok := plan.Named("club")
	if !ok {
		t.Fatal("there is no plan club")
	}
	e.Name, e.StartsAt = "Evening", time.Unix(2e9, 0)
	if _, err := events.Create(t.Context(), db, e, club); err != nil {
		t.Fatal(err)
	}
	office := seats.NewInventory(db, log)
	office.Admission = waitingroom.Admission
	rooms := waitingroom.New(db, db.Config().ConnString(), log)
	hub := realtime.NewHub()
	ctx, cancel := context.WithCancel(context.Background())
	done, officeDone := make(chan error, 8), make(chan error, 1)
	sold := orders.New(db)
	sold.Open(office, "")
	sold.AtTill = till.QueueCardSale
	card := demo.New(db, sold.Payments.Record)
	sold.Payments.Accept(payments.Demo, seatstest.Watched(t, db, card))
	ledger := credit.New(db)
	sold.Payments.Accept(payments.Credit, seatstest.Watched(t, db, credit.Payments{Ledger: ledger}))
	config := Config{Inventory: office, Rooms: rooms, Hub: hub, Sessions: sessions.New(db, office), Orders: sold, Credit: ledger, Desk: organizers.New(db, sold.WroteMail), DemoCard: card, Log: log}
	config.Sales = sales.New(db, config.Desk)
	config.Banks = banktransfer.New(db, sold, config.Desk)
	config.Invoices = invoices.New(db, config.Desk)
	config.Books = books.New(db, config.Desk)
	config.Books.Mailed = sold.WroteMail
	config.Payouts = payouts.New(db, config.Desk, stripe.New("sk_test_1", "", "http://127.0.0.1:1")) // no server listens there
	config.Desks = desk.NewDesks(config.Sales, office, rooms, log)
	config.Limits = limit.NewEvents(db, log)
	config.Desks.Limits, config.Limits.Changed = config.Limits, config.Desks.EventChanged
	config.Hooks = webhooks.New(db, config.Desk, true)
	config.Pages = pages.New(db, config.Desk)
	config.Programme = programme.New(db)
	config.Series = series.New(db, office, config.Desk, config.Pages)
	config.Subscriptions = subscriptions.New(db, office, sold, config.Desk)
	config.Sites = sites.New(db, config.Desk, "")
	config.Logs = publiclog.New(db, config.Desk, "https://tickets.example.org")
	config.Fairness = fairness.New(db, config.Desk)
	config.Blocks = blocks.New(office, config.Desk)
	config.Guests = guests.New(db, config.Desk, sold, config.Blocks)
	config.Bookings = bookings.New(db, config.Desk, sold, config.Blocks)
	config.Bookings.MailWritten = sold.WroteMail
	config.Memberships = memberships.New(db, config.Desk)
	config.Alerts = alerts.New(db, config.Desk, sold)
	config.Alerts.Raised = sold.WroteMail
	config.Privacy = privacy.New(db, config.Desk)
	config.Customers = customers.New(db, config.Privacy.Hashes)
	config.TestSales = testsale.New(db, office, config.Desk)
	config.TestSales.Erase = config.Privacy.EraseEvent
	config.Rehearsals = rehearsal.New(db, config.Desk, noProgram, log)
	config.Privacy.Sessions = config.Sessions.Erase
	config.GiftCards = giftcards.New(db, config.Desk, sold.Payments, ledger, "")
	sold.Payments.Other = func(ctx context.Context, payment seats.ID) error {
		return errors.Join(config.GiftCards.MakeDue(ctx, payment), config.Bookings.MakeDue(ctx, payment))
	}
	config.Letters = letters.New(db, config.Desk)
	config.Waits = waitlist.New(db, office, log)
	config.Waits.Wrote = sold.WroteMail
	config.Turns = turns.New(db, rooms, log)
	config.Waits.Order = OrderOffered(sold, config.Pages)
	for _, set := range with {
		set(&config)
	}
	sold.Payments.PayoutsChanged, config.Payouts.Record = config.Payouts.MakeDue, sold.Payments.Record
	office.Changed = func(s *seats.Sale) {
		hub.Changed(s)
		config.Desks.Changed(s)
		config.Waits.Changed(s)
	}
	rooms.Changed = func(r *waitingroom.Room) {
		config.Desks.RoomChanged(r)
		config.Turns.Changed(r)
	}
	closing, endDesks := context.WithCancel(ctx)
	go func() { done <- config.Desks.Run(closing) }()
	selling, endOffice := context.WithCancel(context.WithoutCancel(ctx))
	go func() { officeDone <- office.Run(selling) }()
	for _, run := range []func(context.Context) error{hub.Run, jobs.NewRunner(db, log, append(sold.Jobs(), card.Job(), config.GiftCards.Job(), config.Bookings.OnlineJob(), config.Blocks.Job(), config.Payouts.Job(), config.TestSales.Job(), config.Turns.Jobs()[0], config.Turns.Jobs()[1])...).Run, rooms.Run, config.Waits.Run, config.Desk.Run, config.Sales.Run, config.Limits.Run} {
		go func() { done <- run(ctx) }()
	}
	server := httptest.NewServer(New(config))
	t.Cleanup(func() {
		endDesks() // feeds are requests that do not end by themselves
		server.Close()
		cancel()
		for range cap(done) {
			<-done
		}
		endOffice() // last, as in usher: the others release seats until they end
		<-officeDone
	})
	sale, err := office.Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	return &site{db: db, office: office, sale: sale, sold: sold, organizers: config.Desk, url: server.URL, config: config}
}

// bulkJobsEnd waits until the jobs of the site have written the mails of each message, and cancelled the orders of each cancelled event.
func (s *site) bulkJobsEnd(t *testing.T) {
	t.Helper()
	until(t, "all bulk jobs end", func() bool { return s.count(t, `errand WHERE ended_at IS NULL`) == 0 })
}

// person is one browser or program with its cookies.
func person(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, Timeout: 20 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// send makes a request and returns its answer with the body read.
func send(t *testing.T, who *http.Client, method, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := who.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }() // it was read to its end
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode >= 500 {
		t.Errorf("%s %s: %d %s", method, url, answer.StatusCode, text)
	}
	if err := described(description(t), r, body, answer, string(text)); err != nil {
		t.Errorf("%s %s is answered %d %.300s, which is not as openapi.yaml says: %v", method, url, answer.StatusCode, text, err)
	}
	return answer, string(text)
}

func holdOf(t *testing.T, body string) shop.HoldBody {
	t.Helper()
	var h shop.HoldAnswer
	if err := json.Unmarshal([]byte(body), &h); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return h.Hold
}

func TestAClaimIsHeldSeenExtendedAndReleased(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	who, claims := person(t), s.url+"/events/evening/claims"
	answer, body := send(t, who, "POST", claims, `{"area":"Floor","quantity":2}`, "Idempotency-Key", "k1")
	hold := holdOf(t, body)
	if answer.StatusCode != 201 || len(hold.Seats) != 2 || !hold.ExpiresAt.After(hold.Now) {
		t.Fatalf("%d %s", answer.StatusCode, body)
	}
	if _, again := send(t, who, "POST", claims, `{"area":"Floor","quantity":2}`, "Idempotency-Key", "k1"); holdOf(t, again).ID != hold.ID || len(holdOf(t, again).Seats) != 2 {
		t.Errorf("the repeat got %s, want the first answer %s", again, body)
	}
	if a, b := send(t, who, "GET", s.url+"/events/evening/hold", ""); a.StatusCode != 200 || holdOf(t, b).ID != hold.ID {
		t.Errorf("GET hold: %d %s", a.StatusCode, b)
	}
	if a, b := send(t, who, "POST", s.url+"/events/evening/hold/extension", ""); a.StatusCode != 200 || !holdOf(t, b).ExpiresAt.After(hold.ExpiresAt) {
		t.Errorf("extension: %d %s", a.StatusCode, b)
	}
	if a, b := send(t, who, "DELETE", claims+"/"+jsonNumber(hold.Idx[0]), ""); a.StatusCode != 200 || len(holdOf(t, b).Seats) != 1 {
		t.Errorf("DELETE one: %d %s", a.StatusCode, b)
	}
	if a, b := send(t, who, "DELETE", claims, ""); a.StatusCode != 204 {
		t.Errorf("DELETE all: %d %s", a.StatusCode, b)
	}
	if a, b := send(t, who, "GET", s.url+"/events/evening/hold", ""); a.StatusCode != 404 {
		t.Errorf("GET hold after release: %d %s", a.StatusCode, b)
	}
}

// Without scripts a visitor presses "Remove all" twice: both answers lead back to the page.
func TestAFormSentTwiceGivesBackOnceAndSaysSoTwice(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	s.held(t, who, 2)
	_, page := send(t, who, "GET", s.url+"/events/evening", "", "Accept", asPage)
	key := regexp.MustCompile(`name="key" value="([\w-]+-all)"`).FindStringSubmatch(page)
	if key == nil {
		t.Fatal("the form has no key")
	}
	for range 2 {
		a, body := send(t, who, "POST", s.url+"/events/evening/releases", url.Values{"key": {key[1]}}.Encode(), "Content-Type", asForm, "Accept", asPage)
		if a.StatusCode != http.StatusSeeOther {
			t.Errorf("%d %s", a.StatusCode, body)
		}
	}
	if a, body := send(t, who, "POST", s.url+"/events/evening/releases", url.Values{"key": {key[1]}, "seat": {"1"}}.Encode(), "Content-Type", asForm, "Accept", asPage); a.StatusCode != 409 || !strings.Contains(body, "This key came before") {
		t.Errorf("the key with another seat: %d", a.StatusCode)
	}
}

func jsonNumber(n int) string { b, _ := json.Marshal(n); return string(b) } // numbers always marshal

func TestVisit_LookingWritesNoRow(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	who := person(t)
	for _, path := range []string{"/events", "/events/evening", "/events/evening/seats", "/events/evening/map.bin", "/events/evening/sections/0", "/events/evening/hold"} {
		if a, _ := send(t, who, "GET", s.url+path, "", "Accept", "text/html"); a.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s set a cookie", path)
		}
	}
	var rows int
	if err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM session`).Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d sessions, %v", rows, err)
	}
}

func TestTheCookieIsTheSessionsAndNothingElse(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a, _ := send(t, person(t), "POST", s.url+"/events/evening/claims", `{"area":"Floor","quantity":1}`)
	cookie := a.Header.Get("Set-Cookie")
	for _, want := range []string{"usher=", "HttpOnly", "SameSite=Lax", "Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie %q lacks %s", cookie, want)
		}
	}
	if m := web.NewSessions(nil, true); m.Cookie.Name != "__Host-usher" || !m.Cookie.Secure {
		t.Errorf("over https the cookie is %q, secure %v", m.Cookie.Name, m.Cookie.Secure)
	}
	token, _, _ := strings.Cut(strings.TrimPrefix(cookie, "usher="), ";")
	made, secret, _ := strings.Cut(token, ".")
	var key string
	if err := s.db.QueryRow(t.Context(), `SELECT token FROM session`).Scan(&key); err != nil || strings.Contains(key, secret) || len(secret) < 26 {
		t.Errorf("the token %s stands in the table as %s (%v), which has its secret", token, key, err)
	}
	if !strings.HasPrefix(key, made) || len(made) != 8 {
		t.Errorf("the row %s of the token %s is not beside those made at its time", key, token)
	}
}

func TestAnEndedSessionIsNeverBroughtBack(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	store := sessions.New(db, nil)
	end := time.Now().Add(time.Hour)
	if err := store.Commit("token", []byte("a"), end); err != nil {
		t.Fatal(err)
	}
	slow := store.Act(t.Context())
	if _, found, err := store.FindCtx(slow, "token"); err != nil || !found {
		t.Fatal(found, err)
	}
	if err := store.Delete("token"); err != nil {
		t.Fatal(err)
	}
	if err := store.CommitCtx(slow, "token", []byte("b"), end); err != nil {
		t.Fatal(err)
	}
	if _, found, err := store.Find("token"); err != nil || found {
		t.Errorf("a request that was under way brought the session back (%v)", err)
	}
}

func TestASessionEndedOnAnotherNodeActsNoMore(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	who := person(t)
	if a, body := send(t, who, "POST", s.url+"/events/evening/claims", `{"area":"Floor","quantity":1}`); a.StatusCode != 201 {
		t.Fatal(a.StatusCode, body)
	}
	if _, err := s.db.Exec(t.Context(), `DELETE FROM session`); err != nil { // as another node's store does
		t.Fatal(err)
	}
	a, body := send(t, who, "POST", s.url+"/events/evening/claims", `{"area":"Floor","quantity":1}`)
	if a.StatusCode != 401 || !strings.Contains(body, "session_ended") {
		t.Errorf("a claim of an ended session got %d %s", a.StatusCode, body)
	}
	if a, body = send(t, who, "POST", s.url+"/events/evening/claims", `{"area":"Floor","quantity":1}`); a.StatusCode != 201 {
		t.Errorf("the next visit got %d %s, want a hold of its own", a.StatusCode, body)
	}
}

// A key names a request, not a visitor: a request without a cookie is from a new visitor.
func TestHold_IdempotencyKeyOpensNoHold(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	claim := func(who *http.Client) (*http.Response, shop.HoldBody) {
		answer, body := send(t, who, "POST", s.url+"/events/evening/claims", `{"area":"Floor","quantity":1}`, "Idempotency-Key", "1")
		if answer.StatusCode != 201 {
			t.Fatal(answer.StatusCode, body)
		}
		return answer, holdOf(t, body)
	}
	ann := person(t)
	first, hers := claim(ann)
	lost, other := claim(person(t))
	if other.ID == hers.ID || other.Idx[0] == hers.Idx[0] || lost.Header.Get("Set-Cookie") == first.Header.Get("Set-Cookie") {
		t.Errorf("a visitor without a cookie got %+v for the key of %+v", other, hers)
	}
	if _, again := claim(ann); again.ID != hers.ID {
		t.Errorf("the repeat got %+v, want %+v", again, hers)
	}
}

func TestARefusedClaimLeavesNoSession(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a, body := send(t, person(t), "POST", s.url+"/events/evening/claims", `{"area":"Floor","quantity":7}`)
	var rows int
	err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM session`).Scan(&rows)
	if a.StatusCode != 409 || a.Header.Get("Set-Cookie") != "" || rows != 0 || err != nil {
		t.Errorf("got %d %s with cookie %q and %d session rows, %v", a.StatusCode, body, a.Header.Get("Set-Cookie"), rows, err)
	}
}

func (s *site) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := s.db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

func TestBest_InJSONWithoutCategoryOffersOthersWhenAskedAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := person(t)
	best := func(key string) shop.HoldBody {
		t.Helper()
		a, body := send(t, ann, "POST", s.url+"/events/evening/claims", `{"best": 2}`, "Idempotency-Key", key)
		if a.StatusCode != http.StatusCreated {
			t.Fatalf("%d %s", a.StatusCode, body)
		}
		return holdOf(t, body)
	}
	first := best("one")
	second := best("two")
	if len(first.Idx) != 2 || len(second.Idx) != 2 || first.ID != second.ID {
		t.Errorf("asked twice for two seats it holds %v in %s, then %v in %s", first.Seats, first.ID, second.Seats, second.ID)
	}
	for _, idx := range second.Idx {
		if slices.Contains(first.Idx, idx) {
			t.Errorf("asking again offers seat %d of %v once more", idx, first.Idx)
		}
	}
	if again := best("two"); !slices.Equal(again.Idx, second.Idx) {
		t.Errorf("the repeat with its key got %v, want %v", again.Seats, second.Seats)
	}
	if n := s.count(t, `seat_state WHERE state = 1 /* held */`); n != 2 {
		t.Errorf("%d seats are held, want 2", n)
	}
}
