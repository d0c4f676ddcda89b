package handlers

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// sketch is a drawing with a background, seats that are told by their class, an area, and parts that no plan may have.
const sketch = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200"><script>alert("sketch")</script><image href="https://elsewhere.example/a.png" width="9" height="9"/>
<rect id="stage" x="50" y="5" width="100" height="20"/><text x="100" y="18" text-anchor="middle">Stage</text>
<g data-section="Stalls" data-row="A"><circle class="seat" data-number="1" cx="80" cy="50" r="4"/><circle class="seat front" data-number="2" cx="100" cy="50" r="4"/></g>
<rect id="lawn" x="50" y="100" width="100" height="50" data-capacity="12"><title>Lawn</title></rect></svg>`

func TestImport_ADrawingIsReadTheSameAtEachEntrance(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	a, _ := s.upload(t, ann, "sketch.svg", sketch)
	at := a.Header.Get("Location")
	var said struct {
		Kind     string
		SeatsMay []string `json:"seats_may"`
		Mapping  map[string]string
		Plan     *struct{ Seats, Sections int }
		Wrong    string
	}
	ask := func(query string) {
		t.Helper()
		a, body := send(t, ann, "GET", s.url+at+query, "")
		said.Plan, said.Wrong = nil, ""
		if err := json.Unmarshal([]byte(body), &said); err != nil || a.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s", query, a.StatusCode, body)
		}
	}
	ask("")
	if said.Kind != "SVG" || said.Mapping["only"] != "class=seat" || said.Mapping["capacity"] != "data-capacity" || said.Plan == nil || said.Plan.Seats != 14 || said.Plan.Sections != 2 || strings.Join(said.SeatsMay[:2], " ") != "class=seat class=front" {
		t.Errorf("a program is told %+v", said)
	}
	if ask("?name=P&x=x&y=y&only=class%3Dfro*"); said.Plan == nil || said.Plan.Seats != 1 {
		t.Errorf("a pattern chooses %+v, %s", said.Plan, said.Wrong)
	}
	if ask("?name=P&x=x&y=y&only=colour%3Dred"); said.Plan != nil || !strings.Contains(said.Wrong, "no column") {
		t.Errorf("an unknown column says %q", said.Wrong)
	}
	if a, page := s.page(t, ann, at+"?name=P&x=x&y=y&only=class%3Dfront"); a.StatusCode != http.StatusOK || !strings.Contains(page, "P: 1 seat in 1 section") {
		t.Errorf("the page: %d", a.StatusCode)
	}

	// The plan that is made of it, at the desk and by a new event: the same seats, with the same background.
	a, _ = s.submit(t, ann, at, url.Values{"key": {"k"}})
	_, document := send(t, ann, "GET", s.url+a.Header.Get("Location")+"/versions/1.json", "")
	for _, want := range []string{`"role": "stage"`, `"text": "Stage"`, `"name": "Lawn"`, `"capacity": 12`} {
		if !strings.Contains(document, want) {
			t.Errorf("the plan has no %s: %s", want, document)
		}
	}
	for _, bad := range []string{"alert", "elsewhere", "script"} {
		if strings.Contains(document, bad) {
			t.Errorf("the plan has %q of the file", bad)
		}
	}

	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range map[string]string{"name": "Sketched", "starts": "2033-05-18T20:00", "zone": "Europe/Vienna", "key": "n"} {
		_ = form.WriteField(name, value) // to memory
	}
	file, err := form.CreateFormFile("file", "sketch.svg")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = file.Write([]byte(sketch)) // to memory
	_ = form.Close()
	if a, page := send(t, ann, "POST", s.url+"/desk/events", body.String(), "Accept", asPage, "Content-Type", form.FormDataContentType()); a.StatusCode != http.StatusSeeOther {
		t.Fatalf("%d %s", a.StatusCode, page)
	}
	event, err := s.office.Sale(t.Context(), "sketched")
	if err != nil {
		t.Fatal(err)
	}
	if p := event.Plan; len(p.Seats) != 14 || len(p.Shapes) != 2 || p.SectionNamed("Lawn") < 0 {
		t.Errorf("the new event has %d seats, %+v", len(p.Seats), p.Shapes)
	}
}

func TestImport_PricesOfAFileAreThoseOfItsPlanAndEvent(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	const priced = "row;seat;category;cost;x;y\nA;1;Front;€ 25,50;0;0\nB;1;Back;12;0;24\n"
	a, _ := s.upload(t, ann, "hall.csv", priced)
	at := a.Header.Get("Location")
	for query, want := range map[string]string{"": `"prices":[{"name":"Front","price":0},{"name":"Back","price":0}]`, "?name=H&row=row&number=seat&category=category&price=cost": `"prices":[{"name":"Front","price":2550},{"name":"Back","price":1200}]`} {
		if _, body := send(t, ann, "GET", s.url+at+query, ""); !strings.Contains(body, want) {
			t.Errorf("%q: %s, want %s", query, body, want)
		}
	}
	mapping := url.Values{"key": {"k"}, "name": {"Hall"}, "row": {"row"}, "number": {"seat"}, "category": {"category"}, "price": {"cost"}}
	if a, page := s.page(t, ann, at+"?"+mapping.Encode()); a.StatusCode != 200 || !strings.Contains(page, `<span class="price">25.50</span>`) || !strings.Contains(page, `name="price" value="cost"`) {
		t.Errorf("the page: %d", a.StatusCode)
	}
	if _, body := send(t, ann, "GET", s.url+at+"?name=H&price=seat&number=category&row=row", ""); !strings.Contains(body, `"price":100`) {
		t.Errorf("another column for prices: %s", body)
	}
	if _, body := send(t, ann, "GET", s.url+at+"?name=H&price=category&row=row", ""); !strings.Contains(body, `is no price such as 25.00`) {
		t.Errorf("words for prices: %s", body)
	}
	a, _ = s.submit(t, ann, at, mapping)
	if _, document := send(t, ann, "GET", s.url+a.Header.Get("Location")+"/versions/1.json", ""); !strings.Contains(document, `"price": 2550`) {
		t.Errorf("the plan: %s", document)
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range map[string]string{"name": "Priced", "starts": "2033-05-18T20:00", "zone": "Europe/Vienna", "key": "n"} {
		_ = form.WriteField(name, value) // to memory
	}
	file, _ := form.CreateFormFile("file", "hall.csv")
	_, _ = file.Write([]byte(strings.Replace(priced, "cost", "price", 1))) // to memory
	_ = form.Close()
	if a, page := send(t, ann, "POST", s.url+"/desk/events", body.String(), "Content-Type", form.FormDataContentType()); a.StatusCode != http.StatusCreated {
		t.Fatalf("%d %s", a.StatusCode, page)
	}
	event, err := s.office.Sale(t.Context(), "priced")
	if err != nil || event.Plan.Categories[0].Price != 2550 || event.Plan.Categories[1].Price != 1200 {
		t.Errorf("the new event: %+v, %v", event, err)
	}
}
