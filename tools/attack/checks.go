package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	webhookSecret = "whsec_attack"
	ownerEmail    = "owner@example.org"
	ownerPassword = "a long sentence never printed 71"
	home, evil    = "198.51.100.9", "203.0.113.66" // networks of the owner and of the attacker
)

// checks are the attacks, in the order in which they are tried: the first one makes the owner.
var checks = []check{
	{"L1", "common passwords for the owner's account", commonPasswords},
	{"C1", "100 MB to five addresses that end in /live", hugeBodies},
	{"C1b", "other sites post to addresses that end in /live", foreignPosts},
	{"H2", "16 strangers with 60 MB to /desk/imports, last byte withheld", strangersUpload},
	{"H2b", "a member uploads tables of 45 MB, twelve at once", membersUpload},
	{"H1", "one script, one email, 150 orders without cookies", grabWithOneEmail},
	{"H1b", "one script, variants of one email (plus, dots, case)", grabWithVariants},
	{"H1c", "one address of the network, 200 claims, each as a new visitor", grabSeats},
	{"H1d", "one network, 150 orders under as many emails", grabWithMailboxes},
	{"H1e", "one network, 70 visitors who do all the work they are asked for", hoard},
	{"H1f", "one visitor orders the limit four times", orderAgain},
	{"H1g", "one visitor asks for more time thirty times", extendOn},
	{"M1", "30 wrong passwords of a stranger, then the owner's right one", lockOut},
	{"M2", "200 wrong sign-ins from this machine, no proxy header set", spray},
	{"M2b", "the owner signs in beside 200 wrong sign-ins of a network at once", besideSpray},
	{"M4", "the log says who tried to sign in and failed", traces},
	{"M6", "others read a backup while it is written", openBackup},
	{"L2", "Strict-Transport-Security with an https address", strictTransport},
	{"L3", "formulas in CSV behind ; and tab", formulas},
	{"L5", "a door's device says that a scan was in 1970", oldScan},
	{"L6", "a Stripe webhook of six minutes in the future", futureWebhook},
	{"L7", "Host: evil.example in calendars, door and board links", foreignHost},
	{"L8", "JSON and HTML at one address without Vary: Accept", vary},
	{"L9", "a secret as a flag stands in the list of processes", secretFlag},
	{"L10", "PostgreSQL and mail servers elsewhere that speak no TLS", plainText},
	{"L11", "keys for programs that never expire", endlessKeys},
	{"M3", "a stolen session makes passkeys, keys, hooks and members", stolenSession},
	{"M5", "what is known of a person is exported and erased", forgetting},
	{"L4", "a node on a full disk says that it is ready", fullDisk},
}

var common = strings.Fields(`Summer2025!! iloveyouiloveyou admin1234567 adminadmin12 usherusher12 boxofficebox basketball12 mustang12345 jordan232323 trustno11111 samsung12345 internet1234
chocolate123 abcd1234abcd 123456qwerty 987654321000 a123456789012 password1234 passwordpassword qwertyuiop12`)

func commonPasswords(f *field) (string, bool) {
	var taken []string
	for _, n := range []*node{f.plain, f.proxy} {
		b := n.browser(home)
		if n.setup == "" {
			return "no link to set up was found", false
		}
		for _, password := range append(common, ownerPassword) {
			body, _ := json.Marshal(map[string]string{"name": "Owner", "email": ownerEmail, "password": password})
			status, said := b.post(n.setup, string(body))
			switch {
			case status == 429 || status >= 500 || status != 204 && password == ownerPassword:
				return said, false
			case status == 204 && password != ownerPassword:
				taken = append(taken, password)
			}
			if n.password = password; status == 204 { // the others are not tried: there is one owner
				break
			}
		}
		f.owner = b
	}
	return fmt.Sprintf("taken of %d: %q", len(common), taken), len(taken) == 0
}

// zeros is a body of letters.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

func hugeBodies(f *field) (string, bool) {
	var said []string
	holds := true
	before := f.plain.memory() >> 10
	most := f.plain.during(func() {
		for _, path := range []string{"/desk/password/live", "/desk/setup/live", "/desk/invitations/live", "/waitlist/live", "/demo-card/live"} {
			sent := &reading{Reader: io.LimitReader(zeros{}, 100<<20)}
			status, _ := f.plain.browser("").send(http.MethodPost, path, sent)
			said = append(said, fmt.Sprint(status))
			holds = holds && status >= 400 && status < 500 && sent.n.Load() < 50<<20
		}
	})
	alive, _ := f.plain.browser("").get("/healthz")
	return fmt.Sprintf("%s; %d MB before, %d MB at most; then %d", strings.Join(said, " "), before, most, alive), holds && alive == 200 && most < before+64
}

