package handlers

import (
	"archive/zip"
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/wallets"
	"github.com/usherbox/usher/seats/wallets/wallettest"
	"github.com/usherbox/usher/views/shop"
)

// walletSite is a box office that makes passes for both wallets.
func walletSite(t *testing.T, e events.Settings) (*site, *wall) {
	t.Helper()
	db := seatstest.DB(t)
	s := newSiteIn(t, db, e, func(c *Config) {
		c.PublicURL = "https://box.example.org"
		c.Wallets = wallets.New(db)
		keys := wallettest.NewApple(t, nil)
		account, _ := wallettest.NewGoogle(t)
		var err error
		if c.Wallets.Apple, err = wallets.NewApple(keys.Certificate, keys.Key, keys.WWDR, time.Now()); err != nil {
			t.Fatal(err)
		}
		if c.Wallets.Google, err = wallets.NewGoogle(account, wallettest.Issuer); err != nil {
			t.Fatal(err)
		}
	})
	return s, &wall{site: s}
}

// aPass is a pass as a phone reads it.
type aPass struct {
	Serial   string `json:"serialNumber"`
	Token    string `json:"authenticationToken"`
	Service  string `json:"webServiceURL"`
	Voided   bool
	Barcodes []struct{ Message string }
	all      string
}

func (p aPass) code() string {
	if len(p.Barcodes) == 0 {
		return ""
	}
	return p.Barcodes[0].Message
}

// passIn reads a pass, and fails if a file of it is not as the manifest says.
func passIn(t *testing.T, file string) (p aPass) {
	t.Helper()
	archive, err := zip.NewReader(strings.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatalf("%v: %.200q", err, file)
	}
	var manifest map[string]string
	files := map[string][]byte{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal(files["manifest.json"], &manifest); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pass.json", "icon.png", "icon@2x.png", "thumbnail@2x.png"} {
		if sum := sha1.Sum(files[name]); manifest[name] != hex.EncodeToString(sum[:]) || len(files[name]) == 0 {
			t.Errorf("%s is not as the manifest says", name)
		}
	}
	if p.all = string(files["pass.json"]); json.Unmarshal(files["pass.json"], &p) != nil {
		t.Fatalf("pass.json is %s", p.all)
	}
	return p
}

// apple gets the pass of a ticket from its page.
func (s *site) apple(t *testing.T, o orders.Order, i int, header ...string) aPass {
	t.Helper()
	a, file := send(t, person(t), "GET", s.url+shop.OrderAddress(o)+shop.PassPath(shop.AppleWallet, o.Tickets[i].ID), "", append(header, "Accept", "*/*")...)
	if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "application/vnd.apple.pkpass" {
		t.Fatalf("the pass is %d %s: %.300s", a.StatusCode, a.Header.Get("Content-Type"), file)
	}
	return passIn(t, file)
}

// phone asks the web service of a pass.
func (s *site) phone(t *testing.T, method string, p aPass, path, body string, header ...string) (*http.Response, string) {
	t.Helper()
	return send(t, person(t), method, s.url+strings.TrimPrefix(p.Service, "https://box.example.org")+"/v1/"+path, body, append([]string{"Authorization", "ApplePass " + p.Token}, header...)...)
}

// latest is the pass as a phone gets it again.
func (s *site) latest(t *testing.T, p aPass) aPass {
	t.Helper()
	a, file := s.phone(t, "GET", p, "passes/"+wallettest.PassType+"/"+p.Serial, "")
	if a.StatusCode != http.StatusOK {
		t.Fatalf("the latest pass is %d %s", a.StatusCode, file)
	}
	return passIn(t, file)
}

func registration(device string, p aPass) string {
	return "devices/" + device + "/registrations/" + wallettest.PassType + "/" + p.Serial
}

// changedPasses are the serial numbers that a phone is told, and the tag after them.
func (s *site) changedPasses(t *testing.T, p aPass, device, since string) (serials []string, tag string) {
	t.Helper()
	a, body := s.phone(t, "GET", p, "devices/"+device+"/registrations/"+wallettest.PassType+"?passesUpdatedSince="+since, "", "Authorization", "")
	if a.StatusCode == http.StatusNoContent {
		return nil, since
	}
	var said struct {
		SerialNumbers []string
		LastUpdated   string
	}
	if err := json.Unmarshal([]byte(body), &said); a.StatusCode != http.StatusOK || err != nil {
		t.Fatal(a.StatusCode, body, err)
	}
	return said.SerialNumbers, said.LastUpdated
}

