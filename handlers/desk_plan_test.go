package handlers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/plan"
)

// drawn makes a plan and a file of each of two teams.
func (w *wall) drawn(t *testing.T) {
	t.Helper()
	club, _ := plan.Named("club")
	document, err := plan.Document(club)
	if err != nil {
		t.Fatal(err)
	}
	for _, team := range []int64{w.sale.Event.Team, w.team} {
		var id int64
		err := w.db.QueryRow(t.Context(), `INSERT INTO team_plan (team_id, versions) VALUES ($1, 1) RETURNING id`, team).Scan(&id)
		if err != nil {
			t.Fatal(err)
		}
		w.exec(t, `INSERT INTO plan_version (plan_id, version, document, name, seats, sections, organizer_id, saved_by)
			SELECT $1, 1, $2, 'Club', 1, 1, min(id), 'Ann' FROM organizer`, id, string(document))
		w.exec(t, `INSERT INTO plan_picture (plan_id, hash, content, width, height) VALUES ($1, repeat(CASE WHEN $2 THEN 'a' ELSE 'b' END, 32), 'x', 480, 300)`, id, team == w.sale.Event.Team)
		w.plans = append(w.plans, fmt.Sprint(id))
		file := seats.NewID()
		w.exec(t, `INSERT INTO plan_import (id, team_id, name, content) VALUES ($1, $2, 'a.csv', 'row,number')`, file, team)
		w.exec(t, `UPDATE plan_import SET content = convert_to(E'row,number\nA,1\n', 'UTF8') WHERE id = $1`, file)
		w.imports = append(w.imports, file.String())
	}
}

// upload sends a file as a browser does.
func (s *site) upload(t *testing.T, who *http.Client, name, content string) (*http.Response, string) {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	file, err := form.CreateFormFile("file", name)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = file.Write([]byte(content)) // to memory
	_ = form.Close()
	return send(t, who, "POST", s.url+"/desk/imports", body.String(), "Accept", asPage, "Content-Type", form.FormDataContentType())
}

const smallTable = "Block;Row;Seat;Price;X;Y\nStalls;A;1;Front;0;0\nStalls;A;2;Front;20;0\nStalls;A;2;Back;40;0\n"

func TestAFileBecomesAPlanAfterALookAtIt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	a, _ := s.upload(t, ann, `C:\plans\old house.csv`, smallTable)
	at := a.Header.Get("Location")
	if a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(at, "/desk/imports/") {
		t.Fatal(a.StatusCode, at)
	}
	a, page := s.page(t, ann, at)
	for _, want := range []string{"old house.csv", "3 seats in 1 section", "Repaired: Stalls: numbers that stood twice", `value="Block" selected`} {
		if a.StatusCode != 200 || !strings.Contains(page, want) {
			t.Errorf("%d, without %q", a.StatusCode, want)
		}
	}
	if _, page := s.page(t, ann, at+"?name=House&row=Row&number=Seat"); !strings.Contains(page, "House: 3 seats") || !strings.Contains(page, "laid out behind each other") {
		t.Error("another mapping makes no other plan")
	}
	if a, page := s.page(t, ann, at+"?name=House&x=Block&y=Y"); a.StatusCode != 422 || !strings.Contains(page, "line 2") {
		t.Errorf("texts as places: %d", a.StatusCode)
	}
	form := url.Values{"key": {"k"}, "name": {"Old house"}, "section": {"Block"}, "row": {"Row"}, "number": {"Seat"}, "category": {"Price"}, "x": {"X"}, "y": {"Y"}}
	for range 2 {
		if a, _ = s.submit(t, ann, at, form); a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/desk/plans/") {
			t.Fatal(a.StatusCode)
		}
	}
	plan := a.Header.Get("Location")
	if a, page := s.page(t, ann, plan); a.StatusCode != 200 || !strings.Contains(page, "imported from old house.csv") || strings.Contains(page, "Version 2") {
		t.Errorf("the plan: %d", a.StatusCode)
	}
	for kind, want := range map[string]string{"json": `"format": "usher-plan/1"`, "csv": "Stalls,A,1,Front,", "svg": `data-row="A" data-number="1"`} {
		if a, file := s.page(t, ann, plan+"/versions/1."+kind); a.StatusCode != 200 || !strings.Contains(file, want) || !strings.Contains(a.Header.Get("Content-Disposition"), `"old-house-1.`+kind+`"`) {
			t.Errorf("%s: %d %s", kind, a.StatusCode, a.Header.Get("Content-Disposition"))
		}
	}
}

