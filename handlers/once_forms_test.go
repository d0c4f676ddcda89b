package handlers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/handlers/shop"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/waitingroom"
)

// sent is a form, and another one that says something else.
type sent struct {
	who         *http.Client
	to          string
	form, other url.Values // other is nil if nothing else can be said
	body, kind  string     // in place of form, without the key
	in          *site      // if it is not the wall's
}

// same is the form of a route for a thing of its own.
func (w *wall) same(form, other string) func(*testing.T, *wall, string) sent {
	return func(_ *testing.T, w *wall, path string) sent {
		at, _ := w.addresses(path)
		s := sent{who: w.people[string(organizers.Owner)], to: strings.ReplaceAll(at["own"], "PASSKEY", "b3duZXI")} // owner
		s.form, _ = url.ParseQuery(form)
		if other != "" {
			s.other, _ = url.ParseQuery(other)
		}
		return s
	}
}

// label is a seat that is free.
func (w *wall) label(t *testing.T, n int) string {
	t.Helper()
	free := w.sale.FreeSeats()
	return w.sale.Plan.Label(free[len(free)-1-n])
}

// ordered is an order that was paid in cash, by its address at the desk.
func (w *wall) ordered(t *testing.T) (at string, o orders.Order) {
	t.Helper()
	free := w.sale.FreeSeats()
	code, err := w.sold.SellAtOffice(t.Context(), w.sale, orders.OfficeForm{Key: seats.NewID().String(), Name: "Bea", Email: "bea@example.org", Seats: free[len(free)-2:], Method: payments.Cash}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if o, err = w.sold.Find(t.Context(), code); err != nil {
		t.Fatal(err)
	}
	return "/desk/events/evening/orders/" + code, o
}

func (w *wall) onOrder(path string, form func(o orders.Order) (form, other url.Values)) func(*testing.T, *wall, string) sent {
	return func(t *testing.T, w *wall, _ string) sent {
		at, o := w.ordered(t)
		s := sent{who: w.people[string(organizers.Owner)], to: at + path}
		s.form, s.other = form(o)
		return s
	}
}

func of(name string, values ...string) url.Values { return url.Values{name: values} }

// group takes an option of three seats, and returns its address.
func (w *wall) group(t *testing.T, who *http.Client) string {
	t.Helper()
	w.does(t, who, "/desk/events/evening/bookings", url.Values{"name": {"Eva"}, "number": {"3"}, "until": {"2029-01-01T10:00"}})
	return "/desk/events/evening/bookings/" + w.id("SELECT id FROM booking ORDER BY n DESC LIMIT 1")
}

// deposit takes an option of three seats with a deposit, and returns its address.
func (w *wall) deposit(t *testing.T, who *http.Client) string {
	t.Helper()
	w.does(t, who, "/desk/events/evening/bookings", url.Values{"name": {"Eva"}, "number": {"3"}, "until": {"2029-01-01T10:00"}, "deposit": {"10%"}, "deposit_due": {"2028-12-01T10:00"}})
	return "/desk/events/evening/bookings/" + w.id("SELECT id FROM booking ORDER BY n DESC LIMIT 1")
}

// forms are the forms of all other routes: each is sent twice with one key, and its other content with that key.
func (w *wall) forms(t *testing.T) map[string]func(*testing.T, *wall, string) sent {
	t.Helper()
	owner := w.people[string(organizers.Owner)]
	held := func(t *testing.T, n int) (*http.Client, shop.HoldBody) {
		who := person(t)
		return who, w.held(t, who, n)
	}
	begun := func(name, starts string) string {
		return "name=" + name + "&venue=Hall&starts=" + starts + "&zone=Europe/Vienna&plan=club"
	}
	settings := func(limit string) string {
		return begun("Draft", "2030-03-01T20:00") + "&currency=EUR&hold=5&pay_within=10&extensions=3&door=on&price=1&price=2&fee_ticket=0.50&limit=" + limit
	}
	waiting := func(path string, form, other url.Values) func(*testing.T, *wall, string) sent {
		return func(t *testing.T, w *wall, _ string) sent {
			who, email := person(t), fmt.Sprintf("%s@example.org", strings.ToLower(seats.NewID().String()))
			at := w.waitsFor(t, who, email, path != "/confirm")
			if path == "/decline" {
				w.comeBack(t)
				w.stands(t, who, at, "offered")
			}
			for _, f := range []url.Values{form, other} {
				if len(f) > 0 {
					f.Set("email", email)
				}
			}
			return sent{who: who, to: at + path, form: form, other: other}
		}
	}
	return map[string]func(*testing.T, *wall, string) sent{
		"POST /events/{slug}/claims": func(t *testing.T, _ *wall, _ string) sent {
			who, _ := held(t, 1)
			return sent{who: who, to: "/events/evening/claims", form: url.Values{"area": {"Floor"}, "quantity": {"1"}}, other: url.Values{"area": {"Floor"}, "quantity": {"2"}}}
		},
		"DELETE /events/{slug}/claims/{idx}": func(t *testing.T, _ *wall, _ string) sent {
			who, hold := held(t, 2)
			return sent{who: who, to: fmt.Sprintf("/events/evening/claims/%d", hold.Idx[0])}
		},
		"DELETE /events/{slug}/claims": func(t *testing.T, _ *wall, _ string) sent {
			who, _ := held(t, 2)
			return sent{who: who, to: "/events/evening/claims"}
		},
		"POST /events/{slug}/releases": func(t *testing.T, _ *wall, _ string) sent {
			who, hold := held(t, 3)
			return sent{who: who, to: "/events/evening/releases", form: of("seat", fmt.Sprint(hold.Idx[0])), other: of("seat", fmt.Sprint(hold.Idx[1]))}
		},
		"POST /events/{slug}/hold/extension": func(t *testing.T, _ *wall, _ string) sent {
			who, _ := held(t, 1)
			return sent{who: who, to: "/events/evening/hold/extension", form: url.Values{}}
		},
		"POST /events/{slug}/hold/types": func(t *testing.T, _ *wall, _ string) sent {
			who, hold := held(t, 2)
			return sent{who: who, to: "/events/evening/hold/types", form: of(fmt.Sprint("type.", hold.Idx[0]), "standard"), other: of(fmt.Sprint("type.", hold.Idx[1]), "standard")}
		},
		"POST /events/{slug}/orders": func(t *testing.T, _ *wall, _ string) sent {
			who, hold := held(t, 1)
			return sent{who: who, to: "/events/evening/orders", form: fill(hold, "Ann", "ann@example.org"), other: fill(hold, "Eve", "eve@example.org")}
		},
		"POST /events/{slug}/waitlist": func(t *testing.T, _ *wall, _ string) sent {
			return sent{who: person(t), to: "/events/full/waitlist", form: url.Values{"email": {"wait@example.org"}, "quantity": {"1"}}, other: url.Values{"email": {"wait@example.org"}, "quantity": {"2"}}}
		},
		"POST /waitlist/{code}":         waiting("", of("quantity", "2"), of("quantity", "3")),
		"POST /waitlist/{code}/confirm": waiting("/confirm", url.Values{}, nil),
		"POST /waitlist/{code}/decline": waiting("/decline", url.Values{}, nil),
		"POST /waitlist/{code}/leave":   waiting("/leave", url.Values{}, nil),
		"POST /door/{secret}/scans": func(t *testing.T, w *wall, _ string) sent {
			_, o := w.ordered(t)
			return sent{who: person(t), to: strings.TrimPrefix(w.door(t), w.url) + "/scans", form: of("code", o.Tickets[0].Code)}
		},
		"POST /orders/{code}/mails": func(t *testing.T, w *wall, _ string) sent {
			_, o := w.ordered(t)
			return sent{who: person(t), to: "/orders/" + o.Code + "/mails", form: url.Values{}}
		},
		"POST /orders/{code}/cancellations": func(t *testing.T, w *wall, _ string) sent {
			at, order := w.bought(t, person(t), 3)
			return sent{who: person(t), to: strings.TrimPrefix(at, w.url) + "/cancellations", form: of("ticket", order.Tickets[0].ID), other: of("ticket", order.Tickets[1].ID)}
		},
		"POST /orders/{code}/details": func(t *testing.T, w *wall, _ string) sent {
			_, o := w.ordered(t)
			return sent{who: person(t), to: "/orders/" + o.Code + "/details", form: of("name", "Bea Ek"), other: of("name", "Cid")}
		},
		"POST /orders/{code}/email-changes": func(t *testing.T, w *wall, _ string) sent {
			_, o := w.ordered(t)
			return sent{who: person(t), to: "/orders/" + o.Code + "/email-changes", form: of("email", "cid@example.org"), other: of("email", "dan@example.org")}
		},
		"POST /orders/{code}/transfers": func(t *testing.T, w *wall, _ string) sent {
			_, o := w.ordered(t)
			return sent{who: person(t), to: "/orders/" + o.Code + "/transfers", form: of("ticket", o.Tickets[0].ID.String()), other: of("ticket", o.Tickets[1].ID.String())}
		},
		"POST /orders/{code}/withdrawals": func(t *testing.T, w *wall, _ string) sent {
			_, o := w.ordered(t)
			w.offered(t, o, "")
			return sent{who: person(t), to: "/orders/" + o.Code + "/withdrawals", form: of("ticket", o.Tickets[0].ID.String()), other: of("ticket", o.Tickets[1].ID.String())}
		},
		"POST /orders/{code}/resales": func(t *testing.T, w *wall, _ string) sent {
			o := w.resalable(t)
			return sent{who: person(t), to: "/orders/" + o.Code + "/resales", form: of("ticket", o.Tickets[0].ID.String()), other: of("ticket", o.Tickets[1].ID.String())}
		},
		"POST /orders/{code}/resales/withdrawals": func(t *testing.T, w *wall, _ string) sent {
			o := w.resalable(t)
			w.offersBack(t, o)
			return sent{who: person(t), to: "/orders/" + o.Code + "/resales/withdrawals", form: of("ticket", o.Tickets[0].ID.String()), other: of("ticket", o.Tickets[1].ID.String())}
		},
		"POST /transfers/{code}": func(t *testing.T, w *wall, _ string) sent {
			_, o := w.ordered(t)
			return sent{
				who: person(t), to: "/transfers/" + w.offered(t, o, ""), form: url.Values{"name": {"Cid"}, "email": {"cid@example.org"}}, other: url.Values{"name": {"Dan"}, "email": {"dan@example.org"}},
			}
		},
		"POST /tickets/{code}/transfers": func(t *testing.T, w *wall, _ string) sent {
			_, o := w.ordered(t)
			o = w.received(t, o, "Cid")
			return sent{who: person(t), to: "/tickets/" + o.Code + "/transfers", form: of("ticket", o.Tickets[0].ID.String()), other: url.Values{"ticket": {o.Tickets[0].ID.String()}, "email": {"dan@example.org"}}}
		},
		"POST /tickets/{code}/withdrawals": func(t *testing.T, w *wall, _ string) sent {
			_, o := w.ordered(t)
			o = w.received(t, o, "Cid")
			w.offered(t, o, "")
			return sent{who: person(t), to: "/tickets/" + o.Code + "/withdrawals", form: of("ticket", o.Tickets[0].ID.String())}
		},
		"POST /payments/{code}/stop": func(t *testing.T, w *wall, _ string) sent {
			who, p := w.payment(t)
			return sent{who: who, to: "/payments/" + p.Code + "/stop", form: url.Values{}}
		},
		"POST /payments/{code}/mails": func(t *testing.T, w *wall, _ string) sent {
			who, hold := held(t, 1)
			a, _ := send(t, who, "POST", w.url+"/events/evening/orders", fill(hold, "Ann", "ann@example.org").Encode(), "Content-Type", asForm, "Accept", asPage)
			return sent{who: who, to: a.Header.Get("Location") + "/mails", form: url.Values{}}
		},
		"POST /demo-card/{reference}": func(t *testing.T, w *wall, _ string) sent {
			who, p := w.payment(t)
			return sent{who: who, to: p.Page, form: of("answer", "decline"), other: of("answer", "pay")}
		},
		"POST /account/vouchers": func(t *testing.T, w *wall, _ string) sent {
			who, codes := person(t), w.vouchers(t, 2, 500, "EUR", nil)
			w.signsIn(t, who, "purse@example.org")
			return sent{who: who, to: "/account/vouchers", form: of("code", codes[0]), other: of("code", codes[1])}
		},
		"POST /account/passkeys/{id}/removal": func(t *testing.T, w *wall, path string) sent {
			who := person(t)
			w.signsIn(t, who, "keys@example.org")
			w.exec(t, `INSERT INTO account_passkey (id, email, handle, name, credential) VALUES ('once', 'keys@example.org', 'handle', 'Phone', '{}')`)
			return sent{who: who, to: "/account/passkeys/b25jZQ/removal", form: url.Values{}}
		},
		"POST /account/links": func(t *testing.T, _ *wall, _ string) sent {
			return sent{who: person(t), to: "/account/links", form: of("email", "one@example.org"), other: of("email", "other@example.org")}
		},
		"POST /personal-data": func(t *testing.T, _ *wall, _ string) sent {
			return sent{who: person(t), to: "/personal-data", form: of("email", "one@example.org"), other: of("email", "other@example.org")}
		},

		"POST /subscriptions/{slug}/holds": func(t *testing.T, w *wall, _ string) sent { // it says all seats that are to be held: another form is another wish
			at, who := w.season(t), person(t)
			w.holdsSeason(t, who, at, 0)
			return sent{who: who, to: at + "/holds", form: of("seat", w.sale.Plan.Label(1), w.sale.Plan.Label(2))}
		},
		"POST /subscriptions/{slug}/hold/extension": func(t *testing.T, w *wall, _ string) sent {
			at, who := w.season(t), person(t)
			w.holdsSeason(t, who, at, 0)
			return sent{who: who, to: at + "/hold/extension", form: url.Values{}}
		},
		"POST /subscriptions/{slug}/orders": func(t *testing.T, w *wall, _ string) sent {
			at, who := w.season(t), person(t)
			form := w.holdsSeason(t, who, at, 0, 1)
			form["name"], form["email"], form["method"], form["total"] = []string{"Ann"}, []string{"ann@example.org"}, []string{"door"}, []string{"10000"}
			other := maps.Clone(form)
			other["name"] = []string{"Eve"}
			return sent{who: who, to: at + "/orders", form: form, other: other}
		},

		"POST /renewals/{code}/holds": func(t *testing.T, w *wall, _ string) sent { // as for any visitor
			at := w.renewal(t)
			return sent{who: person(t), to: at + "/holds", form: of("seat", w.sale.Plan.Label(0))}
		},
		"POST /renewals/{code}/orders": func(t *testing.T, w *wall, _ string) sent {
			form := of("seat", w.sale.Plan.Label(0), w.sale.Plan.Label(1))
			form["name"], form["email"], form["method"], form["total"] = []string{"Ann"}, []string{"ann@example.org"}, []string{"door"}, []string{"10000"}
			other := maps.Clone(form)
			other["name"] = []string{"Eve"}
			return sent{who: person(t), to: w.renewal(t) + "/orders", form: form, other: other}
		},

		"POST /desk/subscriptions": func(t *testing.T, w *wall, _ string) sent {
			return sent{who: owner, to: "/desk/subscriptions", kind: "application/json", body: w.twoEvenings(t)}
		},
		"POST /desk/subscriptions/{subscription}": w.same("places=100", "places=200"),

		"POST /desk/subscriptions/{subscription}/renewal": func(t *testing.T, w *wall, _ string) sent {
			before, to := path.Base(w.season(t)), "/desk/subscriptions/"+path.Base(w.season(t))+"/renewal"
			form := func(day string) url.Values { return url.Values{"renews": {before}, "keep_until": {day}} }
			until := time.Now().AddDate(1, 0, 0)
			return sent{who: owner, to: to, form: form(until.Format("2006-01-02 15:04")), other: form(until.AddDate(0, 0, 1).Format("2006-01-02 15:04"))}
		},

		"POST /desk/events": w.same(begun("Another", "2030-03-01T20:00"), begun("Another", "2030-03-02T20:00")),
		"POST /desk/events/{slug}/settings": func(*testing.T, *wall, string) sent {
			form, _ := url.ParseQuery(settings("4"))
			other, _ := url.ParseQuery(settings("5"))
			return sent{who: owner, to: "/desk/events/draft/settings", form: form, other: other}
		},
		"POST /desk/events/{slug}/status": func(*testing.T, *wall, string) sent {
			return sent{who: owner, to: "/desk/events/draft/status", form: url.Values{"status": {"on sale"}, "now": {"on"}, "anyway": {"on"}}, other: url.Values{"status": {"cancelled"}, "reason": {"Water"}}}
		},
		"POST /desk/events/{slug}/rehearsal": func(t *testing.T, w *wall, _ string) sent {
			return sent{who: owner, to: w.drafts(t, owner, "To rehearse") + "/rehearsal", form: of("people", "100"), other: of("people", "200")}
		},
		"POST /desk/events/{slug}/rehearsal/stop": func(t *testing.T, w *wall, _ string) sent {
			return sent{who: owner, to: w.drafts(t, owner, "To rehearse and stop") + "/rehearsal/stop", form: url.Values{}}
		},
		"POST /desk/events/{slug}/test": func(t *testing.T, w *wall, _ string) sent {
			return sent{who: owner, to: w.drafts(t, owner, "To try") + "/test", form: url.Values{}}
		},
		"POST /desk/events/{slug}/test/closing": func(t *testing.T, w *wall, _ string) sent {
			at := w.drafts(t, owner, "Tried")
			w.does(t, owner, at+"/test", url.Values{})
			return sent{who: owner, to: at + "/test/closing", form: url.Values{}}
		},
		"POST /desk/events/{slug}/copies": w.same("name=Copy", "name=Another+copy"),
		"POST /desk/events/{slug}/series": func(*testing.T, *wall, string) sent {
			return sent{who: owner, to: "/desk/events/full/series", form: of("dates", "2036-12-01 19:30"), other: of("dates", "2036-12-02 19:30")}
		},
		"POST /desk/series/{series}/performances": w.same("dates=2036-12-01+19:30", "dates=2036-12-02+19:30"),
		"POST /desk/series/{series}/changes": func(t *testing.T, w *wall, _ string) sent {
			const to = "/desk/series/own/changes"
			form := url.Values{"all": {"on"}, "time": {"19:45"}}
			var seen struct{ Preview struct{ Digest string } }
			if a, body := send(t, owner, "POST", w.url+to, form.Encode(), "Content-Type", asForm); json.Unmarshal([]byte(body), &seen) != nil || seen.Preview.Digest == "" {
				t.Fatalf("the preview is %d %s", a.StatusCode, body)
			}
			form.Set("digest", seen.Preview.Digest)
			return sent{who: owner, to: to, form: form, other: url.Values{"all": {"on"}, "time": {"20:15"}, "digest": {seen.Preview.Digest}}}
		},
		"POST /desk/events/{slug}/blocks": func(t *testing.T, w *wall, _ string) sent {
			return sent{who: owner, to: "/desk/events/evening/blocks", form: url.Values{"seat": {w.label(t, 0)}, "reason": {"x"}}, other: url.Values{"seat": {w.label(t, 1)}, "reason": {"x"}}}
		},
		"POST /desk/events/{slug}/blocks/{block}": func(t *testing.T, w *wall, _ string) sent {
			w.does(t, owner, "/desk/events/evening/blocks", url.Values{"seat": {w.label(t, 0)}, "reason": {"x"}})
			return sent{who: owner, to: "/desk/events/evening/blocks/" + w.id("SELECT id FROM block ORDER BY at DESC LIMIT 1"), form: of("owner", "Press"), other: of("owner", "House")}
		},
		"POST /desk/events/{slug}/unblocks": func(t *testing.T, w *wall, _ string) sent {
			a, b := w.label(t, 0), w.label(t, 1)
			w.does(t, owner, "/desk/events/evening/blocks", url.Values{"seat": {a, b}})
			return sent{who: owner, to: "/desk/events/evening/unblocks", form: of("seat", a), other: of("seat", b)}
		},
		"POST /desk/events/{slug}/guests": w.same("guests=Ann", "guests=Bob"),
		"POST /desk/events/{slug}/guests/tickets": func(t *testing.T, w *wall, _ string) sent {
			w.does(t, owner, "/desk/events/evening/guests", url.Values{"guests": {"Once\nTwice"}})
			id := func(name string) string { return w.id("SELECT id FROM guest WHERE name = '" + name + "'") }
			return sent{who: owner, to: "/desk/events/evening/guests/tickets", form: of("guest", id("Once")), other: of("guest", id("Twice"))}
		},
		"POST /desk/events/{slug}/guests/{guest}/removal": func(t *testing.T, w *wall, _ string) sent {
			w.does(t, owner, "/desk/events/evening/guests", url.Values{"guests": {"Off"}})
			return sent{who: owner, to: "/desk/events/evening/guests/" + w.id("SELECT id FROM guest WHERE name = 'Off'") + "/removal", form: url.Values{}}
		},
		"POST /desk/events/{slug}/bookings": func(t *testing.T, w *wall, _ string) sent {
			form := url.Values{"name": {"Eva"}, "seat": {w.label(t, 0)}, "until": {"2029-01-01T10:00"}}
			other := url.Values{"name": {"Eva"}, "seat": {w.label(t, 1)}, "until": {"2029-01-01T10:00"}}
			return sent{who: owner, to: "/desk/events/evening/bookings", form: form, other: other}
		},
		"POST /desk/events/{slug}/bookings/{booking}": func(t *testing.T, w *wall, _ string) sent {
			return sent{who: owner, to: w.group(t, owner), form: url.Values{"name": {"Eva"}, "until": {"2029-02-01T10:00"}}, other: url.Values{"name": {"Ida"}, "until": {"2029-02-01T10:00"}}}
		},
		"POST /desk/events/{slug}/bookings/{booking}/seats": func(t *testing.T, w *wall, _ string) sent {
			return sent{who: owner, to: w.group(t, owner) + "/seats", form: of("keep", "2"), other: of("keep", "1")}
		},
		"POST /desk/events/{slug}/bookings/{booking}/order": func(t *testing.T, w *wall, _ string) sent {
			return sent{who: owner, to: w.group(t, owner) + "/order", form: of("due", "2029-01-01T10:00"), other: of("due", "2029-02-01T10:00")}
		},
		"POST /desk/events/{slug}/bookings/{booking}/names": func(t *testing.T, w *wall, _ string) sent {
			at := w.group(t, owner)
			w.does(t, owner, at+"/order", of("due", "2029-01-01T10:00"))
			return sent{who: owner, to: at + "/names", form: of("names", "Ann\nBob"), other: of("names", "Ann")}
		},
		"POST /desk/events/{slug}/bookings/{booking}/deposit/payment": func(t *testing.T, w *wall, _ string) sent {
			return sent{who: owner, to: w.deposit(t, owner) + "/deposit/payment", form: of("method", "cash"), other: of("method", "invoice")}
		},
		"POST /desk/events/{slug}/bookings/{booking}/deposit/end": func(t *testing.T, w *wall, _ string) sent {
			at := w.deposit(t, owner)
			w.does(t, owner, at+"/deposit/payment", of("method", "cash"))
			w.does(t, owner, at+"/cancellation", url.Values{})
			return sent{who: owner, to: at + "/deposit/end", form: url.Values{"outcome": {"refunded"}, "method": {"cash"}}, other: of("outcome", "retained")}
		},
		"POST /desk/events/{slug}/bookings/{booking}/cancellation": func(t *testing.T, w *wall, _ string) sent {
			return sent{who: owner, to: w.group(t, owner) + "/cancellation", form: url.Values{}}
		},
		"POST /desk/events/{slug}/sales": func(t *testing.T, w *wall, _ string) sent {
			return sent{who: owner, to: "/desk/events/evening/sales", form: url.Values{"seat": {w.label(t, 0)}, "method": {"cash"}}, other: url.Values{"seat": {w.label(t, 1)}, "method": {"cash"}}}
		},
		"POST /desk/events/{slug}/cancellations": func(t *testing.T, w *wall, _ string) sent {
			_, one := w.ordered(t)
			_, two := w.ordered(t)
			return sent{who: owner, to: "/desk/events/evening/cancellations", form: of("order", one.Code, two.Code), other: of("order", one.Code)}
		},
		"POST /desk/events/{slug}/orders/{code}/cancellations": w.onOrder("/cancellations", func(o orders.Order) (url.Values, url.Values) {
			return of("ticket", o.Tickets[0].ID.String()), of("ticket", o.Tickets[1].ID.String())
		}),
		"POST /desk/events/{slug}/orders/{code}/refunds": w.onOrder("/refunds", func(orders.Order) (url.Values, url.Values) { return of("amount", "1.00"), of("amount", "2.00") }),
		"POST /desk/events/{slug}/orders/{code}/moves": w.onOrder("/moves", func(o orders.Order) (url.Values, url.Values) {
			id := o.Tickets[0].ID.String()
			return url.Values{"ticket": {id}, "to": {w.label(t, 0)}}, url.Values{"ticket": {id}, "to": {w.label(t, 1)}}
		}),
		"POST /desk/events/{slug}/orders/{code}/exchanges": func(t *testing.T, w *wall, _ string) sent {
			other := w.otherDate(t, owner)
			_, o := w.ordered(t)
			form := url.Values{"ticket": {o.Tickets[0].ID.String()}, "event": {other}, "seats": {w.label(t, 0)}, "nofee": {"on"}, "method": {"cash"}}
			return sent{who: owner, to: "/desk/events/evening/orders/" + o.Code + "/exchanges", form: form, other: url.Values{"ticket": form["ticket"], "event": form["event"], "seats": {w.label(t, 1)}, "method": form["method"]}}
		},
		"POST /desk/events/{slug}/orders/{code}/mails": w.onOrder("/mails", func(orders.Order) (url.Values, url.Values) { return url.Values{}, nil }),
		"POST /desk/events/{slug}/orders/{code}/payments": func(t *testing.T, w *wall, _ string) sent {
			_, order := w.bought(t, person(t), 1)
			return sent{who: owner, to: "/desk/events/evening/orders/" + order.Code + "/payments", form: url.Values{}}
		},
		"POST /desk/events/{slug}/orders/{code}/due": func(t *testing.T, w *wall, _ string) sent {
			_, order := w.bought(t, person(t), 1)
			return sent{who: owner, to: "/desk/events/evening/orders/" + order.Code + "/due", form: of("until", "2033-01-01T12:00"), other: of("until", "2033-01-02T12:00")}
		},
		"POST /desk/events/{slug}/orders/{code}/payouts": func(t *testing.T, w *wall, _ string) sent {
			at, o := w.ordered(t)
			if err := w.sold.Revoke(t.Context(), w.sale, o, false); err != nil {
				t.Fatal(err)
			}
			return sent{who: owner, to: at + "/payouts", form: url.Values{}}
		},
		"POST /desk/events/{slug}/doors":                w.same("name=North", "name=South"),
		"POST /desk/events/{slug}/doors/{door}/closing": w.same("", ""),
		"POST /desk/events/{slug}/doors/closing":        w.same("", ""),
		"POST /desk/events/{slug}/messages":             w.same("subject=Doors&text=Open", "subject=Doors&text=Shut"),
		"POST /desk/events/{slug}/messages/{message}/stop": func(t *testing.T, w *wall, _ string) sent {
			at := time.Now().Add(time.Hour)
			if err := w.sold.Tell(t.Context(), w.sale.Event.ID, seats.NewID().String(), orders.Message{Subject: "Doors", Text: "Open", SendAt: &at}, nil); err != nil {
				t.Fatal(err)
			}
			list, err := w.sold.BulkJobs(t.Context(), w.sale.Event.ID)
			if err != nil || len(list) == 0 {
				t.Fatal(list, err)
			}
			return sent{who: owner, to: "/desk/events/evening/messages/" + list[0].ID.String() + "/stop", form: url.Values{}}
		},
		"POST /desk/mail-texts": func(_ *testing.T, _ *wall, _ string) sent {
			form := url.Values{"kind": {"upcoming"}, "language": {"en"}, "opening": {"Hello"}}
			return sent{who: owner, to: "/desk/mail-texts", form: form, other: url.Values{"kind": {"upcoming"}, "language": {"en"}, "opening": {"Dear"}}}
		},
		"POST /desk/events/{slug}/settlement": w.same("name=Author&percent=10&of=net", "name=Author&percent=12&of=net"),
		"POST /desk/events/{slug}/letters":    w.same("hours=24&thanks=off", "hours=48&thanks=off"),
		"POST /desk/events/{slug}/log":        w.same("enabled=off", "enabled=on"),
		"POST /desk/events/{slug}/seen":       w.same("concern=x", "concern=y"),
		"POST /desk/events/{slug}/fairness": func(t *testing.T, w *wall, _ string) sent {
			at := w.drafts(t, owner, "Last night")
			w.does(t, owner, at+"/status", url.Values{"status": {"on sale"}, "now": {"on"}, "anyway": {"on"}})
			w.does(t, owner, at+"/status", url.Values{"status": {"closed"}})
			return sent{who: owner, to: at + "/fairness", form: url.Values{}}
		},
		"POST /desk/events/{slug}/room": func(t *testing.T, w *wall, _ string) sent {
			if w.config.Rooms.Of(w.sale.Event.ID) == nil {
				newRoom(t, w.site, waitingroom.NewRoom{Slots: 500})
			}
			return sent{who: owner, to: "/desk/events/evening/room", form: url.Values{"do": {"slots"}, "slots": {"600"}}, other: url.Values{"do": {"slots"}, "slots": {"700"}}}
		},
		"POST /desk/events/{slug}/shares":                 w.same("name=Press&days=7", "name=Radio&days=7"),
		"POST /desk/events/{slug}/shares/{id}/revocation": w.same("", ""),
		"POST /desk/events/{slug}/prices":                 w.same("type.0.name=Adult&price.0.0.A=28&price.0.0.B=48&price.0.0.C=36", "type.0.name=Adult&price.0.0.A=29&price.0.0.B=48&price.0.0.C=36"),
		"POST /desk/events/{slug}/codes":                  w.same("code=HALF&off=50%25", "code=HALF&off=60%25"),
		"POST /desk/events/{slug}/codes/retirements": func(t *testing.T, w *wall, _ string) sent {
			code, other := pricing.NewCode(), pricing.NewCode()
			w.code(t, pricing.Code{Discount: pricing.Discount{Percent: 1}}, code)
			w.code(t, pricing.Code{Discount: pricing.Discount{Percent: 2}}, other)
			return sent{who: owner, to: "/desk/events/evening/codes/retirements", form: of("code", code), other: of("code", other)}
		},
		"POST /desk/events/{slug}/post": func(t *testing.T, w *wall, _ string) sent {
			_, o := w.ordered(t)
			w.exec(t, `UPDATE orders SET post_to = '{"street": "Ring 1", "city": "Wien", "country": "AT"}' WHERE code = $1`, o.Code)
			return sent{who: owner, to: "/desk/events/evening/post", form: of("order", o.Code), other: url.Values{"order": {o.Code}, "undo": {"yes"}}}
		},
		"POST /desk/memberships":                  w.same("kind=1&email=once@example.org", "kind=1&email=twice@example.org"),
		"POST /desk/memberships/kinds":            w.same("name=Patrons&currency=EUR&months=12", "name=Angels&currency=EUR&months=12"),
		"POST /desk/memberships/imports":          w.same("kind=1&members=once@example.org", "kind=1&members=twice@example.org"),
		"POST /desk/memberships/{membership}/end": w.same("", ""),
		"POST /desk/customers/{id}":               w.same("note=a", "note=b"),
		"POST /desk/customers/imports":            w.same("customers=email%0Aonce@example.org", "customers=email%0Atwice@example.org"),
		"POST /desk/customers/{id}/merges": func(t *testing.T, w *wall, path string) sent {
			w.exec(t, `INSERT INTO customer (id, team_id, email, imported_by) SELECT gen_random_uuid(), first_team(), unnest(ARRAY['one@merged.example', 'two@merged.example']), 'Ann'`)
			return w.same("email=one@merged.example", "email=two@merged.example")(t, w, path)
		},
		"POST /desk/customers/{id}/separations": func(t *testing.T, w *wall, path string) sent {
			s := w.same("email=one@apart.example", "email=two@apart.example")(t, w, path)
			id := strings.Split(s.to, "/")[3]
			w.exec(t, `INSERT INTO customer_address (team_id, email, person)
				SELECT first_team(), unnest(ARRAY[(SELECT lower(email) FROM orders WHERE id = $1), 'one@apart.example', 'two@apart.example']), $1 ON CONFLICT (team_id, email) DO UPDATE SET person = excluded.person`, id)
			return s
		},
		"POST /desk/taxes":                  w.same("rate.AT.standard=21", "rate.AT.standard=22"),
		"POST /desk/events/{slug}/limits":   w.same("challenge=always", "challenge=off"),
		"POST /desk/events/{slug}/waitlist": w.same("do=pause&reason=x", "do=pause&reason=y"),
		"POST /desk/team":                   w.same("name=Box+office", "name=Office"),
		"POST /desk/teams": func(t *testing.T, w *wall, _ string) sent { // its maker sees the new team from then on
			return sent{who: w.atDesk(t, "ann"), to: "/desk/teams", form: of("name", "Third"), other: of("name", "Fourth")}
		},
		"POST /desk/team/invitations":                    w.same("email=new@example.org&role=viewer", "email=new@example.org&role=owner"),
		"POST /desk/team/invitations/{id}/withdrawal":    w.same("", ""),
		"POST /desk/team/members/{id}":                   w.same("role=viewer", "role=owner"),
		"POST /desk/team/members/{id}/removal":           w.same("", ""),
		"POST /desk/keys":                                w.same("name=Till&scope=look", "name=Till&scope=sell"),
		"POST /desk/keys/{id}/revocation":                w.same("", ""),
		"POST /desk/alerts":                              w.same("kind=sold", "kind=money"),
		"POST /desk/alerts/tests":                        w.same("", ""),
		"POST /desk/hooks":                               w.same("url=https://example.org/a&kind=order.confirmed", "url=https://example.org/b&kind=order.confirmed"),
		"POST /desk/hooks/{id}":                          w.same("url=https://example.org/own&kind=order.confirmed", "url=https://example.org/other&kind=order.confirmed"),
		"POST /desk/hooks/{id}/secrets":                  w.same("", ""),
		"POST /desk/hooks/{id}/tests":                    w.same("", ""),
		"POST /desk/hooks/{id}/switch":                   w.same("on=", "on=yes"),
		"POST /desk/hooks/{id}/notices/{notice}/repeats": w.same("", ""),
		"POST /desk/hooks/{id}/removal":                  w.same("", ""),
		"POST /desk/account":                             w.same("name=Anna", "name=Eve"),
		"POST /desk/account/password": func(t *testing.T, w *wall, _ string) sent {
			who := w.memberOf(t, "changing", organizers.Viewer, w.sale.Event.Team)
			return sent{
				who: who, to: "/desk/account/password", form: url.Values{"before": {deskPassword}, "password": {"four quite plain words"}},
				other: url.Values{"before": {"four quite plain words"}, "password": {"five other plain words"}},
			}
		},
		"POST /desk/account/passkeys/{id}":         w.same("name=Tablet", "name=Laptop"),
		"POST /desk/account/passkeys/{id}/removal": w.same("", ""),
		"POST /desk/account/openid/removal": func(t *testing.T, _ *wall, _ string) sent {
			fresh, there := newOpenIDSite(t)
			ann := fresh.owner(t)
			plain(t, ann, fresh.leaves(t, ann, there, "/desk/account/openid", as("ann")))
			return sent{in: fresh, who: ann, to: "/desk/account/openid/removal", form: url.Values{}}
		},
		"POST /desk/events/{slug}/plan": func(t *testing.T, w *wall, _ string) sent {
			a, _ := w.submit(t, owner, "/desk/events/evening/plan/copies", of("key", seats.NewID().String()))
			id := strings.TrimSuffix(strings.TrimPrefix(a.Header.Get("Location"), "/desk/plans/"), "/editor")
			return sent{who: owner, to: "/desk/events/evening/plan", form: of("plan", id+"@1"), other: of("plan", w.plans[0]+"@1")}
		},
		"POST /desk/events/{slug}/plan/copies": w.same("", ""),
		"POST /desk/plans":                     w.same("name=Ours&from=club", "name=Theirs&from=club"),
		"POST /desk/plans/{plan}/versions": func(t *testing.T, w *wall, _ string) sent {
			a, _ := w.submit(t, owner, "/desk/plans", url.Values{"key": {seats.NewID().String()}, "name": {"Drawn"}, "from": {"club"}})
			at := strings.TrimSuffix(a.Header.Get("Location"), "/editor")
			_, document := w.page(t, owner, at+"/versions/1.json")
			return sent{who: owner, to: at + "/versions", kind: "application/json", body: `{"base":1,"note":"x","document":` + document + `}`}
		},
		"POST /desk/plans/{plan}/pictures": func(_ *testing.T, w *wall, _ string) sent {
			body, kind := parts(aPicture(600, 400))
			return sent{who: owner, to: "/desk/plans/" + w.plans[0] + "/pictures", kind: kind, body: body}
		},
		"POST /desk/events/{slug}/page":          w.same("language=en&town=Vienna", "language=en&town=Graz"),
		"POST /desk/events/{slug}/pictures/{id}": w.same("alt=A+stage", "alt=A+hall"),
		"POST /desk/events/{slug}/pictures": func(_ *testing.T, w *wall, _ string) sent {
			body, kind := parts(aPicture(600, 400), "kind", "header", "alt", "A lake")
			return sent{who: w.people[string(organizers.Owner)], to: "/desk/events/evening/pictures", kind: kind, body: body}
		},
		"POST /desk/branding": w.same("font=plain", "font=serif"),
		"POST /desk/branding/pictures": func(_ *testing.T, w *wall, _ string) sent {
			body, kind := parts(aPicture(600, 400), "kind", "logo", "alt", "Playhouse")
			return sent{who: w.people[string(organizers.Owner)], to: "/desk/branding/pictures", kind: kind, body: body}
		},
		"POST /desk/branding/pictures/removal":         w.same("kind=logo", "kind=header"),
		"POST /desk/site":                              w.same("sites=https://a.example.org", "sites=https://b.example.org"),
		"POST /desk/site/keys":                         w.same("", ""),
		"POST /desk/site/keys/{id}/end":                w.same("", ""),
		"POST /desk/site/domain":                       w.same("domain=a.example.org", "domain=b.example.org"),
		"POST /desk/site/domain/removal":               w.same("", ""),
		"POST /desk/legal":                             w.same("kind=imprint&text=Ours", "kind=imprint&text=Theirs"),
		"POST /desk/privacy":                           w.same("months=24", "months=36"),
		"POST /desk/privacy/erasures":                  w.same("email=gone@example.org", "email=other@example.org"),
		"POST /desk/books/email":                       w.same("every=month&files=report", "every=week"),
		"POST /desk/books/accounts":                    w.same("digits=4&consultant=1001", "digits=5&consultant=1001"),
		"POST /desk/books/payouts":                     w.same("", ""),
		"POST /desk/invoices":                          w.same("name=Haus&street=Ring+1&city=Wien&country=AT&vat_id=ATU13585627", "name=Hof&street=Ring+1&city=Wien&country=AT&vat_id=ATU13585627"),
		"POST /desk/till":                              w.same("methods=Twint", "methods=Pebbles"),
		"POST /desk/till/sessions":                     w.same("currency=EUR&zone=UTC&float=100", "currency=EUR&zone=UTC&float=200"),
		"POST /desk/till/sessions/{id}/entries":        w.onTill("/entries", "GBP", url.Values{"kind": {"in"}, "amount": {"10"}, "reason": {"x"}}, url.Values{"kind": {"in"}, "amount": {"20"}, "reason": {"x"}}),
		"POST /desk/till/sessions/{id}/reader":         w.onTill("/reader", "CHF", url.Values{"reader": {""}}, url.Values{"reader": {"tmr_1"}}),
		"POST /desk/till/payments/{code}/cancellation": w.same("", ""),
		"POST /desk/till/sessions/{id}/closing":        w.onTill("/closing", "USD", url.Values{"counted": {"10"}}, url.Values{"counted": {"20"}}),
		"POST /desk/gift-cards":                        w.same("currency=EUR&amounts=25", "currency=EUR&amounts=50"),
		"POST /desk/bank":                              w.same("holder=Haus&iban=DE75512108001245126199", "holder=Haus&iban=GB82WEST12345698765432"),
		"POST /desk/bank/matches":                      w.same("", ""),
		"POST /desk/bank/entries/{id}":                 w.same("aside=yes", "order=x"),
		"POST /desk/bank/statements": func(t *testing.T, w *wall, path string) sent {
			s := uploads(t, w, path)
			s.to, s.body = "/desk/bank/statements", strings.Replace(s.body, smallTable, "Date,Amount\n2030-03-01,10.00\n", 1)
			return s
		},
		"POST /desk/imports":      uploads,
		"POST /desk/imports/{id}": w.same("name=A&row=row&number=number", "name=B&row=row&number=number"),
		"POST /desk/setup/{token}": func(t *testing.T, _ *wall, _ string) sent {
			fresh := newSite(t) // without an owner
			token, err := fresh.organizers.SetupLink(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return sent{in: fresh, who: person(t), to: "/desk/setup/" + token, form: url.Values{"name": {"Cleo"}, "email": {"cleo@example.org"}, "password": {deskPassword}}, other: url.Values{"name": {"Eve"}, "email": {"eve@example.org"}, "password": {deskPassword}}}
		},
		"POST /desk/invitations/{token}": func(t *testing.T, w *wall, _ string) sent {
			w.submit(t, owner, "/desk/team/invitations", url.Values{"key": {"join"}, "email": {"joins@example.org"}, "role": {"viewer"}})
			return sent{who: person(t), to: w.deskMail(t, "joins@example.org", organizers.MailInvitation), form: url.Values{"name": {"Jo"}, "password": {deskPassword}}, other: url.Values{"name": {"Joe"}, "password": {deskPassword}}}
		},
		"POST /desk/password": func(t *testing.T, _ *wall, _ string) sent {
			return sent{who: person(t), to: "/desk/password", form: of("email", "manager@example.org"), other: of("email", "viewer@example.org")}
		},
		"POST /desk/password/{token}": func(t *testing.T, w *wall, _ string) sent {
			w.submit(t, person(t), "/desk/password", of("email", "manager@example.org"))
			return sent{who: person(t), to: w.deskMail(t, "manager@example.org", organizers.MailPassword), form: of("password", "four quite plain words"), other: of("password", "five other plain words")}
		},
	}
}

// otherDate is the slug of another performance of the event, which is on sale.
func (w *wall) otherDate(t *testing.T, owner *http.Client) string {
	t.Helper()
	w.does(t, owner, "/desk/series/own/performances", url.Values{"dates": {"2036-12-03 19:30"}})
	other := w.id("SELECT slug AS id FROM event WHERE slug LIKE '%2036-12-03'")
	for _, slug := range []string{"evening", other} { // read anew: a hand put the first into its series
		if _, err := w.office.ChangeEvent(t.Context(), slug, nil, func(pgx.Tx, seats.Event) (bool, error) { return true, nil }); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := events.SetStatus(t.Context(), w.office, other, events.Change{Status: seats.OnSale}, nil); err != nil {
		t.Fatal(err)
	}
	return other
}

// twoEvenings asks for a subscription of two evenings of their own.
func (w *wall) twoEvenings(t *testing.T) (body string) {
	t.Helper()
	var slugs []string
	for range 2 {
		e, err := events.Create(t.Context(), w.db, events.Settings{Name: "Evening " + seats.NewID().String(), StartsAt: time.Unix(2e9, 0)}, theClub(t))
		if err != nil {
			t.Fatal(err)
		}
		slugs = append(slugs, e.Slug)
	}
	return fmt.Sprintf(`{"name":"Season","performances":["%s"],"prices":{"A":5000,"B":5000,"C":5000}}`, strings.Join(slugs, `","`))
}

// season is the address of a subscription of its own.
func (w *wall) season(t *testing.T) string {
	t.Helper()
	a, body := send(t, w.people[string(organizers.Owner)], "POST", w.url+"/desk/subscriptions", w.twoEvenings(t), "Content-Type", "application/json", "Idempotency-Key", seats.NewID().String())
	if a.StatusCode != http.StatusCreated {
		t.Fatal(a.StatusCode, body)
	}
	return a.Header.Get("Location")
}

// renewal is the link of a subscriber with the first two seats, who may renew.
func (w *wall) renewal(t *testing.T) string {
	t.Helper()
	all, ctx := w.config.Subscriptions, t.Context()
	before := path.Base(w.season(t))
	of, err := all.Find(ctx, before)
	if err != nil {
		t.Fatal(err)
	}
	h, err := all.House(ctx, of)
	if err != nil {
		t.Fatal(err)
	}
	who := seats.NewID()
	b, err := all.Choose(ctx, h, who, []int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := all.Order(ctx, h, who, b, orders.Form{Name: "Ann", Email: "ann@example.org", Verified: "ann@example.org", Method: payments.Door}); err != nil {
		t.Fatal(err)
	}
	next := path.Base(w.season(t))
	w.does(t, w.people[string(organizers.Owner)], "/desk/subscriptions/"+next+"/renewal", url.Values{"renews": {before}, "keep_until": {time.Now().AddDate(1, 0, 0).Format("2006-01-02 15:04")}})
	if _, err := w.config.Subscriptions.Keep(t.Context(), w.id("SELECT id FROM subscription WHERE slug = '"+next+"'")); err != nil {
		t.Fatal(err)
	}
	return "/renewals/" + w.id("SELECT r.code AS id FROM renewal r JOIN subscription s ON s.id = r.subscription_id WHERE s.slug = '"+next+"'")
}

// holdsSeason holds seats of a subscription.
func (w *wall) holdsSeason(t *testing.T, who *http.Client, at string, idxs ...int) url.Values {
	t.Helper()
	form := url.Values{}
	for _, idx := range idxs {
		form.Add("seat", w.sale.Plan.Label(idx))
	}
	w.does(t, who, at+"/holds", form)
	return form
}

// uploads is a file, as browsers send one.
func uploads(_ *testing.T, w *wall, _ string) sent {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	file, _ := form.CreateFormFile("file", "a.csv") // to memory
	_, _ = file.Write([]byte(smallTable))
	_ = form.Close()
	return sent{who: w.people[string(organizers.Owner)], to: "/desk/imports", kind: form.FormDataContentType(), body: body.String()}
}

// waitsFor joins the wait list of the event that is full, and returns the address of the place.
func (w *wall) waitsFor(t *testing.T, who *http.Client, email string, confirms bool) string {
	t.Helper()
	until(t, "an entry waits", func() bool {
		w.fill(t) // what others gave back is free a moment later
		a, _ := w.submit(t, who, "/events/full/waitlist", url.Values{"email": {email}, "quantity": {"1"}, "key": {email}})
		return a.StatusCode == http.StatusOK
	})
	at := placeIn(t, w.waitMail(t, email, "verify"))
	if confirms {
		w.submit(t, who, at+"/confirm", url.Values{})
	}
	return at
}

// fill leaves no seat of an event free.
func (w *wall) fill(t *testing.T) {
	t.Helper()
	s, err := w.office.Sale(t.Context(), "full")
	if err == nil {
		err = s.CatchUp(t.Context())
	}
	if free := s.FreeSeats(); err == nil && len(free) > 0 {
		_, err = s.Block(t.Context(), seats.BlockRequest{Seats: free, BlockTerms: seats.BlockTerms{Reason: "x"}, Rest: true})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// comeBack makes some seats of the event that is full free, for those who wait.
func (w *wall) comeBack(t *testing.T) {
	t.Helper()
	s, err := w.office.Sale(t.Context(), "full")
	if err == nil {
		_, err = s.Unblock(t.Context(), seats.BlockRequest{Seats: []int{0, 1, 2, 3, 4, 5}})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// payment is one that was begun with the demo card.
func (w *wall) payment(t *testing.T) (*http.Client, shop.PaymentBody) {
	t.Helper()
	who := person(t)
	_, body := send(t, who, "POST", w.url+"/events/demo/claims", `{"area":"Floor","quantity":1}`)
	form := fill(holdOf(t, body), "Ann", "ann@example.org")
	form.Set("method", "demo")
	a, _ := send(t, who, "POST", w.url+"/events/demo/orders", form.Encode(), "Content-Type", asForm, "Accept", asPage)
	p := shop.PaymentBody{Page: a.Header.Get("Location")}
	if err := w.db.QueryRow(t.Context(), `SELECT code FROM payment WHERE page = $1`, p.Page).Scan(&p.Code); err != nil {
		t.Fatal(err)
	}
	return who, p
}