func TestWallet_ButtonsOnlyWhereTheyAreOfUse(t *testing.T) {
	t.Parallel()
	plain := newSite(t)
	_, o := (&wall{site: plain}).ordered(t)
	if _, page := plain.page(t, person(t), shop.OrderPath(o.Code)); strings.Contains(page, "Wallet") {
		t.Error("a box office without certificates offers wallets")
	}
	for _, wallet := range []string{shop.AppleWallet, shop.GoogleWallet} {
		if a, _ := send(t, person(t), "GET", plain.url+shop.OrderPath(o.Code)+shop.PassPath(wallet, o.Tickets[0].ID), ""); a.StatusCode != http.StatusNotFound {
			t.Errorf("%s is %d", wallet, a.StatusCode)
		}
	}
	s, w := walletSite(t, events.Settings{})
	_, o = w.ordered(t)
	buttons := func(path string) int {
		t.Helper()
		_, page := s.page(t, person(t), path)
		return strings.Count(page, "Add to Apple Wallet") + strings.Count(page, "Add to Google Wallet")
	}
	if n := buttons(shop.OrderPath(o.Code)); n != 4 {
		t.Errorf("the page of two tickets has %d buttons", n)
	}
	friend := s.received(t, o, "Cid")
	if n := buttons(shop.OrderPath(o.Code)); n != 2 {
		t.Errorf("with one ticket sent the page has %d buttons", n)
	}
	if n := buttons(shop.OrderAddress(friend)); n != 2 {
		t.Errorf("the page of a friend has %d buttons", n)
	}
	mails := 0
	for _, l := range s.germanMail(t) {
		if strings.Contains(l.Text, "/apple-wallet/") && strings.Contains(l.HTML, "/google-wallet/") {
			mails++
		}
	}
	if mails != 2 {
		t.Errorf("%d mails have the links: not those to the buyer and to the friend", mails)
	}
	s.exec(t, `UPDATE orders SET paid = 0, method = 'door', due_at = clock_timestamp() + interval '1 day'`)
	if n := buttons(shop.OrderPath(o.Code)); n != 0 {
		t.Errorf("the page of an unpaid order has %d buttons", n)
	}
	if a, body := send(t, person(t), "GET", s.url+shop.OrderPath(o.Code)+shop.PassPath(shop.AppleWallet, w.found(t, o.Code).Tickets[1].ID), ""); a.StatusCode != http.StatusConflict || !strings.Contains(body, "not paid") {
		t.Errorf("an unpaid ticket gets a pass: %d %s", a.StatusCode, body)
	}
}

func TestWallet_PassHasTheCodeOfItsTicketInItsLanguage(t *testing.T) {
	t.Parallel()
	s, w := walletSite(t, events.Settings{})
	_, o := w.ordered(t)
	said := map[string]bool{}
	for _, l := range text.Languages() {
		p := s.apple(t, o, 0, "Accept-Language", l.Tag)
		if p.code() != o.Tickets[0].Code || p.Voided || p.Serial != o.Tickets[0].ID.String() || p.Service != "https://box.example.org/wallets/"+l.Tag || !strings.Contains(p.all, o.Number()) {
			t.Errorf("in %s the pass says %s", l.Tag, p.all)
		}
		label := text.T(text.With(t.Context(), l.Tag), "Order number")
		if !strings.Contains(p.all, `"label":"`+label+`"`) {
			t.Errorf("in %s there is no %s: %s", l.Tag, label, p.all)
		}
		said[label] = true
		if later := s.latest(t, p); later.all != p.all {
			t.Errorf("in %s the pass is another one when it is asked for again: %s and %s", l.Tag, p.all, later.all)
		}
	}
	if len(said) < 6 {
		t.Errorf("the languages say %v", said)
	}
}

