package handlers

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/stripe"
	"github.com/usherbox/usher/seats/payments/stripe/stripetest"
)

type readerSale struct {
	Payment struct {
		Code, State, Label, Reason string
		Amount                     int64
		GiftCard                   int64 `json:"gift_card"`
		Order                      struct {
			Code, Method string
			Total        int64
		}
		Also []struct{ Code, Event string }
	}
}

// withReader is a site whose card provider has a reader, and a member who sells with a till that uses it.
func withReader(t *testing.T) (s *site, owner *http.Client, bank *stripetest.Fake, reader string, dora *http.Client, session tillAnswer) {
	t.Helper()
	bank = stripetest.New(t)
	s, owner = withPress(t, seats.Fees{}, func(c *Config) {
		c.Orders.Payments.Accept(payments.Card, stripe.New("sk_test_1", stripetest.Secret, bank.URL))
	})
	reader = bank.AddReader("Front desk")
	dora = s.memberOf(t, "dora", organizers.Till, s.sale.Event.Team)
	s.asks(t, dora, "POST", "/desk/till/sessions", `{"key":"o","currency":"EUR","zone":"Europe/Vienna","float":"100.00"}`, http.StatusCreated, &session)
	return s, owner, bank, reader, dora, session
}

// ended returns a sale at a card reader once it is sold or failed. The job of payments may ask about it before the page does.
func (s *site) ended(t *testing.T, who *http.Client, code string) (p readerSale) {
	t.Helper()
	eventually(t, "the sale ends", func() bool {
		p = readerSale{}
		s.asks(t, who, "GET", "/desk/till/payments/"+code, "", http.StatusOK, &p)
		return p.Payment.State == "sold" || p.Payment.State == "failed"
	})
	return p
}

func wantShown(t *testing.T, bank *stripetest.Fake, reader string, sale readerSale) {
	t.Helper()
	eventually(t, "the reader shows the amount", func() bool { return bank.Shows(reader) == sale.Payment.Amount })
}

// atReader plants a payment at a card reader of an event, which failed.
func (s *site) atReader(t *testing.T, slug, code string) {
	t.Helper()
	s.exec(t, `WITH p AS (
		INSERT INTO payment (id, event_id, order_id, code, holder, hold_id, form, method, currency, amount, state, reason)
		SELECT gen_random_uuid(), id, gen_random_uuid(), $2, gen_random_uuid(), gen_random_uuid(), '{"seats": [0], "name": "Box office", "email": "", "till": {"reader": "tmr_1", "label": "Front desk", "session": 1}}', 'card', currency, 100,
		       'closed', 'No card was read in time. Nothing was charged.' FROM event WHERE slug = $1 RETURNING id)
		INSERT INTO intention (payment_id, step, done_at) SELECT id, 'authorize', now() FROM p`, slug, code)
}

