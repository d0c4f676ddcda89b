package handlers

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/events"
)

// aPicture is the file of a picture.
func aPicture(width, height int) string {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		m.Pix[i] = uint8(i % 251)
	}
	m.SetNRGBA(0, 0, color.NRGBA{1, 2, 3, 255})
	var b bytes.Buffer
	_ = png.Encode(&b, m) // a buffer takes everything
	return b.String()
}

// adds uploads a picture as a browser does.
func (s *site) adds(t *testing.T, who *http.Client, slug, file string, fields ...string) (*http.Response, string) {
	t.Helper()
	body, kind := parts(file, fields...)
	return send(t, who, "POST", s.url+"/desk/events/"+slug+"/pictures", body, "Accept", asPage, "Content-Type", kind)
}

func parts(file string, fields ...string) (body, kind string) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for i := 0; i+1 < len(fields); i += 2 {
		_ = form.WriteField(fields[i], fields[i+1]) // to memory, as the rest
	}
	part, _ := form.CreateFormFile("picture", "../../etc/<script>.png")
	_, _ = part.Write([]byte(file))
	_ = form.Close()
	return b.String(), form.FormDataContentType()
}

var pictured = regexp.MustCompile(`/pictures/[0-9a-f]{32}-480\.jpg`)

func TestEventPage_IsWrittenAtTheDeskAndReadByAttendees(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{Venue: "Playhouse"}), person(t)
	ann := s.owner(t)
	_, before := s.page(t, who, "/events/evening")
	if !strings.Contains(before, "data-geometry") || strings.Contains(before, "About this event") {
		t.Error("an event without a page does not show its seats")
	}
	_, form := s.page(t, ann, "/desk/events/evening/page")
	if !strings.Contains(form, "Save event page") {
		t.Fatal(form)
	}
	f := url.Values{
		"key": {"k1"}, "base": {"0"}, "language": {"en"}, "subtitle": {"by <b>Chekhov</b>"}, "description": {"Four *people*.\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1))"},
		"access": {"Step-free."}, "travel": {"Take the U3."}, "category": {"Play"}, "doors": {"45"}, "running": {"160"}, "intervals": {"1"}, "age": {"12"},
		"street": {"Lindengasse 42"}, "postal_code": {"1070"}, "town": {"Vienna"}, "country": {"AT"}, "organizer": {"Playhouse GmbH"}, "phone": {"+43 1 555"},
	}
	if a, body := s.submit(t, ann, "/desk/events/evening/page", f); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	a, body := s.adds(t, ann, "evening", aPicture(1000, 600), "key", "k2", "kind", "header", "alt", "A \"lake\" at dusk")
	if a.StatusCode != http.StatusSeeOther || !strings.Contains(a.Header.Get("Location"), "done=picture") {
		t.Fatal(a.StatusCode, body)
	}
	a, page := s.page(t, who, "/events/evening")
	for _, want := range []string{
		"by &lt;b&gt;Chekhov&lt;/b&gt;", "Four <em>people</em>.", "Play · Playhouse", "2 h 40 min, 1 interval", "from 12", "Step-free.", "Take the U3.", "Lindengasse 42", "1070 Vienna", "Austria",
		`href="/events/evening/map">Choose seats</a>`, "openstreetmap.org/search?query=Lindengasse+42", `href="tel:+431555"`, `alt="A &#34;lake&#34; at dusk"`, `fetchpriority="high"`, `width="1000" height="600"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, "alert(1)") && strings.Contains(page, "<script>alert") || strings.Contains(page, "javascript:") {
		t.Error("the text brings a script")
	}
	if !strings.Contains(a.Header.Get("Link"), "as=image; fetchpriority=high") {
		t.Errorf("the picture is not asked for ahead: %q", a.Header.Get("Link"))
	}
	_, seats := s.page(t, who, "/events/evening/map")
	if !strings.Contains(seats, "data-geometry") || !strings.Contains(seats, `href="/events/evening">About this event`) || !strings.Contains(seats, `name="from" value="/events/evening/map`) {
		t.Error("the seats are not at /map")
	}
	if a, _ := s.submit(t, who, "/events/evening/claims", url.Values{"best": {"1"}, "key": {"c"}, "from": {"/events/evening/map"}}); a.Header.Get("Location") != "/events/evening/map" {
		t.Errorf("a claim leads to %d %q", a.StatusCode, a.Header.Get("Location"))
	}
	if _, page := s.page(t, who, "/events/evening"); !strings.Contains(page, "Continue with your 1 seat") {
		t.Error("a visitor with a seat is not led on")
	}
	if _, answer := send(t, who, "GET", s.url+"/events/evening", ""); !strings.Contains(answer, `"running_minutes":160`) || !strings.Contains(answer, `"subtitle":"by \u003cb\u003eChekhov`) {
		t.Error(answer)
	}
	if a, body := s.submit(t, ann, "/desk/events/evening/page", url.Values{"key": {"k3"}, "base": {"0"}, "language": {"en"}, "description": {"Mine"}}); a.StatusCode != http.StatusConflict || !strings.Contains(body, "Mine") || !strings.Contains(body, "Another member saved this page") {
		t.Errorf("two members at once: %d", a.StatusCode)
	}
	if a, body := s.submit(t, ann, "/desk/events/evening/page", url.Values{"key": {"k4"}, "base": {"1"}, "language": {"en"}, "map_link": {"javascript:alert(1)"}, "doors": {"soon"}}); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, "Enter a whole number") {
		t.Errorf("bad fields: %d", a.StatusCode)
	}
	if a, body := s.submit(t, ann, "/desk/events/evening/copies", url.Values{"key": {"k5"}, "name": {"Matinee"}}); a.StatusCode != http.StatusSeeOther {
		t.Fatal(body)
	}
	if _, preview := s.page(t, ann, "/desk/events/matinee/preview"); !strings.Contains(preview, "Take the U3.") || !pictured.MatchString(preview) {
		t.Error("a copy has no page")
	}
	if _, log := s.page(t, ann, "/desk/log"); !strings.Contains(log, "changed the event page") || !strings.Contains(log, "added a picture") {
		t.Error("the log does not say it")
	}
}

