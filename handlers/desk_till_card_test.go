package handlers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/organizers"
)

type cardSale struct {
	Order struct {
		Code, Event, Method string
		Total               int64
	}
	Also []struct {
		Code, Event, Method string
		Total               int64
	}
}

// one is the text that a query finds.
func (s *site) one(t *testing.T, sql string, args ...any) (found string) {
	t.Helper()
	if err := s.db.QueryRow(t.Context(), sql, args...).Scan(&found); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return found
}

type cardQuote struct {
	Total    int64
	GiftCard *struct {
		Code          string
		Balance, Pays int64
	} `json:"gift_card"`
}

// left is what the box office says of a gift card; -1 if it pays nothing.
func (s *site) left(t *testing.T, who *http.Client, card, seat string) int64 {
	t.Helper()
	var q cardQuote
	a, answer := send(t, who, "POST", s.url+"/desk/events/evening/sales", `{"update":true,"method":"cash","seat":["`+seat+`"],"gift_card":"`+card+`"}`)
	if a.StatusCode == http.StatusConflict && strings.Contains(answer, `"gift_card"`) {
		return -1
	}
	if err := json.Unmarshal([]byte(answer), &q); err != nil || q.GiftCard == nil {
		t.Fatalf("the quote says nothing of the card: %s", answer)
	}
	return q.GiftCard.Balance
}

// pays is the field of a sale that says what its gift card pays.
func pays(minor int64) string { return `,"gift_card_pays":` + strconv.FormatInt(minor, 10) }

// sellsByCard sells a seat for a gift card and cash, as the quote says.
func (s *site) sellsByCard(t *testing.T, who *http.Client, key, card, seat string) (sold cardSale) {
	t.Helper()
	var q cardQuote
	asked := `{"key":"` + key + `","method":"cash","seat":["` + seat + `"],"gift_card":"` + card + `"`
	s.asks(t, who, "POST", "/desk/events/evening/sales", asked+`,"update":true}`, http.StatusOK, &q)
	s.asks(t, who, "POST", "/desk/events/evening/sales", asked+pays(q.GiftCard.Pays)+`}`, http.StatusCreated, &sold)
	return sold
}

