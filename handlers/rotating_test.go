package handlers

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/desk"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/views/shop"
)

var (
	shownCode   = regexp.MustCompile(`data-code="([0-9A-Z]+)"`)
	rotationKey = regexp.MustCompile(`data-rotation="([^"]+)"`)
)

// scanned is what the door says of a code, in JSON.
func scanned(t *testing.T, door, code string, at int64) (word, message string) {
	t.Helper()
	body, _ := json.Marshal(map[string]any{"key": seats.NewID().String(), "code": code, "at": at})
	a, said := send(t, person(t), "POST", door+"/scans", string(body))
	var v desk.VerdictBody
	if err := json.Unmarshal([]byte(said), &v); err != nil || a.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", a.StatusCode, said)
	}
	return v.Word, v.Message
}

func TestRotatingCodes_ThePageShowsWhatTheDoorTakes(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{RotatingCodes: true}), person(t)
	at, order := s.bought(t, who, 2)
	door := s.door(t)
	a, page := s.page(t, who, strings.TrimPrefix(at, s.url))
	codes, keys := shownCode.FindAllStringSubmatch(page, -1), rotationKey.FindAllStringSubmatch(page, -1)
	if len(codes) != 2 || len(keys) != 2 || a.Header.Get("Cache-Control") != "no-store" || !strings.Contains(page, "data-now=") || !strings.Contains(page, "rotating.") {
		t.Fatalf("the page has %q", codes)
	}
	if !regexp.MustCompile(`<noscript><meta http-equiv="refresh" content="1?[0-9];url=/orders/`).MatchString(page) {
		t.Error("without scripts the page does not show the next code")
	}
	if strings.Contains(page, "tickets.pdf") || !strings.Contains(page, "calendar.ics") || !strings.Contains(page, "a screenshot or a printout will not let you in") || !order.Rotates {
		t.Error("the page offers paper, or does not say how its codes are used")
	}
	const still = "This is a picture or a printout of a ticket. Ask to see the ticket on its page."
	bare := order.Tickets[0].Code
	for _, code := range []string{bare, bare + "00000", bare + codes[1][1][149:]} {
		if word, says := scanned(t, door, code, 0); word != orders.ScanStill || says != still {
			t.Errorf("%s… is %s: %s", code[149:], word, says)
		}
	}
	form := url.Values{"key": {"1"}, "code": {bare}}
	if _, page := send(t, who, "POST", door+"/scans", form.Encode(), "Content-Type", asForm, "Accept", asPage); !strings.Contains(page, still) || !strings.Contains(page, `data-state="still"`) {
		t.Error("the page of the door does not say that it is a picture")
	}
	if n := s.count(t, "scan"); n != 0 {
		t.Errorf("%d scans of pictures are kept", n)
	}
	if word, says := scanned(t, door, codes[0][1], 0); word != orders.ScanIn {
		t.Errorf("the code of the page is %s: %s", word, says)
	}
	if _, page := s.page(t, who, "/orders/"+order.Code); strings.Count(page, "data-rotation=") != 2 {
		t.Error("the page has no code for who comes in again")
	}
}

func TestRotatingCodes_DevicesCheckThemOffline(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{RotatingCodes: true}), person(t)
	at, _ := s.bought(t, who, 1)
	door := s.door(t)
	if _, err := s.db.Exec(t.Context(), `UPDATE door SET created_at = created_at - interval '1 day'`); err != nil {
		t.Fatal(err)
	}
	if _, page := send(t, who, "GET", door, "", "Accept", asPage); !strings.Contains(page, "data-rotates") {
		t.Error("the door does not know that codes rotate")
	}
	_, page := s.page(t, who, strings.TrimPrefix(at, s.url))
	key, err := base64.StdEncoding.DecodeString(rotationKey.FindStringSubmatch(page)[1])
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Tickets []desk.ExpectedBody }
	_, body := send(t, who, "GET", door+"/tickets", "")
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Tickets) != 1 || string(list.Tickets[0].Rotation) != string(key) {
		t.Fatalf("the list is %s, %v", body, err)
	}
	then := time.Now().Add(-time.Hour)
	code := orders.Ticket{Code: shownCode.FindStringSubmatch(page)[1][:149], Rotation: key}.CodeAt(then)
	if word, _ := scanned(t, door, code, 0); word != orders.ScanStill {
		t.Errorf("a code of an hour ago is %s now", word)
	}
	if word, _ := scanned(t, door, code, then.Add(time.Minute).UnixMilli()); word != orders.ScanStill {
		t.Errorf("a code was %s a minute after it was shown", word)
	}
	if word, _ := scanned(t, door, code, then.UnixMilli()); word != orders.ScanIn {
		t.Errorf("a code was %s when it was shown", word)
	}
	owner := s.owner(t)
	_, found := send(t, owner, "GET", s.url+"/desk/events/evening/doors", "")
	if !strings.Contains(found, `"came":1`) || !strings.Contains(found, `"why":"still"`) {
		t.Errorf("the desk says %s", found)
	}
	if _, page := s.page(t, owner, "/desk/events/evening/doors"); !strings.Contains(page, "with a picture or a printout of a ticket. The holder came in") {
		t.Error("the desk does not say who was let in with a picture")
	}
}

