package handlers

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/usherbox/usher/handlers/desk"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/waitingroom"
)

// byBrowser are answers in JSON that only a browser with an authenticator gets (e2e).
var byBrowser = map[string]bool{
	"POST /desk/account/passkeys": true, "POST /desk/session/passkey": true, "POST /desk/account/passkeys/options": true, "POST /desk/session/options": true,
	// Those of second factors are asked by the tests of desk_second_test.go.
	"POST /desk/session/proof": true, "POST /desk/session/proof/passkey": true, "POST /desk/session/second": true, "POST /desk/account/recovery": true, "POST /desk/account/codes": true,
	"GET /desk/session/openid": true, "GET /desk/session/proof/openid": true, "GET /desk/account/openid": true, "GET /desk/session/openid/return": true, "POST /desk/account/openid/removal": true,
	"POST /desk/account/codes/removal": true, "POST /desk/account/sessions/{id}/end": true, "POST /desk/team/second-factor": true,
}

// forPrograms lists the operations of the desk that answer JSON, or nothing, when they did what was asked.
func forPrograms(doc *openapi3.T) map[string]bool {
	list := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			pattern := method + " " + path
			if !strings.HasPrefix(path, "/desk") && !strings.HasPrefix(path, "/boards") || byBrowser[pattern] {
				continue
			}
			for status, response := range op.Responses.Map() {
				if strings.HasPrefix(status, "2") && (response.Value.Content == nil || response.Value.Content.Get("application/json") != nil) {
					list[pattern] = true
				}
			}
		}
	}
	return list
}

// noting is a transport that notes which operations did what was asked of them.
type noting struct {
	mu   *sync.Mutex
	did  map[string]bool
	next http.RoundTripper
}

func (n noting) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := n.next.RoundTrip(r)
	if err == nil && a.StatusCode/100 == 2 && !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") {
		_, pattern := patterns().Handler(r)
		n.mu.Lock()
		defer n.mu.Unlock()
		n.did[pattern] = true
	}
	return a, err
}

// script is a program at the desk. What it learns from an answer stands for a word in what it sends later.
type script struct {
	*wall
	t     *testing.T
	who   *http.Client
	words map[string]string
	step  int
}

func (p *script) say(text string) string {
	longestFirst := func(a, b string) int { return len(b) - len(a) } // one may be a part of another
	for _, word := range slices.SortedFunc(maps.Keys(p.words), longestFirst) {
		text = strings.ReplaceAll(text, word, p.words[word])
	}
	return text
}

// run sends "METHOD path body", the body without its key, and learns the word in front of => from the answer: what the
// expression after it finds.
func (p *script) run(line string) {
	p.t.Helper()
	p.step++
	line, learn, _ := strings.Cut(line, " => ")
	method, rest, _ := strings.Cut(line, " ")
	path, body, _ := strings.Cut(rest, " ")
	if body != "" {
		key := fmt.Sprintf(`{"key":"step-%d"`, p.step)
		if body != "{}" {
			key += ","
		}
		body = key + strings.TrimPrefix(body, "{")
	}
	a, answer := send(p.t, p.who, method, p.url+p.say(path), p.say(body))
	if a.StatusCode/100 != 2 {
		p.t.Errorf("%s: %d %.300s", line, a.StatusCode, answer)
	}
	if word, find, learns := strings.Cut(learn, " "); learns {
		p.learn(word, find, answer)
	}
}

// learn keeps what an expression finds in an answer under a word.
func (p *script) learn(word, find, answer string) {
	p.t.Helper()
	found := regexp.MustCompile(find).FindStringSubmatch(answer)
	if found == nil {
		p.t.Fatalf("%s: nothing like %s is in %.300s", word, find, answer)
	}
	p.words[word] = found[1]
}