func TestImport_InvalidFileIsRefusedOnItsPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	for file, want := range map[string]string{"": "the file is empty", "{\"zones\":[1]}": "line 1", "<html></html>": "no SVG drawing", "one line": "two at least", "{}": "no plan Usher knows"} {
		if a, page := s.upload(t, ann, "x.txt", file); a.StatusCode != 422 || !strings.Contains(page, want) || !strings.Contains(page, "Seating plans") {
			t.Errorf("%q: %d, without %q", file, a.StatusCode, want)
		}
	}
}

func TestEditor_SavesVersionsAndReportsConflicts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	a, _ := s.submit(t, ann, "/desk/plans", url.Values{"key": {"k"}, "name": {"Club “Ö”"}, "from": {"club"}})
	editor := a.Header.Get("Location")
	if a.StatusCode != http.StatusSeeOther || !strings.HasSuffix(editor, "/editor") {
		t.Fatal(a.StatusCode)
	}
	plan := strings.TrimSuffix(editor, "/editor")
	a, page := s.page(t, ann, editor)
	if a.StatusCode != 200 || !strings.Contains(page, `data-version="1"`) || !strings.Contains(page, "/static/editor.") {
		t.Fatalf("the editor: %d", a.StatusCode)
	}
	_, document := s.page(t, ann, plan+"/versions/1.json")
	save := func(key string, base int, document string) (*http.Response, string) {
		body, err := json.Marshal(map[string]any{"base": base, "note": "wider", "document": json.RawMessage(document)})
		if err != nil {
			t.Fatal(err)
		}
		return send(t, ann, "POST", s.url+plan+"/versions", string(body), "Content-Type", "application/json", "Idempotency-Key", key)
	}
	wider := regexp.MustCompile(`"width": \d+`).ReplaceAllString(document, `"width": 5000`)
	for range 2 {
		if a, body := save("s1", 1, wider); a.StatusCode != 201 || !strings.Contains(body, `{"version":2}`) {
			t.Fatal(a.StatusCode, body)
		}
	}
	if a, body := save("s2", 1, document); a.StatusCode != 409 || !strings.Contains(body, `"newest":"2"`) || !strings.Contains(body, "Ann saved version 2") {
		t.Errorf("from an older version: %d %s", a.StatusCode, body)
	}
	if a, body := save("s3", 2, strings.Replace(document, `"number": "2"`, `"number": "1"`, 1)); a.StatusCode != 422 || !strings.Contains(body, "twice") {
		t.Errorf("two seats of one label: %d %s", a.StatusCode, body)
	}
	if a, body := save("", 2, document); a.StatusCode != 422 {
		t.Errorf("without a key: %d %s", a.StatusCode, body)
	}
	if a, body := send(t, ann, "POST", s.url+plan+"/versions", `{"base":2,"owner":7,"document":`+document+`}`, "Content-Type", "application/json", "Idempotency-Key", "s4"); a.StatusCode != 422 || !strings.Contains(body, "no field “owner” here") {
		t.Errorf("with a field that is not known: %d %s", a.StatusCode, body)
	}
}

