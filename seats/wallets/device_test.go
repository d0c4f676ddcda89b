package wallets_test

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/wallets"
	"github.com/usherbox/usher/seats/wallets/wallettest"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// fixture is an order of two tickets, and the wallets of its box office.
type fixture struct {
	db      *pgxpool.Pool
	sale    *seats.Sale
	orders  *orders.Orders
	order   orders.Order
	wallets *wallets.Wallets
}

func open(t *testing.T) *fixture {
	t.Helper()
	h := &fixture{db: seatstest.DB(t)}
	theatre, ok := plan.Named("theatre")
	if !ok {
		t.Fatal("there is no plan theatre")
	}
	if _, err := events.Create(t.Context(), h.db, events.Settings{Name: "Evening", StartsAt: time.Unix(2e9, 0)}, theatre); err != nil {
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
	code, err := h.orders.SellAtOffice(t.Context(), h.sale, orders.OfficeForm{Key: "a", Seats: []int{0, 1}, Method: payments.Cash, Name: "Ann", Email: "ann@example.org"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if h.order, err = h.orders.Find(t.Context(), code); err != nil {
		t.Fatal(err)
	}
	h.wallets = wallets.New(h.db)
	_, h.wallets.Apple = apple(t)
	return h
}

// holding is whose the pass of a ticket of the buyer is.
func (h *fixture) holding(t *testing.T, i int) wallets.Holding {
	t.Helper()
	serial, err := h.wallets.SerialOf(t.Context(), h.order.Tickets[i].ID)
	if err != nil {
		t.Fatal(err)
	}
	of, err := h.wallets.Find(t.Context(), serial.String(), wallets.Token(h.order.Code, serial))
	if err != nil {
		t.Fatal(err)
	}
	return of
}

func (h *fixture) register(t *testing.T, i int, device, token string) {
	t.Helper()
	if _, err := h.wallets.Register(t.Context(), h.holding(t, i), wallets.Device{ID: device, PushToken: token}); err != nil {
		t.Fatal(err)
	}
}

// run does a job once for a key.
func (h *fixture) run(t *testing.T, name, key string) {
	t.Helper()
	list := h.wallets.Jobs()
	for _, j := range list {
		if j.Name == name {
			if _, err := j.Do(t.Context(), key); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("there is no job %s", name)
}

func (h *fixture) count(t *testing.T, where string) (n int) {
	t.Helper()
	if err := h.db.QueryRow(t.Context(), `SELECT count(*) FROM wallet_device WHERE `+where).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

const (
	notice = "notice changed passes"
	tell   = "tell phones of changed passes"
)

// pushService stands in for that of Apple.
type pushService struct {
	mu     sync.Mutex
	calls  []string
	status atomic.Int64
}

func (p *pushService) told() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.calls)
}

func listen(t *testing.T, a *wallets.Apple) *pushService {
	t.Helper()
	p := &pushService{}
	p.status.Store(http.StatusOK)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 || r.Method != http.MethodPost || r.Header.Get("apns-topic") != wallettest.PassType || len(r.TLS.PeerCertificates) == 0 || r.TLS.PeerCertificates[0].Subject.OrganizationalUnit[0] != wallettest.Team {
			t.Errorf("%s %s %s with %d certificates and the topic %s", r.Proto, r.Method, r.URL, len(r.TLS.PeerCertificates), r.Header.Get("apns-topic"))
		}
		p.mu.Lock()
		p.calls = append(p.calls, r.URL.Path)
		p.mu.Unlock()
		w.WriteHeader(int(p.status.Load()))
	}))
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	a.PushTo(server.URL, server.Client())
	return p
}

func TestPush_PhoneIsToldOnceOfAllItsPasses(t *testing.T) {
	t.Parallel()
	h := open(t)
	service := listen(t, h.wallets.Apple)
	h.register(t, 0, "phone", "abc")
	h.register(t, 1, "phone", "abc")
	h.register(t, 0, "watch", "def")
	h.run(t, notice, "")
	if n := h.count(t, "next_push IS NOT NULL"); n != 0 {
		t.Errorf("nothing changed, and %d rows are to be told", n)
	}
	if err := h.orders.Revoke(t.Context(), h.sale, h.order, false); err != nil {
		t.Fatal(err)
	}
	h.run(t, notice, "")
	h.run(t, notice, "")
	if n := h.count(t, "next_push IS NOT NULL"); n != 3 {
		t.Fatalf("%d of 3 rows are to be told", n)
	}
	h.run(t, tell, "abc")
	h.run(t, tell, "abc")
	h.run(t, tell, "def")
	if told := service.told(); !slices.Equal(told, []string{"/3/device/abc", "/3/device/def"}) {
		t.Errorf("the push service was told %v", told)
	}
	if n := h.count(t, "next_push IS NULL"); n != 3 {
		t.Errorf("%d rows are told", n)
	}
}

func TestPush_PhoneThatIsGoneIsForgottenAndAFailureTriedAgain(t *testing.T) {
	t.Parallel()
	h := open(t)
	service := listen(t, h.wallets.Apple)
	h.register(t, 0, "phone", "abc")
	h.register(t, 0, "old-phone", "old")
	if _, err := h.db.Exec(t.Context(), `UPDATE event SET venue = 'Elsewhere'`); err != nil {
		t.Fatal(err)
	}
	h.run(t, notice, "")
	service.status.Store(http.StatusServiceUnavailable)
	h.run(t, tell, "abc")
	if n := h.count(t, "push_token = 'abc' AND tries = 1 AND next_push > clock_timestamp() + interval '5 seconds'"); n != 1 {
		t.Error("a push that failed is not tried later")
	}
	if _, err := h.db.Exec(t.Context(), `UPDATE wallet_device SET tries = 7, next_push = clock_timestamp() WHERE push_token = 'abc'`); err != nil {
		t.Fatal(err)
	}
	h.run(t, tell, "abc")
	if n := h.count(t, "push_token = 'abc' AND next_push IS NULL"); n != 1 {
		t.Error("a phone that is never reached is tried for ever")
	}
	service.status.Store(http.StatusGone)
	h.run(t, tell, "old")
	if n := h.count(t, "push_token = 'old'"); n != 0 {
		t.Error("a phone that is gone is kept")
	}
	if n := len(service.told()); n != 3 {
		t.Errorf("the push service was asked %d times", n)
	}
}

func TestDevice_HearsOfEveryChangeSinceItsTag(t *testing.T) {
	t.Parallel()
	h := open(t)
	phone := wallets.Device{ID: "phone"}
	h.register(t, 0, "phone", "abc")
	all, tag, err := h.wallets.Changed(t.Context(), phone, 0)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	for _, change := range []string{
		`UPDATE event SET starts_at = starts_at + interval '1 hour'`, `UPDATE event SET name = 'Night'`, `UPDATE event SET venue = 'Elsewhere'`, `UPDATE event SET time_zone = 'Asia/Tokyo'`,
		`UPDATE event SET status = 'cancelled'`, `UPDATE event SET status = 'on sale'`, `UPDATE orders SET name = 'Bea'`,
		`INSERT INTO event_page (event_id, category, doors, running, intervals, age, street, postal_code, town, country, map_link, organizer, email, phone, website) SELECT id, '', 45, 0, 0, 0, '', '', '', '', '', '', '', '', '' FROM event`,
		`UPDATE event_page SET town = 'Bern'`, `UPDATE ticket SET revoked_at = clock_timestamp()`,
	} {
		if _, err := h.db.Exec(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		changed, next, err := h.wallets.Changed(t.Context(), phone, tag)
		if err != nil || !slices.Equal(changed, all) || next <= tag {
			t.Errorf("after %s the phone hears %v, %d after %d: %v", change, changed, next, tag, err)
		}
		if again, _, err := h.wallets.Changed(t.Context(), phone, next); err != nil || again != nil {
			t.Errorf("after %s the phone hears %v twice: %v", change, again, err)
		}
		tag = next
	}
}