func TestTill_GiftCardPaysAPartAndCashTheRest(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{})
	card := s.vouchers(t, 1, 50_00, "EUR", nil)[0]
	idx := s.inRows(t, 4)
	label := func(i int) string { return s.sale.Plan.Label(idx[i]) }
	const at = "/desk/events/evening/sales"
	var session, closed tillAnswer
	s.asks(t, owner, "POST", "/desk/till/sessions", `{"key":"o","currency":"EUR","zone":"Europe/Vienna","float":"100.00"}`, http.StatusCreated, &session)

	// It is typed as a code, in any spelling.
	var q cardQuote
	s.asks(t, owner, "POST", at, `{"update":true,"method":"cash","seat":["`+label(0)+`"],"code":"`+strings.ToLower(strings.ReplaceAll(card, "-", " "))+`"}`, http.StatusOK, &q)
	if q.GiftCard == nil || q.GiftCard.Balance != 50_00 || q.GiftCard.Pays != min(q.Total, 50_00) {
		t.Fatalf("the quote is %+v", q)
	}
	price := q.Total

	// The answer of the first sale is lost, and it is sent again: the card pays once.
	var first, again, rest cardSale
	for _, into := range []*cardSale{&first, &again} {
		s.asks(t, owner, "POST", at, `{"key":"a","method":"cash","seat":["`+label(0)+`"],"gift_card":"`+card+`"`+pays(price)+`}`, http.StatusCreated, into)
	}
	if first.Order.Code != again.Order.Code || first.Order.Method != "credit" || first.Order.Total != price {
		t.Errorf("the sale is %+v, its repeat %+v", first, again)
	}
	if left := s.left(t, owner, card, label(1)); left != 50_00-price {
		t.Fatalf("%d is left on the card after a sale of %d", left, price)
	}
	for range 2 { // the repeat comes when nothing is left on the card
		s.asks(t, owner, "POST", at, `{"key":"b","method":"cash","seat":["`+label(1)+`","`+label(2)+`"],"gift_card":"`+card+`"`+pays(50_00-price)+`}`, http.StatusCreated, &rest)
	}
	if byCard := 50_00 - price; rest.Order.Method != "cash" || rest.Order.Total != 2*price || byCard >= 2*price {
		t.Errorf("the second sale is %+v", rest)
	}
	if left := s.left(t, owner, card, label(3)); left != -1 {
		t.Errorf("%d is left on the card", left)
	}
	cash := 3*price - 50_00
	s.asks(t, owner, "POST", "/desk/till/sessions/"+strconv.FormatInt(session.ID, 10)+"/closing", `{"key":"h","counted":"1"}`, http.StatusOK, &closed)
	lines := map[string]int64{}
	tickets := int64(0)
	for _, l := range closed.Lines {
		lines[l.Kind+" "+l.Method] += l.Amount
		tickets += l.Tickets
	}
	if lines["sale cash"] != cash || lines["sale credit"] != 50_00 || tickets != 3 || closed.Expected != 100_00+cash || closed.Taken != 3*price {
		t.Errorf("of %d, %d of it in cash, the report has %+v", 3*price, cash, closed)
	}
	s.wantBooks(t)

	// Cancelled: cash goes back by hand, and the card gets its part.
	path := "/desk/events/evening/orders/" + rest.Order.Code
	s.does(t, owner, path+"/cancellations", url.Values{"all": {"on"}})
	eventually(t, "the card has its money back", func() bool { return s.left(t, owner, card, label(3)) == 50_00-price })
	if _, page := s.page(t, owner, path); !strings.Contains(page, "By gift card") {
		t.Errorf("the order says nothing of its card: %s", words(page))
	}
	s.asks(t, owner, "POST", "/desk/till/sessions", `{"key":"p","currency":"EUR","zone":"Europe/Vienna","float":"100.00"}`, http.StatusCreated, &session)
	s.does(t, owner, path+"/payouts", url.Values{"till": {"cash"}})
	s.asks(t, owner, "GET", "/desk/till/sessions/"+strconv.FormatInt(session.ID, 10), "", http.StatusOK, &session)
	if session.Expected != 100_00-cash {
		t.Errorf("the drawer has %d after %d were paid out", session.Expected, cash)
	}
	s.wantBooks(t)
}

func TestTill_GiftCardPaysOfTwoEventsAndOfSomeTickets(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{})
	slug := s.matinee(t, owner)
	card := s.vouchers(t, 1, 70_00, "EUR", nil)[0]
	own := s.sale.Plan.Label(s.inRows(t, 1)[0])
	var q cardQuote
	var sold cardSale
	asked := `{"key":"a","method":"terminal","gift_card":"` + card + `","seat":["` + own + `"],"also":{"` + slug + `":{"seat":["Stalls/C/12","Stalls/C/13","Stalls/C/14"]}}`
	s.asks(t, owner, "POST", "/desk/events/evening/sales", asked+`,"update":true}`, http.StatusOK, &q)
	if q.GiftCard == nil || q.GiftCard.Pays != 70_00 {
		t.Fatalf("the quote is %+v", q)
	}
	s.asks(t, owner, "POST", "/desk/events/evening/sales", asked+pays(70_00)+`}`, http.StatusCreated, &sold)
	if sold.Order.Method != "credit" || len(sold.Also) != 1 || sold.Also[0].Method != "terminal" {
		t.Fatalf("the sale is %+v", sold)
	}
	s.wantBooks(t)
	// One of three tickets: what the card terminal took goes back first.
	path := "/desk/events/" + slug + "/orders/" + sold.Also[0].Code
	total := sold.Order.Total + sold.Also[0].Total
	ticket := s.one(t, `SELECT t.id::text FROM ticket t JOIN orders o ON o.id = t.order_id WHERE o.code = $1 ORDER BY idx LIMIT 1`, sold.Also[0].Code)
	s.does(t, owner, path+"/cancellations", url.Values{"ticket": {ticket}})
	if got := s.one(t, `SELECT string_agg(by_hand || ' ' || amount, ', ') FROM refund`); got != "true "+strconv.FormatInt(sold.Also[0].Total/3, 10) {
		t.Errorf("of %d, the refunds are %s", total, got)
	}
	s.does(t, owner, path+"/cancellations", url.Values{"all": {"on"}})
	s.does(t, owner, "/desk/events/evening/orders/"+sold.Order.Code+"/cancellations", url.Values{"all": {"on"}})
	eventually(t, "the card has its money back", func() bool { return s.left(t, owner, card, own) == 70_00 })
	s.wantBooks(t)
}