// a day at the desk: every operation once at least.
const deskDay = `
GET /desk
GET /desk/events?show=on-sale&q=even
GET /desk/search?q=even
POST /desk/events {"name":"Matinee","starts":"2033-03-01T15:00","zone":"Europe/Vienna","plan":"theatre"} => MATINEE "slug":"([^"]+)"
GET /desk/events/evening
GET /desk/events/evening/settings
POST /desk/events/evening/settings {"venue":"Hall","limit":8,"invoices":true,"strict":"off"}
POST /desk/events/MATINEE/test {}
GET /desk/events/MATINEE/checklist
POST /desk/events/MATINEE/rehearsal {"people":5000,"minutes":10,"phones":80,"bots":3,"party":"1:50,2:50"}
GET /desk/events/MATINEE/rehearsal
GET /desk/events/MATINEE/rehearsal/map.bin
GET /desk/events/MATINEE/geometry.json
POST /desk/events/MATINEE/rehearsal/stop {}
POST /desk/events/MATINEE/test/closing {}
POST /desk/events/MATINEE/status {"status":"on sale","anyway":true}
POST /desk/events/evening/copies {"name":"Another"}
POST /desk/events/MATINEE/series {"dates":"2033-03-08 15:00"} => SERIES "slug":"([^"]+)"
GET /desk/series
GET /desk/series/SERIES
POST /desk/series/SERIES/performances {"dates":"2033-03-15 15:00"}
POST /desk/series/SERIES/changes {"all":true,"time":"15:30"} => DIGEST "digest":"([^"]+)"
POST /desk/series/SERIES/changes {"all":true,"time":"15:30","digest":"DIGEST"}
POST /desk/series/SERIES/changes {"all":true,"status":"on sale"} => PUBLISHED "digest":"([^"]+)"
POST /desk/series/SERIES/changes {"all":true,"status":"on sale","anyway":true,"digest":"PUBLISHED"}
POST /desk/events/MATINEE/sales {"seat":["Stalls/C/12"],"method":"cash"} => EXORDER "code":"([^"]+)"
GET /desk/events/MATINEE/orders/EXORDER => EXTICKET "id":"([^"]+)"
POST /desk/events/MATINEE/orders/EXORDER/exchanges {"ticket":["EXTICKET"],"event":"MATINEE-2033-03-08","seats":"Stalls/C/12","show":true}
POST /desk/events/MATINEE/orders/EXORDER/exchanges {"ticket":["EXTICKET"],"event":"MATINEE-2033-03-08","seats":"Stalls/C/12","difference":0}
POST /desk/subscriptions {"name":"Afternoons","performances":["MATINEE","MATINEE-2033-03-08"],"prices":{"A":15000,"B":12000},"places":50} => SUBSCRIPTION "slug":"([^"]+)"
GET /desk/subscriptions => DEFINED "slug":"(afternoons)"
GET /desk/subscriptions/new
GET /desk/subscriptions/SUBSCRIPTION
POST /desk/subscriptions/SUBSCRIPTION {"places":60}
POST /desk/subscriptions {"name":"Next afternoons","performances":["MATINEE","MATINEE-2033-03-08"],"prices":{"A":16000}} => NEXT "slug":"([^"]+)"
POST /desk/subscriptions/NEXT/renewal {"renews":"SUBSCRIPTION","keep_until":"2031-01-01 10:00"}
GET /desk/events/evening/seats/0
POST /desk/events/evening/blocks {"seat":["SEAT3","SEAT4"],"reason":"a camera"}
POST /desk/events/evening/unblocks {"seat":["SEAT4"]}
POST /desk/events/evening/blocks {"seat":["SEAT4"],"kind":"press","owner":"Die Zeit","ends_at":"2030-05-01T10:00"}
GET /desk/events/evening/blocks => BLOCK "id":"([^"]+)"
POST /desk/events/evening/blocks/BLOCK {"kind":"house","owner":"Front of house"}
POST /desk/events/evening/unblocks {"block":"BLOCK"}
POST /desk/events/evening/guests {"guests":"Ann, ann@example.org, 2, critic, Max\nBob"}
GET /desk/events/evening/guests => GUEST "id":"([^"]+)"
POST /desk/events/evening/guests/tickets {"guest":["GUEST"]}
POST /desk/events/evening/guests/GUEST/removal {}
POST /desk/events/evening/bookings {"name":"Eva Roth","organisation":"Rote Schule","email":"eva@example.org","number":3,"until":"2029-01-01T10:00"} => BOOKING "id":"([^"]+)"
GET /desk/events/evening/bookings
POST /desk/events/evening/bookings/BOOKING {"name":"Eva Roth","organisation":"Rote Schule","until":"2029-02-01T10:00"}
POST /desk/events/evening/bookings/BOOKING/seats {"keep":2}
POST /desk/events/evening/bookings/BOOKING {"name":"Eva Roth","organisation":"Rote Schule","until":"2029-02-01T10:00","deposit":"20%","deposit_due":"2029-01-10T10:00","deposit_refundable":"2029-01-20T10:00"} => DEPOSIT "link":"/deposits/([^"]+)"
GET /deposits/DEPOSIT => NUMBER "number":"([^"]+)"
GET /deposits/DEPOSIT/invoices/NUMBER.pdf
POST /desk/events/evening/bookings/BOOKING/deposit/payment {"method":"invoice"}
POST /desk/events/evening/bookings/BOOKING/order {"due":"2029-03-01T10:00"}
POST /desk/events/evening/bookings/BOOKING/names {"names":["Ann Example"]}
GET /desk/events/evening/bookings/BOOKING
POST /desk/events/evening/bookings {"name":"Ida","number":1,"until":"2029-01-01T10:00","deposit":"5.00","deposit_due":"2029-01-01T10:00"} => GIVENUP "id":"([^"]+)"
POST /desk/events/evening/bookings/GIVENUP/deposit/payment {"method":"cash","amount":500}
POST /desk/events/evening/bookings/GIVENUP/cancellation {}
POST /desk/events/evening/bookings/GIVENUP/deposit/end {"outcome":"retained"}
POST /desk/taxes {"rate.AT.standard":"20","rate.AT.reduced":"13, 10, 5","rate.CH.name":"Switzerland","rate.CH.standard":"8.1"}
GET /desk/taxes
POST /desk/invoices {"name":"Haus","street":"Ring 1","city":"Wien","country":"AT","vat_id":"ATU13585627"}
POST /desk/events/evening/sales {"seat":["SEAT0","SEAT1"],"name":"Ørsted","email":"o@example.org","method":"cash"} => CODE "code":"([^"]+)"
GET /desk/events/evening/orders?q=orsted => LIST "seats":(\[)
GET /desk/events/evening/orders?updated_since=2030-01-01T00:00:00Z&limit=1 => CHANGES "next_cursor":"([^"]+)"
GET /desk/events/evening/orders?cursor=CHANGES
GET /desk/events?updated_since=2020-01-01T00:00:00Z&limit=1 => EVENTNEWS "next_cursor":"([^"]+)"
GET /desk/events?cursor=EVENTNEWS
GET /desk/customers?updated_since=2020-01-01T00:00:00Z => BUYERNEWS "next_cursor":"([^"]+)"
GET /desk/customers?cursor=BUYERNEWS
GET /desk/events/evening/orders/CODE => TICKET "tickets":\[{"id":"([^"]+)"
POST /desk/events/evening/orders/CODE/moves {"ticket":["TICKET"],"to":"SEAT5"}
POST /desk/events/evening/orders/CODE/mails {}
POST /desk/events/evening/orders/CODE/refunds {"amount":"1.00","reason":"late"}
POST /desk/events/evening/orders/CODE/cancellations {"all":true}
GET /desk/events/evening/till
GET /desk/events/evening/till/best?n=2
POST /desk/till {"required":false,"methods":["Twint"]}
POST /desk/till/sessions {"currency":"EUR","zone":"Europe/Vienna","float":"200.00"} => TILL "id":(\d+)
POST /desk/events/evening/sales {"seat":["SEAT6"],"method":"terminal","paid_by":"Twint","update":true}
POST /desk/events/evening/sales {"seat":["SEAT6"],"method":"terminal","paid_by":"Twint","update":true,"also":{"MATINEE":{"seat":["Stalls/C/13"]}}}
POST /desk/events/MATINEE/sales {"seat":["Stalls/C/13"],"method":"terminal","also":{"MATINEE-2033-03-08":{"seat":["Stalls/C/14"]}}}
POST /desk/events/evening/sales {"seat":["SEAT6"],"name":"Two","method":"cash"} => TWO "code":"([^"]+)"
POST /desk/events/evening/cancellations {"order":["CODE","TWO"]}
POST /desk/till/sessions/TILL/entries {"kind":"out","amount":"10.00","reason":"flowers"}
GET /desk/till
GET /desk/till/sessions/TILL
GET /desk/till/sessions/TILL/reader
POST /desk/till/sessions/TILL/reader {"reader":""}
GET /desk/till/payments/AAAAAAAAAAAAAAAAAAAAAAAAA0
POST /desk/till/payments/AAAAAAAAAAAAAAAAAAAAAAAAA0/cancellation {}
POST /desk/till/sessions/TILL/closing {"counted":"180.00","note":"Miscounted"} => DAY "day":"([^"]+)"
GET /desk/till/sessions/TILL
GET /desk/till/days/DAY
POST /desk/events/evening/orders/CODE/payouts {}
GET /desk/events/evening/post
POST /desk/events/evening/post {"order":["DUE"]}
POST /desk/events/evening/orders/DUE/due {"until":"2033-05-01 12:00"}
POST /desk/events/evening/orders/DUE/payments {}
GET /desk/events/evening/exports/orders.json
GET /desk/events/evening/exports/attendees.json
GET /desk/events/evening/exports/seats.json
GET /desk/events/evening/exports/payments.json
GET /desk/events/evening/exports/taxes.json
GET /desk/events/evening/exports/payments.csv
GET /desk/events/evening/messages
POST /desk/events/evening/messages {"subject":"Doors","text":"They open at seven."}
POST /desk/events/evening/messages {"subject":"Doors","text":"They open at **seven**.","segment":"unscanned","send_at":"2032-05-01 12:00"}
GET /desk/events/evening/messages => WAITS "id":"([^"]+)"
POST /desk/events/evening/messages {"subject":"Doors","text":"They open at seven.","do":"test"}
POST /desk/events/evening/messages/WAITS/stop {}
POST /desk/mail-texts {"kind":"upcoming","language":"en","subject":"Tomorrow: {event}","opening":"Dear {name},"}
GET /desk/mail-texts
GET /desk/events/evening/letters
POST /desk/events/evening/letters {"hours":48,"note":"Bring a coat.","thanks":"all","thanks_text":"It was a good night."}
GET /desk/events/evening/doors
POST /desk/events/evening/settings {"gates":"North\nSouth","reentry":true,"rotating_codes":"off"}
POST /desk/events/evening/doors {"name":"North 1","gate":"North"}
GET /desk/events/evening/doors => DOOR "devices":\[{"id":(\d+)
POST /desk/events/evening/doors/DOOR/closing {}
POST /desk/events/evening/doors/closing {}
GET /desk/events/evening/live
GET /desk/events/evening/replay.bin
POST /desk/events/evening/seen {"concern":"x"}
POST /desk/events/evening/limits {"challenge":"automatic","unpaid_per_email":5}
GET /desk/events/evening/limits
GET /desk/events/evening/log
POST /desk/events/evening/log {"enabled":"off"}
POST /desk/events/evening/prices {"type.0.name":"Adult","type.1.name":"Child","price.0.0.A":"28","price.0.0.B":"48","price.0.0.C":"36","price.0.1.A":"50%"}
POST /desk/events/evening/prices {"tax.name":"VAT","tax.rate":"10","tax.type.1":"20","offer.0.kind":"multi","offer.0.count":3,"offer.0.pay":2,"offer.0.types":["standard"],"code.new":"MEMBERS","code.off":"10%"}
GET /desk/events/evening/prices
POST /desk/events/evening/codes {"off":"5.00","number":3,"name":"Press","most":1,"categories":["A"]}
GET /desk/events/evening/codes => RANDOM "code":"([A-Z0-9]{16})"
GET /desk/events/evening/exports/codes.json
POST /desk/events/evening/codes {"code":"FIRST","presale":true}
POST /desk/events/evening/codes/retirements {"code":"RANDOM","group":true}
GET /desk/events/evening/room
POST /desk/events/evening/room {"do":"pause","reason":"slow"}
GET /desk/events/evening/waitlist
POST /desk/events/evening/waitlist {"do":"pause","reason":"slow"}
POST /desk/events/evening/shares {"name":"Sponsor","days":7} => BOARD "link":"[^"]*(/boards/[^"]+)"
GET /desk/events/evening/shares => SHARE "id":(\d+)
GET BOARD
GET BOARD/live
POST /desk/events/evening/shares/SHARE/revocation {}
POST /desk/plans {"name":"Ours","from":"club"} => PLAN "id":(\d+)
GET /desk/plans
GET /desk/plans/PLAN
GET /desk/plans/PLAN/versions/1.json
GET /desk/plans/PLAN/versions/1.csv
GET /desk/plans/SKETCH/pictures/UNDERLAY
POST /desk/plans/PLAN/versions {"base":1,"note":"as it was","document":DOCUMENT}
POST /desk/events/evening/plan/copies {} => COPY "id":(\d+)
POST /desk/events/evening/plan {"plan":"COPY@1"}
GET /desk/imports/IMPORT
POST /desk/imports/IMPORT {}
POST /desk/bank {"holder":"Haus","iban":"DE75 5121 0800 1245 1261 99"}
GET /orders/CODE/invoices => INVOICE "number":"([^"]+)"
GET /orders/CODE/invoices/INVOICE.pdf
GET /desk/invoices
GET /desk/invoices/INVOICE.pdf
GET /desk/invoices/2030.csv
GET /desk/customers => CUSTOMER "id":"([^"]+)"
GET /desk/customers?q=a
GET /desk/customers/CUSTOMER
POST /desk/customers/CUSTOMER {"note":"Likes the aisle.","tags":["Member","press"]}
GET /desk/customers?tag=member
POST /desk/customers/imports {"customers":"email,name,phone,language,tags,consent,consent source\nzoe@work.example,Zoe,+49 89 1,de,\"press, guest\",2020-01-31,Form"}
GET /desk/customers?q=zoe@work => ZOEWORK "id":"([^"]+)"
GET /desk/customers/ZOEWORK
POST /desk/customers/CUSTOMER/merges {"with":["ZOEWORK"]}
GET /desk/customers/CUSTOMER
POST /desk/customers/CUSTOMER/separations {"email":"zoe@work.example"}
GET /desk/customers/duplicates
POST /desk/memberships/kinds {"name":"Patrons","text":"A drink with the cast.","price":"45.00","currency":"EUR","months":12}
GET /desk/memberships => KIND "id":(\d+),"name":"Patrons"
POST /desk/memberships {"kind":KIND,"customer":"CUSTOMER","card":"P-1"}
POST /desk/memberships/imports {"kind":KIND,"members":"zoe@example.org, Zoe, 2030-01-01, 2030-12-31\nmax@example.org"}
GET /desk/memberships?show=all&q=zoe => MEMBERSHIP "memberships":\[{"id":"([^"]+)"
POST /desk/memberships/MEMBERSHIP/end {}
GET /desk/memberships/members.csv
GET /desk/customers/CUSTOMER
GET /desk/books?from=&by=type
GET /desk/books/report.json?from=
GET /desk/books/report.csv?from=&by=performance
POST /desk/books/accounts {"consultant":1001,"client":1,"account.method cash":"1000","account.method door":"1001","account.method card":"1361","account.method invoice":"1200","account.method credit":"1718"}
GET /desk/books/accounts
POST /desk/books/email {"every":"month","files":["report","journal"]}
GET /desk/books/email
POST /desk/books/payouts {}
GET /desk/books/payouts
GET /desk/books/payouts/po_own
GET /desk/books/payouts/po_own.csv
GET /desk/books/payouts.csv
POST /desk/events/evening/settlement {"name":["Author"],"percent":["12.5"],"of":["tickets"]}
GET /desk/events/evening/settlement
GET /desk/events/evening/settlement.pdf
GET /desk/events/evening/comparison
GET /desk/invoices/2030.zip
GET /desk/bank
POST /desk/bank/matches {}
POST /desk/bank/entries/ENTRY {"aside":true}
POST /desk/gift-cards {"open":true,"currency":"EUR","amounts":"25, 50","months":"36"}
GET /desk/gift-cards
POST /desk/gift-cards/GIFT/refunds {}
GET /desk/team
POST /desk/team {"name":"The house"}
POST /desk/team/invitations {"email":"bob@example.org","role":"viewer"}
GET /desk/team => INVITATION "invitations":\[{"id":(\d+)
POST /desk/team/invitations/INVITATION/withdrawal {}
POST /desk/team/members/EXTRA {"role":"door"}
POST /desk/team/members/EXTRA/removal {}
POST /desk/keys {"name":"Robot","scopes":["look"]}
POST /desk/events/MATINEE/status {"status":"closed"}
POST /desk/events/MATINEE/fairness {}
GET /desk/keys/requests?status=4xx
POST /desk/keys/ROBOT/revocation {}
POST /desk/events/evening/page {"town":"Vienna","doors":45,"running":160,"intervals":1,"description":"A **play**."}
GET /desk/events/evening/page
POST /desk/events/evening/pictures/PICTURE {"alt":"A sea"}
GET /pictures/JPEG
GET /events/evening/map
GET /events/evening
POST /desk/branding {"button":"#ffe680","accent":"#123","theme":"auto","words-0":"Our site","path-0":"https://example.org/"}
POST /desk/branding/pictures/removal {"kind":"logo"}
GET /desk/branding
POST /desk/site {"sites":["https://www.example.org/shop"]}
POST /desk/site/keys {} => SITEKEY "keys":\[{"id":(\d+)
POST /desk/site/keys/SITEKEY/end {}
POST /desk/site/domain {"domain":"tickets.example.org"}
POST /desk/site/domain/proof {}
POST /desk/site/domain/removal {}
GET /desk/site
GET /events/evening/badge
POST /desk/legal {"kind":"imprint","text":"The house","publish":true}
GET /desk/legal
POST /desk/privacy {"months":24}
GET /desk/privacy
POST /desk/privacy/exports {"email":"bob@example.org"}
POST /desk/privacy/erasures {"email":"zed@example.org"}
POST /desk/alerts {"kind":["sold","money"]}
POST /desk/alerts/tests {}
GET /desk/alerts
POST /desk/hooks {"url":"http://127.0.0.1:1/x","kinds":["order.paid"]} => HOOK "id":(\d+)
GET /desk/hooks
POST /desk/hooks/HOOK {"url":"http://127.0.0.1:1/y","kinds":["order.paid","order.confirmed"]}
POST /desk/hooks/HOOK/tests {}
POST /desk/hooks/HOOK/secrets {}
GET /desk/hooks/HOOK => NOTICE "notices":\[{"id":"([^"]+)"
POST /desk/hooks/HOOK/notices/NOTICE/repeats {}
POST /desk/hooks/HOOK/switch {"on":false}
POST /desk/hooks/HOOK/removal {}
GET /desk/log
POST /desk/account {"name":"Ann B"}
POST /desk/account/passkeys/PASSKEY {"name":"Phone"}
POST /desk/account/passkeys/PASSKEY/removal {}
POST /desk/account/password {"before":"three plain words","password":"four other plain words"}
POST /desk/session/team {"team":TEAM}
POST /desk/teams {"name":"Another house"}
POST /desk/session/everywhere {}
POST /desk/session {"email":"ann@example.org","password":"four other plain words"}
POST /desk/session/end {}
DELETE /desk/session
POST /desk/password {"email":"ann@example.org"}`