func TestTillReader_IsChosenAndTakesTheMoneyOfASale(t *testing.T) {
	t.Parallel()
	s, _, bank, reader, dora, session := withReader(t)
	idx := s.inRows(t, 4)
	label := func(i int) string { return s.sale.Plan.Label(idx[i]) }
	const at = "/desk/events/evening/sales"
	var refusal struct{ Error struct{ Code string } }
	s.asks(t, dora, "POST", at, `{"key":"a","seat":["`+label(0)+`"],"method":"card"}`, http.StatusConflict, &refusal)
	if refusal.Error.Code != "card_reader" {
		t.Errorf("without a reader: %+v", refusal)
	}
	path := "/desk/till/sessions/" + strconv.FormatInt(session.ID, 10)
	offline := bank.AddReader("Bar")
	bank.Unplugs(offline)
	var list struct {
		Reader  string
		Readers []struct {
			ID, Label string
			Online    bool
		}
	}
	s.asks(t, dora, "GET", path+"/reader", "", http.StatusOK, &list)
	if len(list.Readers) != 2 || list.Readers[0].ID != reader || !list.Readers[0].Online || list.Readers[1].Online || list.Reader != "" {
		t.Errorf("the readers are %+v", list)
	}
	s.asks(t, dora, "POST", path+"/reader", `{"key":"r","reader":"tmr_strange"}`, http.StatusUnprocessableEntity, &refusal)
	var used struct{ Reader struct{ ID, Label string } }
	s.asks(t, dora, "POST", path+"/reader", `{"key":"r2","reader":"`+reader+`"}`, http.StatusOK, &used)
	if used.Reader.ID != reader || used.Reader.Label != "Front desk" {
		t.Errorf("the session has %+v", used)
	}

	var sale, again, done readerSale
	body := `{"key":"b","seat":["` + label(0) + `","` + label(1) + `"],"method":"card"}`
	s.asks(t, dora, "POST", at, body, http.StatusAccepted, &sale)
	s.asks(t, dora, "POST", at, body, http.StatusAccepted, &again)
	if sale.Payment.State != "waiting" || sale.Payment.Code != again.Payment.Code || sale.Payment.Label != "Front desk" {
		t.Fatalf("the sale is %+v, and its repeat %+v", sale, again)
	}
	wantShown(t, bank, reader, sale)
	at2 := "/desk/till/payments/" + sale.Payment.Code
	_, page := s.page(t, dora, at2)
	if text := words(page); !strings.Contains(page, "Waiting for a card at “Front desk”") || !strings.Contains(page, `http-equiv="refresh"`) {
		t.Errorf("the page says %s", text)
	}
	s.asks(t, dora, "POST", at, `{"key":"c","seat":["`+label(2)+`"],"method":"card"}`, http.StatusConflict, &refusal)
	if refusal.Error.Code != "card_reader" {
		t.Errorf("another till at the same reader: %+v", refusal)
	}
	bank.Presents(reader, "4242424242424242")
	if done = s.ended(t, dora, sale.Payment.Code); done.Payment.State != "sold" || done.Payment.Order.Total != sale.Payment.Amount || done.Payment.Order.Method != "card" {
		t.Fatalf("the sale is %+v", done)
	}
	if a, _ := s.page(t, dora, at2); a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/desk/events/evening/orders/"+sale.Payment.Code) {
		t.Errorf("the page answers %d and leads to %s", a.StatusCode, a.Header.Get("Location"))
	}
	var closed tillAnswer
	s.asks(t, dora, "POST", path+"/closing", `{"key":"h","counted":"100.00"}`, http.StatusOK, &closed)
	if len(closed.Lines) != 1 || closed.Lines[0].Method != "card" || closed.Lines[0].Tickets != 2 || closed.Taken != sale.Payment.Amount || closed.Difference != 0 {
		t.Errorf("the report is %+v", closed)
	}
	s.wantBooks(t)
}

func TestTillReader_CancelAndDeclineLeaveNothingSold(t *testing.T) {
	t.Parallel()
	s, _, bank, reader, dora, session := withReader(t)
	s.does(t, dora, "/desk/till/sessions/"+strconv.FormatInt(session.ID, 10)+"/reader", url.Values{"reader": {reader}})
	idx := s.inRows(t, 2)
	seat := s.sale.Plan.Label(idx[0])
	sell := func(key string) (sale readerSale) {
		s.asks(t, dora, "POST", "/desk/events/evening/sales", `{"key":"`+key+`","seat":["`+seat+`"],"method":"card"}`, http.StatusAccepted, &sale)
		return sale
	}
	sale := sell("a")
	for range 2 { // the second press finds it cancelled
		s.asks(t, dora, "POST", "/desk/till/payments/"+sale.Payment.Code+"/cancellation", `{"key":"x"}`, http.StatusOK, &sale)
	}
	if sale = s.ended(t, dora, sale.Payment.Code); sale.Payment.State != "failed" || bank.Shows(reader) != 0 {
		t.Errorf("cancelled, the sale is %+v", sale)
	}
	sale = sell("b")
	wantShown(t, bank, reader, sale)
	bank.Presents(reader, stripetest.Declined)
	sale = s.ended(t, dora, sale.Payment.Code)
	_, page := s.page(t, dora, "/desk/till/payments/"+sale.Payment.Code)
	if text := words(page); !strings.Contains(text, "the bank declined the card. Nothing was charged.") || !strings.Contains(page, "the seats are available again") {
		t.Errorf("the page says %s", text)
	}
	if sale.Payment.State != "failed" || s.count(t, "orders") != 0 {
		t.Errorf("the sale is %+v", sale)
	}
	bank.Unplugs(reader)
	if sale = s.ended(t, dora, sell("c").Payment.Code); sale.Payment.State != "failed" || !strings.Contains(sale.Payment.Reason, "offline") {
		t.Errorf("offline, the sale is %+v", sale)
	}
	s.asks(t, dora, "POST", "/desk/events/evening/sales", `{"key":"d","seat":["`+seat+`"],"method":"cash"}`, http.StatusCreated, &struct{}{})
	s.wantBooks(t)
}

