package handlers

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/xml"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
)

// does sends a form of the desk twice, as a double click, and wants both to lead to where the first did.
func (s *site) does(t *testing.T, who *http.Client, path string, form url.Values) string {
	t.Helper()
	form.Set("key", seats.NewID().String())
	first, body := s.submit(t, who, path, form)
	if first.StatusCode != http.StatusSeeOther {
		t.Fatalf("%s %v: %d %s", path, form, first.StatusCode, words(body))
	}
	again, body := s.submit(t, who, path, form)
	if again.StatusCode != http.StatusSeeOther || again.Header.Get("Location") != first.Header.Get("Location") {
		t.Errorf("%s once more: %d to %q, and before to %q: %s", path, again.StatusCode, again.Header.Get("Location"), first.Header.Get("Location"), words(body))
	}
	to, _, _ := strings.Cut(first.Header.Get("Location"), "?")
	return to
}

// words is what a refusal on a page says.
func words(page string) string {
	_, said, found := strings.Cut(page, `class="refused" role="alert">`)
	if !found {
		return page[:min(len(page), 300)]
	}
	said, _, _ = strings.Cut(said, "</p>")
	return said
}

// refused sends a form of the desk and wants it on the page again, with words.
func (s *site) refused(t *testing.T, who *http.Client, path string, form url.Values, want int, says ...string) {
	t.Helper()
	form.Set("key", seats.NewID().String())
	a, body := s.submit(t, who, path, form)
	if a.StatusCode != want {
		t.Errorf("%s %v: %d, want %d: %s", path, form, a.StatusCode, want, words(body))
	}
	for _, text := range says {
		if !strings.Contains(body, text) {
			t.Errorf("%s %v does not say %q: %s", path, form, text, words(body))
		}
	}
}