func TestADayAtTheDeskByAProgramIsAnsweredAsDescribed(t *testing.T) {
	t.Parallel()
	doc, w := description(t), newWall(t)
	p := &script{wall: w, t: t, who: w.people["owner"], words: map[string]string{}}
	did := noting{&sync.Mutex{}, map[string]bool{}, http.DefaultTransport}
	p.who.Transport = did
	p.plant()
	w.config.Sites.Records = func(ctx context.Context, _ string) (found []string, err error) { // the record is there
		return found, w.db.QueryRow(ctx, `SELECT array_agg('usher-domain=' || proof) FROM team_domain`).Scan(&found)
	}
	for line := range strings.Lines(strings.TrimSpace(deskDay)) {
		p.run(strings.TrimSpace(line))
	}
	p.enter()
	for path, body := range map[string]string{"settings": `{"currency":"USD"}`, "status": `{"status":"draft"}`} { // of an event with orders
		if a, answer := send(t, w.people["manager"], "POST", p.url+"/desk/events/evening/"+path, `{"key":"refused",`+body[1:]); a.StatusCode/100 != 4 {
			t.Errorf("%s is answered %d %s", body, a.StatusCode, answer)
		}
	}
	for pattern := range forPrograms(doc) {
		if !did.did[pattern] {
			t.Errorf("%s was not asked, or did not do it", pattern)
		}
	}
}