func TestTillReader_PaymentHasNoPageInTheShop(t *testing.T) {
	t.Parallel()
	s, _, bank, reader, dora, session := withReader(t)
	s.does(t, dora, "/desk/till/sessions/"+strconv.FormatInt(session.ID, 10)+"/reader", url.Values{"reader": {reader}})
	var sale readerSale
	s.asks(t, dora, "POST", "/desk/events/evening/sales", `{"key":"a","seat":["`+s.sale.Plan.Label(s.inRows(t, 1)[0])+`"],"method":"card"}`, http.StatusAccepted, &sale)
	s.asks(t, dora, "GET", "/payments/"+sale.Payment.Code, "", http.StatusNotFound, &struct{}{})
	s.asks(t, dora, "POST", "/payments/"+sale.Payment.Code+"/stop", "", http.StatusNotFound, &struct{}{})
	wantShown(t, bank, reader, sale)
	var refusal struct{ Error struct{ Code string } }
	s.asks(t, dora, "POST", "/desk/till/sessions/"+strconv.FormatInt(session.ID, 10)+"/closing", `{"key":"h","counted":"100.00"}`, http.StatusConflict, &refusal)
	if refusal.Error.Code != "card_reader" {
		t.Errorf("closing says %+v", refusal)
	}
	s.exec(t, `UPDATE payment SET state = 'lost', captured = amount, reason = 'You stopped the payment. What you paid goes back to you.'`)
	if _, page := s.page(t, dora, "/desk/till/payments/"+sale.Payment.Code); strings.Contains(page, "available again") || !strings.Contains(page, "The money goes back to the card") {
		t.Errorf("the page says %s", words(page))
	}
}

// Teams of one installation share the account at the card provider, and no reader.
func TestTillReader_OfAnotherTeamIsOutOfReach(t *testing.T) {
	t.Parallel()
	s, _, bank, reader, dora, session := withReader(t)
	path := "/desk/till/sessions/" + strconv.FormatInt(session.ID, 10) + "/reader"
	s.does(t, dora, path, url.Values{"reader": {reader}})
	s.exec(t, `INSERT INTO team (name) VALUES ('Playhouse')`)
	sell := func(key string, status int) {
		t.Helper()
		s.asks(t, dora, "POST", "/desk/events/evening/sales", `{"key":"`+key+`","seat":["`+s.sale.Plan.Label(s.inRows(t, 1)[0])+`"],"method":"card"}`, status, &struct{}{})
	}
	var list struct {
		Team    int64
		Readers []struct{ ID string }
	}
	for _, team := range []string{"", strconv.FormatInt(s.sale.Event.Team+1, 10)} {
		bank.Assigns(reader, team)
		s.asks(t, dora, "GET", path, "", http.StatusOK, &list)
		if len(list.Readers) != 0 {
			t.Errorf("of team %q: the readers are %+v", team, list)
		}
		s.asks(t, dora, "POST", path, `{"key":"r`+team+`","reader":"`+reader+`"}`, http.StatusUnprocessableEntity, &struct{}{})
		sell("a"+team, http.StatusConflict)
	}
	if bank.Lit(reader) != 0 || s.count(t, "payment") != 0 {
		t.Error("a sale was shown at the reader of another team")
	}
	bank.Assigns(reader, strconv.FormatInt(list.Team, 10))
	s.asks(t, dora, "POST", path, `{"key":"r","reader":"`+reader+`"}`, http.StatusOK, &struct{}{})
	sell("b", http.StatusAccepted)
}

