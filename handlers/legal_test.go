package handlers

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/orders"
)

// publishes publishes a legal text at the desk.
func (s *site) publishes(t *testing.T, who *http.Client, kind, text string) {
	t.Helper()
	a, body := s.submit(t, who, "/desk/legal", url.Values{"kind": {kind}, "text": {text}, "publish": {"yes"}, "key": {kind + text}})
	if a.StatusCode != http.StatusSeeOther || !strings.Contains(a.Header.Get("Location"), "done=published") {
		t.Fatal(a.StatusCode, body)
	}
}

func TestLegal_TextsAreAtTheFootOfEveryPageAndMail(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{}), person(t)
	ann := s.owner(t)
	if a, _ := send(t, who, "GET", s.url+"/legal/imprint", "", "Accept", asPage); a.StatusCode != http.StatusNotFound {
		t.Errorf("without an imprint: %d", a.StatusCode)
	}
	_, start := send(t, ann, "GET", s.url+"/desk/legal", "", "Accept", asPage)
	if !strings.Contains(start, "[[name of your company or association") || !strings.Contains(start, "Not written yet") {
		t.Error("the desk shows no text to start with")
	}
	a, body := s.submit(t, ann, "/desk/legal", url.Values{"kind": {"imprint"}, "text": {"Run by [[name]]."}, "base": {"0"}, "publish": {"yes"}, "key": {"k"}})
	if a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, "Fill in these blanks before you publish: name.") || !strings.Contains(body, "Run by [[name]].") {
		t.Errorf("a blank: %d", a.StatusCode)
	}
	s.publishes(t, ann, "imprint", "Run by *Ann*.")
	s.publishes(t, ann, "privacy", "We keep little.")
	a, _ = send(t, who, "GET", s.url+"/legal/imprint", "", "Accept", asPage)
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/legal/1/imprint" {
		t.Errorf("the only imprint: %d %s", a.StatusCode, a.Header.Get("Location"))
	}
	if _, page := send(t, who, "GET", s.url+"/legal/1/imprint", "", "Accept", asPage); !strings.Contains(page, "Run by <em>Ann</em>.") {
		t.Error(page)
	}
	if a, answer := send(t, who, "GET", s.url+"/legal/1/imprint", ""); a.StatusCode != http.StatusOK || !strings.Contains(answer, `"text":"Run by *Ann*."`) {
		t.Error(a.StatusCode, answer)
	}
	hold := s.held(t, who, 1)
	a, _ = s.post(t, who, fill(hold, "Bob", "bob@example.org"))
	order := a.Header.Get("Location")
	s.held(t, who, 1)
	for _, path := range []string{"/events", "/events/evening", "/events/evening/sections/0", "/events/evening/checkout", order, "/account", "/events/evening/waitlist", "/nowhere", "/legal/1/privacy"} {
		_, page := send(t, who, "GET", s.url+path, "", "Accept", asPage)
		for _, link := range []string{`<a href="/legal/1/imprint">Imprint</a>`, `<a href="/legal/1/privacy">Privacy</a>`} {
			if strings.Count(page, link) != 1 {
				t.Errorf("%s has %d of %s", path, strings.Count(page, link), link)
			}
		}
		if strings.Contains(page, "/legal/1/terms") {
			t.Errorf("%s has a link to terms that are not there", path)
		}
	}
	for _, path := range []string{"/desk", "/desk/events/evening/orders", "/desk/session", "/desk/password"} {
		reader := ann
		if path == "/desk/session" || path == "/desk/password" {
			reader = who
		}
		if _, page := send(t, reader, "GET", s.url+path, "", "Accept", asPage); !strings.Contains(page, `<a href="/legal/1/imprint">Imprint</a>`) {
			t.Errorf("%s has no link to the imprint", path)
		}
	}
	letters := Letters{Inventory: s.office, Orders: s.sold, Desk: s.organizers, Rooms: s.config.Rooms, Waits: s.config.Waits, Credit: s.config.Credit, Pages: s.config.Pages, URL: "https://tickets.example.org"}
	for _, m := range []mail.Mail{
		{ID: 1, Order: strings.TrimPrefix(order, "/orders/"), Kind: orders.MailConfirmation},
		{ID: 2, Email: "ann@example.org", Kind: "security", About: "You did something."},
		{ID: 3, Email: "ann@example.org", Kind: "password"},
	} {
		l, err := letters.Write(t.Context(), m)
		if m.Kind == "password" && err != nil {
			continue // no link was asked for
		}
		if err != nil || !strings.Contains(l.HTML, `href="https://tickets.example.org/legal/1/imprint"`) || !strings.Contains(l.Text, "Imprint: https://tickets.example.org/legal/1/imprint\n") {
			t.Errorf("the mail %s has no imprint: %v %s", m.Kind, err, l.Text)
		}
	}
}

