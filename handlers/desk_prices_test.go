package handlers

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/events"
)

// family is the price list of an evening as its page sends it.
func family(more ...string) url.Values {
	f := url.Values{
		"type.0.name": {"Adult"}, "price.0.0.A": {"30"}, "price.0.0.B": {"48"}, "price.0.0.C": {"36"},
		"type.1.name": {"Child"}, "price.0.1.A": {"9.00"}, "price.0.1.B": {"50%"}, "type.1.proof": {"Passport"},
	}
	for i := 0; i < len(more); i += 2 {
		f.Set(more[i], more[i+1])
	}
	return f
}

func TestPrices_AreEditedOnOnePageAndPaidAtTheCheckout(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{})
	owner := s.owner(t)
	at := "/desk/events/evening/prices"
	s.does(t, owner, at, family())
	s.does(t, owner, at, family("phase.1.name", "Early bird", "phase.1.sells", "1", "price.1.0.B", "40"))
	if a, page := s.page(t, owner, at); a.StatusCode != http.StatusOK || !strings.Contains(page, "Early bird") || !strings.Contains(page, "1 left") || !strings.Contains(page, `value="50%"`) {
		t.Errorf("the page: %d %.300s", a.StatusCode, page)
	}
	for name, bad := range map[string][]string{
		"negative": {"price.0.1.A", "-9"}, "huge": {"price.0.1.A", "99999999999999999999"}, "no amount": {"price.0.1.A", "nine"}, "more than 100 percent": {"price.0.1.A", "101%"},
		"a percentage of itself": {"price.0.0.A", "50%"}, "twice": {"type.2.name", "Child"}, "no number": {"type.1.least", "x"}, "least above most": {"type.1.least", "3", "type.1.most", "2"},
		"a price without a name": {"price.0.2.A", "5"}, "a row without a name": {"type.3.name", "Student"}, "a phase without a name": {"phase.2.ends", "2030-03-01T00:00"},
		"only in a phase": {"phase.1.name", "P", "phase.1.sells", "5", "price.1.1.C", "3"},
		"with nothing":    {"type.1.with", "dog"}, "sold to cats": {"type.1.sold_to", "cats"}, "no time": {"phase.1.name", "P", "phase.1.ends", "soon"},
		"overlapping": {"phase.1.name", "P", "phase.2.name", "Q", "phase.1.ends", "2030-03-01T00:00", "phase.2.begins", "2030-02-01T00:00"},
		"never runs":  {"phase.1.name", "P", "phase.2.name", "Q"}, "backwards": {"phase.1.name", "P", "phase.1.begins", "2030-03-01T00:00", "phase.1.ends", "2030-02-01T00:00"},
	} {
		s.refused(t, owner, at, family(append(bad, "key", name)...), http.StatusUnprocessableEntity)
	}
	sale, err := s.config.Inventory.Sale(t.Context(), "evening")
	if err != nil || len(sale.Prices.Types) != 2 || sale.Plan.Categories[0].Price != 3000 || sale.Prices.Version != 2 {
		t.Fatalf("the list is %+v, %v", sale.Prices, err)
	}
	if price, _ := sale.Prices.Price(0, 1, 1); price != 2400 {
		t.Errorf("half of 48 is %d", price)
	}
	s.wantBooks(t)
}

// rules are a tax and an offer as the page of prices sends them.
func rules(more ...string) url.Values {
	return family(append([]string{
		"tax.name", "VAT", "tax.country", "AT", "tax.rate", "10", "tax.type.1", "13", "tax.by_total", "on",
		"offer.0.kind", "multi", "offer.0.count", "3", "offer.0.pay", "2", "offer.0.types", "standard",
		"offer.1.kind", "family", "offer.2.kind", "group", "offer.2.count", "10", "offer.2.percent", "5%",
	}, more...)...)
}