// One card pays seats of two performances: an order of each, or none.
func TestTillReader_PaysSeveralPerformancesAtOnce(t *testing.T) {
	t.Parallel()
	s, owner, bank, reader, dora, session := withReader(t)
	s.does(t, dora, "/desk/till/sessions/"+strconv.FormatInt(session.ID, 10)+"/reader", url.Values{"reader": {reader}})
	slug := s.matinee(t, owner)
	own := s.sale.Plan.Label(s.inRows(t, 1)[0])
	asked := `{"key":"a","method":"card","seat":["` + own + `"],"also":{"` + slug + `":{"seat":["Stalls/C/12","Stalls/C/13","Stalls/C/14"]}}}`
	var sale readerSale
	s.asks(t, dora, "POST", "/desk/events/evening/sales", asked, http.StatusAccepted, &sale)
	s.asks(t, dora, "POST", "/desk/till/payments/"+sale.Payment.Code+"/cancellation", `{"key":"x"}`, http.StatusOK, &sale)
	s.ended(t, dora, sale.Payment.Code)
	s.wantBooks(t)
	s.asks(t, dora, "POST", "/desk/events/evening/sales", strings.Replace(asked, `"a"`, `"b"`, 1), http.StatusAccepted, &sale)
	s.wantBooks(t)
	wantShown(t, bank, reader, sale)
	bank.Presents(reader, "4242424242424242")
	var first struct{ Payment struct{ Code string } }
	s.asks(t, dora, "POST", "/desk/events/evening/sales", strings.Replace(asked, `"a"`, `"b"`, 1), http.StatusAccepted, &first)
	if sale = s.ended(t, dora, first.Payment.Code); sale.Payment.State != "sold" || len(sale.Payment.Also) != 1 || s.count(t, "orders") != 2 {
		t.Errorf("the sale is %+v", sale)
	}
	s.wantBooks(t)
}

// A gift card pays the cheaper part and a bit of the other one, and the reader the rest of both.
func TestTillReader_TakesWhatAGiftCardLeavesOfSeveralPerformances(t *testing.T) {
	t.Parallel()
	s, owner, bank, reader, dora, session := withReader(t)
	path := "/desk/till/sessions/" + strconv.FormatInt(session.ID, 10)
	s.does(t, dora, path+"/reader", url.Values{"reader": {reader}})
	slug := s.matinee(t, owner)
	own := s.sale.Plan.Label(s.inRows(t, 1)[0])
	sell := func(key, more string, status int, to any) {
		t.Helper()
		s.asks(t, dora, "POST", "/desk/events/evening/sales", `{"key":"`+key+`","method":"card","seat":["`+own+`"],"also":{"`+slug+`":{"seat":["Stalls/C/12","Stalls/C/13"]}}`+more+`}`, status, to)
	}
	var q struct {
		Total int64
		Also  map[string]struct{ Total int64 }
	}
	sell("q", `,"update":true`, http.StatusOK, &q)
	total := q.Total + q.Also[slug].Total
	codes, err := s.config.Credit.Vouchers(t.Context(), 1, credit.Amount{Minor: q.Total + 1_00, Currency: "EUR"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	gift := `,"gift_card":"` + codes[0] + `"` + pays(q.Total+1_00)

	var sale readerSale
	sell("a", gift, http.StatusAccepted, &sale)
	wantShown(t, bank, reader, sale)
	if sale.Payment.Amount != total-q.Total-1_00 || sale.Payment.GiftCard != q.Total+1_00 || s.left(t, dora, codes[0], own) != -1 {
		t.Fatalf("the sale of %d is %+v, the reader shows %d, and the gift card has %d", total, sale, bank.Shows(reader), s.left(t, dora, codes[0], own))
	}
	if _, page := s.page(t, dora, "/desk/till/payments/"+sale.Payment.Code); !strings.Contains(page, "A gift card pays") {
		t.Errorf("the page says nothing of the gift card: %s", words(page))
	}
	bank.Presents(reader, stripetest.Declined)
	s.ended(t, dora, sale.Payment.Code)
	if _, page := s.page(t, dora, "/desk/till/payments/"+sale.Payment.Code); !strings.Contains(page, "What the gift card was to pay goes back to it.") {
		t.Errorf("the page of a refused card says %s", words(page))
	}
	if left := s.left(t, dora, codes[0], own); left != q.Total+1_00 || s.count(t, "orders") != 0 {
		t.Errorf("after a refused card %d are left on the gift card", left)
	}

	sell("b", gift, http.StatusAccepted, &sale)
	wantShown(t, bank, reader, sale)
	bank.Presents(reader, "4242424242424242")
	if sold := s.ended(t, dora, sale.Payment.Code); sold.Payment.State != "sold" || len(sold.Payment.Also) != 1 || s.count(t, "orders") != 2 {
		t.Errorf("the sale is %+v", sold)
	}
	var closed tillAnswer
	s.asks(t, dora, "POST", path+"/closing", `{"key":"h","counted":"100.00"}`, http.StatusOK, &closed)
	byMethod := map[string]int64{}
	for _, l := range closed.Lines {
		byMethod[l.Method] += l.Amount
	}
	if byMethod["card"] != total-q.Total-1_00 || byMethod["credit"] != q.Total+1_00 || closed.Taken != total {
		t.Errorf("the report is %+v", closed)
	}
	s.wantBooks(t)
}