func TestRotatingCodes_SentTicketIsNotTheSendersAnyMore(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{RotatingCodes: true}), person(t)
	at, order := s.bought(t, who, 1)
	door := s.door(t)
	if _, err := s.db.Exec(t.Context(), `UPDATE orders SET paid = total, received = total, method = 'card', due_at = NULL, remind_at = NULL`); err != nil {
		t.Fatal(err)
	}
	_, page := s.page(t, who, strings.TrimPrefix(at, s.url))
	old := shownCode.FindStringSubmatch(page)[1]
	found, err := s.sold.Find(t.Context(), order.Code)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := s.submit(t, person(t), shop.TransferPath(s.offered(t, found, "")), url.Values{"name": {"Bob"}, "email": {"bob@example.org"}, "key": {"x"}})
	mine, _, _ := strings.Cut(a.Header.Get("Location"), "?")
	_, page = s.page(t, who, "/orders/"+order.Code)
	if strings.Contains(page, "data-rotation") || strings.Contains(page, "data-code") {
		t.Error("the sender still has a code")
	}
	a, page = s.page(t, person(t), mine)
	fresh := shownCode.FindStringSubmatch(page)
	if fresh == nil || !rotationKey.MatchString(page) || !strings.Contains(page, "url="+mine) || strings.Contains(page, "tickets.pdf") || a.Header.Get("Cache-Control") != "no-store" {
		t.Fatal("the friend's page has no code, or does not show the next one")
	}
	for code, want := range map[string]string{old: orders.ScanRevoked, fresh[1][:149] + old[149:]: orders.ScanStill, fresh[1]: orders.ScanIn} {
		if word, _ := scanned(t, door, code, 0); word != want {
			t.Errorf("got %s, want %s", word, want)
		}
	}
	if a, said := send(t, who, "GET", s.url+mine+"/tickets.pdf", ""); a.StatusCode != http.StatusConflict || !strings.Contains(said, `"code":"rotates"`) {
		t.Errorf("the friend's PDF: %d %s", a.StatusCode, said)
	}
}

func TestRotatingCodes_AreOnNoPaperInNoWalletAndInNoMail(t *testing.T) {
	t.Parallel()
	s, w := walletSite(t, events.Settings{RotatingCodes: true})
	who := person(t)
	_, o := s.bought(t, who, 2)
	ticket := o.Tickets[0]
	paths := []string{"/tickets.pdf", "/" + shop.AppleWallet + "/" + ticket.ID, "/" + shop.GoogleWallet + "/" + ticket.ID}
	for _, path := range paths {
		a, page := send(t, who, "GET", s.url+"/orders/"+o.Code+path, "", "Accept", asPage)
		if a.StatusCode != http.StatusConflict || !strings.Contains(page, "cannot be printed or kept in a wallet") {
			t.Errorf("%s: %d", path, a.StatusCode)
		}
	}
	if a, _ := send(t, who, "GET", s.url+"/orders/"+o.Code+"/calendar.ics", ""); a.StatusCode != http.StatusOK {
		t.Errorf("the calendar: %d", a.StatusCode)
	}
	if _, page := s.page(t, who, "/orders/"+o.Code); strings.Contains(page, "wallet/") {
		t.Error("the page offers a wallet")
	}
	if _, page := s.page(t, s.owner(t), "/desk/events/evening/orders/"+o.Code); strings.Contains(page, "tickets.pdf") {
		t.Error("the desk offers to print the tickets")
	}
	letters := Letters{Inventory: s.office, Orders: s.sold, URL: "https://tickets.example.org"}
	l, err := letters.Write(t.Context(), mail.Mail{ID: 1, Order: o.Code, Kind: orders.MailConfirmation})
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Files) != 1 || !strings.HasSuffix(l.Files[0].Name, ".ics") || !strings.Contains(l.Text, "Open this link on your phone at the door") || strings.Contains(l.Text+l.HTML, "wallet") || strings.Contains(l.Text+l.HTML, ticket.Code) {
		t.Errorf("the letter has %d files: %s", len(l.Files), l.Text)
	}
	_, office := w.ordered(t)
	for _, path := range []string{"/tickets.pdf?size=office", "/tickets.pdf"} {
		if a, pdf := send(t, who, "GET", s.url+"/orders/"+office.Code+path, ""); a.StatusCode != http.StatusOK || !strings.HasPrefix(pdf, "%PDF") {
			t.Errorf("a ticket of the box office, %s: %d", path, a.StatusCode)
		}
	}
	if word, _ := scanned(t, s.door(t), office.Tickets[0].Code, 0); word != orders.ScanIn {
		t.Errorf("a ticket of the box office is %s", word)
	}
}

func TestSettings_RotatingCodesAreSwitchedOnAndOff(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	owner, at := s.owner(t), s.url+"/desk/events/evening/settings"
	for set, on := range map[string]bool{"true": true, `"off"`: false} {
		body := fmt.Sprintf(`{"key":%q,"rotating_codes":%s}`, seats.NewID(), set)
		if a, said := send(t, owner, "POST", at, body); a.StatusCode != http.StatusOK || !strings.Contains(said, fmt.Sprintf(`"rotating_codes":%t`, on)) {
			t.Errorf("%d %s", a.StatusCode, said)
		}
		if _, said := send(t, owner, "POST", at, fmt.Sprintf(`{"key":%q,"name":"Other"}`, seats.NewID())); !strings.Contains(said, fmt.Sprintf(`"rotating_codes":%t`, on)) {
			t.Errorf("another setting changed it: %s", said)
		}
	}
}