func TestWallet_GoogleLinkHasTheCode(t *testing.T) {
	t.Parallel()
	s, w := walletSite(t, events.Settings{})
	_, o := w.ordered(t)
	longest := 0
	for _, l := range text.Languages() {
		a, _ := send(t, person(t), "GET", s.url+shop.OrderPath(o.Code)+shop.PassPath(shop.GoogleWallet, o.Tickets[0].ID), "", "Accept", "text/html", "Accept-Language", l.Tag)
		link := a.Header.Get("Location")
		signed, is := strings.CutPrefix(link, "https://pay.google.com/gp/v/save/")
		if a.StatusCode != http.StatusSeeOther || !is || a.Header.Get("Referrer-Policy") != "no-referrer" {
			t.Fatalf("%d leads to %s", a.StatusCode, link)
		}
		claims := jwt.MapClaims{}
		if _, _, err := jwt.NewParser().ParseUnverified(signed, claims); err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(claims)
		if err != nil || !bytes.Contains(body, []byte(o.Tickets[0].Code)) || !bytes.Contains(body, []byte(`"language":"`+l.Tag+`"`)) || bytes.Contains(body, []byte(o.Code)) {
			t.Errorf("the link says %s", body)
		}
		longest = max(longest, len(link))
	}
	t.Logf("the longest link has %d letters", longest)
}

func TestWallet_PassIsVoidOnceTheTicketIs(t *testing.T) {
	t.Parallel()
	s, w := walletSite(t, events.Settings{})
	_, o := w.ordered(t)
	first, second := s.apple(t, o, 0), s.apple(t, o, 1)
	for i, p := range []aPass{first, second} {
		if a, body := s.phone(t, "POST", p, registration("phone-1", p), `{"pushToken":"abc"}`); a.StatusCode != http.StatusCreated {
			t.Fatalf("pass %d: %d %s", i, a.StatusCode, body)
		}
	}
	serials, tag := s.changedPasses(t, first, "phone-1", "")
	if len(serials) != 2 {
		t.Fatalf("a phone that never asked is told %v", serials)
	}
	if again, same := s.changedPasses(t, first, "phone-1", tag); again != nil || same != tag {
		t.Errorf("nothing changed, and the phone is told %v", again)
	}
	if err := s.sold.Revoke(t.Context(), s.sale, o, false, o.Tickets[0].ID); err != nil {
		t.Fatal(err)
	}
	serials, tag = s.changedPasses(t, first, "phone-1", tag)
	if !slices.Equal(serials, []string{first.Serial}) {
		t.Errorf("after one ticket was cancelled the phone is told %v", serials)
	}
	if p := s.latest(t, first); !p.Voided || p.code() != "" || !strings.Contains(p.all, "no longer valid") {
		t.Errorf("the pass of a cancelled ticket says %s", p.all)
	}
	if p := s.latest(t, second); p.Voided || p.code() != o.Tickets[1].Code {
		t.Errorf("the pass of the other ticket says %s", p.all)
	}
	if a, _ := send(t, person(t), "GET", s.url+shop.OrderPath(o.Code)+shop.PassPath(shop.AppleWallet, o.Tickets[0].ID), ""); a.StatusCode != http.StatusConflict {
		t.Errorf("a cancelled ticket gets a pass: %d", a.StatusCode)
	}
	if _, err := events.SetStatus(t.Context(), s.office, "evening", events.Change{Status: seats.Cancelled}, nil); err != nil {
		t.Fatal(err)
	}
	if serials, _ = s.changedPasses(t, first, "phone-1", tag); !slices.Contains(serials, second.Serial) {
		t.Errorf("after the event was cancelled the phone is told %v", serials)
	}
	if p := s.latest(t, second); !p.Voided || p.code() != "" || !strings.Contains(p.all, "This event was cancelled.") {
		t.Errorf("the pass of a cancelled event says %s", p.all)
	}
}

