package handlers

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/seats/webhooks"
)

// kindSchema is the schema of a kind's deliveries in the description; nil if the description does not have the kind.
func kindSchema(doc *openapi3.T, kind webhooks.Kind) *openapi3.MediaType {
	item := doc.Webhooks[string(kind)]
	if item == nil || item.Post == nil {
		return nil
	}
	return item.Post.RequestBody.Value.Content.Get("application/json")
}

func TestWebhooks_TheDescriptionHasEachKindWithAnExample(t *testing.T) {
	t.Parallel()
	doc := description(t)
	all := append(webhooks.Kinds(), webhooks.Test)
	if len(doc.Webhooks) != len(all) {
		t.Errorf("%d kinds are described, want %d", len(doc.Webhooks), len(all))
	}
	for _, kind := range all {
		media := kindSchema(doc, kind)
		if media == nil {
			t.Errorf("%s is not described", kind)
			continue
		}
		example, err := json.Marshal(media.Example)
		if err == nil {
			err = asSchema(media.Schema.Value, string(example))
		}
		if err != nil {
			t.Errorf("the example of %s: %v", kind, err)
		}
		if err := asSchema(media.Schema.Value, strings.Replace(string(example), `"data":{`, `"data":{"name_of_buyer":"Ann",`, 1)); err == nil {
			t.Errorf("%s may have any field", kind)
		}
	}
}

// told gathers what a webhook gets, by kind.
type told struct {
	mu     sync.Mutex
	bodies map[webhooks.Kind][]string
}

func (g *told) of(kind webhooks.Kind) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.bodies[kind])
}

// listening adds a webhook that is told of everything, and holds each delivery against its signature and its description.
func listening(t *testing.T, s *site, owner *http.Client) *told {
	t.Helper()
	doc, g, secret := description(t), &told{bodies: map[webhooks.Kind][]string{}}, ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
		check, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Error(err)
			return
		}
		if err := check.Verify(body, r.Header); err != nil {
			t.Errorf("the signature of %s: %v", body, err)
		}
		var one struct{ Type webhooks.Kind }
		if err := json.Unmarshal(body, &one); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		if media := kindSchema(doc, one.Type); media == nil {
			t.Errorf("%s is not described", body)
		} else if err := asSchema(media.Schema.Value, string(body)); err != nil {
			t.Errorf("%s is not as described: %v", body, err)
		}
		if strings.Contains(string(body), "@") || strings.Contains(string(body), "Bea") {
			t.Errorf("%s names a person", body)
		}
		g.bodies[one.Type] = append(g.bodies[one.Type], string(body))
	}))
	t.Cleanup(server.Close)
	form, err := json.Marshal(map[string]any{"key": "hook", "url": server.URL, "kinds": webhooks.Kinds()})
	if err != nil {
		t.Fatal(err)
	}
	var made struct{ Secret string }
	if a, body := send(t, owner, "POST", s.url+"/desk/hooks", string(form)); a.StatusCode != http.StatusCreated || json.Unmarshal([]byte(body), &made) != nil {
		t.Fatal(a.StatusCode, body)
	}
	g.mu.Lock()
	secret = made.Secret
	g.mu.Unlock()
	go func() {
		_ = jobs.NewRunner(s.db, slog.New(slog.DiscardHandler), s.config.Hooks.Jobs()...).Run(t.Context())
	}() // it ends with the test
	return g
}

// until waits for a delivery of each kind.
func (g *told) until(t *testing.T, s *site, kinds ...webhooks.Kind) {
	t.Helper()
	for _, kind := range kinds {
		eventually(t, "a delivery of "+string(kind)+" came", func() bool {
			s.config.Hooks.Wake()
			return g.of(kind) > 0
		})
	}
}