func TestTill_GiftCardAtTwoTillsAtOncePaysOnce(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{})
	dora := s.memberOf(t, "dora", organizers.Till, s.sale.Event.Team)
	idx := s.inRows(t, 8)
	for round := range 4 {
		var q cardQuote
		one, two := s.sale.Plan.Label(idx[2*round]), s.sale.Plan.Label(idx[2*round+1])
		s.asks(t, owner, "POST", "/desk/events/evening/sales", `{"update":true,"method":"cash","seat":["`+one+`"]}`, http.StatusOK, &q)
		card := s.vouchers(t, 1, q.Total, "EUR", nil)[0]
		var tills sync.WaitGroup
		sold := [2]int{}
		for i, who := range []*http.Client{owner, dora} {
			tills.Go(func() {
				a, answer := send(t, who, "POST", s.url+"/desk/events/evening/sales", `{"key":"`+strconv.Itoa(round)+`","method":"cash","gift_card":"`+card+`","seat":["`+[]string{one, two}[i]+`"],"total":`+strconv.FormatInt(q.Total, 10)+pays(q.Total)+`}`)
				if sold[i] = a.StatusCode; a.StatusCode != http.StatusCreated && (a.StatusCode != http.StatusConflict || !strings.Contains(answer, "gift card")) {
					t.Errorf("till %d: %d %s", i, a.StatusCode, answer)
				}
			})
		}
		tills.Wait()
		if sold[0]+sold[1] != http.StatusCreated+http.StatusConflict {
			t.Errorf("round %d: the tills answered %v", round, sold)
		}
	}
	s.wantBooks(t)
}

func TestTill_SaleIsRefusedIfTheGiftCardPaysSomethingElseThanTheQuoteSaid(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{})
	idx := s.inRows(t, 3)
	var q cardQuote
	s.asks(t, owner, "POST", "/desk/events/evening/sales", `{"update":true,"method":"cash","seat":["`+s.sale.Plan.Label(idx[0])+`"]}`, http.StatusOK, &q)
	price, card := q.Total, s.vouchers(t, 1, q.Total+5_00, "EUR", nil)[0]
	sale := func(key string, i int, more string) string {
		return `{"key":"` + key + `","method":"cash","total":` + strconv.FormatInt(price, 10) + `,"seat":["` + s.sale.Plan.Label(idx[i]) + `"],"gift_card":"` + card + `"` + more + `}`
	}
	// Two tills quote: each has nothing to take. The first one sells.
	var sold cardSale
	s.asks(t, owner, "POST", "/desk/events/evening/sales", sale("a", 0, pays(price)), http.StatusCreated, &sold)
	for name, more := range map[string]string{"b": pays(price), "less": pays(1), "nothing is said": ""} {
		a, answer := send(t, owner, "POST", s.url+"/desk/events/evening/sales", sale(name, 1, more))
		if a.StatusCode != http.StatusConflict || !strings.Contains(answer, `"gift_card"`) || !strings.Contains(answer, "This gift card pays €5 now. Nothing was sold.") {
			t.Errorf("%s: %d %s", name, a.StatusCode, answer)
		}
	}
	if orders := s.one(t, `SELECT count(*)::text FROM orders`); orders != "1" {
		t.Errorf("there are %s orders", orders)
	}
	if a, answer := send(t, owner, "POST", s.url+"/desk/events/evening/sales", sale("c", 1, `,"gift_card_pays":"much"`)); a.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("much: %d %s", a.StatusCode, answer)
	}
	for range 2 {
		s.asks(t, owner, "POST", "/desk/events/evening/sales", sale("d", 1, pays(5_00)), http.StatusCreated, &sold)
	}
	if a, answer := send(t, owner, "POST", s.url+"/desk/events/evening/sales", sale("d", 1, pays(6_00))); a.StatusCode != http.StatusConflict || !strings.Contains(answer, `"key"`) {
		t.Errorf("another form with the same key: %d %s", a.StatusCode, answer)
	}
	s.wantBooks(t)
}