func TestWallet_FriendHasAnotherPassAndTheOldOneIsVoid(t *testing.T) {
	t.Parallel()
	s, w := walletSite(t, events.Settings{})
	_, o := w.ordered(t)
	old := s.apple(t, o, 0)
	s.phone(t, "POST", old, registration("ann", old), `{"pushToken":"abc"}`)
	_, tag := s.changedPasses(t, old, "ann", "")
	friend := s.received(t, o, "Cid")
	mine := s.apple(t, friend, 0)
	if mine.code() == old.code() || mine.code() != friend.Tickets[0].Code || mine.Serial == old.Serial || mine.Token == old.Token {
		t.Errorf("the friend's pass has the code, the number or the token of the buyer's: %s", mine.all)
	}
	for _, secret := range []string{o.Code, "Bea", old.Token} {
		if strings.Contains(mine.all, secret) {
			t.Errorf("the friend's pass says %s of the buyer: %s", secret, mine.all)
		}
	}
	if serials, _ := s.changedPasses(t, old, "ann", tag); !slices.Contains(serials, old.Serial) {
		t.Error("the buyer's phone is not told")
	}
	p := s.latest(t, old)
	if !p.Voided || p.code() != "" || !strings.Contains(p.all, "Sent to Cid") || strings.Contains(p.all, mine.code()) {
		t.Errorf("the buyer's pass is not void: %s", p.all)
	}
	if a, _ := send(t, person(t), "GET", s.url+shop.OrderPath(o.Code)+shop.PassPath(shop.AppleWallet, friend.Tickets[0].ID), ""); a.StatusCode != http.StatusConflict {
		t.Errorf("the buyer gets a pass of the friend's ticket: %d", a.StatusCode)
	}
	next := s.received(t, friend, "Dan") // and on to another friend
	if p := s.latest(t, mine); !p.Voided || p.code() != "" || strings.Contains(p.all, next.Tickets[0].Code) {
		t.Errorf("the pass of a friend who sent the ticket on says %s", p.all)
	}
	if p := s.latest(t, s.apple(t, next, 0)); p.Voided || p.code() != next.Tickets[0].Code {
		t.Errorf("the pass of the last friend says %s", p.all)
	}
	if p := s.latest(t, old); !p.Voided || p.code() != "" {
		t.Errorf("the buyer's pass is valid again: %s", p.all)
	}
}

func TestWallet_PassFollowsItsTicketAndItsEvent(t *testing.T) {
	t.Parallel()
	s, w := walletSite(t, events.Settings{})
	_, o := w.ordered(t)
	friend := s.received(t, o, "Cid")
	o = w.found(t, o.Code)
	at := slices.IndexFunc(o.Tickets, func(t orders.Ticket) bool { return t.Friend == nil })
	mine, theirs := s.apple(t, o, at), s.apple(t, friend, 0)
	for _, p := range []aPass{mine, theirs} {
		s.phone(t, "POST", p, registration("phone", p), `{"pushToken":"abc"}`)
	}
	_, tag := s.changedPasses(t, mine, "phone", "")
	free := s.sale.FreeSeats()
	moving := orders.Moving{Key: "m", Tickets: []seats.ID{o.Tickets[at].ID, friend.Tickets[0].ID}, To: free[:2]}
	if err := s.sold.Move(t.Context(), s.sale, o, moving, nil); err != nil {
		t.Fatal(err)
	}
	serials, tag := s.changedPasses(t, mine, "phone", tag)
	if len(serials) != 2 {
		t.Errorf("after both tickets moved the phone is told %v", serials)
	}
	for i, p := range []aPass{mine, theirs} {
		now := s.latest(t, p)
		if now.Voided || now.code() == "" || now.code() == p.code() || now.all == p.all {
			t.Errorf("pass %d did not move with its ticket: %s", i, now.all)
		}
		if ticket, _, err := s.sold.Check(t.Context(), now.code()); err != nil || ticket.Revoked || ticket.Idx != free[i] {
			t.Errorf("pass %d has the code of seat %d: %v", i, ticket.Idx, err)
		}
	}
	o = w.found(t, o.Code)
	at = slices.IndexFunc(o.Tickets, func(t orders.Ticket) bool { return t.Friend == nil })
	if p := s.apple(t, o, at); p.Serial != mine.Serial {
		t.Error("a ticket that moved gets a second pass")
	}
	s.exec(t, `UPDATE event SET starts_at = starts_at + interval '1 hour'`)
	if serials, _ := s.changedPasses(t, mine, "phone", tag); len(serials) != 2 {
		t.Errorf("after the event was moved the phone is told %v", serials)
	}
}