// Each page that a handler makes, and each function that writes a mail, asks for the links.
func TestLegal_NoPageOrMailForgetsTheLinks(t *testing.T) {
	t.Parallel()
	var files []string
	for _, folder := range []string{".", "desk", "shop", "web"} {
		list, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, slices.DeleteFunc(list, func(f string) bool { return strings.HasSuffix(f, "_test.go") })...)
	}
	pages, mails := 0, 0
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			f, is := d.(*ast.FuncDecl)
			if !is {
				continue
			}
			named := map[string]int{} // selectors, such as views.Page and l.head
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					named[n.Sel.Name]++
				case *ast.CompositeLit:
					if of, is := n.Type.(*ast.SelectorExpr); is && of.Sel.Name == "Page" && len(n.Elts) > 0 && of.X.(*ast.Ident).Name != "paging" {
						pages++
						for _, want := range []string{"Legal", "Branding"} {
							if !strings.HasPrefix(file, "shop") && want == "Branding" {
								continue // the desk has the standard look
							}
							if !slices.ContainsFunc(n.Elts, func(e ast.Expr) bool {
								field, is := e.(*ast.KeyValueExpr)
								return is && field.Key.(*ast.Ident).Name == want
							}) {
								t.Errorf("%s: %s makes a page without %s", file, f.Name.Name, want)
							}
						}
					}
				}
				return true
			})
			if named["Render"] > 0 && strings.Contains(file, "letter") {
				mails++
				if named["head"] == 0 {
					t.Errorf("%s: %s writes a mail without links to legal texts", file, f.Name.Name)
				}
			}
		}
	}
	if pages < 10 || mails < 4 {
		t.Errorf("%d pages and %d mails were looked at", pages, mails)
	}
}

func TestLegal_TextsOfSeveralTeamsAreListed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	s.publishes(t, ann, "imprint", "Ours")
	s.exec(t, `INSERT INTO team (name) VALUES ('Other <b>'); INSERT INTO legal_text (team_id, kind, version, text, published, saved_by) VALUES (2, 'imprint', 1, 'Theirs', true, 'Cy')`)
	s.publishes(t, ann, "privacy", "Ours")
	who := person(t)
	_, page := send(t, who, "GET", s.url+"/legal/imprint", "", "Accept", asPage)
	for _, want := range []string{`href="/legal/1/imprint">Box office`, `href="/legal/2/imprint">Other &lt;b&gt;`} {
		if !strings.Contains(page, want) {
			t.Errorf("%s lacks %s", page, want)
		}
	}
	if _, page := send(t, who, "GET", s.url+"/events", "", "Accept", asPage); !strings.Contains(page, `href="/legal/imprint"`) {
		t.Error("the list of events leads to one team's imprint")
	}
	if _, page := send(t, who, "GET", s.url+"/events/evening", "", "Accept", asPage); !strings.Contains(page, `href="/legal/1/imprint"`) {
		t.Error("the event does not lead to its team's imprint")
	}
	for path, status := range map[string]int{"/legal/2/imprint": 200, "/legal/3/imprint": 404, "/legal/x/imprint": 404, "/legal/1/none": 404, "/legal/none": 404, "/legal/1/imprint?version=9": 404, "/legal/1/imprint?version=x": 404, "/legal/1/imprint?version=99999999999": 404} {
		if a, _ := send(t, who, "GET", s.url+path, ""); a.StatusCode != status {
			t.Errorf("%s: %d", path, a.StatusCode)
		}
	}
}