func TestAnEventGetsANewerPlanAndIsToldWhichSeatsItWouldLose(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	s.held(t, person(t), 1)
	a, _ := s.submit(t, ann, "/desk/events/evening/plan/copies", url.Values{"key": {"k"}})
	plan := strings.TrimSuffix(a.Header.Get("Location"), "/editor")
	if a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(plan, "/desk/plans/") {
		t.Fatal(a.StatusCode)
	}
	id := strings.TrimPrefix(plan, "/desk/plans/")
	_, document := s.page(t, ann, plan+"/versions/1.json")
	save := func(base int, document string) {
		t.Helper()
		body, err := json.Marshal(map[string]any{"base": base, "document": json.RawMessage(document)})
		if err != nil {
			t.Fatal(err)
		}
		if a, answer := send(t, ann, "POST", s.url+plan+"/versions", string(body), "Content-Type", "application/json", "Idempotency-Key", fmt.Sprint("v", base)); a.StatusCode != 201 {
			t.Fatal(a.StatusCode, answer)
		}
	}
	save(1, strings.Replace(document, `"name": "`, `"name": "New `, 1))
	for range 2 {
		if a, body := s.submit(t, ann, "/desk/events/evening/plan", url.Values{"key": {"r1"}, "plan": {id + "@2"}}); a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/desk/events/evening/plan?done=replaced" {
			t.Fatal(a.StatusCode, body)
		}
	}
	if sale, err := s.office.Sale(t.Context(), "evening"); err != nil || !strings.HasPrefix(sale.Plan.Name, "New ") {
		t.Errorf("the plan is %q, %v", sale.Plan.Name, err)
	}
	if a, page := s.page(t, ann, "/desk/events/evening/plan?done=replaced"); a.StatusCode != 200 || !strings.Contains(page, "has its new plan") {
		t.Errorf("the page: %d", a.StatusCode)
	}
	seat := regexp.MustCompile(`(?s)\{\s*"id": "[^"]*",\s*"number": "1",`).FindString(document)
	save(2, strings.Replace(document, seat, strings.Replace(seat, `"number": "1"`, `"number": "1001"`, 1), 1))
	if a, page := s.submit(t, ann, "/desk/events/evening/plan", url.Values{"key": {"r2"}, "plan": {id + "@3"}}); a.StatusCode != http.StatusConflict || !strings.Contains(page, "would be called") {
		t.Errorf("a seat called otherwise: %d", a.StatusCode)
	}
}

func TestEmptyPlan_IsSavedAndNoEventIsMadeOfIt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	at := s.does(t, ann, "/desk/plans", url.Values{"name": {"New house"}, "from": {""}})
	at = strings.TrimSuffix(at, "/editor")
	a, document := send(t, ann, "GET", s.url+at+"/versions/1.json", "")
	if a.StatusCode != http.StatusOK || !strings.Contains(document, `"sections": []`) || strings.Contains(document, "shapes") {
		t.Fatalf("an empty plan is %d %s", a.StatusCode, document)
	}
	save := func(base int, document string) {
		t.Helper()
		a, body := send(t, ann, "POST", s.url+at+"/versions", fmt.Sprintf(`{"key":"save%d","base":%d,"document":%s}`, base, base, document))
		if a.StatusCode != http.StatusCreated {
			t.Fatalf("saved: %d %s", a.StatusCode, body)
		}
	}
	save(1, strings.Replace(document, "New house", "House", 1))
	for _, file := range []string{"/versions/2.csv", "/versions/2.svg", ""} {
		if a, body := send(t, ann, "GET", s.url+at+file, "", "Accept", asPage); a.StatusCode != http.StatusOK {
			t.Errorf("%s of an empty plan: %d %s", file, a.StatusCode, body)
		}
	}

	form := url.Values{"name": {"Opening"}, "starts": {"2033-05-18T20:00"}, "zone": {"Europe/Vienna"}, "plan": {"team-" + at[strings.LastIndexByte(at, '/')+1:]}}
	form.Set("key", "empty")
	if a, page := s.submit(t, ann, "/desk/events", form); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(page, "This plan has no seats yet") {
		t.Errorf("an event of an empty plan: %d %s", a.StatusCode, words(page))
	}
	a, body := send(t, ann, "POST", s.url+"/desk/events/evening/plan", `{"key":"replace","plan":"`+strings.TrimPrefix(form.Get("plan"), "team-")+`@2"}`)
	if a.StatusCode != http.StatusConflict {
		t.Errorf("an empty plan in place of one with seats: %d %s", a.StatusCode, body)
	}

	// With seats there is an event of it.
	save(2, `{"format":"usher-plan/1","name":"House","categories":[{"key":"A","name":"Seat","price":1200}],"sections":[{"name":"Stalls","category":"A","rows":[{"row":"A","seats":[{"id":"a1","number":"1","x":10,"y":10},{"id":"a2","number":"2","x":30,"y":10}]}]}]}`)
	s.does(t, ann, "/desk/events", form)
}

