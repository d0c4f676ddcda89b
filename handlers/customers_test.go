package handlers

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

func TestCustomers_AreManagersAndOfTheTeam(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	if a, body := s.submit(t, ann, "/desk/events/evening/sales", map[string][]string{"key": {"one"}, "seat": {s.sale.Plan.Label(7)}, "method": {"cash"}, "name": {"Zoe Ørsted"}, "email": {"zoe@example.org"}}); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, words(body))
	}
	_, list := s.page(t, ann, "/desk/customers?q=zoe+ors")
	_, at, _ := strings.Cut(list, `<td><a href="/desk/customers/`)
	id, _, _ := strings.Cut(at, `"`)
	if !strings.Contains(list, "zoe@example.org") || id == "" {
		t.Fatalf("the list is %s", words(list))
	}
	if _, page := s.page(t, ann, "/desk/customers/"+id); !strings.Contains(page, "<h1>Zoe Ørsted</h1>") || !strings.Contains(page, "/desk/privacy/exports") || strings.Contains(id, "@") {
		t.Errorf("the record is %s", words(page))
	}
	if a, body := s.submit(t, ann, "/desk/customers/"+id, map[string][]string{"key": {"note"}, "note": {"Likes the aisle."}, "tags": {"Member, press"}}); a.StatusCode != http.StatusSeeOther {
		t.Errorf("the note is answered %d %s", a.StatusCode, words(body))
	}
	if _, page := s.page(t, ann, "/desk/customers/"+id); !strings.Contains(page, ">Likes the aisle.</textarea>") || !strings.Contains(page, `value="member, press"`) {
		t.Errorf("the record has no note: %s", words(page))
	}
	if _, page := s.page(t, ann, "/desk/customers?tag=press"); !strings.Contains(page, ">zoe@example.org</textarea>") || !strings.Contains(page, `href="/desk/customers?tag=member"`) {
		t.Errorf("the list by tag is %s", words(page))
	}
	if a, page := s.submit(t, ann, "/desk/customers/"+id, map[string][]string{"key": {"long"}, "note": {"Typed."}, "tags": {strings.Repeat("x", 41)}}); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(page, ">Typed.</textarea>") || !strings.Contains(page, "at most 40 characters") {
		t.Errorf("a long tag is answered %d %s", a.StatusCode, words(page))
	}
	for _, path := range []string{"/desk/customers/x", "/desk/customers/" + strings.Repeat("0", 8) + "-0000-4000-8000-000000000000"} {
		if a, body := send(t, ann, "GET", s.url+path, ""); a.StatusCode != http.StatusNotFound || !strings.Contains(body, "There is no such customer in your team.") {
			t.Errorf("%s: %d %s", path, a.StatusCode, body)
		}
	}
	if a, body := send(t, ann, "GET", s.url+"/desk/customers?before=yesterday", ""); a.StatusCode != http.StatusUnprocessableEntity && a.StatusCode != http.StatusBadRequest {
		t.Errorf("a place that is none: %d %s", a.StatusCode, body)
	}
}

// recordOf is the record of the only customer that a search finds.
func (s *site) recordOf(t *testing.T, who *http.Client, prefix string) (r struct {
	ID           string
	Orders       int
	Emails, Tags []string
	Imported     []struct{ Name, Phone, Consent string }
	First        *string `json:"first_order_at"`
},
) {
	t.Helper()
	var found struct{ Customers []struct{ ID string } }
	if _, body := send(t, who, "GET", s.url+"/desk/customers?q="+prefix, ""); json.Unmarshal([]byte(body), &found) != nil || len(found.Customers) != 1 {
		t.Fatalf("%s finds %s", prefix, body)
	}
	if _, body := send(t, who, "GET", s.url+"/desk/customers/"+found.Customers[0].ID, ""); json.Unmarshal([]byte(body), &r) != nil {
		t.Fatal(body)
	}
	return r
}