func TestSellSeats_PageSaysWhatTheGiftCardLeavesToPayBeforeItSells(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{})
	const at = "/desk/events/evening/sales"
	card, seat := s.vouchers(t, 1, 5_00, "EUR", nil)[0], s.sale.Plan.Label(s.inRows(t, 1)[0])
	form := url.Values{"seat": {seat}, "method": {"cash"}, "code": {card}}
	s.refused(t, owner, at, form, http.StatusConflict, "This gift card pays €5 now.", "To pay", `name="gift_card_pays" value="500"`)
	form.Set("update", "on")
	if a, page := s.submit(t, owner, at, form); a.StatusCode != http.StatusOK || !strings.Contains(page, `name="gift_card_pays" value="500"`) {
		t.Errorf("the total: %d %s", a.StatusCode, words(page))
	}
	form.Del("update")
	form.Set("gift_card_pays", "500")
	s.does(t, owner, at, form)
	s.wantBooks(t)
}

func TestTill_SecondGiftCardIsRefusedAsOne(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{})
	cards, seat := s.vouchers(t, 2, 5_00, "EUR", nil), s.sale.Plan.Label(s.inRows(t, 1)[0])
	for _, more := range []string{`,"update":true`, pays(5_00)} {
		a, answer := send(t, owner, "POST", s.url+"/desk/events/evening/sales", `{"key":"k","method":"cash","seat":["`+seat+`"],"gift_card":"`+cards[0]+`","code":"`+cards[1]+`"`+more+`}`)
		if a.StatusCode != http.StatusConflict || !strings.Contains(answer, `"gift_card"`) || !strings.Contains(answer, "One gift card pays a sale.") {
			t.Errorf("%s: %d %s", more, a.StatusCode, answer)
		}
	}
}

func TestTill_GiftCardThatPaysNothingSaysWhy(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{})
	past := time.Now().Add(-time.Hour)
	yen, old, loaded := s.vouchers(t, 1, 5000, "JPY", nil)[0], s.vouchers(t, 1, 5000, "EUR", &past)[0], s.vouchers(t, 1, 5000, "EUR", nil)[0]
	if _, err := credit.New(s.db).Redeem(t.Context(), "bob@example.org", loaded); err != nil {
		t.Fatal(err)
	}
	seat := s.sale.Plan.Label(s.inRows(t, 1)[0])
	for card, says := range map[string]string{yen: "is in JPY", old: "has expired", loaded: "loaded into an account", "0123-4567-89AB-CDEF": "no gift card with this code", "x": "no gift card with this code"} {
		for _, more := range []string{`,"update":true`, ""} {
			a, answer := send(t, owner, "POST", s.url+"/desk/events/evening/sales", `{"key":"k","method":"cash","gift_card":"`+card+`","seat":["`+seat+`"]`+more+`}`)
			if a.StatusCode != http.StatusConflict || !strings.Contains(answer, says) {
				t.Errorf("%s%s: %d %s", card, more, a.StatusCode, answer)
			}
		}
	}
	s.wantBooks(t)
}