func TestPicture_IsServedForEverAndRefusedInWords(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{}), person(t)
	ann := s.owner(t)
	for name, bad := range map[string]struct{ file, alt, says string }{
		"SVG":       {`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`, "x", "SVG drawings may have scripts in them."},
		"a GIF":     {"GIF89a=1;alert(1)", "x", "GIF pictures may move"},
		"no words":  {aPicture(600, 400), "", "Say what the picture shows"},
		"nothing":   {"", "x", "Choose a picture."},
		"too small": {aPicture(100, 100), "x", "only 100 pixels wide"},
	} {
		a, body := s.adds(t, ann, "evening", bad.file, "key", name, "kind", "header", "alt", bad.alt)
		if a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, bad.says) {
			t.Errorf("%s: %d", name, a.StatusCode)
		}
	}
	if a, _ := s.adds(t, ann, "evening", strings.Repeat("x", 13<<20), "key", "large", "kind", "header", "alt", "x"); a.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("13 MB: %d", a.StatusCode)
	}
	if a, body := s.adds(t, ann, "evening", aPicture(600, 400), "key", "k", "kind", "view", "section", "Balcony", "alt", "The stage"); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	_, page := s.page(t, who, "/events/evening")
	at := pictured.FindString(page)
	if at == "" || !strings.Contains(page, "Balcony") || !strings.Contains(page, `class="poster"`) {
		t.Fatal("the page has no view, or no poster")
	}
	a, file := send(t, who, "GET", s.url+at, "")
	if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "image/jpeg" || !strings.Contains(a.Header.Get("Cache-Control"), "immutable") || a.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(file, "\xff\xd8") {
		t.Errorf("%d %v", a.StatusCode, a.Header)
	}
	if a, _ := send(t, who, "GET", s.url+at, "", "If-None-Match", a.Header.Get("ETag")); a.StatusCode != http.StatusNotModified {
		t.Errorf("asked for again: %d", a.StatusCode)
	}
	for _, none := range []string{strings.Replace(at, "-480", "-481", 1), strings.Replace(at, "-480", "-0480", 1), "/pictures/x", "/pictures/" + strings.Repeat("0", 32) + "-480.jpg", strings.TrimSuffix(at, ".jpg")} {
		if a, _ := send(t, who, "GET", s.url+none, ""); a.StatusCode != http.StatusNotFound || strings.Contains(a.Header.Get("Cache-Control"), "public") {
			t.Errorf("%s: %d %s", none, a.StatusCode, a.Header.Get("Cache-Control"))
		}
	}
	_, form := s.page(t, ann, "/desk/events/evening/page")
	id := regexp.MustCompile(`/desk/events/evening/pictures/(\d+)`).FindString(form)
	if a, body := s.submit(t, ann, id, url.Values{"key": {"alt"}, "alt": {"A curtain"}}); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	if _, page := s.page(t, who, "/events/evening"); !strings.Contains(page, `alt="A curtain"`) {
		t.Error("the text of the picture did not change")
	}
	if a, body := s.submit(t, ann, id, url.Values{"key": {"alt2"}, "alt": {" "}}); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, "Say what the picture shows") {
		t.Errorf("a picture without words: %d", a.StatusCode)
	}
	if a, body := s.submit(t, ann, id, url.Values{"key": {"gone"}, "remove": {"on"}}); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	if _, page := s.page(t, who, "/events/evening"); pictured.MatchString(page) || !strings.Contains(page, "data-geometry") {
		t.Error("the picture is still there")
	}
}