func TestPrices_TaxAndOffersAreEditedAtTheDesk(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{})
	owner, at := s.owner(t), "/desk/events/evening/prices"
	s.does(t, owner, at, family())
	s.does(t, owner, at, rules())
	sale, err := s.config.Inventory.Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	r := sale.Event.Rules
	if r.Tax.Rate != 10_000 || r.Tax.FeeRate != 10_000 || r.Tax.RateOf(1) != 13_000 || !r.Tax.ByTotal || r.Tax.OnTop || r.Tax.Country != "AT" {
		t.Errorf("the tax is %+v", r.Tax)
	}
	if len(r.Offers) != 2 || r.Offers[0].Name != "3 for 2" || r.Offers[0].Number != 1 || r.Offers[1].Percent != 5_00 || r.Offers[1].Number != 2 {
		t.Fatalf("the offers are %+v", r.Offers)
	}
	if _, page := s.page(t, owner, at); !strings.Contains(page, "VAT 10% and 13% inside of the prices") || !strings.Contains(page, "2 offers") {
		t.Error("the page lacks the tax or the offers")
	}
	s.does(t, owner, at, url.Values{"offer.0.kind": {"group"}, "offer.0.number": {"2"}, "offer.0.count": {"9"}, "offer.0.percent": {"5"}, "offer.1.kind": {"group"}, "offer.1.count": {"20"}, "offer.1.percent": {"9"}})
	sale, _ = s.config.Inventory.Sale(t.Context(), "evening")
	if o := sale.Event.Rules.Offers; len(o) != 2 || o[0].Number != 2 || o[0].Count != 9 || o[1].Number != 3 {
		t.Errorf("an offer that was removed left its number: %+v", o)
	}
	if sale.Event.Rules.Tax.Rate != 10_000 || len(sale.Prices.Types) != 2 {
		t.Error("a form without a tax or a price list changed them")
	}
	for name, bad := range map[string][]string{
		"no rate": {"tax.rate", "ten"}, "negative": {"tax.rate", "-1"}, "everything": {"tax.rate", "100"}, "huge": {"tax.type.1", "99999999999"}, "long name": {"tax.name", strings.Repeat("V", 31)}, "no country": {"tax.country", "Austria"},
		"pays more": {"offer.0.pay", "3"}, "pays nothing": {"offer.0.pay", "0"}, "no count": {"offer.0.count", "some"}, "too many": {"offer.2.count", "101"}, "more than all": {"offer.2.percent", "101"},
		"no such type": {"offer.0.types", "dog"}, "no such category": {"offer.0.categories", "Z"}, "no kind": {"offer.0.kind", "gift"}, "family of none": {"offer.1.count", "2", "offer.1.percent", "10"},
		"two lines": {"offer.0.name", "a\nb"}, "on top while seats are held": {"tax.on_top", "on"},
	} {
		want := http.StatusUnprocessableEntity
		if strings.Contains(name, "on top") {
			want = http.StatusConflict
		}
		s.refused(t, owner, at, rules(bad...), want)
	}
	s.wantBooks(t)
}

// A tax without a rounding is rounded as its country wants, and once for an order if no country is named.
func TestPrices_RoundingFollowsTheCountry(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{})
	owner := s.owner(t)
	s.does(t, owner, "/desk/taxes", url.Values{"new.country": {"ch"}, "new.standard": {"8.1"}, "new.by_line": {"on"}})
	for _, c := range []struct {
		more    url.Values
		byTotal bool
	}{
		{url.Values{}, true},
		{url.Values{"tax.country": {"AT"}}, true},
		{url.Values{"tax.country": {"ch"}}, false},
		{url.Values{"tax.country": {"CH"}, "tax.by_total": {"on"}}, true},
		{url.Values{"tax.country": {"AT"}, "tax.by_total": {""}}, false},
		{url.Values{"tax.by_total": {"off"}}, false},
	} {
		c.more.Set("tax.rate", "10")
		s.does(t, owner, "/desk/events/evening/prices", c.more)
		sale, err := s.config.Inventory.Sale(t.Context(), "evening")
		if err != nil || sale.Event.Rules.Tax.ByTotal != c.byTotal {
			t.Errorf("%v is rounded by the total: %t, %v", c.more, sale.Event.Rules.Tax.ByTotal, err)
		}
	}
	s.wantBooks(t)
}