func TestGiftCard_RestOfTheTillIsLoadedByItsOwnerOnce(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{})
	card, l := s.vouchers(t, 1, 90_00, "EUR", nil)[0], credit.New(s.db)
	seat := s.inRows(t, 2)
	sold := s.sellsByCard(t, owner, "a", card, s.sale.Plan.Label(seat[0]))
	want := 90_00 - sold.Order.Total
	for range 2 {
		if got, err := l.Redeem(t.Context(), "ann@example.org", card); err != nil || got.Minor != want {
			t.Errorf("redeemed %+v, %v instead of %d", got, err, want)
		}
	}
	if _, err := l.Redeem(t.Context(), "bob@example.org", card); err == nil {
		t.Error("another person redeemed it, too")
	}
	if balance, err := l.Balance(t.Context(), "ann@example.org", "EUR"); err != nil || balance != want {
		t.Errorf("ann has %d, %v", balance, err)
	}
	if left := s.left(t, owner, card, s.sale.Plan.Label(seat[1])); left != -1 {
		t.Errorf("%d is left on it at the till", left)
	}
	s.wantBooks(t)
}

func TestTill_OrderByGiftCardSaysHowItWasPaidAndWhereMoneyGoes(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{})
	idx := s.inRows(t, 3)
	for i, c := range []struct {
		worth      int64
		paid, back string
	}{{90_00, "by gift card", "to your gift card"}, {10_00, "in cash and by gift card", "the way you paid"}} {
		card := s.vouchers(t, 1, c.worth, "EUR", nil)[0]
		sold := s.sellsByCard(t, owner, strconv.Itoa(i), card, s.sale.Plan.Label(idx[i]))
		for _, at := range []string{"/orders/" + sold.Order.Code, "/desk/events/evening/orders/" + sold.Order.Code} {
			if _, page := s.page(t, owner, at); !strings.Contains(page, c.paid) {
				t.Errorf("%s does not say that it was paid %s", at, c.paid)
			}
		}
		s.does(t, owner, "/desk/events/evening/orders/"+sold.Order.Code+"/cancellations", url.Values{"all": {"on"}})
		eventually(t, "the order says where its money went", func() bool {
			_, page := s.page(t, owner, "/orders/"+sold.Order.Code)
			return strings.Contains(page, c.back)
		})
	}
	s.wantBooks(t)
}

func TestGiftCards_SayWhatIsLeftAfterSalesAtTheTill(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{})
	idx := s.inRows(t, 2)
	card := s.vouchers(t, 1, 10_00, "EUR", nil)[0]
	s.exec(t, `INSERT INTO gift_card (id, team_id, code, currency, amount, buyer, recipient, giver, message, method, state, voucher_id, secret, issued_at)
		SELECT gen_random_uuid(), (SELECT team_id FROM event WHERE slug = 'evening'), 'x', 'EUR', 1000, 'ann@example.org', 'ann@example.org', '', '', 'card', 'issued', max(id), 'x', now() FROM credit_voucher`)
	says := func(want string) bool {
		_, page := s.page(t, owner, "/desk/gift-cards")
		return strings.Contains(between(page, `<span class="badge">`, "</span>"), want)
	}
	if !says("Not redeemed") {
		t.Error("a card that paid nothing is redeemed")
	}
	sold := s.sellsByCard(t, owner, "a", card, s.sale.Plan.Label(idx[0]))
	if !says("Redeemed") {
		t.Error("a card that paid all it had is not redeemed")
	}
	s.does(t, owner, "/desk/events/evening/orders/"+sold.Order.Code+"/cancellations", url.Values{"all": {"on"}})
	eventually(t, "the page says that all of it is left", func() bool { return says("Left on it: €10") })
	var list struct {
		Cards []struct{ Left int64 } `json:"cards"`
	}
	if s.asks(t, owner, "GET", "/desk/gift-cards", "", http.StatusOK, &list); len(list.Cards) != 1 || list.Cards[0].Left != 10_00 {
		t.Errorf("programs are told %+v", list)
	}
}

