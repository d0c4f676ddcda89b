package handlers

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leonelquinteros/gotext"
	"golang.org/x/net/html"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/text/po"
	"github.com/usherbox/usher/seats/waitingroom"
)

var twoLetters = regexp.MustCompile(`\pL\pL`)

var aWord = regexp.MustCompile(`\pL+`)

// wordsOf adds the words of a text to a set, in lower case.
func wordsOf(said string, to map[string]bool) {
	for _, w := range aWord.FindAllString(verb.ReplaceAllString(said, " "), -1) {
		to[strings.ToLower(w)] = true
	}
}

var verb = regexp.MustCompile(`%(\[\d+\])?[-+.\d]*[a-z]|</?[a-z]+>`)

// englishWords are the words of our messages in English that no German message has, but for a few that German pages may have: names
// that organizers gave, those of our plans, of countries and of programs.
var englishWords = sync.OnceValue(func() map[string]bool {
	content, err := po.Files.ReadFile("de.po")
	if err != nil {
		panic(err)
	}
	catalogue := gotext.NewPo()
	catalogue.Parse(content)
	english, german := map[string]bool{"been": true, "cannot": true, "has": true, "its": true, "there": true}, map[string]bool{}
	for _, m := range catalogue.GetDomain().GetTranslations() {
		if m.ID == "" {
			continue
		}
		wordsOf(m.ID+" "+m.PluralID, english)
		for _, said := range m.Trs {
			wordsOf(said, german)
		}
	}
	for w := range english {
		if german[w] || givenNames[w] || len(w) < 2 {
			delete(english, w)
		}
	}
	return english
})

// givenNames are words that a German page may have: names of the test's events, its plan and its team, numbers of its invoices,
// and what programs call things.
var givenNames = map[string]bool{"balcony": true, "foreign": true, "own": true, "theirs": true, "english": true, "entrance": true, "floor": true, "gallery": true, "left": true, "right": true, "standing": true, "stool": true, "table": true, "tables": true}

var (
	isAddress  = regexp.MustCompile(`^([a-z]+(-[a-z]+)*(/\S*)?|<.*>)$`)                                                                                               // of a page below /desk, in its log; code for one's own site
	ofPrograms = regexp.MustCompile(`\{\w+\}|\bsite_\w+|\b[0-9A-Z]{26}\b|\b[0-9A-Z]{4}-[0-9A-Z]{4}\b|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|https?://\S+|\S+@\S+`) // variables, keys, order numbers, UUIDs, addresses
)

// isEnglish reports whether a text has English words.
func isEnglish(said string) bool {
	if isAddress.MatchString(said) {
		return false
	}
	said = ofPrograms.ReplaceAllString(said, " ")
	found := map[string]bool{}
	wordsOf(said, found)
	for w := range found {
		if englishWords()[w] {
			return true
		}
	}
	return false
}

// ofThePlan are names that the plan of the event has, and one that is imported, and a country.
var ofThePlan = map[string]bool{"Floor": true, "Gallery left": true, "Gallery right": true, "Gallery stool": true, "Entrance": true, "Seat": true, "Stage": true, "Tables": true, "Table": true, "Standing": true, "Isle of Man": true}

