package crash_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/cookiejar"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/payments/stripe/stripetest"
	"github.com/usherbox/usher/tools/planted"
)

// buyer is a visitor with a browser that repeats each request until it is answered.
type buyer struct {
	*program
	bug     string
	client  *http.Client
	order   map[string]any
	payment string
}

func (p *program) buyer(bug string) *buyer {
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return &buyer{program: p, bug: bug, client: &http.Client{Jar: jar, Timeout: 15 * time.Second}}
}

// post sends JSON until it is answered, and reads the answer.
func (b *buyer) post(path string, body any, answer any) {
	b.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		b.t.Fatal(err)
	}
	last := ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); pause() { // it takes a while to die and to start
		if b.alive(b.bug) {
			deadline = time.Now().Add(patience)
		}
		a, err := b.client.Post("http://"+b.addr+path, "application/json", bytes.NewReader(text))
		if err != nil {
			last = err.Error()
			continue
		}
		said, _ := io.ReadAll(a.Body)
		_ = a.Body.Close() // it was read
		if a.StatusCode < 500 {
			if err := json.Unmarshal(said, answer); err != nil || a.StatusCode >= 400 {
				b.t.Fatalf("%s: %d %s, %v", path, a.StatusCode, said, err)
			}
			return
		}
		last = string(said)
	}
	b.t.Fatalf("%s was never answered, at last %s:\n%s", path, last, b.log.String())
}

// pays takes two seats and begins to pay for them by card.
func (b *buyer) pays() { b.paysBy("card") }

// spends takes two seats and pays for them with credit, until the order is there.
func (b *buyer) spends() {
	b.t.Helper()
	b.signsIn()
	b.paysBy("credit")
	b.until(b.bug, func() bool { return b.count(`orders`) > 0 })
}

// signsIn opens an account with credit.
func (b *buyer) signsIn() {
	b.t.Helper()
	ledger := credit.New(b.db)
	if err := ledger.Grant(b.t.Context(), "first", "ann@example.org", credit.Amount{Minor: creditOfBuyer, Currency: "EUR"}, seats.ID{}); err != nil {
		b.t.Fatal(err)
	}
	var answer map[string]any
	b.post("/account/links", map[string]any{"email": "ann@example.org"}, &answer)
	b.until(b.bug, func() bool { return b.count(`mail WHERE kind = 'link' AND sent_at IS NOT NULL`) > 0 })
	token, err := ledger.Link(b.t.Context(), "ann@example.org")
	if err != nil {
		b.t.Fatal(err)
	}
	b.post("/account/session", map[string]any{"token": token}, &answer)
}

func (b *buyer) paysBy(method string) {
	b.t.Helper()
	var held struct {
		Hold struct {
			ID    string
			Seats []string
			Total int64
		}
	}
	b.post("/events/evening/claims", map[string]any{"best": 2, "category": "A"}, &held)
	b.order = map[string]any{"hold": held.Hold.ID, "seats": held.Hold.Seats, "name": "Ann", "email": "ann@example.org", "method": method, "total": held.Hold.Total}
	var begun struct{ Payment struct{ Code string } }
	b.post("/events/evening/orders", b.order, &begun)
	b.payment = begun.Payment.Code
	b.until(b.bug, func() bool { return b.count(`payment WHERE reference <> ''`) > 0 })
}

// confirms is the buyer on the bank's page, and the bank that tells of it until it hears that it arrived.
func (b *buyer) confirms(byItself bool) {
	b.t.Helper()
	all := b.bank.Sessions()
	b.bank.Pays(all[len(all)-1].ID, byItself)
	body := b.bank.Event(all[len(all)-1].ID, "checkout.session.completed")
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); pause() {
		if b.alive(b.bug) {
			deadline = time.Now().Add(patience)
		}
		if stripetest.Deliver(b.t, "http://"+b.addr+"/webhooks/stripe", body) == http.StatusNoContent {
			return
		}
	}
	b.t.Fatal("the webhook never arrived")
}

// expire ends the time for paying; then another visitor takes the seats.
func (b *buyer) expire() {
	b.exec(`WITH h AS (UPDATE hold SET expires_at = now() - interval '1 second')
		UPDATE seat_state SET expires_at = now() - interval '1 second' WHERE state = 3`)
	var held struct{ Hold struct{ Seats []string } }
	b.program.buyer(b.bug).post("/events/evening/claims", map[string]any{"seats": b.order["seats"]}, &held)
}

