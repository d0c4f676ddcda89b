package handlers

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitingroom"
)

var twoLetters = regexp.MustCompile(`\pL\pL`)

// englishWords are words that no German sentence has.
var englishWords = regexp.MustCompile(`(?i)\b(the|of|and|this|that|has|have|with|from|are|you|your|to|by|its|is|there|nothing|cannot|been)\b`)

// ofThePlan are names that the plan of the event has, and a country.
var ofThePlan = map[string]bool{"Stage": true, "Tables": true, "Table": true, "Standing": true, "Isle of Man": true}

// english lists the text nodes of a German page that are messages of the catalogue in English, or that have English words.
func english(t *testing.T, page string) (found []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	german := text.With(t.Context(), "de")
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		said := strings.Join(strings.Fields(n.Data), " ")
		switch {
		case n.Type == html.ElementNode && (n.Data == "script" || n.Data == "style" || n.Data == "code" || n.Data == "textarea" || n.Data == "noscript"):
			return
		case n.Type == html.TextNode && !ofThePlan[said] && (twoLetters.MatchString(said) && text.T(german, said) != said || englishWords.MatchString(said) || strings.Contains(said, "%s")):
			found = append(found, said)
		}
		for _, a := range n.Attr {
			switch {
			case a.Key == "lang" && a.Val != "de":
				return
			case (a.Key == "aria-label" || a.Key == "title" || a.Key == "alt" || a.Key == "placeholder") && twoLetters.MatchString(a.Val) && text.T(german, a.Val) != a.Val:
				found = append(found, a.Val)
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(root)
	return found
}

func TestPages_OfAGermanHaveNoEnglish(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	owner, ann := s.owner(t), person(t)
	visit := func(who *http.Client, path string, want int) {
		t.Helper()
		a, page := send(t, who, "GET", s.url+path, "", aGerman...)
		if a.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, a.StatusCode, want)
		}
		if !strings.Contains(page, `<html lang="de"`) {
			t.Errorf("%s is not German", path)
		}
		for _, said := range english(t, page) {
			t.Errorf("%s says %q", path, said)
		}
	}
	s.publishes(t, owner, "terms", "Karten sind für Sie.")
	visit(ann, "/events/evening", 200) // its seats, as it has no page yet
	s.tell(t, s.sale.Event.ID, "Wien", "play")
	if a, body := s.submit(t, owner, "/desk/gift-cards", url.Values{"key": {"a"}, "open": {"on"}, "currency": {"eur"}, "amounts": {"10"}, "months": {"36"}}); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, words(body))
	}
	for _, path := range []string{
		"/events", "/events?past=1", "/events?town=Wien&from=2030-01-01", "/events?q=nothing-of-this-name", "/events/evening", "/events/evening/map", "/events/evening/waitlist", "/legal/1/terms", "/gift-cards", "/credit",
	} {
		visit(ann, path, 200)
	}
	visit(ann, "/events?from=never", http.StatusUnprocessableEntity)
	visit(ann, "/nowhere", http.StatusNotFound)
	visit(ann, "/events/nowhere", http.StatusNotFound)
	s.held(t, ann, 2)
	for _, path := range []string{"/events/evening", "/events/evening/map", "/events/evening/checkout"} {
		visit(ann, path, 200)
	}
	at, _ := s.bought(t, person(t), 2)
	visit(ann, strings.TrimPrefix(at, s.url), 200)
	newRoom(t, s, waitingroom.NewRoom{})
	visit(ann, "/rooms/evening", 200)
	visit(ann, "/desk/session", 200)
	sold, body := s.submit(t, owner, "/desk/events/evening/sales", url.Values{"key": {"german"}, "seat": {s.sale.Plan.Label(7)}, "method": {"cash"}})
	if sold.StatusCode != http.StatusSeeOther {
		t.Fatal(sold.StatusCode, words(body))
	}
	for _, page := range []string{
		"/desk", "/desk/branding", "/desk/site", "/desk/bank", "/desk/invoices", "/desk/gift-cards", "/desk/keys", "/desk/hooks", "/desk/legal",
		"/desk/events/evening/doors", "/desk/events/evening/codes", "/desk/events/evening/page",
		"/desk/plans", "/desk/taxes", "/desk/team", "/desk/privacy", "/desk/log", "/desk/log?about=security", "/desk/account", "/desk/account/second-factor", "/desk/events/new",
		"/desk/events/evening/orders", sold.Header.Get("Location"), "/desk/events/evening/seats", "/desk/events/evening/seats/0", "/desk/events/evening/messages", "/desk/events/evening/letters", "/desk/mail-texts",
		"/desk/events/evening/plan", "/desk/events/evening/prices", "/desk/events/evening/settings", "/desk/events/evening/waitlist", "/desk/events/evening/shares",
	} {
		visit(owner, page, 200)
	}
	refuse := func(path string, f url.Values) {
		t.Helper()
		f.Set("key", seats.NewID().String())
		a, page := send(t, owner, "POST", s.url+path, f.Encode(), append([]string{"Content-Type", asForm}, aGerman...)...)
		if a.StatusCode < 400 {
			t.Errorf("%s takes %v: %d", path, f, a.StatusCode)
		}
		for _, said := range english(t, page) {
			t.Errorf("%s refuses %v and says %q", path, f, said)
		}
	}
	for path, forms := range map[string][]url.Values{
		"/desk/events/evening/prices": {
			{"type.0.most": {"x"}},
			{"type.1.name": {"Kinder"}, "type.1.with": {"dog"}},
			{"price.0.0.A": {"10%"}},
			{"price.0.0.A": {"much"}},
			{"price.0.0.A": {"120%"}},
			{"type.9.name": {""}, "type.9.proof": {"x"}, "price.0.9.A": {"5"}},
			{"phase.1.name": {"Früh"}, "phase.1.begins": {"soon"}},
			{"phase.1.name": {"A"}, "phase.2.name": {"B"}},
			{"tax.rate": {"x"}},
			{"tax.rate": {"100"}},
			{"tax.country": {"Austria"}},
			{"offer.0.kind": {"multi"}, "offer.0.count": {"3"}, "offer.0.pay": {"3"}},
			{"offer.0.kind": {"group"}, "offer.0.count": {"0"}, "offer.0.percent": {"5"}},
			{"extra.donations": {"x"}},
			{"code.new": {"AB"}, "code.off": {"10%"}},
			{"code.new": {"ABCD"}},
		},
		"/desk/events/evening/codes":    {{"code": {"A1B"}}, {"off": {"5%"}}, {"off": {"5%"}, "number": {"10001"}, "name": {"x"}}, {"code": {"ABC"}, "off": {"101%"}}, {"code": {"ABC"}, "off": {"5%"}, "types": {"dog"}}},
		"/desk/events/evening/settings": {{"name": {""}, "starts": {"x"}, "zone": {"Moon"}, "currency": {"x"}}},
		"/desk/events/evening/waitlist": {{"do": {"dance"}}, {"do": {"pause"}}, {"do": {"first"}, "email": {"x@example.org"}, "reason": {"Grund"}}, {"do": {"offer"}, "email": {"x@example.org"}}},
		"/desk/events/evening/room":     {{"do": {"resume"}}, {"do": {"rate"}, "rate": {"-1"}}, {"do": {"slots"}, "slots": {"0"}}, {"do": {"work"}, "work": {"-1"}}},
		"/desk/events/evening/blocks":   {{"seats": {"Z/9"}}, {}},
		"/desk/events/evening/plan":     {{"plan": {"x"}}},
		"/desk/taxes":                   {{"country": {"XX"}, "rate.XX.standard": {"x"}}},
		"/desk/privacy":                 {{"months": {"-3"}}},
		"/desk/plans":                   {{"from": {"nowhere"}, "name": {"x"}}},
	} {
		for _, f := range forms {
			refuse(path, f)
		}
	}
	if found := english(t, `<p title="Sold out">Checkout</p><p lang="en">Checkout</p><p>2 of the seats</p>`); len(found) != 3 {
		t.Errorf("planted words are found as %q", found)
	}
}