// english lists the texts of a German page that are messages of the catalogue in English, or that have English words.
func english(t *testing.T, page string) (found []string) {
	t.Helper()
	root, err := html.ParseWithOptions(strings.NewReader(page), html.ParseOptionEnableScripting(false)) // what noscript has is read, too
	if err != nil {
		t.Fatal(err)
	}
	german := text.With(t.Context(), "de")
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		said := strings.Join(strings.Fields(n.Data), " ")
		switch {
		case n.Type == html.ElementNode && (n.Data == "script" || n.Data == "style" || n.Data == "code"):
			return
		case n.Type == html.TextNode && !ofThePlan[said] && (twoLetters.MatchString(said) && text.T(german, said) != said || isEnglish(said) || strings.Contains(said, "%s")):
			found = append(found, said)
		}
		for _, a := range n.Attr {
			switch {
			case a.Key == "lang" && a.Val != "de", a.Key == "translate" && a.Val == "no": // of the organizer's file, or of programs
				return
			case (a.Key == "aria-label" || a.Key == "title" || a.Key == "alt" || a.Key == "placeholder") && !ofThePlan[a.Val] && twoLetters.MatchString(a.Val) && (text.T(german, a.Val) != a.Val || isEnglish(a.Val)):
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
	w := newWall(t)
	s, owner, ann := w.site, w.people[string(organizers.Owner)], person(t)
	s.exec(t, `UPDATE team SET name = 'Theaterverein'`)
	s.exec(t, `UPDATE organizer SET name = 'Ada'`)
	s.exec(t, `UPDATE passkey SET name = 'Telefon'`)
	s.exec(t, `UPDATE orders SET name = 'Ada'`)
	s.exec(t, `UPDATE api_key SET name = 'Kasse ' || id`)
	s.exec(t, `UPDATE subscription SET name = 'Abo'`)
	s.exec(t, `UPDATE message SET subject = 'Gruß'`)
	s.exec(t, `UPDATE share SET name = 'Ada'`)
	if _, err := events.Create(t.Context(), w.db, events.Settings{Name: "Lesung", StartsAt: time.Unix(2e9, 0)}, theClub(t)); err != nil {
		t.Fatal(err)
	}
	pages, visited := routesOf(t), map[string]bool{}
	visit := func(who *http.Client, path string, want int) {
		t.Helper()
		if r, err := http.NewRequest("GET", s.url+path, nil); err == nil {
			_, pattern := pages.Handler(r)
			visited[pattern] = true
		}
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
	papers := func(who *http.Client, path string) {
		t.Helper()
		_, pattern := pages.Handler(httptest.NewRequest("GET", path, nil))
		visited[pattern] = true
		a, file := send(t, who, "GET", s.url+path, "", aGerman...)
		if a.StatusCode != http.StatusOK {
			t.Fatal(path, a.StatusCode, words(file))
		}
		for _, said := range english(t, "<p>"+strings.Join(wordsOfPaper(t, file), "</p><p>")+"</p>") {
			t.Errorf("%s says %q", path, said)
		}
	}
	s.publishes(t, owner, "terms", "Karten sind für Sie.")
	visit(owner, "/desk?lang=de", 200) // from now on they read and write in German
	visit(ann, "/events/evening", 200) // its seats, as it has no page yet
	s.tell(t, s.sale.Event.ID, "Wien", "play")
	if a, body := s.submit(t, owner, "/desk/gift-cards", url.Values{"key": {"a"}, "open": {"on"}, "currency": {"eur"}, "amounts": {"10"}, "months": {"36"}}); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, words(body))
	}
	for _, path := range []string{
		"/events", "/events?past=1", "/events?town=Wien&from=2030-01-01", "/events?q=nothing-of-this-name", "/events/evening", "/events/evening/map", "/events/evening/waitlist", "/legal/1/terms", "/gift-cards", "/account",
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
	visit(ann, "/rooms/evening/waits", 200)
	for _, path := range []string{"/desk/session", "/desk/password", "/personal-data", "/events/evening/sections/0"} {
		visit(ann, path, 200)
	}
	for _, path := range []string{"/desk/setup/x", "/desk/invitations/x", "/desk/password/x", "/door/x", "/boards/x", "/account/links/x", "/personal-data/x", "/confirmations/x", "/waitlist/x", "/payments/x", "/gift-cards/x", "/demo-card/x", "/series/x", "/subscriptions/x", "/unsubscribe/x"} {
		visit(ann, path, http.StatusNotFound)
	}
	sold, body := s.submit(t, owner, "/desk/events/evening/sales", url.Values{"key": {"german"}, "seat": {s.sale.Plan.Label(7)}, "method": {"cash"}})
	if sold.StatusCode != http.StatusSeeOther {
		t.Fatal(sold.StatusCode, words(body))
	}
	code, _, _ := strings.Cut(path.Base(sold.Header.Get("Location")), "?")
	visit(ann, "/orders/"+code, 200)
	s.publishLog(t)
	customer := "/desk/customers/" + w.id("SELECT o.id::text AS id FROM orders o JOIN event e ON e.id = event_id WHERE slug = 'evening' AND o.email <> '' LIMIT 1")
	visit(owner, customer, 200)
	for _, page := range []string{
		"/desk", "/desk/events", "/desk/events?show=draft&q=nichts", "/desk/search?q=even", "/desk/search?q=nichts", "/desk/branding", "/desk/site", "/desk/bank", "/desk/books?from=", "/desk/customers", "/desk/customers?q=nobody-like-this", "/desk/customers/duplicates", "/desk/books/accounts", "/desk/books/email", "/desk/books/payouts", "/desk/books/payouts/po_own", "/desk/invoices", "/desk/gift-cards", "/desk/keys", "/desk/keys/requests", "/desk/alerts", "/desk/hooks", "/desk/legal",
		"/desk/events/evening/doors", "/desk/events/evening/blocks", "/desk/events/evening/guests", "/desk/events/evening/guests?print=1", "/desk/events/evening/bookings", "/desk/events/evening/room", "/desk/events/evening/codes", "/desk/events/evening/page",
		"/desk/events/evening", "/desk/events/evening/preview", "/desk/events/evening/post", "/desk/events/lesung/series", "/desk/series", "/desk/subscriptions", "/desk/subscriptions/new", "/desk/session/proof",
		"/desk/plans", "/desk/taxes", "/desk/team", "/desk/privacy", "/desk/log", "/desk/log?about=security", "/desk/account", "/desk/account/second-factor", "/desk/events/new",
		"/desk/events/evening/orders", sold.Header.Get("Location"), "/desk/events/evening/seats", "/desk/events/evening/seats/0", "/desk/events/evening/messages", "/desk/events/evening/letters", "/desk/events/evening/log", "/events/evening/log", "/desk/events/evening/settlement", "/desk/events/evening/comparison", "/desk/mail-texts",
		"/desk/events/evening/plan", "/desk/events/evening/prices", "/desk/events/evening/settings", "/desk/events/evening/checklist", "/desk/events/evening/rehearsal", "/desk/events/evening/waitlist", "/desk/events/evening/shares",
	} {
		visit(owner, page, 200)
	}
	for _, page := range []string{"/desk/memberships", "/desk/memberships?show=soon", "/desk/memberships?show=all&q=evening", "/desk/memberships?show=over"} {
		visit(owner, page, 200)
	}
	s.does(t, owner, "/desk/events/evening/guests", url.Values{"guests": {"Ute"}})
	visit(owner, "/desk/events/evening/guests", 200)
	s.does(t, owner, "/desk/events/evening/guests/tickets", url.Values{})
	visit(owner, "/desk/events/evening/guests", 200)
	group := func(n string) string {
		s.does(t, owner, "/desk/events/evening/bookings", url.Values{"name": {"Ute"}, "organisation": {"Schule"}, "email": {"ute@example.org"}, "number": {n}, "until": {"2029-01-01T10:00"}, "deposit": {"20%"}, "deposit_due": {"2028-12-01T10:00"}, "deposit_refundable": {"2020-12-01T10:00"}})
		return "/desk/events/evening/bookings/" + w.id("SELECT id FROM booking ORDER BY n DESC LIMIT 1")
	}
	s.exec(t, `UPDATE event SET language = 'de' WHERE slug = 'evening'`) // that of a deposit's invoice
	booked, given := group("2"), group("1")
	visit(owner, booked, 200)
	link := func(at string) string {
		return "/deposits/" + w.id("SELECT code AS id FROM deposit WHERE booking_id = '"+at[strings.LastIndex(at, "/")+1:]+"'")
	}
	visit(owner, link(booked), 200)
	s.does(t, owner, booked+"/deposit/payment", url.Values{"method": {"invoice"}})
	s.does(t, owner, given+"/deposit/payment", url.Values{"method": {"cash"}})
	visit(owner, booked, 200)
	visit(owner, link(booked), 200)
	s.does(t, owner, booked+"/order", url.Values{"due": {"2029-01-01T10:00"}})
	s.does(t, owner, given+"/cancellation", url.Values{})
	ofGroups := []string{booked, given, "/desk/events/evening/bookings", link(booked), link(given)}
	for _, page := range ofGroups {
		visit(owner, page, 200)
	}
	s.does(t, owner, given+"/deposit/end", url.Values{"outcome": {"retained"}})
	for _, page := range ofGroups {
		visit(owner, page, 200)
	}
	s.does(t, owner, "/desk/till/sessions", url.Values{"currency": {"EUR"}, "zone": {"UTC"}, "float": {"200"}})
	session := "/desk/till/sessions/" + w.id("SELECT max(id) AS id FROM till_session")
	for _, page := range []string{"/desk/till", session, session + "/reader", "/desk/till/payments/AAAAAAAAAAAAAAAAAAAAAAAAA0", "/desk/events/evening/till", "/desk/events/evening/till/tickets/" + code} {
		visit(owner, page, 200)
	}
	s.does(t, owner, session+"/closing", url.Values{"counted": {"190"}, "note": {"Wechselgeld"}})
	for _, page := range []string{"/desk/till", session, "/desk/till/days/" + time.Now().UTC().Format(time.DateOnly), "/desk/till/days/2030-05-01"} {
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
			{"price.0.0.A": {"viel"}},
			{"price.0.0.A": {"120%"}},
			{"type.9.name": {""}, "type.9.proof": {"x"}, "price.0.9.A": {"5"}},
			{"phase.1.name": {"Früh"}, "phase.1.begins": {"bald"}},
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
		"/desk/events/evening/blocks":   {{"seats": {"Z/9"}}, {}, {"seats": {"A/1"}, "kind": {"x"}}, {"seats": {"A/1"}, "ends_at": {"gestern"}}, {"seats": {"A/1"}, "ends_at": {"2001-01-01T10:00"}}},
		"/desk/events/evening/guests":   {{}, {"guests": {"@"}}, {"guests": {"Ute, 0"}}, {"guests": {"Ute, u@"}}, {"guests": {"Ute, a, b, c, d"}}},
		"/desk/memberships/kinds":       {{}, {"name": {"Kreis"}, "currency": {"x"}}, {"name": {"Kreis"}, "currency": {"EUR"}, "months": {"0"}}, {"name": {"Freundeskreis"}, "currency": {"EUR"}, "months": {"12"}}, {"name": {"Kreis"}, "currency": {"EUR"}, "months": {"12"}, "price": {"viel"}}},
		"/desk/memberships/imports":     {{"kind": {"1"}}, {"kind": {"1"}, "members": {"x"}}, {"kind": {"1"}, "members": {"a@example.org,A,gestern\nb@example.org,B,2031-01-01,2030-01-01\n\"x\na@example.org,1,,,5,6"}}, {"kind": {"1"}, "members": {"evening@example.org,,2030-01-01"}}},
		"/desk/customers/imports":       {{}, {"customers": {"email,email"}}, {"customers": {"email\n"}}, {"customers": {"email,consent\nx\nb@example.org,gestern\ne@example.org\ne@example.org\nf@example.org,,1"}}, {"customers": {"email,consent\na@example.org,2199-01-01"}}},
		customer + "/merges":            {{}, {"email": {"niemand@example.org"}}, {"with": {path.Base(customer)}}},
		customer + "/separations":       {{"email": {"x@example.org"}}},
		"/desk/memberships":             {{"kind": {"1"}, "email": {"x"}}, {"kind": {"1"}, "email": {"a@example.org"}, "from": {"gestern"}}, {"kind": {"1"}, "email": {"evening@example.org"}}},
		"/desk/events/evening/bookings": {{}, {"name": {"Ute"}}, {"name": {"Ute"}, "until": {"2029-01-01T10:00"}}, {"name": {"Ute"}, "until": {"2029-01-01T10:00"}, "number": {"499"}}, {"name": {"Ute"}, "email": {"x"}}, {"name": {strings.Repeat("U", 201)}}, {"name": {"Ute"}, "category": {"x"}}},
		given + "/cancellation":         {{}},
		booked + "/seats":               {{"keep": {"1"}}},
		booked + "/names":               {{"names": {"A\nB\nC"}}},
		given + "/names":                {{"names": {"A"}}},
		"/desk/events/evening/plan":     {{"plan": {"x"}}},
		"/desk/till":                    {{"methods": {"A", "A"}}, {"methods": {"A", "B", "C", "D", "E", "F"}}},
		"/desk/till/sessions":           {{"float": {"viel"}}},
		session + "/entries":            {{"amount": {"x"}}, {"kind": {"in"}, "amount": {"5"}}, {"kind": {"in"}, "amount": {"5"}, "reason": {"x"}}},
		session + "/closing":            {{}, {"counted": {"1"}}},
		session + "/reader":             {{"reader": {"tmr_x"}}},
		"/desk/events/evening/sales":    {{"paid_by": {"Muscheln"}, "method": {"terminal"}, "seats": {"Z/9"}}},
		"/desk/taxes":                   {{"country": {"XX"}, "rate.XX.standard": {"x"}}},
		"/desk/privacy":                 {{"months": {"-3"}}},
		"/desk/plans":                   {{"from": {"nowhere"}, "name": {"x"}}},
	} {
		for _, f := range forms {
			refuse(path, f)
		}
	}
	for _, pattern := range []string{"/desk/series/{series}", "/desk/subscriptions/{subscription}", "/desk/hooks/{id}", "/desk/plans/{plan}", "/desk/plans/{plan}/editor", "/desk/imports/{id}"} {
		at, err := w.addresses(pattern)
		if err != nil {
			t.Fatal(err)
		}
		visit(owner, at["own"], 200)
	}
	invoice := w.things()["/desk/invoices/{file}"].own
	papers(owner, "/desk/invoices/"+invoice)
	papers(ann, "/orders/"+w.id("SELECT o.code AS id FROM orders o JOIN invoice i ON i.order_id = o.id WHERE i.label || '.pdf' = '"+invoice+"'")+"/invoices/"+invoice)
	papers(ann, "/orders/"+code+"/tickets.pdf")
	papers(ann, "/gift-cards/OWN/card.pdf")
	papers(ann, "/deposits/"+w.id("SELECT d.code || '/invoices/' || i.label || '.pdf' AS id FROM deposit d JOIN invoice i USING (booking_id) WHERE i.kind = 'deposit' ORDER BY i.number DESC LIMIT 1"))
	papers(owner, "/desk/branding/ticket.pdf")
	papers(owner, "/desk/events/evening/settlement.pdf")
	soon := time.Now().Add(time.Hour)
	if _, err := (waitingroom.Control{DB: s.db, Who: "test"}).Create(t.Context(), waitingroom.NewRoom{Name: "Lesung", Slug: "lesung", Events: []string{"lesung"}, OpensAt: &soon}); err != nil {
		t.Fatal(err)
	}
	until(t, "the draw is committed", func() bool {
		a, _ := send(t, ann, "GET", s.url+"/rooms/lesung/draw", "")
		return a.StatusCode == http.StatusOK
	})
	visit(ann, "/rooms/lesung/draw", 200)
	s.exec(t, `UPDATE event SET exchange_until = '1 day'`)
	s.exec(t, `UPDATE orders SET method = 'card' WHERE code = '`+code+`'`) // what was paid at the box office is exchanged there
	other := w.otherDate(t, owner)
	ticket := w.id("SELECT t.id FROM ticket t JOIN orders o ON o.id = t.order_id WHERE o.code = '" + code + "'")
	visit(ann, "/orders/"+code+"/exchange?ticket="+ticket, 200)
	visit(ann, "/events/"+other+"/exchange/"+code+"?ticket="+ticket, 200)
	_, gift := w.ordered(t)
	visit(ann, "/transfers/"+s.offered(t, gift, "bea@example.org"), 200)
	visit(ann, "/orders/"+gift.Code, 200)
	refuse("/orders/"+gift.Code+"/transfers", url.Values{"ticket": {gift.Tickets[1].ID.String()}, "email": {"bea"}})
	refuse("/orders/"+gift.Code+"/details", url.Values{"name": {""}})
	allow, confirm := s.asksEmail(t, gift, "cid@example.org")
	visit(ann, "/orders/"+gift.Code, 200)
	refuse("/orders/"+gift.Code+"/email-changes", url.Values{"email": {"cid"}})
	refuse("/orders/"+gift.Code+"/email-changes", url.Values{"email": {gift.Email}})
	for _, link := range []string{allow, confirm} {
		visit(ann, link, 200)
		s.does(t, ann, link, url.Values{})
		visit(ann, link, 200)
	}
	visit(owner, "/desk/events/evening/orders/"+gift.Code, 200)
	allow, _ = s.asksEmail(t, w.found(t, gift.Code), "dan@example.org")
	s.does(t, ann, allow, url.Values{"stop": {"1"}})
	refuse(allow, url.Values{})
	visit(ann, "/email-changes/x", http.StatusNotFound)
	s.asksEmail(t, w.found(t, gift.Code), "eva@example.org") // its mails are read below
	event, err := seats.EventBySlug(t.Context(), s.db, "evening")
	if err != nil {
		t.Fatal(err)
	}
	named := events.Of(event)
	named.TicketNames = seats.NamesOptional
	if _, err := events.Edit(t.Context(), s.office, "evening", named, nil, nil); err != nil {
		t.Fatal(err)
	}
	visit(ann, "/orders/"+gift.Code, 200)
	s.held(t, ann, 1)
	visit(ann, "/events/evening/checkout", 200)
	_, gift = w.ordered(t)
	mine := s.received(t, gift, "Bea")
	visit(ann, "/tickets/"+mine.Code, 200)
	visit(ann, "/orders/"+gift.Code, 200)
	papers(ann, "/tickets/"+mine.Code+"/tickets.pdf")
	_, gift = w.ordered(t)
	s.received(t, gift, "Bea")
	if err := s.sold.Revoke(t.Context(), s.sale, w.found(t, gift.Code), false); err != nil {
		t.Fatal(err)
	}
	back := w.resalable(t)
	visit(ann, "/orders/"+back.Code, 200)
	w.offersBack(t, back)
	visit(ann, "/orders/"+back.Code, 200)
	refuse("/orders/"+back.Code+"/resales", url.Values{"ticket": {back.Tickets[0].ID.String()}})
	back = w.resalable(t)
	refuse("/orders/"+back.Code+"/resales", url.Values{"ticket": {back.Tickets[0].ID.String()}, "friend": {"bea"}})
	friends := s.offersToFriend(t, back, "bea@example.org")
	visit(ann, friends, 200)
	visit(ann, "/orders/"+back.Code, 200)
	if err := s.sold.TakeBack(t.Context(), s.sale, back, "kept", back.Tickets[0].ID); err != nil {
		t.Fatal(err)
	}
	visit(ann, friends, 200)
	s.offersToFriend(t, w.found(t, back.Code), "bea@example.org")
	s.exec(t, `UPDATE event SET types_until = '1 hour'`)
	kept := w.resalable(t)
	visit(ann, "/orders/"+kept.Code+"/types", 200)
	refuse("/orders/"+kept.Code+"/types", url.Values{"difference": {"0"}, "type": {kept.Tickets[0].ID.String() + ":standard"}})
	season, renewal := w.season(t), w.renewal(t)
	s.exec(t, `UPDATE subscription SET name = 'Abo'`)
	w.holdsSeason(t, ann, season, 0, 1)
	w.holdsSeason(t, owner, season, 2)
	visit(ann, season, 200)
	visit(ann, season+"/checkout", 200)
	s.exec(t, `UPDATE event SET extensions = 0`)
	visit(ann, season+"/checkout", 200)
	refuse(season+"/hold/extension", url.Values{"total": {"10000"}})
	visit(ann, renewal, 200)
	visit(ann, renewal+"/checkout", 200)
	for pattern := range pageRoutes(t) {
		if !visited[pattern] && notWalked[pattern] == "" {
			t.Errorf("%s is not visited: visit it, or say in notWalked why not", pattern)
		}
	}
	s.does(t, owner, "/desk/team/invitations", url.Values{"email": {"bea@example.org"}, "role": {"viewer"}})
	if a, body := s.submit(t, ann, "/desk/password", url.Values{"email": {"ann@example.org"}}); a.StatusCode >= 400 {
		t.Error(a.StatusCode, words(body))
	}
	kinds := map[string]bool{}
	for _, l := range s.germanMail(t) {
		kinds[l.ID[strings.Index(l.ID, ".")+1:]] = true
		for _, said := range append(english(t, l.HTML), english(t, "<pre>"+html.EscapeString(l.Subject+" "+l.Text)+"</pre>")...) {
			t.Errorf("the mail %s says %q", l.ID, said)
		}
	}
	for _, kind := range []string{"invitation", "security", "password", "ticket-offer", "ticket-void", "resale-offer"} {
		if !kinds[kind] {
			t.Errorf("no mail of the kind %s was looked at, only %v", kind, kinds)
		}
	}
	if found := english(t, `<p title="Sold out">Checkout</p><p lang="en">Checkout</p><p>2 of the seats</p><p>Ready whenever doors open</p><noscript>Tell me</noscript><p title="Nothing lost">x</p><p>Nichts verloren</p><p>Abo 713c0dba-3fae-476b-be81-86b6922270c3</p>`); len(found) != 6 {
		t.Errorf("planted words are found as %q", found)
	}
}

// wordsOfPaper are the lines of a PDF, for a page.
func wordsOfPaper(t *testing.T, file string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "pdftotext", "-layout", "-", "-")
	cmd.Stdin = strings.NewReader(file)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("pdftotext (run \"make poppler\"): %v: %.60q", err, file)
	}
	return strings.FieldsFunc(html.EscapeString(string(out)), func(r rune) bool { return r == '\n' || r == '\f' })
}