// cancels gives the first of two tickets up as soon as the order is there, whether or not its money is.
func (b *buyer) cancels() {
	b.t.Helper()
	b.until(b.bug, func() bool { return b.count(`orders`) > 0 })
	var ticket string
	if err := b.db.QueryRow(b.t.Context(), `SELECT id::text FROM ticket ORDER BY idx LIMIT 1`).Scan(&ticket); err != nil {
		b.t.Fatal(err)
	}
	var order struct{ Order struct{ Back int64 } }
	b.post("/orders/"+b.payment+"/cancellations", map[string]any{"key": "k", "tickets": []string{ticket}}, &order)
}

// stories are what may happen between a hold and its ticket.
var stories = map[string]func(*buyer){
	"buys":                      func(b *buyer) { b.pays(); b.confirms(false) },
	"cancels":                   func(b *buyer) { b.pays(); b.confirms(false); b.cancels() },
	"spends credit":             func(b *buyer) { b.spends() },
	"spends credit and cancels": func(b *buyer) { b.spends(); b.cancels() },
	"is too late":               func(b *buyer) { b.pays(); b.expire(); b.confirms(false) },
	"paid at once":              func(b *buyer) { b.pays(); b.expire(); b.confirms(true) },
	"gives up, and the money comes": func(b *buyer) {
		b.pays()
		var stopped struct{ Payment struct{ State string } }
		b.post("/payments/"+b.payment+"/stop", map[string]any{}, &stopped)
		b.rest(b.bug)
		b.confirms(true)
		time.Sleep(50 * time.Millisecond) // the program answers, and may die only after that
		b.until(b.bug, func() bool { return b.bug != "" || b.count(`inbox WHERE done_at IS NOT NULL`) > 0 })
	},
}

var everyStory = flag.Bool("every-story", false, "die in every story, and not only in three that meet all points")

// met are the points that a story meets.
var met = map[string][]string{
	"buys": {
		"pay", "intended", "authorizing", "heard", "told", "authorized",
		"sold", "capturing", "captured",
	},
	"spends credit": {
		"pay", "intended", "authorizing", "authorized", "sold", "capturing", "captured",
	},
	"spends credit and cancels":     {"sold", "capturing", "refunding", "closed"},
	"cancels":                       {"sold", "capturing", "refunding", "closed"},
	"is too late":                   {"lost", "voiding", "closed"},
	"paid at once":                  {"lost", "refunding", "closed"},
	"gives up, and the money comes": {"heard", "told", "refunding"},
}

func TestEveryCapturedCentIsInAnOrderOrARefundWhereverTheProgramDies(t *testing.T) {
	t.Parallel()
	left := map[string]bool{}
	for _, point := range planted.Points() {
		left[point] = true
	}
	for story, points := range met {
		if !*everyStory && !slices.Contains([]string{"buys", "is too late", "gives up, and the money comes"}, story) {
			continue
		}
		for _, point := range points {
			delete(left, point)
			t.Run(story+", dead at "+point, func(t *testing.T) {
				t.Parallel()
				p := newProgram(t)
				p.start(point, "")
				stories[story](p.buyer(""))
				if !p.until("", func() bool { return p.killed }) {
					t.Error("it did not die: the point is not on the way")
				}
				for _, wrong := range p.wrong() {
					t.Error(wrong)
				}
				if n := p.count(`orders WHERE paid = total AND total > 0`); (n == 1) != (story == "buys" || story == "spends credit") {
					t.Errorf("there are %d paid orders", n)
				}
				if n := p.count(`orders WHERE paid * 2 = total AND total > 0`); (n == 1) != (story == "cancels" || story == "spends credit and cancels") {
					t.Errorf("there are %d orders of which half went back", n)
				}
			})
		}
	}
	for point := range left {
		t.Errorf("no story meets the point %q", point)
	}
}

func TestPlantedBugsWithMoneyAreCaught(t *testing.T) {
	t.Parallel()
	for bug, how := range map[string]struct {
		story string
		at    string
		says  string // the finding that is meant for it
	}{
		"captured before the guard": {"is too late", "", "was taken 1 times, and an order is there: false"},
		"no intention":              {"buys", "authorizing", "no payment for the bank's"},
		"no inbox":                  {"gives up, and the money comes", "told", "and gave back 0; an order has 0, refunds are 0"},
	} {
		t.Run(bug, func(t *testing.T) {
			t.Parallel()
			p := newProgram(t)
			if bug == "no intention" {
				p.bank.PaidAtOnce()
			}
			p.start(how.at, bug)
			stories[how.story](p.buyer(bug))
			if how.at == "told" {
				p.until(bug, func() bool { return p.killed })
			}
			if found := p.wrong(); !slices.ContainsFunc(found, func(one string) bool { return strings.Contains(one, how.says) }) {
				t.Errorf("%q was not noticed; found was %q", how.says, found)
			} else {
				t.Log(found)
			}
		})
	}
}