func TestConsent_IsRecordedWithVersionAndMoment(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{Demo: true}), person(t)
	ann := s.owner(t)
	s.publishes(t, ann, "terms", "No shouting.")
	hold := s.held(t, who, 2)
	_, page := send(t, who, "GET", s.url+"/events/evening/checkout", "", "Accept", asPage)
	for _, want := range []string{`name="terms" value="1" required`, `href="/legal/1/terms?version=1"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the checkout lacks %s", want)
		}
	}
	form := map[string]any{"hold": hold.ID, "seats": hold.Seats, "name": "Bob", "email": "bob@example.org", "method": "door", "total": hold.Total}
	sends := func() (*http.Response, string) {
		body, _ := json.Marshal(form)
		return send(t, who, "POST", s.url+"/events/evening/orders", string(body))
	}
	refused := func(words string) {
		t.Helper()
		var answer web.ErrorAnswer
		if a, body := sends(); a.StatusCode != http.StatusUnprocessableEntity || json.Unmarshal([]byte(body), &answer) != nil || !strings.Contains(answer.Error.Fields["terms"], words) {
			t.Errorf("%v is answered %d %s", form["terms"], a.StatusCode, body)
		}
	}
	refused("accept the terms")
	s.publishes(t, ann, "terms", "No whispering.")
	form["terms"] = 1
	refused("have changed")
	if _, body := send(t, who, "GET", s.url+"/events/evening", ""); !strings.Contains(body, `"terms":{"version":2,"path":"/legal/1/terms?version=2"}`) {
		t.Error(body)
	}
	fields := fill(hold, "Bob", "bob@example.org")
	fields.Set("terms", "1")
	if a, _ := s.post(t, who, fields); a.Header.Get("Location") != "/events/evening/checkout?told" {
		t.Error(a.StatusCode, a.Header)
	}
	if _, page := send(t, who, "GET", s.url+"/events/evening/checkout?told", "", "Accept", asPage); !strings.Contains(page, "The terms have changed.") || strings.Contains(page, `value="2" checked`) {
		t.Error("the checkout does not ask again")
	}
	fields.Set("terms", "2")
	a, body := s.post(t, who, fields)
	code, placed := strings.CutPrefix(a.Header.Get("Location"), "/orders/")
	if !placed {
		t.Fatal(a.StatusCode, body)
	}
	order, err := s.sold.Find(t.Context(), code)
	if err != nil || order.Consent == nil || order.Consent.Version != 2 || order.Consent.Team != 1 || order.Consent.At.After(order.CreatedAt) {
		t.Fatalf("the consent is %+v: %v", order.Consent, err)
	}
	if _, body := send(t, who, "GET", s.url+"/orders/"+code, ""); !strings.Contains(body, `"terms":{"version":2,"path":"/legal/1/terms?version=2","accepted_at":`) {
		t.Error(body)
	}
	if _, page := send(t, who, "GET", s.url+"/legal/1/terms?version=1", "", "Accept", asPage); !strings.Contains(page, "No shouting.") || !strings.Contains(page, "no longer in force") {
		t.Error(page)
	}
}

func TestConsent_IsAsOldAsThePayment(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{Demo: true}), person(t)
	s.publishes(t, s.owner(t), "terms", "No shouting.")
	hold := s.held(t, who, 1)
	fields := fill(hold, "Bob", "bob@example.org")
	fields.Set("method", "demo")
	fields.Set("terms", "1")
	a, body := s.post(t, who, fields)
	if a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/demo-card/") {
		t.Fatal(a.StatusCode, a.Header.Get("Location"), body)
	}
	s.untilState(t, who, s.answers(t, who, a.Header.Get("Location"), "pay"), "done")
	var same bool
	if err := s.db.QueryRow(t.Context(), `SELECT count(*) = 1 FROM consent c JOIN payment p ON p.order_id = c.order_id AND p.created_at = c.at AND c.version = 1`).Scan(&same); err != nil || !same {
		t.Error("the consent is not that of the payment", err)
	}
}

func TestCheckout_ButtonSaysWhatItCosts(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{Demo: true}), person(t)
	s.held(t, who, 2)
	_, page := send(t, who, "GET", s.url+"/events/evening/checkout", "", "Accept", asPage)
	for _, want := range []string{"Pay €56 now", "Order with obligation to pay · €56"} {
		if !strings.Contains(page, want) {
			t.Errorf("the checkout lacks %s", want)
		}
	}
}

func TestPolicy_IsSaidBeforeBuying(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	s.held(t, who, 1)
	for _, path := range []string{"/events/evening", "/events/evening/checkout"} {
		if _, page := send(t, who, "GET", s.url+path, "", "Accept", asPage); !strings.Contains(page, "You can cancel until ") {
			t.Errorf("%s says nothing of cancelling", path)
		}
	}
	if _, body := send(t, who, "GET", s.url+"/events/evening", ""); !strings.Contains(body, `"cancelling":{"until":"`) {
		t.Error(body)
	}
}