// plant makes what the script speaks of and cannot make itself.
func (p *script) plant() {
	t := p.t
	t.Helper()
	for i := range 7 {
		p.words[fmt.Sprintf("SEAT%d", i)] = p.sale.Plan.Label(i + 10)
	}
	s := p.sale
	who := seats.NewID()
	hold, err := s.Claim(t.Context(), who, "", seats.ClaimRequest{Seats: []string{s.Plan.Label(20)}})
	if err != nil {
		t.Fatal(err)
	}
	if p.words["DUE"], err = p.sold.Place(t.Context(), s, who, orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Due", Email: "due@example.org", Method: payments.Door, Verified: "due@example.org"}); err != nil {
		t.Fatal(err)
	}
	p.exec(t, `UPDATE orders SET post_to = '{"street": "Ring 1", "city": "Wien", "country": "AT"}' WHERE code = $1`, p.words["DUE"])
	newRoom(t, p.site, waitingroom.NewRoom{Slots: 5})
	p.words["DOCUMENT"] = strings.Replace(desk.EmptyPlan, `"name":""`, `"name":"Ours"`, 1)
	file := "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.json\"\r\n\r\n" + p.words["DOCUMENT"] + "\r\n--x--\r\n"
	_, body := send(t, p.who, "POST", p.url+"/desk/imports", file, "Content-Type", "multipart/form-data; boundary=x")
	p.learn("IMPORT", `"id":"([^"]+)"`, body)
	file = "--x\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\nk\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\nDate,Amount\n2030-03-01,10.00\n\r\n--x--\r\n"
	if a, body := send(t, p.who, "POST", p.url+"/desk/bank/statements", file, "Content-Type", "multipart/form-data; boundary=x"); a.StatusCode != http.StatusOK {
		t.Fatal(a.StatusCode, body)
	}
	file, kind := parts(aPicture(600, 400), "key", "picture", "kind", "header", "alt", "A lake")
	a, body := send(t, p.who, "POST", p.url+"/desk/events/evening/pictures", file, "Content-Type", kind)
	if a.StatusCode != http.StatusCreated {
		t.Fatal(a.StatusCode, body)
	}
	_, made := send(t, p.who, "POST", p.url+"/desk/plans", `{"key":"sketch","name":"Traced","from":"club"}`, "Content-Type", "application/json")
	p.learn("SKETCH", `"id":(\d+)`, made)
	file, kind = parts(aPicture(600, 400), "key", "trace")
	a, made = send(t, p.who, "POST", p.url+"/desk/plans/"+p.words["SKETCH"]+"/pictures", file, "Content-Type", kind)
	if a.StatusCode != http.StatusCreated {
		t.Fatal(a.StatusCode, made)
	}
	p.learn("UNDERLAY", `"picture":"(\w+)"`, made)
	file, kind = parts(aPicture(600, 400), "key", "logo", "kind", "logo", "alt", "Playhouse")
	if a, body := send(t, p.who, "POST", p.url+"/desk/branding/pictures", file, "Content-Type", kind); a.StatusCode != http.StatusOK {
		t.Fatal(a.StatusCode, body)
	}
	p.learn("PICTURE", `"id":(\d+)`, body)
	p.learn("JPEG", `"path":"/pictures/([^"]+)"`, body)
	for word, sql := range map[string]string{
		"ENTRY": `SELECT id::text FROM statement_entry WHERE team_id = (SELECT min(id) FROM team) LIMIT 1`,
		"GIFT":  `SELECT id::text FROM gift_card WHERE code = 'OWN'`,
		"EXTRA": `SELECT id::text FROM organizer WHERE name = 'Extra'`, "ROBOT": `SELECT id::text FROM api_key WHERE name = 'Extra'`, "TEAM": `SELECT min(id)::text FROM team`,
	} {
		var stands string
		if err := p.db.QueryRow(t.Context(), sql).Scan(&stands); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		p.words[word] = stands
	}
	p.words["PASSKEY"] = "b3duZXI" // owner
}