// reading counts what is taken of a body.
type reading struct {
	io.Reader
	n atomic.Int64
}

func (r *reading) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.n.Add(int64(n))
	return n, err
}

func foreignPosts(f *field) (string, bool) {
	for _, path := range []string{"/desk/password/live", "/desk/setup/live", "/waitlist/live", "/demo-card/live"} {
		for _, header := range [][]string{{"Origin", "https://evil.example"}, {"Sec-Fetch-Site", "cross-site"}, {"Origin", "null"}} {
			if status, _ := f.plain.browser("").post(path, "{}", header...); status != 403 {
				return fmt.Sprintf("%s with %v: %d", path, header, status), false
			}
		}
	}
	return "403 each", true
}

const partHead = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.csv\"\r\nContent-Type: text/csv\r\n\r\n"

func strangersUpload(f *field) (string, bool) {
	var all sync.WaitGroup
	var statuses sync.Map
	most := f.plain.during(func() {
		last, write := io.Pipe()
		for range 16 {
			all.Go(func() {
				body := io.MultiReader(strings.NewReader(partHead), io.LimitReader(zeros{}, 60<<20), last)
				status, _ := f.plain.browser("").send(http.MethodPost, "/desk/imports", body, "Content-Type", "multipart/form-data; boundary=b")
				statuses.Store(status, true)
			})
		}
		time.Sleep(4 * time.Second)
		_ = write.Close()
		all.Wait()
	})
	var list []any
	refused := true
	statuses.Range(func(key, _ any) bool {
		list = append(list, key)
		refused = refused && key.(int) >= 400 && key.(int) < 500
		return true
	})
	alive, _ := f.plain.browser("").get("/healthz")
	return fmt.Sprintf("answers %v, %d MB at most; then %d", list, most, alive), refused && alive == 200 && most < mostMemory
}