func TestPlanPicture_IsKeptWithThePlanForTheTeamAlone(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	ann, at := w.people[string(organizers.Owner)], "/desk/plans/"+w.plans[0]
	body, kind := parts(aPicture(600, 400))
	a, told := send(t, ann, "POST", w.url+at+"/pictures", body, "Accept", "application/json", "Content-Type", kind, "Idempotency-Key", "p")
	var pic struct{ Picture string }
	if err := json.Unmarshal([]byte(told), &pic); a.StatusCode != http.StatusCreated || err != nil || len(pic.Picture) != 32 {
		t.Fatal(a.StatusCode, told)
	}
	save := func(base int, underlays string) (int, string) {
		_, document := w.page(t, ann, at+"/versions/1.json")
		document = strings.TrimSuffix(strings.TrimSpace(document), "}") + `,"underlays":` + underlays + `}`
		a, told := send(t, ann, "POST", w.url+at+"/versions", fmt.Sprintf(`{"base":%d,"document":%s}`, base, document), "Content-Type", "application/json", "Idempotency-Key", seats.NewID().String())
		return a.StatusCode, told
	}
	lies := `[{"picture":"` + pic.Picture + `","x":10,"y":-5,"width":900,"opacity":0.4}]`
	if status, told := save(1, lies); status != http.StatusCreated {
		t.Fatal(status, told)
	}
	for underlays, want := range map[string]string{
		strings.ReplaceAll(lies, pic.Picture, strings.Repeat("b", 32)): "not there any more", // that of another team
		strings.ReplaceAll(lies, pic.Picture, "../x"):                  "32 digits",
		strings.ReplaceAll(lies, "0.4", "4"):                           "0 to 1",
		strings.ReplaceAll(lies, "900", "0"):                           "more than 0",
	} {
		if status, told := save(2, underlays); status != http.StatusUnprocessableEntity || !strings.Contains(told, want) {
			t.Errorf("%s: %d, without %q: %s", underlays, status, want, told)
		}
	}
	if _, document := w.page(t, ann, at+"/versions/2.json"); !strings.Contains(document, pic.Picture) {
		t.Error("the version does not name its picture")
	}
	manager := w.people[string(organizers.Manager)]
	if a, content := w.page(t, manager, at+"/pictures/"+pic.Picture); a.StatusCode != 200 || a.Header.Get("Content-Type") != "image/jpeg" || !strings.HasPrefix(content, "\xff\xd8\xff") {
		t.Errorf("a colleague gets %d", a.StatusCode)
	}
	if a, _ := w.page(t, person(t), "/pictures/"+pic.Picture+"-2400.jpg"); a.StatusCode != http.StatusNotFound {
		t.Errorf("an attendee gets %d", a.StatusCode)
	}
	pdf, kind := parts("%PDF-1.7 …")
	if a, told := send(t, ann, "POST", w.url+at+"/pictures", pdf, "Accept", "application/json", "Content-Type", kind); a.StatusCode != 422 || !strings.Contains(told, "PDF") {
		t.Errorf("a PDF: %d %s", a.StatusCode, told)
	}
	// A picture of no version goes a day later, when another one comes; that of a version stays.
	w.exec(t, `UPDATE plan_picture SET at = at - interval '2 days'`)
	body, kind = parts(aPicture(700, 400))
	if a, told := send(t, ann, "POST", w.url+at+"/pictures", body, "Accept", "application/json", "Content-Type", kind, "Idempotency-Key", "q"); a.StatusCode != http.StatusCreated {
		t.Fatal(a.StatusCode, told)
	}
	if n := w.id("SELECT count(*) AS id FROM plan_picture WHERE plan_id = " + w.plans[0]); n != "2" {
		t.Errorf("the plan has %s pictures, want the one of its version and the new one", n)
	}
	for i := range pages.MostUnsaved {
		w.exec(t, `INSERT INTO plan_picture (plan_id, hash, content, width, height) VALUES ($1, lpad($2::text, 32, '0'), 'x', 480, 300)`, w.plans[0], fmt.Sprint(i))
	}
	body, kind = parts(aPicture(800, 400))
	if a, told := send(t, ann, "POST", w.url+at+"/pictures", body, "Accept", "application/json", "Content-Type", kind, "Idempotency-Key", "r"); a.StatusCode != 422 || !strings.Contains(told, "in no version") {
		t.Errorf("one too many: %d %s", a.StatusCode, told)
	}
	w.exec(t, `UPDATE plan_picture SET at = at - interval '2 days'`)
	if err := w.config.Pages.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := w.id("SELECT count(*) AS id FROM plan_picture WHERE plan_id = " + w.plans[0]); n != "1" {
		t.Errorf("after two days without an upload the plan has %s pictures, want that of its version", n)
	}
}