// pageRoutes are the routes that answer GET, as routes.go has them.
func pageRoutes(t *testing.T) map[string]bool {
	t.Helper()
	source, err := os.ReadFile("routes.go")
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]bool{}
	for _, m := range aRoute.FindAllStringSubmatch(string(source), -1) {
		list[m[1]] = true
	}
	if len(list) < 100 {
		t.Fatalf("only %d routes were found", len(list))
	}
	return list
}

var aRoute = regexp.MustCompile(`\{"(GET /[^"]*)", `)

func routesOf(t *testing.T) *http.ServeMux {
	mux := http.NewServeMux()
	for pattern := range pageRoutes(t) {
		mux.Handle(pattern, http.NotFoundHandler())
	}
	return mux
}

// notWalked says why the German walk leaves a route out.
var notWalked = map[string]string{
	"GET /events.ics": unreadFeed, "GET /events.atom": unreadFeed, "GET /series/{slug}/calendar.ics": unreadFeed, "GET /orders/{code}/calendar.ics": unreadFeed, "GET /events/{slug}/on-sale.ics": unreadFeed,
	"GET /robots.txt": unreadProgram, "GET /sitemap.xml": unreadProgram, "GET /embed.js": unreadProgram, "GET /openapi.yaml": unreadProgram, "GET /.well-known/security.txt": unreadProgram, "GET /tls-domain": unreadProgram, "GET /healthz": unreadProgram,
	"GET /readyz": unreadProgram, "GET /door/worker.js": unreadProgram, "GET /push.js": unreadProgram, "GET /door/{secret}/tickets": unreadProgram, "GET /events/{slug}/seats": unreadProgram, "GET /events/{slug}/hold": unreadProgram, "GET /events/{slug}/challenge": unreadProgram,
	"GET /events/{slug}/map.bin": unreadProgram, "GET /events/{slug}/fairness.csv": unreadProgram, "GET /events/{slug}/fairness": "TestFairness reads it", "GET /events/{slug}/log/checkpoint": unreadProgram, "GET /events/{slug}/log/cosigned": unreadProgram, "GET /events/{slug}/log/key": unreadProgram, "GET /events/{slug}/log/tile/{tile...}": unreadProgram, "GET /events/{slug}/geometry/{file}": unreadProgram, "GET /events/{slug}/live": unreadProgram, "GET /rooms/{slug}/live": unreadProgram, "GET /rooms/{slug}/status": unreadProgram,
	"GET /rooms/{slug}/draw.json": unreadProgram, "GET /rooms/{slug}/waits.json": unreadProgram, "GET /rooms/{slug}/fairness.csv": unreadProgram, "GET /rooms/{slug}/fairness": "TestFairness reads it", "GET /arena": "TestArena reads it", "GET /rooms/{slug}/work": unreadProgram, "GET /boards/{token}/live": unreadProgram, "GET /desk/events/{slug}/live": unreadProgram, "GET /desk/events/{slug}/geometry.json": unreadProgram, "GET /desk/events/{slug}/replay.bin": unreadProgram, "GET /desk/events/{slug}/rehearsal/map.bin": unreadProgram,
	"GET /desk/events/{slug}/exports/{file}": unreadProgram, "GET /desk/books/{file}": unreadProgram, "GET /desk/memberships/members.csv": unreadProgram, "GET /desk/events/{slug}/till/best": unreadProgram, "GET /desk/plans/{plan}/versions/{file}": unreadProgram, "GET /events/{slug}/badge": unreadProgram, "GET /series/{slug}/badge": unreadProgram, "GET /events/{slug}/proposals": unreadProgram,
	"GET /events/{slug}/card/{file}": unreadPicture, "GET /series/{slug}/card/{file}": unreadPicture, "GET /events/{slug}/views/{plan}/{file}": unreadPicture, "GET /pictures/{file}": unreadPicture, "GET /desk/plans/{plan}/pictures/{picture}": unreadPicture,
	"GET /{$}": unreadLink, "GET /legal/{kind}": unreadLink, "GET /orders/{code}/invoices": unreadLink, "GET /desk/events/{slug}/limits": unreadLink, "GET /desk/session/second": unreadLink, "GET /desk/session/openid": unreadLink, "GET /desk/session/openid/return": unreadLink, "GET /desk/session/proof/openid": unreadLink, "GET /desk/account/openid": unreadLink, "GET /rooms/{slug}/invitations/{invitation}": unreadLink, "GET /orders/{code}/attendances/{ticket}": unreadLink, "GET /orders/{code}/receipt.pdf": "TestReceipt reads it", "GET /tickets/{code}/attendances/{ticket}": unreadLink, "GET /tickets/{code}/calendar.ics": unreadFeed,
	"GET /orders/{code}/apple-wallet/{ticket}": unreadLink, "GET /tickets/{code}/apple-wallet/{ticket}": unreadLink, "GET /orders/{code}/google-wallet/{ticket}": unreadLink, "GET /tickets/{code}/google-wallet/{ticket}": unreadLink,
	"GET /wallets/{language}/v1/devices/{device}/registrations/{type}": unreadProgram, "GET /wallets/{language}/v1/passes/{type}/{serial}": unreadProgram,
	"GET /events/{slug}/embed": "frames /events/{slug}", "GET /series/{slug}/embed": "frames /series/{slug}",
}

