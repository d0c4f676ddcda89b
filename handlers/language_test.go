package handlers

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/events"
)

// aGerman are the headers of a German's browser that asks for a page.
var aGerman = []string{"Accept", asPage, "Accept-Language", "de-AT, de;q=0.9, en;q=0.5"}

// readable is what a page says, without its head and its elements.
func readable(page string) string {
	_, body, _ := strings.Cut(page, "<body")
	return html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString("<body"+body, " "))
}

func TestCheckout_OfAGermanIsGerman(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	who := person(t)
	hold := s.held(t, who, 2)
	_, page := send(t, who, "GET", s.url+"/events/evening/checkout", "", aGerman...)
	for _, want := range []string{
		`<html lang="de">`, "<title>Kasse · Evening</title>", "Plätze ändern", "Ihre Bestellung", "Für Sie reserviert <b data-countdown=", "Floor, Platz ", "2 Tickets", "Ihre Angaben", "Zahlungspflichtig bestellen · ",
		"\u00a0€", "Mai 2033", "Sie können für diese Veranstaltung höchstens ",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the checkout lacks %q", want)
		}
	}
	said := readable(page)
	for _, english := range []string{"Your", "your", "seat", "tickets", "Order", "Held", "available"} {
		if strings.Contains(said, english) {
			t.Errorf("the checkout says %q: %s", english, said)
		}
	}
	form := fill(hold, "", "ann")
	send(t, who, "POST", s.url+"/events/evening/orders", form.Encode(), append([]string{"Content-Type", asForm}, aGerman...)...)
	_, page = send(t, who, "GET", s.url+"/events/evening/checkout?told", "", aGerman...)
	if said := readable(page); !strings.Contains(said, "Geben Sie Ihren Namen ein.") || !strings.Contains(said, "Geben Sie eine E-Mail-Adresse im Format name@example.com ein.") {
		t.Errorf("mistakes are not said in German: %s", said)
	}
}

func TestLanguage_IsChosenThenAcceptedThenOfTheEvent(t *testing.T) {
	t.Parallel()
	english, german := newSite(t), newSiteFor(t, events.Settings{Language: "de"})
	in := func(s *site, who *http.Client, path string, header ...string) string {
		_, page := send(t, who, "GET", s.url+path, "", append([]string{"Accept", asPage}, header...)...)
		_, tag, _ := strings.Cut(page, `<html lang="`)
		tag, _, _ = strings.Cut(tag, `"`)
		return tag
	}
	who := person(t)
	for _, c := range []struct {
		what, got, want string
	}{
		{"without a wish", in(english, person(t), "/events"), "en"},
		{"an event of Germans", in(german, person(t), "/events/evening"), "de"},
		{"a language that is not there", in(german, person(t), "/events/evening", "Accept-Language", "tlh"), "de"},
		{"a reader of English", in(german, person(t), "/events/evening", "Accept-Language", "en-GB,en;q=0.9"), "en"},
		{"a reader of German", in(english, person(t), "/events", "Accept-Language", "de"), "de"},
		{"a choice", in(english, who, "/events?lang=de", "Accept-Language", "en"), "de"},
		{"it is kept", in(english, who, "/events/evening", "Accept-Language", "en"), "de"},
		{"an error", in(english, who, "/nowhere"), "de"},
		{"another choice", in(english, who, "/events?lang=en"), "en"},
		{"no language", in(english, person(t), "/events?lang=nonsense"), "en"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.what, c.got, c.want)
		}
	}
	a, page := send(t, person(t), "GET", english.url+"/events/evening?seats=3", "", "Accept", asPage)
	if vary := a.Header.Get("Vary"); vary != "Accept, Accept-Language, Authorization, Cookie, Origin, Usher-Site-Key" {
		t.Errorf("Vary is %q", vary)
	}
	if !strings.Contains(page, `<a href="?lang=de&amp;seats=3" hreflang="de" lang="de">Deutsch</a>`) {
		t.Error("the foot of a page does not lead to it in German")
	}
	if _, page := send(t, english.owner(t), "GET", english.url+"/desk", "", aGerman...); !strings.Contains(page, `<html lang="de"`) || !strings.Contains(page, "Veranstaltungen") {
		t.Error("the desk is not German")
	}
	_, body := send(t, person(t), "GET", english.url+"/events/evening/hold", "", "Accept", "application/json", "Accept-Language", "de")
	if !strings.Contains(body, `"code":"no_hold"`) || !strings.Contains(body, "Sie haben keine Plätze reserviert.") {
		t.Errorf("a program of Germans reads %s", body)
	}
}