func membersUpload(f *field) (string, bool) {
	tables := [][]byte{
		append([]byte("section,row,number\n"), bytes.Repeat([]byte("Stalls,A,"+strings.Repeat("x", 420)+"\n"), 105_000)...),
		append([]byte("a,b\n"), bytes.Repeat([]byte(strings.Repeat(",", 59)+"\n"), 760_000)...),
		append([]byte("a,b\n"), bytes.Repeat([]byte(","), 45<<20)...),
		append([]byte("a,b\n1,\""), append(bytes.Repeat([]byte("x"), 45<<20), '"')...),
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	most := f.proxy.during(func() {
		for i := range 12 {
			all.Go(func() {
				body := io.MultiReader(strings.NewReader(partHead), bytes.NewReader(tables[i%len(tables)]), strings.NewReader("\r\n--b--\r\n"))
				b := f.as("")
				status, said := b.send(http.MethodPost, "/desk/imports", body, "Content-Type", "multipart/form-data; boundary=b")
				if status == 201 {
					var made struct{ ID string }
					_ = json.Unmarshal([]byte(said), &made)
					_, _ = b.get("/desk/imports/"+made.ID, "Accept", "text/html")
				}
				mu.Lock()
				statuses[status]++
				mu.Unlock()
			})
		}
		all.Wait()
	})
	return fmt.Sprintf("answers %v, %d MB at most", statuses, most), most < mostMemory && statuses[401]+statuses[0] == 0 && statuses[201] > 0
}

// as is another browser of the owner, from a network.
func (f *field) as(from string) *browser {
	b := f.proxy.browser(from)
	if from == "" {
		b.from = home
	}
	b.Jar = f.owner.Jar
	return b
}

// grab orders a seat as a new visitor of a network; ordered is how many seats that took.
func (f *field) grab(n *node, from, email string) (ordered int, status int) {
	b := n.browser(from)
	f.stamp++
	status, said := b.post("/events/"+n.slug+"/claims", `{"best":1}`, "Idempotency-Key", fmt.Sprint("c", f.stamp))
	if status == 404 || status == 422 { // before the best of all could be asked for
		status, said = b.post("/events/"+n.slug+"/claims", `{"best":1,"category":"A"}`, "Idempotency-Key", fmt.Sprint("d", f.stamp))
	}
	if status != 201 {
		return 0, status
	}
	var held struct {
		Hold struct {
			ID    string
			Seats []string
			Total int64
		}
	}
	_ = json.Unmarshal([]byte(said), &held)
	if email == "" {
		return len(held.Hold.Seats), status
	}
	body, _ := json.Marshal(map[string]any{"hold": held.Hold.ID, "seats": held.Hold.Seats, "name": "Scalper", "email": email, "method": "door", "total": held.Hold.Total})
	status, _ = b.post("/events/"+n.slug+"/orders", string(body), "Idempotency-Key", fmt.Sprint("o", f.stamp), "Cookie", b.cookies())
	if status == 201 || status == 202 || status == 200 || status == 303 { // 202: kept while its email is confirmed
		return len(held.Hold.Seats), status
	}
	return 0, status
}

// cookies are those that its answers set: a browser with TLS would send them.
func (b *browser) cookies() (line string) {
	for name, value := range b.set {
		line += name + "=" + value + "; "
	}
	return strings.TrimSuffix(line, "; ")
}

// kept are the cookies that a browser has of its node. A client keeps them back from another Host.
func (b *browser) kept() string {
	r, err := http.NewRequest(http.MethodGet, b.n.url, nil)
	if err != nil {
		return ""
	}
	for _, c := range b.Jar.Cookies(r.URL) {
		r.AddCookie(c)
	}
	return r.Header.Get("Cookie")
}

func (f *field) grabs(tries, most int, email func(i int) string) (string, bool) {
	got, statuses := 0, map[int]int{}
	f.grabbed++
	slug, from := fmt.Sprint("grab-", f.stamp), fmt.Sprintf("198.18.%d.66", f.grabbed) // what one did does not count for the next
	if err := f.proxy.event(slug, "club"); err != nil {
		return err.Error(), false
	}
	for i := range tries {
		n, status := f.grab(f.proxy, from, email(i))
		got += n
		statuses[status]++
	}
	return fmt.Sprintf("%d seats in %d tries, may be %d; answers %v", got, tries, most, statuses), got > 0 && got <= most
}

func grabWithOneEmail(f *field) (string, bool) {
	return f.grabs(150, 6, func(int) string { return "scalper@example.org" })
}

func grabWithVariants(f *field) (string, bool) {
	variants := []string{"scal.per%d@gmail.com", "scalper%d+x@gmail.com", "SCALPER%d@GMAIL.com", "s.c.a.l.p.e.r%d+y@googlemail.com"}
	return f.grabs(60, 6, func(i int) string { return fmt.Sprintf(variants[i%len(variants)], 7) })
}

func grabWithMailboxes(f *field) (string, bool) {
	return f.grabs(150, 30, func(i int) string { return fmt.Sprintf("mailbox%d@box%d.example", i, i) })
}

func grabSeats(f *field) (string, bool) {
	return f.grabs(200, 110, func(int) string { return "" }) // without work a network claims a quarter of the club, 99 seats, and a few more as time passes
}

func signIn(b *browser, email, password string) (int, string) {
	body, _ := json.Marshal(map[string]string{"email": email, "password": password})
	return b.post("/desk/session", string(body))
}

func lockOut(f *field) (string, bool) {
	for range 30 {
		signIn(f.proxy.browser(evil), ownerEmail, "wrong wrong wrong")
	}
	for _, from := range []string{home, "192.0.2.44"} { // a network they were in before, and a new one
		began := time.Now()
		status, said := signIn(f.proxy.browser(from), ownerEmail, f.proxy.password)
		if status != 204 && status != 200 || time.Since(began) > 15*time.Second {
			return fmt.Sprintf("from %s: %d after %v: %.80s", from, status, time.Since(began).Round(time.Millisecond), said), false
		}
	}
	return "they got in", true
}

// All organizers may share this address, if a proxy's header is not read: tries wait before any is refused.
// spray tries passwords from a network that a proxy may stand in for. Beyond 100 tries each one waits, and beyond 16 that wait
// the next is refused, however slow the machine is.
func spray(f *field) (string, bool) {
	const tries = 200
	statuses := wrongSignIns(f.plain, "", tries)
	return fmt.Sprintf("answers %v", statuses), statuses[http.StatusTooManyRequests] > 0 && statuses[http.StatusTooManyRequests] < tries-100
}

// wrongSignIns tries so many passwords from a network, forty at once, and returns how many answers had each status.
func wrongSignIns(n *node, from string, tries int) map[int]int {
	const at = 40
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for part := range at {
		all.Go(func() {
			for i := range tries / at {
				status, _ := signIn(n.browser(from), fmt.Sprintf("guess%d@example.org", part*tries/at+i), "wrong wrong wrong")
				mu.Lock()
				statuses[status]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return statuses
}

// Each try costs the processor a hash: without a limit on how many are made at once, the owner's waits behind all of them.
func besideSpray(f *field) (string, bool) {
	sprayed := make(chan map[int]int)
	go func() { sprayed <- wrongSignIns(f.proxy, evil, 200) }()
	time.Sleep(300 * time.Millisecond) // they are under way
	began := time.Now()
	status, said := signIn(f.proxy.browser(home), ownerEmail, f.proxy.password)
	took := time.Since(began)
	statuses := <-sprayed
	return fmt.Sprintf("%d after %v: %.60s; answers %v", status, took.Round(time.Millisecond), said, statuses), (status == 204 || status == 200) && took < 3*time.Second
}

var failedSignIn = regexp.MustCompile(`(?i)sign.?in[^\n]*(fail|refus|wrong|lock)|(fail|refus|wrong)[^\n]*sign.?in`)

func traces(f *field) (string, bool) {
	signIn(f.proxy.browser("203.0.113.99"), ownerEmail, "wrong wrong wrong")
	text, line := "", ""
	for end := time.Now().Add(10 * time.Second); line == "" && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		text = f.proxy.log.String() // equal events are gathered first
		line = failedSignIn.FindString(text)
	}
	where := strings.Contains(text, "203.0.113.")
	return fmt.Sprintf("%d lines, with the network: %t; %.60s", len(failedSignIn.FindAllString(text, -1)), where, line), line != "" && where
}

func openBackup(f *field) (string, bool) {
	old := syscall.Umask(0o022)
	defer syscall.Umask(old)
	file, ctx, open, looks := filepath.Join(f.plain.dir, "backup.dump"), context.Background(), "", 0
	done := make(chan error, 1)
	go func() { _, err := f.plain.run(ctx, "backup", file); done <- err }()
	for {
		list, _ := filepath.Glob(file + "*")
		for _, name := range list {
			if info, err := os.Stat(name); err == nil {
				looks++
				if info.Mode().Perm()&0o077 != 0 {
					open = fmt.Sprint(filepath.Base(name), " ", info.Mode())
				}
			}
		}
		select {
		case err := <-done:
			if info, gone := os.Stat(file); err != nil || gone != nil || info.Mode().Perm() != 0o600 {
				return fmt.Sprint("there is no backup for its owner only: ", err, gone), false
			}
			return fmt.Sprintf("%d looks, open: %q", looks, open), open == ""
		case <-time.After(time.Millisecond):
		}
	}
}

func strictTransport(f *field) (string, bool) {
	b := f.proxy.browser(home)
	for _, path := range []string{"/events", "/nowhere", "/desk/session", "/static/none", "/events/night/map.bin"} {
		if _, _ = b.get(path); !strings.Contains(b.last.Get("Strict-Transport-Security"), "max-age=") {
			return path + " is without", false
		}
	}
	return b.last.Get("Strict-Transport-Security"), true
}

// order makes an order of a name at the plain node. It returns why there is none.
func (f *field) order(name string) (problem string) {
	f.stamp++
	b := f.plain.browser("")
	_, said := b.post("/events/night/claims", `{"best":1,"category":"A"}`, "Idempotency-Key", fmt.Sprint("f", f.stamp))
	var held struct {
		Hold struct {
			ID    string
			Seats []string
			Total int64
		}
	}
	_ = json.Unmarshal([]byte(said), &held)
	body, _ := json.Marshal(map[string]any{"hold": held.Hold.ID, "seats": held.Hold.Seats, "name": name, "email": fmt.Sprintf("f%d@example.org", f.stamp), "method": "door", "total": held.Hold.Total})
	if status, said := b.post("/events/night/orders", string(body), "Idempotency-Key", fmt.Sprint("g", f.stamp)); status >= 300 {
		return "no order: " + said
	}
	return ""
}

func formulas(f *field) (string, bool) {
	if problem := f.order("x;=cmd|' /C calc'!A0;|@y"); problem != "" {
		return problem, false
	}
	status, out := f.manager().get("/desk/events/night/exports/orders.csv")
	if status != http.StatusOK || !strings.Contains(out, "cmd") {
		return fmt.Sprintf("no list: %d %.80s", status, out), false
	}
	for _, separator := range []string{";", "\t", "|"} {
		for cell := range strings.SplitSeq(out, separator) {
			if bare := strings.TrimLeft(cell, "\" "); bare != "" && strings.ContainsAny(bare[:1], "=+-@") {
				return fmt.Sprintf("with %q between cells one is %.40q", separator, cell), false
			}
		}
	}
	return "none", true
}

// jar is the owner of the plain node.
func (f *field) manager() *browser {
	b := f.plain.browser("")
	signIn(b, ownerEmail, f.plain.password)
	return b
}

func oldScan(f *field) (string, bool) {
	if problem := f.order("Ann"); problem != "" {
		return problem, false
	}
	b := f.manager()
	_, said := b.post("/desk/events/night/doors", `{"key":"door"}`)
	var made struct{ Link string }
	_ = json.Unmarshal([]byte(said), &made)
	at := strings.Index(made.Link, "/door/")
	if at < 0 {
		return "no door: " + said, false
	}
	_, said = b.get("/desk/events/night/orders")
	code := regexp.MustCompile(`"code":"(\w+)"`).FindStringSubmatch(said)
	if code == nil {
		return "no order to scan", false
	}
	scan := func(key string, when int) string {
		body, _ := json.Marshal(map[string]any{"key": key, "code": code[1], "at": when})
		_, said := f.plain.browser("").post(made.Link[at:]+"/scans", string(body))
		return said
	}
	first, again := scan("a", 1), scan("b", 0)
	return fmt.Sprintf("%.40s, again: %.100s", first, again), strings.Contains(again, "again") && !strings.Contains(again, "1970")
}

func futureWebhook(f *field) (string, bool) {
	post := func(ahead time.Duration) int {
		body, at := `{"id":"evt_1","object":"event","type":"x","data":{"object":{}}}`, time.Now().Add(ahead).Unix()
		sum := hmac.New(sha256.New, []byte(webhookSecret))
		fmt.Fprintf(sum, "%d.%s", at, body)
		status, _ := f.proxy.browser("").post("/webhooks/stripe", body, "Stripe-Signature", fmt.Sprintf("t=%d,v1=%x", at, sum.Sum(nil)))
		return status
	}
	now, later, before := post(0), post(6*time.Minute), post(-6*time.Minute)
	return fmt.Sprintf("now %d, in six minutes %d, six minutes ago %d", now, later, before), now == 204 && later == 400 && before == 400
}

func foreignHost(f *field) (string, bool) {
	if problem := f.order("Bob"); problem != "" {
		return problem, false
	}
	b := f.manager()
	_, orders := b.get("/desk/events/night/orders")
	paths := []string{"/events", "/events/night", "/desk/password"}
	if code := regexp.MustCompile(`"code":"(\w+)"`).FindStringSubmatch(orders); code != nil {
		paths = append(paths, "/orders/"+code[1], "/orders/"+code[1]+"/calendar.ics")
	}
	for _, path := range paths {
		if status, said := b.get(path, "Host", "evil.example", "Accept", "text/html"); strings.Contains(said, "evil.example") || status >= 400 {
			return fmt.Sprint(path, " ", status), false
		}
	}
	for path, body := range map[string]string{"/desk/events/night/doors": `{"key":"evil door"}`, "/desk/events/night/shares": `{"key":"evil board","name":"x","days":1}`} {
		if status, said := b.post(path, body, "Host", "evil.example", "Cookie", b.kept()); strings.Contains(said, "evil.example") || status != 201 {
			return fmt.Sprintf("%s: %d %.80s", path, status, said), false
		}
	}
	return fmt.Sprintf("%d addresses, none", len(paths)+2), len(paths) == 5
}

func vary(f *field) (string, bool) {
	b := f.plain.browser("")
	for _, path := range []string{"/events", "/events/night", "/nowhere"} {
		for _, accept := range []string{"application/json", "text/html"} {
			_, _ = b.get(path, "Accept", accept)
			if !slices.Contains(strings.FieldsFunc(strings.Join(b.last.Values("Vary"), ","), func(r rune) bool { return r == ',' || r == ' ' }), "Accept") || b.last.Get("Cache-Control") == "" {
				return fmt.Sprint(path, " as ", accept, ": ", b.last.Values("Vary")), false
			}
		}
	}
	return "said", true
}

func secretFlag(f *field) (string, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := f.plain.run(ctx, "serve", "--addr", "127.0.0.1:0", "--stripe-webhook-secret", "whsec_visible")
	if err != nil && ctx.Err() == nil && !strings.Contains(out, "whsec_visible") && strings.Contains(out, "stripe-webhook-secret") {
		return "refused", true
	}
	return fmt.Sprintf("taken: %.80s", out), false
}

func endlessKeys(f *field) (string, bool) {
	b := f.manager()
	status, said := b.post("/desk/keys", `{"key":"k1","name":"till","scopes":["look"],"password":"`+f.plain.password+`"}`)
	_, page := b.get("/desk/keys", "Accept", "text/html")
	return fmt.Sprintf("%d %.60s", status, said), status == 201 && regexp.MustCompile(`(?s)till.{0,400}?\bexpires\s+<time datetime="20`).MatchString(page)
}