// enter goes in by the doors that links open.
func (p *script) enter() {
	t := p.t
	t.Helper()
	for _, c := range []struct{ sql, path, body string }{
		{`INSERT INTO invitation (team_id, email, role, token) SELECT id, 'new@example.org', 'viewer', sha256('I') FROM team ORDER BY id LIMIT 1`, "/desk/invitations/I", `{"name":"New","password":"three plain words"}`},
		{`INSERT INTO password_link (organizer_id, token, expires_at) SELECT id, sha256('P'), 'infinity' FROM organizer WHERE email = 'ann@example.org' ON CONFLICT (organizer_id) DO UPDATE SET token = excluded.token, expires_at = excluded.expires_at`, "/desk/password/P", `{"password":"five quite other words"}`},
	} {
		p.exec(t, c.sql)
		if a, body := send(t, p.who, "POST", p.url+c.path, c.body); a.StatusCode != http.StatusNoContent {
			t.Errorf("%s: %d %s", c.path, a.StatusCode, body)
		}
	}
	fresh := newSite(t)
	token, err := fresh.organizers.SetupLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a, body := send(t, p.who, "POST", fresh.url+"/desk/setup/"+token, `{"name":"Ann","email":"ann@example.org","password":"three plain words"}`); a.StatusCode != http.StatusNoContent {
		t.Errorf("set up: %d %s", a.StatusCode, body)
	}
}
