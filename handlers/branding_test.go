package handlers

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/pages"
)

// tokens reads a token of the last rule of a page that has it, on light and on dark pages.
func tokens(t *testing.T, page, name string) (light, dark pages.Colour) {
	t.Helper()
	style, _, _ := strings.Cut(page[strings.Index(page, "<style"):], "</style>")
	found := regexp.MustCompile(`:root\{[^}]*--`+name+`:(#[0-9a-f]{6})`).FindAllStringSubmatch(style, -1)
	if len(found) < 2 {
		t.Fatalf("the page has %d rules of --%s", len(found), name)
	}
	light, _ = pages.ParseColour(found[len(found)-2][1])
	dark, _ = pages.ParseColour(found[len(found)-1][1])
	return light, dark
}

func TestBranding_ColoursOfLowContrastAreCorrectedOnPagesAndSaidAtTheDesk(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{Venue: "Playhouse"}), person(t)
	ann := s.owner(t)
	form := url.Values{"key": {"k1"}, "base": {"0"}, "button": {"#ffe680"}, "accent": {"#202020"}, "font": {"serif"}, "theme": {"auto"}, "words-0": {"Our <site>"}, "path-0": {"https://example.org/?a=1&b=2"}}
	asked := url.Values{"preview": {"on"}}
	for name, values := range form {
		asked[name] = values
	}
	a, preview := s.submit(t, ann, "/desk/branding", asked)
	for _, want := range []string{
		"This is not saved yet.", "#ffe680 has a contrast of 1.1:1, and 3.0:1 is needed. Pages show #", "Buttons on dark pages", "Pages show it as it is.", `class="look light"`, `class="look dark"`, "Our &lt;site&gt;",
	} {
		if a.StatusCode != http.StatusOK || !strings.Contains(preview, want) {
			t.Errorf("the preview lacks %s: %d", want, a.StatusCode)
		}
	}
	if _, page := s.page(t, who, "/events/evening"); strings.Contains(page, "Our &lt;site&gt;") {
		t.Error("a preview is saved")
	}
	if a, body := s.submit(t, ann, "/desk/branding", form); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	for _, path := range []string{"/events", "/events/evening", "/events/evening/sections/0", "/account", "/nowhere"} {
		_, page := s.page(t, who, path)
		for token, need := range map[string]float64{"press": pages.ControlContrast, "accent": pages.TextContrast} {
			light, dark := tokens(t, page, token)
			for isDark, shown := range map[bool]pages.Colour{false: light, true: dark} {
				for _, ground := range pages.Grounds[isDark] {
					if got := pages.Contrast(shown, ground); got < need {
						t.Errorf("%s: --%s %s has %.2f on %s", path, token, shown, got, ground)
					}
				}
			}
		}
		if light, dark := tokens(t, page, "press"); light.String() == "#ffe680" || dark.String() != "#ffe680" {
			t.Errorf("%s: buttons are %s and %s", path, light, dark)
		}
		if !strings.Contains(page, `<a href="https://example.org/?a=1&amp;b=2" rel="noreferrer">Our &lt;site&gt;</a>`) || !strings.Contains(page, "--title:ui-serif") {
			t.Errorf("%s lacks the link or the font of the team", path)
		}
		if regexp.MustCompile(`<[a-z][^>]* style=`).MatchString(page) {
			t.Errorf("%s has a style attribute, which its policy refuses", path)
		}
	}
	if _, page := s.page(t, ann, "/desk"); strings.Contains(page, "#ffe680") {
		t.Error("the desk has the colours of a team")
	}
	form.Set("key", "k2")
	if a, body := s.submit(t, ann, "/desk/branding", form); a.StatusCode != http.StatusConflict || !strings.Contains(body, "Another member saved the branding") {
		t.Errorf("two members at once: %d", a.StatusCode)
	}
	for theme, want := range map[string]string{"light": "@media not all{:root{", "dark": "@media all{:root{"} {
		if a, body := s.submit(t, ann, "/desk/branding", url.Values{"key": {theme}, "theme": {theme}, "accent": {"#a00"}}); a.StatusCode != http.StatusSeeOther {
			t.Fatal(a.StatusCode, body)
		}
		if _, page := s.page(t, who, "/events/evening"); !strings.Contains(page, want) || !strings.Contains(page, "color-scheme:"+theme) || strings.Contains(page, "prefers-color-scheme") || strings.Contains(page, "@mediaall") || strings.Contains(page, "@medianot") {
			t.Errorf("pages are not always %s", theme)
		}
	}
}