func TestCustomers_AreImportedFromAFileOrATextAndMerged(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	s.does(t, ann, "/desk/events/evening/sales", url.Values{"seat": {s.sale.Plan.Label(7)}, "method": {"cash"}, "name": {"Zoe Ørsted"}, "email": {"zoe@example.org"}})
	var file bytes.Buffer
	form := multipart.NewWriter(&file)
	part, err := form.CreateFormFile("file", "customers.csv")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write([]byte("email;name;phone;consent\nzoe@work.example;Zo\xeb \xd8rsted;+49 89 1;31.1.2020\n")) // as a spreadsheet writes it in Windows-1252
	_ = form.WriteField("key", "file")
	_ = form.Close()
	a, page := send(t, ann, "POST", s.url+"/desk/customers/imports", file.String(), "Content-Type", form.FormDataContentType(), "Accept", "text/html")
	if a.StatusCode != http.StatusOK || !strings.Contains(page, "1 new customer.") {
		t.Fatalf("the file is answered %d %s", a.StatusCode, words(page))
	}
	work := s.recordOf(t, ann, "zoe@work")
	if len(work.Imported) != 1 || work.Imported[0].Name != "Zoë Ørsted" || work.Imported[0].Phone != "+49 89 1" || work.Imported[0].Consent != "2020-01-31" || work.First != nil {
		t.Errorf("the record is %+v", work)
	}
	s.refused(t, ann, "/desk/customers/imports", url.Values{"customers": {"email,phone\nx,\nmax@example.org,many"}}, http.StatusUnprocessableEntity, "Line 2: ", "Line 3: ", "Nothing was imported.", "max@example.org,many")
	for want, same := range []string{`"added":1,"changed":0,"unchanged":0,"consents_withheld":0,"repeated":false`, `"added":0,"changed":0,"unchanged":1,"consents_withheld":0,"repeated":false`} {
		if a, body := send(t, ann, "POST", s.url+"/desk/customers/imports", `{"key":"max`+strconv.Itoa(want)+`","customers":"email,tags\nmax@example.org,press"}`); a.StatusCode != http.StatusOK || !strings.Contains(body, same) {
			t.Errorf("the list is answered %d %s", a.StatusCode, body)
		}
	}
	if _, page := s.page(t, ann, "/desk/customers/duplicates"); !strings.Contains(page, "zoe@work.example") || !strings.Contains(page, "The same name") || strings.Contains(page, "max@example.org") {
		t.Errorf("the duplicates are %s", words(page))
	}
	at := "/desk/customers/" + s.recordOf(t, ann, "zoe@example").ID
	s.refused(t, ann, at+"/merges", url.Values{"email": {"none@example.org"}}, http.StatusUnprocessableEntity, "No customer of your team has the email", "none@example.org")
	s.does(t, ann, at+"/merges", url.Values{"email": {"Zoe@work.example "}})
	if r := s.recordOf(t, ann, "zoe@work"); r.Orders != 1 || len(r.Emails) != 2 {
		t.Errorf("the merged record is %+v", r)
	}
	if _, page := s.page(t, ann, at); !strings.Contains(page, "It is done for all addresses of this record: zoe@example.org and zoe@work.example.") || !strings.Contains(page, "Phone +49 89 1") {
		t.Errorf("the merged record is %s", words(page))
	}
	if a, body := send(t, ann, "POST", s.url+"/desk/privacy/exports", `{"email":"zoe@example.org"}`); a.StatusCode != http.StatusOK || !strings.Contains(body, `"merged"`) || !strings.Contains(body, "zoe@work.example") {
		t.Errorf("the export is %d %s", a.StatusCode, body)
	}
	s.does(t, ann, at+"/separations", url.Values{"email": {"zoe@work.example"}})
	if r := s.recordOf(t, ann, "zoe@work"); r.Orders != 0 || len(r.Emails) != 1 {
		t.Errorf("the separated record is %+v", r)
	}
}

func TestErasure_IsOfAllMergedAddresses(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	if a, body := send(t, ann, "POST", s.url+"/desk/customers/imports", `{"key":"list","customers":"email,note\nzoe@example.org,aisle\nzoe@work.example,front\nmax@example.org,middle"}`); a.StatusCode != http.StatusOK {
		t.Fatal(a.StatusCode, body)
	}
	at := "/desk/customers/" + s.recordOf(t, ann, "zoe@example").ID
	s.does(t, ann, at+"/merges", url.Values{"email": {"zoe@work.example"}})
	if a, body := send(t, ann, "POST", s.url+"/desk/privacy/erasures", `{"email":"Zoe@work.example"}`); a.StatusCode != http.StatusOK || !strings.Contains(body, `"addresses":2`) {
		t.Fatalf("the erasure is answered %d %s", a.StatusCode, body)
	}
	var left string
	if err := s.db.QueryRow(t.Context(), `SELECT concat((SELECT string_agg(email, ' ') FROM customer), ' ', (SELECT string_agg(email, ' ') FROM customer_note), ' ', (SELECT string_agg(email, ' ') FROM customer_address), ' ', (SELECT count(DISTINCT person) FROM erasure))`).Scan(&left); err != nil || left != "max@example.org max@example.org  2" {
		t.Errorf("there is left %q, %v", left, err)
	}
	// A list from before has no consent for the desk any more.
	if a, body := send(t, ann, "POST", s.url+"/desk/customers/imports", `{"key":"again","customers":"email,consent\nzoe@example.org,2020-01-31\nmax@example.org,2020-01-31"}`); a.StatusCode != http.StatusOK || !strings.Contains(body, `"consents_withheld":1`) {
		t.Errorf("the import after it is answered %d %s", a.StatusCode, body)
	}
}

func TestPromoter_IsCopiedWithTheEventAndInTheBooks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	if a, body := send(t, ann, "POST", s.url+"/desk/events/evening/settings", `{"key":"promoter","promoter":" Concert  Agency "}`); a.StatusCode >= 300 {
		t.Fatal(a.StatusCode, body)
	}
	s.refused(t, ann, "/desk/events/evening/settings", url.Values{"promoter": {strings.Repeat("x", 201)}, "name": {"Evening"}, "starts": {"2030-05-01T19:00"}, "zone": {"UTC"}, "currency": {"EUR"}}, http.StatusUnprocessableEntity)
	copied := strings.TrimSuffix(s.does(t, ann, "/desk/events/evening/copies", url.Values{"name": {"Copied"}, "starts": {"2030-03-08T20:30"}}), "/checklist")
	for _, path := range []string{"/desk/events/evening", copied} {
		if _, body := send(t, ann, "GET", s.url+path+"/settings", ""); !strings.Contains(body, `"promoter":"Concert Agency"`) {
			t.Errorf("the settings of %s are %s", path, body)
		}
	}
	s.does(t, ann, "/desk/events/evening/sales", url.Values{"seat": {s.sale.Plan.Label(7)}, "method": {"cash"}})
	if a, body := send(t, ann, "GET", s.url+"/desk/books?from=&by=promoter", ""); a.StatusCode != http.StatusOK || !strings.Contains(body, `"key":"Concert Agency","name":"Concert Agency","tickets":1`) {
		t.Errorf("the books are %d %s", a.StatusCode, body)
	}
	if _, page := s.page(t, ann, "/desk/books?from=&by=promoter"); !strings.Contains(page, "Concert Agency") {
		t.Errorf("the page is %s", words(page))
	}
}
