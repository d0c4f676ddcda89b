package webhooks_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/webhooks"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// fixture is an event of Ann's team and its hooks.
type fixture struct {
	db     *pgxpool.Pool
	sale   *seats.Sale
	orders *orders.Orders
	desk   *organizers.Desk
	hooks  *webhooks.Hooks
	ann    organizers.Member
}

func open(t *testing.T) *fixture {
	t.Helper()
	h := &fixture{db: seatstest.DB(t)}
	theatre, ok := plan.Named("theatre")
	if !ok {
		t.Fatal("there is no plan theatre")
	}
	if _, err := events.Create(t.Context(), h.db, events.Settings{Name: "Evening", StartsAt: time.Unix(2e9, 0), Invoices: true}, theatre); err != nil {
		t.Fatal(err)
	}
	office := seats.NewInventory(h.db, slog.New(slog.DiscardHandler))
	run(t, office.Run)
	var err error
	if h.sale, err = office.Sale(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	h.orders = orders.New(h.db)
	h.orders.Open(office, "http://localhost")
	h.desk = organizers.New(h.db, func() {})
	h.ann = organizers.Member{Team: h.sale.Event.Team, Name: "Ann", Role: organizers.Owner}
	h.scan(t, &h.ann.Organizer, `INSERT INTO organizer (email, name) VALUES ('ann@example.org', 'Ann') RETURNING id`)
	h.exec(t, `INSERT INTO member (team_id, organizer_id, role) VALUES ($1, $2, 'owner')`, h.ann.Team, h.ann.Organizer)
	h.hooks = webhooks.New(h.db, h.desk, true)
	return h
}

// run keeps a part going until the test ends.
func run(t *testing.T, part func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- part(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
}

func (h *fixture) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := h.db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (h *fixture) scan(t *testing.T, to any, sql string, args ...any) {
	t.Helper()
	if err := h.db.QueryRow(t.Context(), sql, args...).Scan(to); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// hook makes one that is told of everything, or of some.
func (h *fixture) hook(t *testing.T, url string, kinds ...webhooks.Kind) (id int64, secret string) {
	t.Helper()
	if len(kinds) == 0 {
		kinds = webhooks.Kinds()
	}
	id, secret, err := h.hooks.Make(t.Context(), h.ann, url, kinds, seats.NewID().String())
	if err != nil {
		t.Fatal(err)
	}
	return id, secret
}

// sold is an order of the box office.
func (h *fixture) sold(t *testing.T, key string, idx ...int) orders.Order {
	t.Helper()
	code, err := h.orders.SellAtOffice(t.Context(), h.sale, orders.OfficeForm{Key: key, Seats: idx, Method: payments.Cash, Name: "Eve Adams", Email: "eve@example.org"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	order, err := h.orders.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	return order
}

// call is a request that a listener got.
type call struct {
	header http.Header
	body   string
}

// listener is the other side of a hook.
type listener struct {
	url string

	mu     sync.Mutex
	calls  []call
	answer func(w http.ResponseWriter, r *http.Request, n int) // n calls came before; nil: 200
}

func listen(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, n int)) *listener {
	t.Helper()
	l := &listener{answer: answer}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		l.mu.Lock()
		n := len(l.calls)
		l.calls = append(l.calls, call{r.Header.Clone(), string(body)})
		l.mu.Unlock()
		if l.answer != nil {
			l.answer(w, r, n)
		}
	}))
	t.Cleanup(server.Close)
	l.url = server.URL + "/told"
	return l
}

func (l *listener) got() []call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]call{}, l.calls...)
}

// until waits for something to become so.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come to this: " + what)
		}
	}
}

// sooner makes everything due that waits.
func (h *fixture) sooner(t *testing.T) {
	t.Helper()
	h.exec(t, `UPDATE hook SET rests_until = '-infinity'`)
	h.exec(t, `UPDATE notice SET next_try = clock_timestamp() WHERE sent_at IS NULL AND tries > 0`)
	h.hooks.Wake()
}

// send keeps the jobs of a node going until the test ends.
func (h *fixture) send(t *testing.T, hooks *webhooks.Hooks) {
	t.Helper()
	run(t, jobs.NewRunner(h.db, slog.New(slog.DiscardHandler), hooks.Jobs()...).Run)
}