func TestBranding_LogoAndHeaderAreOnPagesMailsAndPapers(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{Venue: "Playhouse"}), person(t)
	ann := s.owner(t)
	add := func(file string, fields ...string) (*http.Response, string) {
		body, kind := parts(file, fields...)
		return send(t, ann, "POST", s.url+"/desk/branding/pictures", body, "Accept", asPage, "Content-Type", kind)
	}
	for name, bad := range map[string]struct{ file, kind, alt, says string }{
		"SVG":         {`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`, "logo", "x", "SVG drawings may have scripts in them."},
		"no words":    {aPicture(600, 400), "logo", "", "Say what the picture shows"},
		"a view":      {aPicture(600, 400), "view", "x", "A picture is a logo or a header."},
		"small":       {aPicture(100, 100), "logo", "x", "only 100 pixels wide. It needs 120 at least"},
		"small there": {aPicture(200, 100), "header", "x", "It needs 480 at least"},
	} {
		if a, body := add(bad.file, "key", name, "kind", bad.kind, "alt", bad.alt); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, bad.says) {
			t.Errorf("%s: %d", name, a.StatusCode)
		}
	}
	plain := s.paper(t, who)
	for kind, alt := range map[string]string{"logo": "Play & house", "header": "A stage"} {
		if a, body := add(aPicture(600, 200), "key", kind, "kind", kind, "alt", alt); a.StatusCode != http.StatusSeeOther {
			t.Fatal(a.StatusCode, body)
		}
	}
	if a, body := s.submit(t, ann, "/desk/branding", url.Values{"key": {"bcc"}, "sender": {"Playhouse\r\nBcc: all@example.org"}}); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, "Write it in one line.") {
		t.Errorf("a sender of two lines: %d", a.StatusCode)
	}
	if a, body := s.submit(t, ann, "/desk/branding", url.Values{"key": {"k"}, "sender": {"Playhouse Ä"}, "button": {"#fff"}}); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	for path, header := range map[string]bool{"/events": true, "/events/evening": false, "/account": false} {
		a, page := s.page(t, who, path)
		if logo := path != "/events/evening"; strings.Contains(page, `<div class="brandbar">`) != logo || strings.Contains(page, `alt="Play &amp; house"`) != logo {
			t.Errorf("%s has a logo: %t", path, !logo)
		}
		if strings.Contains(page, `alt="A stage"`) != header || header && !strings.Contains(a.Header.Get("Link"), "fetchpriority=high") {
			t.Errorf("%s has a header: %t", path, !header)
		}
	}
	a, _ := s.post(t, who, fill(s.held(t, who, 1), "Bob", "bob@example.org"))
	order := strings.TrimPrefix(a.Header.Get("Location"), "/orders/")
	letters := Letters{Inventory: s.office, Orders: s.sold, Desk: s.organizers, Pages: s.config.Pages, URL: "https://tickets.example.org"}
	l, err := letters.Write(t.Context(), mail.Mail{ID: 1, Order: order, Kind: orders.MailConfirmation})
	if err != nil {
		t.Fatal(err)
	}
	button := regexp.MustCompile(`border-radius:8px;background:(#[0-9a-f]{6});color:(#[0-9a-f]{6})`).FindStringSubmatch(l.HTML)
	if l.From != "Playhouse Ä" || !strings.Contains(l.HTML, `src="cid:logo" alt="Play &amp; house"`) || l.Files[0].Inline != "logo" || !strings.HasPrefix(string(l.Files[0].Content), "\xff\xd8") {
		t.Errorf("the mail is from %q: %s", l.From, l.HTML)
	}
	if button == nil || button[1] == "#ffffff" {
		t.Errorf("a button is white on white: %v", button)
	}
	if _, err := s.db.Exec(t.Context(), `UPDATE team_branding SET sender = E'A\nB'`); err == nil {
		t.Error("the database takes a sender of two lines")
	}
	if err := (mail.Folder{Dir: t.TempDir(), From: mail.Sender{Name: "Usher", Email: "usher@example.org"}}).Deliver(t.Context(), mail.Letter{ID: "x", Email: "bob@example.org", From: "A\r\nBcc: b@example.org"}); !errors.Is(err, mail.ErrHeader) {
		t.Errorf("a sender begins a header: %v", err)
	}
	if branded := s.paper(t, who); bytes.Count(plain, []byte("/DCTDecode")) != 1 || bytes.Count(branded, []byte("/DCTDecode")) != 2 { // a picture, and the logo
		t.Error("the paper has no logo")
	}
	if a, body := s.submit(t, ann, "/desk/branding/pictures/removal", url.Values{"key": {"gone"}, "kind": {"logo"}}); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	if _, page := s.page(t, who, "/events"); strings.Contains(page, `class="brandbar"`) {
		t.Error("the logo stays")
	}
	if _, log := s.page(t, ann, "/desk/log"); !strings.Contains(log, "changed the look of the pages") || !strings.Contains(log, "removed a picture") {
		t.Error("the log does not say it")
	}
}