// A code that only the second event of a sale knows takes off there, though it could be that of a gift card.
func TestTill_CodeOfTheSecondEventIsNoGiftCard(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{})
	slug := s.matinee(t, owner)
	const code = "0123456789ABCDEF"
	s.does(t, owner, "/desk/events/"+slug+"/codes", url.Values{"code": {code}, "off": {"50%"}})
	own := s.sale.Plan.Label(s.inRows(t, 1)[0])
	asked := `{"key":"a","method":"cash","code":"` + code + `","seat":["` + own + `"],"also":{"` + slug + `":{"seat":["Stalls/C/12"]}}`
	var sold cardSale
	s.asks(t, owner, "POST", "/desk/events/evening/sales", asked+`}`, http.StatusCreated, &sold)
	if len(sold.Also) != 1 || sold.Order.Total == 0 || s.one(t, `SELECT discount_code FROM orders WHERE code = $1`, sold.Also[0].Code) != code {
		t.Errorf("the sale is %+v", sold)
	}
	a, answer := send(t, owner, "POST", s.url+"/desk/events/evening/sales", strings.Replace(strings.Replace(asked, code, "FEDCBA9876543210", 1), `"a"`, `"b"`, 1)+`}`)
	if a.StatusCode != http.StatusConflict || !strings.Contains(answer, "no gift card with this code") {
		t.Errorf("a code that neither event knows: %d %s", a.StatusCode, answer)
	}
}

// At the page of seats and at the till a discount code shows what it takes off, sells at that price, and is refused if it is none.
func TestSellSeats_ByADiscountCode(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{})
	s.does(t, owner, "/desk/events/evening/codes", url.Values{"code": {"HALF"}, "off": {"50%"}})
	idx := s.inRows(t, 2)
	const at = "/desk/events/evening/sales"
	form := url.Values{"seat": {s.sale.Plan.Label(idx[0])}, "method": {"cash"}, "code": {"half"}, "update": {"on"}}
	a, page := s.submit(t, owner, at, form)
	if a.StatusCode != http.StatusOK || !strings.Contains(page, `name="total" value="1500"`) || !strings.Contains(page, `value="half"`) {
		t.Errorf("the page of seats quotes %d: %s", a.StatusCode, words(page))
	}
	form.Del("update")
	form.Set("total", "3000")
	s.refused(t, owner, at, form, http.StatusConflict, "cost €15 now")
	form.Set("total", "1500")
	s.does(t, owner, at, form)
	if got := s.one(t, `SELECT total || ' ' || discount || ' ' || discount_code FROM orders`); got != "1500 1500 HALF" {
		t.Errorf("the order is %s", got)
	}
	other := url.Values{"seat": {s.sale.Plan.Label(idx[1])}, "method": {"cash"}, "code": {"NONE"}}
	s.refused(t, owner, at, other, http.StatusUnprocessableEntity, "code")
	var quote struct{ Total, Discount int64 }
	s.asks(t, owner, "POST", at, `{"update":true,"method":"cash","code":"HALF","seat":["`+s.sale.Plan.Label(idx[1])+`"]}`, http.StatusOK, &quote)
	if quote.Total != 1500 {
		t.Errorf("the till quotes %+v", quote)
	}
	if n := s.one(t, `SELECT count(*)::text FROM orders`); n != "1" {
		t.Errorf("%s orders", n)
	}
	s.wantBooks(t)
}