func TestWebhooks_EachKindIsToldSignedAndAsDescribed(t *testing.T) {
	t.Parallel()
	s, bank := newStripeSite(t)
	owner := s.owner(t)
	g := listening(t, s, owner)
	p := &script{wall: &wall{site: s}, t: t, who: owner, words: map[string]string{}}
	for line := range strings.Lines(`POST /desk/events {"name":"Matinee","starts":"2033-03-01T15:00","zone":"Europe/Vienna","plan":"theatre"} => MATINEE "slug":"([^"]+)"
POST /desk/events/MATINEE/status {"status":"on sale","anyway":true}
POST /desk/events/MATINEE/series {"dates":"2033-03-08 15:00"} => SERIES "slug":"([^"]+)"
POST /desk/series/SERIES/changes {"all":true,"status":"on sale"} => PUBLISHED "digest":"([^"]+)"
POST /desk/series/SERIES/changes {"all":true,"status":"on sale","anyway":true,"digest":"PUBLISHED"}
POST /desk/events/MATINEE/sales {"seat":["Stalls/C/12"],"method":"cash"} => EXORDER "code":"([^"]+)"
GET /desk/events/MATINEE/orders/EXORDER => EXTICKET "id":"([^"]+)"
POST /desk/events/MATINEE/orders/EXORDER/exchanges {"ticket":["EXTICKET"],"event":"MATINEE-2033-03-08","seats":"Stalls/C/12","difference":0}
GET /desk/hooks => HOOK "id":(\d+)
POST /desk/hooks/HOOK/tests {}
`) {
		p.run(strings.TrimSpace(line))
	}
	g.until(t, s, webhooks.EventCreated, webhooks.EventChanged, webhooks.PerformanceAdded, webhooks.Confirmed, webhooks.Exchanged, webhooks.Test)
	s.sends(t, p)
	g.until(t, s, webhooks.Offered, webhooks.Withdrawn, webhooks.Accepted, webhooks.Moved, webhooks.Scanned)

	code, session := s.begins(t, bank)
	bank.Pays(session, false)
	s.tells(t, bank.Event(session, "checkout.session.completed"))
	for _, asks := range [][2]string{{"refunds", `{"key":"back","amount":"12.34","reason":"late"}`}, {"cancellations", `{"key":"all","all":true}`}} {
		if a, body := send(t, owner, "POST", s.url+"/desk/events/evening/orders/"+code+"/"+asks[0], asks[1]); a.StatusCode/100 != 2 {
			t.Fatal(asks[0], a.StatusCode, body)
		}
	}
	payout := bank.PaysOut("eur")
	bank.Says(payout, "status", "in_transit")
	for _, status := range []string{"in_transit", "paid"} {
		bank.Says(payout, "status", status)
		if a, body := send(t, owner, "POST", s.url+"/desk/books/payouts", `{"key":"`+status+`"}`); a.StatusCode/100 != 2 {
			t.Fatal(a.StatusCode, body)
		}
		eventually(t, "the payout is read", func() bool { return s.count(t, `payout WHERE status = '`+status+`'`) == 1 })
		s.settled(t)
	}
	s.exec(t, `INSERT INTO alert (team_id, event_id, kind, cause, about) SELECT team_id, id, 'sold-out', 'x', '{}' FROM event WHERE slug = 'evening'`)
	g.until(t, s, webhooks.Paid, webhooks.Refunded, webhooks.Cancelled, webhooks.PayoutCreated, webhooks.PayoutChanged, webhooks.Alert)

	who, first := person(t), s.soldOut(t)
	path := s.waits(t, who, "cid@example.org", nil)
	send(t, first, "DELETE", s.url+"/events/evening/claims", "")
	s.stands(t, who, path, "offered")
	s.overNow(t, `SELECT holder FROM offer WHERE state = 'open'`)
	g.until(t, s, webhooks.WaitJoined, webhooks.WaitOffered, webhooks.WaitMissed, webhooks.HoldExpired)
	entry, err := s.config.Waits.Find(t.Context(), strings.TrimPrefix(path, "/waitlist/"))
	if err == nil {
		err = s.config.Waits.Leave(t.Context(), s.sale, entry)
	}
	if err != nil {
		t.Fatal(err)
	}

	c := newRoom(t, s, waitingroom.NewRoom{Slots: 5})
	if err := c.Pause(t.Context(), "evening", "slow"); err != nil {
		t.Fatal(err)
	}
	g.until(t, s, append(webhooks.Kinds(), webhooks.Test)...)
	for kind, want := range map[webhooks.Kind]string{
		webhooks.EventCreated: `"event": "matinee"`, webhooks.EventChanged: `"changed": ["status"]`, webhooks.PerformanceAdded: `"series": "matinee"`,
		webhooks.PayoutCreated: `"status": "in_transit"`, webhooks.PayoutChanged: `"status": "paid"`, webhooks.WaitOffered: `"seats": 1`, webhooks.WaitLeft: `"state": "left"`,
		webhooks.RoomChanged: `"phase": "paused"`, webhooks.HoldExpired: `"seats": ["`,
	} {
		g.mu.Lock()
		if !slices.ContainsFunc(g.bodies[kind], func(body string) bool {
			return strings.Contains(strings.ReplaceAll(body, ":", ": "), want) || strings.Contains(body, want)
		}) {
			t.Errorf("%s says %s, want %s", kind, g.bodies[kind], want)
		}
		g.mu.Unlock()
	}
}

// sends sends tickets to friends, moves one, and lets one in.
func (s *site) sends(t *testing.T, p *script) {
	t.Helper()
	_, o := p.ordered(t)
	s.offered(t, o, "")
	if err := s.sold.Withdraw(t.Context(), o, "w", o.Tickets[0].ID); err != nil {
		t.Fatal(err)
	}
	s.received(t, o, "Dan")
	_, o = p.ordered(t)
	if a, body := send(t, p.who, "POST", s.door(t)+"/scans", `{"key":"s","code":"`+o.Tickets[0].Code+`","place":"North"}`); a.StatusCode != http.StatusOK {
		t.Fatal(a.StatusCode, body)
	}
	if err := s.sold.Move(t.Context(), s.sale, o, orders.Moving{Key: "m", Tickets: []seats.ID{o.Tickets[1].ID}, To: s.sale.FreeSeats()[:1]}, nil); err != nil {
		t.Fatal(err)
	}
}

// overNow ends the hold of a holder, and has that announced.
func (s *site) overNow(t *testing.T, holder string) {
	t.Helper()
	s.exec(t, `WITH over AS (UPDATE hold SET expires_at = date_trunc('second', clock_timestamp()) - interval '1 second' WHERE holder = (`+holder+`) RETURNING holder, expires_at)
		UPDATE seat_state s SET expires_at = o.expires_at FROM over o WHERE s.holder = o.holder`)
	if err := s.office.Reload(t.Context()); err != nil { // makes the office look for holds that are over
		t.Fatal(err)
	}
}