func TestPrices_AreReadAndWrittenInOneShapeOfJSON(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{})
	owner, at := s.owner(t), "/desk/events/evening/prices"
	s.does(t, owner, at, rules("phase.1.name", "Early bird", "phase.1.sells", "5", "phase.1.ends", "2031-05-01T12:00", "price.1.0.B", "40"))
	says := func(body string) (status int, answer string) {
		a, text := send(t, owner, "POST", s.url+at, body, "Content-Type", "application/json", "Accept", "application/json", "Idempotency-Key", rand.Text())
		return a.StatusCode, text
	}
	reads := func() (text string) {
		_, text = send(t, owner, "GET", s.url+at, "", "Accept", "application/json")
		return regexp.MustCompile(`"version":\d+`).ReplaceAllString(text, "")
	}
	_, whole := send(t, owner, "GET", s.url+at, "", "Accept", "application/json")
	before := reads()
	if status, answer := says(whole); status != http.StatusNoContent || reads() != before {
		t.Fatalf("what was read is not what was written: %d %s\n%s\n%s", status, answer, before, reads())
	}
	if status, answer := says(whole); status != http.StatusConflict || !strings.Contains(answer, "changed since you read them") {
		t.Errorf("an old version: %d %s", status, answer)
	}
	if status, answer := says(`{"types": [{"key": "standard", "name": "Grown-up"}, {"name": "Senior", "proof": "Pass", "sold_to": "everyone"}],
		"prices": [{"phase": 0, "type": "standard", "category": "A", "amount": 3100}, {"phase": 0, "type": "senior", "category": "A", "percent": "80"}]}`); status != http.StatusNoContent {
		t.Fatalf("a new type: %d %s", status, answer)
	}
	sale, err := s.config.Inventory.Sale(t.Context(), "evening")
	if err != nil || len(sale.Prices.Types) != 3 || sale.Prices.Types[0].Name != "Grown-up" || sale.Prices.Types[1].Proof != "Passport" || *sale.Prices.Phases[0].Sells != 5 || len(sale.Event.Rules.Offers) != 2 {
		t.Fatalf("what was left out changed: %+v, %v", sale.Prices, err)
	}
	if price, _ := sale.Prices.Price(0, 2, 0); price != 2480 {
		t.Errorf("80%% of 31 is %d", price)
	}
	if status, _ := says(`{"offers": []}`); status != http.StatusNoContent || !strings.Contains(reads(), `"offers":[]`) || strings.Contains(reads(), `"rate":"0"`) {
		t.Error("offers are not removed alone")
	}
	s.held(t, person(t), 1)
	for _, bad := range []string{
		`{"tax": {"rate": "10", "on_top": true}}`,
		`{"types": {}}`, `{"types": [{"key": "dog"}]}`, `{"types": [{"name": ""}]}`, `{"types": [{"key": "dog", "name": "Cat"}]}`, `{"types": [{"name": "X", "most": -1}]}`, `{"types": [], "dogs": 1}`,
		`{"phases": [{"number": 7, "name": "P"}]}`, `{"phases": [{"number": -1, "name": "P"}]}`, `{"prices": [{"type": "dog", "category": "A"}]}`, `{"prices": [{"type": "standard", "category": "Z"}]}`,
		`{"prices": [{"type": "standard", "category": "A", "phase": -1}]}`, `{"prices": [{"type": "standard", "category": "A", "amount": -1}]}`, `{"prices": [{"type": "standard", "category": "A", "percent": "x"}]}`,
		`{"tax": {"rate": "ten"}}`, `{"tax": {"types": [{"type": "dog", "rate": "1"}]}}`, `{"offers": [{"kind": "gift", "count": 1}]}`, `{"currency": "USD", "tax": {}}`,
	} {
		if status, answer := says(bad); status < 400 || status >= 500 {
			t.Errorf("%s is answered %d %s", bad, status, answer)
		}
	}
	s.wantBooks(t)
}

func TestTaxes_ATeamKeepsRatesOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	owner, at := s.owner(t), "/desk/taxes"
	if _, page := s.page(t, owner, at); !strings.Contains(page, "1 August 2025") || !strings.Contains(page, "TEDB") || !strings.Contains(page, "Austria") {
		t.Error("the page does not say where its rates come from")
	}
	s.does(t, owner, at, url.Values{"rate.AT.standard": {"21"}, "rate.AT.reduced": {"13, 10;5"}, "new.country": {"ch"}, "new.name": {"Switzerland"}, "new.standard": {"8.1"}, "new.by_line": {"on"}})
	var rows int
	if err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM tax_rate WHERE country = 'AT' AND reduced = '{13000,10000,5000}' OR country = 'CH' AND standard = 8100 AND by_line`).Scan(&rows); err != nil || rows != 2 {
		t.Errorf("%d rates are stored, %v", rows, err)
	}
	if _, page := s.page(t, owner, "/desk/events/evening/prices"); !strings.Contains(page, "Switzerland") || !strings.Contains(page, `<option value="21">Austria, standard`) || !strings.Contains(page, "as of 1 August 2025, and not verified") {
		t.Error("the page of prices does not suggest the rates of the team")
	}
	for name, bad := range map[string]url.Values{
		"negative": {"rate.AT.standard": {"-1"}}, "everything": {"rate.AT.standard": {"100"}}, "words": {"rate.AT.reduced": {"ten"}, "rate.AT.standard": {"20"}}, "many": {"rate.AT.standard": {"20"}, "rate.AT.reduced": {"1 2 3 4 5 6 7"}},
		"no country": {"new.country": {"Swiss"}, "new.standard": {"8"}}, "long": {"rate.CH.name": {strings.Repeat("x", 61)}, "rate.CH.standard": {"8"}},
	} {
		t.Log(name)
		s.refused(t, owner, at, bad, http.StatusUnprocessableEntity)
	}
	s.does(t, owner, at, url.Values{"rate.AT.standard": {""}, "rate.CH.standard": {""}})
	if err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM tax_rate`).Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d rates are left, %v", rows, err)
	}
}