const (
	unreadFeed    = "a feed"
	unreadProgram = "programs read it"
	unreadPicture = "a picture"
	unreadLink    = "leads to another page"
)

// postbag keeps the letters that it is to deliver.
type postbag struct{ letters []mail.Letter }

func (p *postbag) Deliver(_ context.Context, l mail.Letter) error {
	p.letters = append(p.letters, l)
	return nil
}

func (p *postbag) Rest() {}

// germanMail is all mail so far, as a German reads it.
func (s *site) germanMail(t *testing.T) []mail.Letter {
	t.Helper()
	for _, sql := range []string{"UPDATE orders SET language = 'de'", "UPDATE organizer SET language = 'de'", "UPDATE mail SET language = 'de'", "UPDATE event SET language = 'de'", "UPDATE gift_card SET language = 'de'", "UPDATE mail SET sent_at = NULL, next_try = clock_timestamp()"} {
		if _, err := s.db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	bag := &postbag{}
	outbox := mail.New(s.db, bag)
	outbox.Write = Letters{
		Inventory: s.office, Orders: s.sold, Credit: s.config.Credit, Desk: s.organizers, Rooms: s.config.Rooms, Waits: s.config.Waits, Banks: s.config.Banks, Pages: s.config.Pages, Sites: s.config.Sites, Subscriptions: s.config.Subscriptions,
		Invoices: s.config.Invoices, GiftCards: s.config.GiftCards, Automatic: s.config.Letters, Alerts: s.config.Alerts, Books: s.config.Books, Bookings: s.config.Bookings, Wallets: s.config.Wallets, URL: s.url,
	}.Write
	for {
		n, err := outbox.Send(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return bag.letters
		}
	}
}