func TestTickets_ArePrintedOnThePaperOfTheTeamOrTheOneAskedFor(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{Venue: "Playhouse"}), person(t)
	ann := s.owner(t)
	for name, bad := range map[string]url.Values{"layout": {"layout": {"odd"}}, "paper": {"paper": {"roll"}}, "office": {"office_paper": {"a3"}}, "sponsor": {"sponsor": {"A\nB"}}, "long": {"sponsor": {strings.Repeat("é", 121)}}} {
		bad.Set("key", name)
		if a, _ := s.submit(t, ann, "/desk/branding", bad); a.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", name, a.StatusCode)
		}
	}
	a, _ := s.post(t, who, fill(s.held(t, who, 1), "Bob", "bob@example.org"))
	order := s.url + a.Header.Get("Location")
	box := map[string]string{"a4": "595.28 841.89", "a6": "297.64 419.53", "roll": "226.77 "}
	prints := func(who *http.Client, address, paper string) {
		t.Helper()
		if a, pdf := send(t, who, "GET", address, ""); a.StatusCode != http.StatusOK || !strings.Contains(pdf, "/MediaBox [0 0 "+box[paper]) {
			t.Errorf("%s: %d, %q", address, a.StatusCode, regexp.MustCompile(`/MediaBox \[[^\]]*`).FindAllString(pdf, -1))
		}
	}
	prints(who, order+"/tickets.pdf", "a4")
	prints(who, order+"/tickets.pdf?size=office", "a4")
	form := url.Values{"key": {"k"}, "layout": {"poster"}, "paper": {"a6"}, "office_paper": {"roll"}, "sponsor": {" Savings <Bank> "}}
	if a, body := s.submit(t, ann, "/desk/branding", form); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	for size, paper := range map[string]string{"": "a6", "?size=office": "roll", "?size=a4": "a4", "?size=roll": "roll"} {
		prints(who, order+"/tickets.pdf"+size, paper)
	}
	for _, size := range []string{"a5", "A4", "a4,a6"} {
		if a, body := send(t, who, "GET", order+"/tickets.pdf?size="+size, "", "Accept", asPage); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, "There is no such paper size.") {
			t.Errorf("size %s: %d", size, a.StatusCode)
		}
	}
	if _, page := send(t, who, "GET", order, "", "Accept", asPage); !strings.Contains(page, "Print on A4 (PDF)") || strings.Contains(page, "Print on A6 (PDF)") {
		t.Error("the page of the order does not offer the other paper")
	}
	if _, page := s.page(t, ann, "/desk/branding"); !strings.Contains(page, `value="Savings &lt;Bank&gt;"`) || !strings.Contains(page, `class="look light stub poster"`) {
		t.Error("the form does not show what was saved")
	}
	prints(ann, s.url+"/desk/branding/ticket.pdf?layout=plain&size=roll&sponsor=Another", "roll")
	if a, _ := send(t, ann, "GET", s.url+"/desk/branding/ticket.pdf?layout=odd", "", "Accept", asPage); a.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a sample of no layout: %d", a.StatusCode)
	}
	for _, wrong := range []string{"sponsor = E'A\\nB'", "layout = 'odd'", "paper = 'roll'"} {
		if _, err := s.db.Exec(t.Context(), `UPDATE team_branding SET `+wrong); err == nil {
			t.Errorf("the database takes %s", wrong)
		}
	}
}

// paper orders a ticket and returns it as PDF.
func (s *site) paper(t *testing.T, who *http.Client) []byte {
	t.Helper()
	a, _ := s.post(t, who, fill(s.held(t, who, 1), "Bob", "bob@example.org"))
	_, pdf := send(t, who, "GET", s.url+a.Header.Get("Location")+"/tickets.pdf", "")
	return []byte(pdf)
}