func (s *site) audited(t *testing.T, what string) (n int) {
	t.Helper()
	if err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM deed WHERE what = $1`, what).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// noWay is on the settings of an event that has prices and no way to pay them.
const noWay = "People can’t pay for this event yet."

func TestAnEventIsMadeInStepsAndPutOnSale(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	if a, page := s.page(t, ann, "/desk/events/new"); a.StatusCode != 200 || !strings.Contains(page, `value="theatre"`) {
		t.Fatal(a.StatusCode)
	}
	first := url.Values{"name": {"Evening"}, "venue": {"Hall"}, "starts": {"2030-03-01T20:00"}, "zone": {"Europe/Vienna"}, "plan": {"club"}}
	bad := url.Values{"name": {""}, "venue": {"<Hall>"}, "starts": {"tomorrow"}, "zone": {"Mars"}, "plan": {"none"}}
	s.refused(t, ann, "/desk/events", bad, 422, "&lt;Hall&gt;", "Enter the name of the event.", "no such time zone", "Choose a plan")
	if to := s.does(t, ann, "/desk/events", first); to != "/desk/events/evening-2/checklist" {
		t.Fatalf("the draft is at %s", to)
	}
	const settings = "/desk/events/evening-2/settings"
	if a, _ := s.page(t, person(t), "/events/evening-2"); a.StatusCode != 404 {
		t.Errorf("attendees see the draft: %d", a.StatusCode)
	}
	if a, page := s.page(t, ann, "/desk/events/evening-2/preview"); a.StatusCode != 200 || !strings.Contains(page, "Preview of a draft:") || strings.Contains(page, "<script") {
		t.Errorf("the preview is %d", a.StatusCode)
	}
	all := url.Values{
		"name": {"A night out"}, "venue": {"Hall"}, "starts": {"2030-03-01T20:30"}, "zone": {"Europe/Vienna"}, "currency": {"CHF"}, "hold": {"5"}, "pay_within": {"10"}, "limit": {"4"}, "extensions": {"3"},
		"strict": {"on"}, "door": {"on"}, "price": {"12.50", "0"}, "questions": {"text! Company\r\nchoice Menu: fish | vegetarian"},
	}
	if a, page := s.page(t, ann, settings); a.StatusCode != 200 || strings.Count(page, `name="price"`) != len(s.sale.Plan.Categories) || !strings.Contains(page, noWay) {
		t.Fatalf("the settings are %d", a.StatusCode)
	}
	wrong := url.Values{"price": {"twelve"}, "questions": {"nothing"}, "name": {"Kept as typed"}}
	for name, values := range all {
		if wrong[name] == nil {
			wrong[name] = values
		}
	}
	s.refused(t, ann, settings, wrong, 422, "Kept as typed", "twelve", "begins with none of text")
	s.does(t, ann, settings, all)
	if _, page := s.page(t, ann, settings); strings.Contains(page, noWay) {
		t.Error("the settings say that people cannot pay, and they can at the door")
	}
	sale, err := s.office.Sale(t.Context(), "evening-2")
	if err != nil || sale.Event.Name != "A night out" || !sale.Event.Strict || sale.Plan.Categories[0].Price != 1250 || len(sale.Event.Questions) != 2 || sale.Event.SeatsPerHolder != 4 {
		t.Errorf("it is %+v, %v", sale.Event, err)
	}
	status := "/desk/events/evening-2/status"
	s.refused(t, ann, status, url.Values{"status": {"scheduled"}, "opens": {"never"}}, 422, "Enter when the sale begins")
	s.does(t, ann, status, url.Values{"status": {"scheduled"}, "opens": {"2030-02-01T10:00"}, "anyway": {"on"}})
	if _, page := s.page(t, person(t), "/events/evening-2"); !strings.Contains(page, "On sale from Fri 1 February 2030, 10:00\u00a0CET.") {
		t.Error("attendees do not read from when on")
	}
	s.does(t, ann, status, url.Values{"status": {"on sale"}, "now": {"on"}, "anyway": {"on"}})
	all.Set("strict", "")
	s.refused(t, ann, settings, all, 409, "The sale has begun")
	s.does(t, ann, status, url.Values{"status": {"paused"}, "reason": {"The lights went out"}})
	if _, page := s.page(t, person(t), "/events/evening-2"); !strings.Contains(page, "The lights went out.") {
		t.Error("attendees do not read why")
	}
	if copied := s.does(t, ann, "/desk/events/evening-2/copies", url.Values{"name": {"A night out"}, "starts": {"2030-03-08T20:30"}}); copied != "/desk/events/a-night-out/checklist" {
		t.Errorf("the copy is at %s", copied)
	}
	if n := s.audited(t, "created the event") + s.audited(t, "changed the settings") + s.audited(t, "copied an event to"); n != 3 {
		t.Errorf("%d audit entries", n)
	}
	s.wantBooks(t)
}

// sends is what a browser sends of the form of a page that goes to an address.
func sends(t *testing.T, page, action string) url.Values {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	all, inside := url.Values{}, false
	for n := range root.Descendants() {
		says := map[string]string{}
		for _, a := range n.Attr {
			says[a.Key] = a.Val
		}
		_, off := says["disabled"]
		_, chosen := says["checked"]
		box := says["type"] == "checkbox" || says["type"] == "radio"
		switch {
		case n.Data == "form":
			inside = says["action"] == action
		case !inside || off || says["name"] == "" || box && !chosen:
		case n.Data == "textarea" && n.FirstChild != nil:
			all.Add(says["name"], n.FirstChild.Data)
		case n.Data == "textarea" || n.Data == "input" && !box:
			all.Add(says["name"], says["value"])
		case n.Data == "input":
			all.Add(says["name"], cmp.Or(says["value"], "on"))
		}
	}
	if len(all) == 0 {
		t.Fatalf("no form of the page goes to %s", action)
	}
	return all
}

func TestSettings_OfAStartedSaleAreReadOnlyInPart(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	settings := strings.Replace(s.does(t, ann, "/desk/events", url.Values{"name": {"Gala"}, "starts": {"2030-03-01T20:00"}, "zone": {"Europe/Vienna"}, "plan": {"club"}}), "checklist", "settings", 1)
	_, page := s.page(t, ann, settings)
	draft := sends(t, page, settings)
	for name, value := range map[string]string{"strict": "on", "birth": "on", "fee_kept": "on", "fee_ticket": "1.50", "questions": "text! Company"} {
		draft.Set(name, value)
	}
	s.does(t, ann, settings, draft)
	s.does(t, ann, strings.Replace(settings, "settings", "status", 1), url.Values{"status": {"on sale"}, "now": {"on"}, "anyway": {"on"}})
	_, page = s.page(t, ann, settings)
	if n := strings.Count(page, " readonly"); n < 6 {
		t.Errorf("%d fields of the page are only read", n)
	}
	begun := sends(t, page, settings)
	begun.Set("venue", "The great hall")
	s.does(t, ann, settings, begun)
	sale, err := s.office.Sale(t.Context(), "gala")
	if e := sale.Event; err != nil || e.Venue != "The great hall" || !e.Strict || !e.AsksBirth || !e.Fees.Kept || len(e.Questions) != 1 {
		t.Errorf("it is %+v, %v", e, err)
	}
}

func TestAnEventIsMadeOfAFile(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	post := func(content string) (*http.Response, string) {
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		for name, value := range map[string]string{"key": seats.NewID().String(), "name": "Of a file", "starts": "2030-03-01T20:00", "zone": "UTC"} {
			_ = w.WriteField(name, value)
		}
		f, _ := w.CreateFormFile("file", "hall.json")
		_, _ = f.Write([]byte(content))
		_ = w.Close()
		return send(t, ann, "POST", s.url+"/desk/events", b.String(), "Content-Type", w.FormDataContentType(), "Accept", asPage)
	}
	if a, body := post("{"); a.StatusCode != 422 || !strings.Contains(body, "no plan that can be read") || !strings.Contains(body, "Of a file") {
		t.Errorf("a broken file: %d", a.StatusCode)
	}
	hall := `{"usher_plan": 1, "name": "Hall", "categories": [{"key": "A", "name": "All", "price": 10}], "sections": [{"name": "Stalls", "rows": [{"label": "A", "seats": [{"number": "1", "x": 0, "y": 0, "category": "A"}]}]}]}`
	if a, body := post(hall); a.StatusCode != http.StatusSeeOther && a.StatusCode != 422 {
		t.Errorf("a file: %d %s", a.StatusCode, words(body))
	}
}

func TestActions_AreDoneOnceAndAudited(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	at := "/desk/events/evening"
	label := func(idx int) string { return s.sale.Plan.Label(idx) }
	s.does(t, ann, at+"/blocks", url.Values{"seat": {label(0), label(1)}, "reason": {"The <lights> stand there"}, "section": {"0"}})
	if _, page := s.page(t, ann, at+"/seats?section=0"); !strings.Contains(page, "The &lt;lights&gt; stand there") || !strings.Contains(page, `class="s blocked"`) {
		t.Error("the page of seats does not say why they are kept back")
	}
	s.refused(t, ann, at+"/blocks", url.Values{"seats": {"Moon/1"}, "reason": {"typed"}}, 422, "Moon/1", "typed")
	s.refused(t, ann, at+"/blocks", url.Values{}, 422, "No seat was chosen")
	order := s.does(t, ann, at+"/sales", url.Values{"seat": {label(0)}, "method": {"cash"}, "name": {"Bea"}, "email": {"bea@example.org"}})
	s.refused(t, ann, at+"/sales", url.Values{"seat": {label(0)}, "method": {"cash"}}, 409, "Choose another")
	s.refused(t, ann, at+"/sales", url.Values{"seat": {label(5)}, "method": {"shells"}}, 422, "Choose how it is paid")
	code := order[strings.LastIndexByte(order, '/')+1:]
	first, err := s.sold.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	s.does(t, ann, order+"/moves", url.Values{"ticket": {first.Tickets[0].ID.String()}, "to": {label(7)}})
	s.refused(t, ann, order+"/moves", url.Values{"ticket": {first.Tickets[0].ID.String()}, "to": {"Nowhere"}}, 422, "Nowhere")
	s.does(t, ann, order+"/refunds", url.Values{"amount": {"1.00"}})
	s.refused(t, ann, order+"/refunds", url.Values{"amount": {"1000000"}}, 422, "more than was paid")
	s.does(t, ann, order+"/mails", url.Values{})
	s.does(t, ann, order+"/payouts", url.Values{})
	s.does(t, ann, at+"/messages", url.Values{"subject": {"Doors"}, "text": {"They open earlier."}})
	s.refused(t, ann, at+"/messages", url.Values{"subject": {"Typed"}, "text": {""}}, 422, "Typed", "Enter a message")
	s.bulkJobsEnd(t)
	for _, words := range []string{"Bea", "bea@", code, url.QueryEscape(label(7))} {
		if _, page := s.page(t, ann, at+"/orders?q="+words); !strings.Contains(page, order) {
			t.Errorf("%q does not find the order", words)
		}
	}
	if _, page := s.page(t, ann, at+"/seats/0"); !strings.Contains(page, "Bea") || !strings.Contains(page, "blocked") || !strings.Contains(page, "available again") {
		t.Error("the timeline of the seat does not tell all")
	}
	s.does(t, ann, order+"/cancellations", url.Values{"all": {"on"}})
	s.does(t, ann, at+"/unblocks", url.Values{"seat": {label(1)}})
	s.does(t, ann, at+"/status", url.Values{"status": {"cancelled"}, "reason": {"Water"}})
	for what, want := range map[string]int{
		"blocked seats": 1, "sold at the box office": 1, "moved tickets": 1, "gave back a part of what was paid": 1, "sent the email again": 1, "noted as paid out": 1,
		"wrote to people who ordered": 1, "cancelled tickets": 1, "unblocked seats": 1, "cancelled the event": 1,
	} {
		if got := s.audited(t, what); got != want {
			t.Errorf("%q stands %d times in the log", what, got)
		}
	}
	s.wantBooks(t)
}

func TestCancelMany_CancelsWholeOrdersAndExplainsTheOthers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann, at := s.owner(t), "/desk/events/evening"
	var codes []string
	for idx, name := range []string{"Bea", "Cleo", "Dora", "Eve"} {
		path := s.does(t, ann, at+"/sales", url.Values{"seat": {s.sale.Plan.Label(2 * idx), s.sale.Plan.Label(2*idx + 1)}, "method": {"cash"}, "name": {name}})
		codes = append(codes, path[strings.LastIndexByte(path, '/')+1:])
	}
	eve, err := s.sold.Find(t.Context(), codes[3])
	if err != nil {
		t.Fatal(err)
	}
	if a, body := send(t, person(t), "POST", s.door(t)+"/scans", `{"key":"1","code":"`+eve.Tickets[0].Code+`"}`); a.StatusCode != http.StatusOK {
		t.Fatal(body)
	}
	wantLeft := func(want int) {
		t.Helper()
		if sold := sum(s.sale.Snapshot().Counts.Sold); sold != want {
			t.Errorf("%d seats are sold, want %d", sold, want)
		}
	}
	s.refused(t, ann, at+"/cancellations", url.Values{}, 422, "Select 1 to 100 orders")
	s.refused(t, ann, at+"/cancellations", url.Values{"order": {codes[0], strings.Repeat("0", 26)}}, 404, "no such order")
	wantLeft(8)
	s.does(t, ann, at+"/cancellations", url.Values{"order": {codes[0], codes[0]}})
	wantLeft(6)
	s.refused(t, ann, at+"/cancellations", url.Values{"order": {codes[0], codes[1], codes[3]}}, 409, "1 of 3 orders were cancelled", "Bea ("+codes[0]+")", "Eve ("+codes[3]+")")
	wantLeft(4)
	a, body := send(t, ann, "POST", s.url+at+"/cancellations", `{"key":"k","used":true,"order":["`+codes[1]+`","`+codes[2]+`","`+codes[3]+`"]}`)
	if want := `{"cancelled":["` + codes[2] + `","` + codes[3] + `"],"kept":[{"order":"` + codes[1]; a.StatusCode != http.StatusOK || !strings.HasPrefix(body, want) {
		t.Errorf("a program is told %d %s, want %s", a.StatusCode, body, want)
	}
	wantLeft(0)
	if got := s.audited(t, "cancelled tickets"); got != 4 {
		t.Errorf("%d orders stand in the log as cancelled", got)
	}
	s.wantBooks(t)
}

func TestAFormOfTheDeskThatComesTwiceAtOnceDoesOneThing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	form := url.Values{"seats": {s.sale.Plan.Label(0)}, "method": {"cash"}, "key": {"same"}}
	answers := make(chan string, 6)
	for range cap(answers) {
		go func() {
			r, _ := http.NewRequestWithContext(context.Background(), "POST", s.url+"/desk/events/evening/sales", strings.NewReader(form.Encode()))
			r.Header.Set("Content-Type", asForm)
			r.Header.Set("Accept", asPage)
			a, err := ann.Do(r)
			if err != nil {
				answers <- err.Error()
				return
			}
			_ = a.Body.Close()
			answers <- a.Header.Get("Location")
		}()
	}
	first := <-answers
	for range cap(answers) - 1 {
		if other := <-answers; other != first || !strings.HasPrefix(other, "/desk/events/evening/orders/") {
			t.Errorf("one leads to %q, another one to %q", first, other)
		}
	}
	if n := s.audited(t, "sold at the box office"); n != 1 {
		t.Errorf("%d audit entries", n)
	}
	form.Set("seats", s.sale.Plan.Label(1))
	if a, _ := s.submit(t, ann, "/desk/events/evening/sales", form); a.StatusCode != http.StatusConflict {
		t.Errorf("other content with the same key: %d", a.StatusCode)
	}
	s.wantBooks(t)
}

func TestExport_IsCompleteAndWithoutFormulas(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	evil := `=HYPERLINK("http://evil.example","x")`
	for i, name := range []string{evil, "Zoë\tØ", "@sum"} {
		if _, err := s.sold.SellAtOffice(t.Context(), s.sale, orders.OfficeForm{Key: name, Name: strings.ReplaceAll(name, "\t", " "), Email: "ann@example.org", Seats: []int{2 * i, 2*i + 1}, Method: payments.Cash}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for name, rows := range map[string]int{"orders": 4, "attendees": 7, "payments": 4, "taxes": 4, "seats": 1 + len(s.sale.Plan.Seats)} {
		a, body := s.page(t, ann, "/desk/events/evening/exports/"+name+".csv")
		list, err := csv.NewReader(strings.NewReader(body)).ReadAll()
		if err != nil || a.StatusCode != 200 || len(list) != rows {
			t.Errorf("%s.csv: %d, %d rows, %v", name, a.StatusCode, len(list), err)
		}
		if strings.Contains(body, ",=") || strings.Contains(body, `"=`) || strings.Contains(body, ",@") {
			t.Errorf("%s.csv has a formula", name)
		}
		a, body = s.page(t, ann, "/desk/events/evening/exports/"+name+".xlsx")
		cells := excelCells(t, body)
		if len(cells) != rows {
			t.Errorf("%s.xlsx: %d has %d rows", name, a.StatusCode, len(cells))
		}
		if name == "orders" {
			if text := cells[1][3]; text.Type != "inlineStr" || text.Text != evil || text.Formula != "" {
				t.Errorf("the name is %+v", text)
			}
		}
	}
	if a, _ := s.page(t, ann, "/desk/events/evening/exports/orders.exe"); a.StatusCode != 404 {
		t.Errorf("another kind of file is %d", a.StatusCode)
	}
	if s.audited(t, "exported orders") != 2 {
		t.Error("the audit does not say who exported the list")
	}
}

// excelCell is a cell of a workbook.
type excelCell struct {
	Type    string `xml:"t,attr"`
	Style   int    `xml:"s,attr"`
	Text    string `xml:"is>t"`
	Value   string `xml:"v"`
	Formula string `xml:"f"`
}

// excelCells reads the sheet of a workbook, and wants every part of it to be XML.
func excelCells(t *testing.T, file string) (rows [][]excelCell) {
	t.Helper()
	parts, err := zip.NewReader(strings.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts.File {
		in, err := part.Open()
		if err != nil {
			t.Fatal(err)
		}
		var sheet struct {
			Rows []struct {
				Cells []excelCell `xml:"c"`
			} `xml:"sheetData>row"`
		}
		if err := xml.NewDecoder(in).Decode(&sheet); err != nil {
			t.Fatalf("%s: %v", part.Name, err)
		}
		for _, row := range sheet.Rows {
			rows = append(rows, row.Cells)
		}
	}
	return rows
}

func TestRefund_AmountsThatAreNoneGiveNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	order := s.does(t, ann, "/desk/events/evening/sales", url.Values{"seat": {s.sale.Plan.Label(0)}, "method": {"cash"}})
	for _, amount := range []string{
		"", "0", "0.00", "-1", "+1", "1e2", "1E0", "0x1", "1_0", "½", "²", "١", "１", "1,00", "1.000", "1.0.0", "1 .00", ".5", "1.-5", "NaN", "Inf", "1\x00", "€1", "one", "18446744073709551617", strings.Repeat("9", 4000),
	} {
		s.refused(t, ann, order+"/refunds", url.Values{"amount": {amount}}, 422)
	}
	s.refused(t, ann, order+"/refunds", url.Values{}, 422)
	if n := s.count(t, "refund"); n != 0 {
		t.Errorf("%d refunds were made", n)
	}
	s.does(t, ann, order+"/refunds", url.Values{"amount": {" 1.00 "}}) // as copied
	if n := s.count(t, "refund WHERE amount = 100"); n != 1 {
		t.Errorf("%d refunds of 1.00 were made", n)
	}
	s.wantBooks(t)
}