func TestWallet_ServiceRefusesWhoHasNoToken(t *testing.T) {
	t.Parallel()
	s, w := walletSite(t, events.Settings{})
	_, o := w.ordered(t)
	p, other := s.apple(t, o, 0), s.apple(t, o, 1)
	wrong := []aPass{p, p, p, p, p}
	wrong[0].Token = ""
	wrong[1].Token = other.Token
	wrong[2].Token = p.Token[:len(p.Token)-1]
	wrong[3].Serial = seats.NewID().String()
	wrong[4].Serial = "x"
	s.phone(t, "POST", p, registration("phone", p), `{"pushToken":"abc"}`)
	for i, of := range wrong {
		for method, path := range map[string]string{"POST": registration("phone-2", of), "DELETE": registration("phone", of), "GET": "passes/" + wallettest.PassType + "/" + of.Serial} {
			if a, body := s.phone(t, method, of, path, ""); a.StatusCode != http.StatusUnauthorized || strings.Contains(body, p.code()) {
				t.Errorf("%d: %s %s is %d", i, method, path, a.StatusCode)
			}
		}
	}
	if a, _ := s.phone(t, "GET", p, "passes/pass.org.example.other/"+p.Serial, ""); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("another pass type is %d", a.StatusCode)
	}
	if serials, _ := s.changedPasses(t, p, "phone-2", ""); serials != nil {
		t.Errorf("a phone that was refused is told %v", serials)
	}
	if serials, _ := s.changedPasses(t, p, "phone", ""); len(serials) != 1 {
		t.Errorf("a refused request ended the registration: %v", serials)
	}
}

func TestWallet_ServiceSpeaksAsApplePrescribes(t *testing.T) {
	t.Parallel()
	s, w := walletSite(t, events.Settings{})
	_, o := w.ordered(t)
	p := s.apple(t, o, 0)
	status := func(want int, method, path, body string, header ...string) *http.Response {
		t.Helper()
		a, said := s.phone(t, method, p, path, body, header...)
		if a.StatusCode != want {
			t.Errorf("%s %s is %d %s, not %d", method, path, a.StatusCode, said, want)
		}
		return a
	}
	at := registration("phone", p)
	status(http.StatusUnprocessableEntity, "POST", at, `{"pushToken":""}`)
	status(http.StatusUnprocessableEntity, "POST", at, `[`)
	status(http.StatusUnprocessableEntity, "POST", registration(strings.Repeat("x", 101), p), `{"pushToken":"abc"}`)
	status(http.StatusCreated, "POST", at, `{"pushToken":"abc","of a later system":1}`)
	status(http.StatusOK, "POST", at, `{"pushToken":"abd"}`)
	latest := "passes/" + wallettest.PassType + "/" + p.Serial
	s.exec(t, `UPDATE wallet_device SET changed_at = clock_timestamp() + interval '5 minutes'`) // its second has not passed, however slow the test is
	if at := status(http.StatusOK, "GET", latest, "").Header.Get("Last-Modified"); at != "" {
		t.Errorf("a pass that may change within this second says %s", at)
	}
	s.exec(t, `UPDATE wallet_device SET changed_at = changed_at - interval '15 minutes'`)
	at1 := status(http.StatusOK, "GET", latest, "").Header.Get("Last-Modified")
	status(http.StatusNotModified, "GET", latest, "", "If-Modified-Since", at1)
	if err := s.sold.Revoke(t.Context(), s.sale, o, false); err != nil {
		t.Fatal(err)
	}
	s.exec(t, `UPDATE wallet_device SET changed_at = changed_at - interval '1 minute'`)
	status(http.StatusOK, "GET", latest, "", "If-Modified-Since", time.Now().Add(-30*time.Second).UTC().Format(http.TimeFormat))
	status(http.StatusOK, "POST", "log", `{"logs":["a line", "another"]}`)
	status(http.StatusUnprocessableEntity, "POST", "log", `{"logs":7}`)
	status(http.StatusOK, "DELETE", at, "")
	status(http.StatusOK, "DELETE", at, "")
	for i := range 20 {
		status(http.StatusCreated, "POST", registration("phone-"+string(rune('a'+i)), p), `{"pushToken":"abc"}`)
	}
	status(http.StatusConflict, "POST", at, `{"pushToken":"abc"}`)
}
