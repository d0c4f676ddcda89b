package turns_test

import (
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/turns"
	"github.com/usherbox/usher/seats/waitingroom"
)

// The example of RFC 8291, section 5: what reads messages in these tests reads it.
func TestDecrypt_ReadsTheExampleOfTheRFC(t *testing.T) {
	t.Parallel()
	decode := func(s string) []byte {
		b, err := base64.RawURLEncoding.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	key, err := ecdh.P256().NewPrivateKey(decode("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"))
	if err != nil {
		t.Fatal(err)
	}
	body := decode("DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
	text, err := decrypt(body, key, decode("BTBZMqHH6r4Tts7J_aSIgg"))
	if err != nil || string(text) != "When I grow up, I want to be a watermelon" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestAsk_VisitorIsMailedOnceTheirNumberIsCalled(t *testing.T) {
	t.Parallel()
	n := open(t).node()
	n.asks(5, turns.Request{Email: " Ann@Example.org ", Language: "de"})
	n.asks(6, turns.Request{Email: "bob@example.org"})
	n.call(4)
	if did := n.do(); did != 0 || n.count(`SELECT count(*) FROM mail`) != 0 {
		t.Fatalf("%d requests were told before their number", did)
	}
	wrote := 0
	n.MailWritten = func() { wrote++ }
	n.call(5)
	n.do()
	n.do()
	if mails := n.count(`SELECT count(*) FROM mail WHERE kind = 'turn' AND email = 'ann@example.org' AND language = 'de' AND about::json->>'number' = '5'`); mails != 1 || wrote != 1 {
		t.Errorf("number 5 is told by %d mails, the outbox was woken %d times", mails, wrote)
	}
	if left := n.count(`SELECT count(*) FROM turn_request`); left != 1 {
		t.Errorf("%d requests are kept, want that of number 6", left)
	}
	if err := n.Ask(t.Context(), n.room, n.place(5), turns.Request{Email: "ann@example.org"}); !errors.Is(err, turns.ErrCalled) {
		t.Errorf("to ask again is answered %v", err)
	}
}

func TestAsk_VisitorsWhoDoNotAskCostNothing(t *testing.T) {
	t.Parallel()
	n := open(t).node()
	n.call(500)
	n.Changed(n.room) // wakes no job
	if did := n.do(); did != 0 {
		t.Errorf("%d requests were done", did)
	}
	for _, table := range []string{"turn_request", "mail", "push_key"} {
		if rows := n.count(`SELECT count(*) FROM ` + table); rows != 0 {
			t.Errorf("%s has %d rows", table, rows)
		}
	}
	n.exec(`INSERT INTO turn_request (room_id, epoch, kind, index, number, email) SELECT id, 1, 2, n, n, 'a' || n || '@example.org' FROM room, generate_series(501, 100500) n`)
	n.exec(`ANALYZE`)
	var plan strings.Builder
	rows, err := n.db.Query(t.Context(), `EXPLAIN `+n.Jobs()[0].Due+` UNION ALL `+n.Jobs()[1].Due)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&plan, line)
	}
	if !strings.Contains(plan.String(), "turn_request_by_number") || strings.Contains(plan.String(), "Seq Scan on turn_request") {
		t.Errorf("requests that are not called are read:\n%s", plan.String())
	}
}

func TestAsk_PlaceHasOneEmailAndOneBrowser(t *testing.T) {
	t.Parallel()
	n, b := open(t).node(), newBrowser(t)
	n.asks(5, turns.Request{Email: "an@example.org"})
	n.asks(5, turns.Request{Email: "ann@example.org"})
	n.asks(5, b.request())
	n.asks(5, b.request())
	if rows := n.count(`SELECT count(*) FROM turn_request`); rows != 2 || n.count(`SELECT count(*) FROM turn_request WHERE email = 'ann@example.org'`) != 1 {
		t.Errorf("the place has %d requests", rows)
	}
	if err := n.Forget(t.Context(), n.place(5)); err != nil {
		t.Fatal(err)
	}
	if rows := n.count(`SELECT count(*) FROM turn_request`); rows != 0 {
		t.Errorf("%d requests are left", rows)
	}
}

func TestAsk_RefusesWhatIsNoAddressAndNoBrowser(t *testing.T) {
	t.Parallel()
	n, good := open(t).node(), newBrowser(t).request()
	for name, r := range map[string]turns.Request{
		"nothing": {}, "a name": {Email: "ann"}, "two addresses": {Email: "a@example.org, b@example.org"}, "a long address": {Email: strings.Repeat("a", 250) + "@example.org"},
		"http":            {Endpoint: "http://push.example.org/1", P256dh: good.P256dh, Auth: good.Auth},
		"another port":    {Endpoint: "https://push.example.org:8443/1", P256dh: good.P256dh, Auth: good.Auth},
		"an IPv4 address": {Endpoint: "https://192.0.2.1/1", P256dh: good.P256dh, Auth: good.Auth},
		"with a dot":      {Endpoint: "https://192.0.2.1./1", P256dh: good.P256dh, Auth: good.Auth},
		"an IPv6 address": {Endpoint: "https://[2001:db8::1]/1", P256dh: good.P256dh, Auth: good.Auth},
		"no host":         {Endpoint: "https:///1", P256dh: good.P256dh, Auth: good.Auth},
		"a password":      {Endpoint: "https://a:b@push.example.org/1", P256dh: good.P256dh, Auth: good.Auth},
		"no key":          {Endpoint: good.Endpoint, Auth: good.Auth},
		"no point":        {Endpoint: good.Endpoint, P256dh: base64.RawURLEncoding.EncodeToString(make([]byte, 65)), Auth: good.Auth},
		"no secret":       {Endpoint: good.Endpoint, P256dh: good.P256dh, Auth: "AAAA"},
		"a long endpoint": {Endpoint: good.Endpoint + strings.Repeat("a", 2000), P256dh: good.P256dh, Auth: good.Auth},
	} {
		if err := n.Ask(t.Context(), n.room, n.place(5), r); !errors.Is(err, turns.ErrEmail) && !errors.Is(err, turns.ErrBrowser) {
			t.Errorf("%s: %v", name, err)
		}
	}
	n.exec(`UPDATE room SET phase = 'ended', version = version + 1`)
	if err := n.Ask(t.Context(), n.room, n.place(5), good); !errors.Is(err, turns.ErrCalled) {
		t.Errorf("in a room that ended: %v", err)
	}
}

func TestPush_BrowserReadsItAndNobodyElse(t *testing.T) {
	t.Parallel()
	n, b := open(t).node(), newBrowser(t)
	n.Client = b.Client()
	n.asks(5, b.request())
	n.call(5)
	n.do()
	n.do()
	if b.got() != 1 {
		t.Fatalf("the browser got %d messages", b.got())
	}
	if s := b.shown(t, n.PublicKey(t.Context())); s != (turns.Shown{Title: "Sie sind an der Reihe", Body: "Evening", URL: "/rooms/evening", Language: "de", Direction: "ltr"}) {
		t.Errorf("it shows %+v", s)
	}
	if strings.Contains(string(b.bodies[0]), "Evening") {
		t.Error("the push service reads the message")
	}
	h := b.requests[0].Header
	if h.Get("Urgency") != "high" || h.Get("Content-Encoding") != "aes128gcm" || h.Get("Topic") == "" || len(h.Get("TTL")) != 3 { // ten minutes
		t.Errorf("headers %v", h)
	}
	if left := n.count(`SELECT count(*) FROM turn_request`); left != 0 {
		t.Errorf("%d requests are kept", left)
	}
}

func TestPush_IsTriedAgainUntilTheSubscriptionEnds(t *testing.T) {
	t.Parallel()
	n, b := open(t).node(), newBrowser(t)
	n.Client = b.Client()
	b.answers(http.StatusServiceUnavailable)
	n.asks(5, b.request())
	n.call(5)
	n.do()
	if n.do(); b.got() != 1 {
		t.Errorf("a service that is away was called %d times at once", b.got())
	}
	due := func() { n.exec(`UPDATE turn_request SET next_try = clock_timestamp()`) }
	due()
	if n.do(); b.got() != 2 || n.count(`SELECT tries FROM turn_request`) != 2 {
		t.Errorf("it was called %d times", b.got())
	}
	b.answers(http.StatusGone)
	due()
	n.do()
	if left := n.count(`SELECT count(*) FROM turn_request`); left != 0 || b.got() != 3 {
		t.Errorf("%d requests are kept after 410, %d calls", left, b.got())
	}
}

func TestPush_GoesToThePublicInternetOnly(t *testing.T) {
	t.Parallel()
	n, b := open(t).node(), newBrowser(t)
	n.asks(5, b.request())
	n.exec(`UPDATE turn_request SET endpoint = $1`, b.URL+"/push/1")                                                      // as if its name led to 127.0.0.1
	n.Client.Transport.(*http.Transport).TLSClientConfig = b.Client().Transport.(*http.Transport).TLSClientConfig.Clone() // else the client of New
	n.call(5)
	n.do()
	if b.got() != 0 || n.count(`SELECT tries FROM turn_request`) != 1 {
		t.Errorf("this machine was called %d times", b.got())
	}
}

// A node dies after the push service took a message, and before that is noted: the message comes once more, under the name
// by which the service and the browser put it in place of the first one.
func TestPush_CrashSendsTheSameOnceMore(t *testing.T) {
	t.Parallel()
	n, b := open(t).node(), newBrowser(t)
	n.Client = b.Client()
	n.asks(5, b.request())
	n.call(5)
	n.exec(`CREATE FUNCTION dies() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the node died'; END $$`)
	n.exec(`CREATE TRIGGER dies BEFORE DELETE ON turn_request FOR EACH ROW EXECUTE FUNCTION dies()`)
	n.do()
	n.exec(`DROP TRIGGER dies ON turn_request`)
	other := n.node()
	other.Client = b.Client()
	if other.do(); b.got() != 1 {
		t.Errorf("a message that another node has under way was sent %d times", b.got())
	}
	n.exec(`UPDATE turn_request SET next_try = clock_timestamp()`) // a minute later
	if other.do(); b.got() != 2 || b.requests[0].Header.Get("Topic") != b.requests[1].Header.Get("Topic") {
		t.Errorf("it was sent %d times, with topics %q", b.got(), b.requests[0].Header.Get("Topic"))
	}
	if other.do(); b.got() != 2 || n.count(`SELECT count(*) FROM turn_request`) != 0 {
		t.Errorf("it was sent %d times", b.got())
	}
}

func TestMail_EightNodesTellEachVisitorOnce(t *testing.T) {
	t.Parallel()
	n := open(t).node()
	const visitors = 300
	n.exec(`INSERT INTO turn_request (room_id, epoch, kind, index, number, email) SELECT id, 1, 2, n, n, 'a' || n || '@example.org' FROM room, generate_series(1, $1::integer) n`, visitors)
	n.call(visitors)
	var nodes sync.WaitGroup
	for range 8 {
		job := n.node().Jobs()[0]
		nodes.Go(func() {
			for range 5 {
				if _, err := job.Do(context.WithoutCancel(t.Context()), "mail"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	nodes.Wait()
	if mails, receivers := n.count(`SELECT count(*) FROM mail`), n.count(`SELECT count(DISTINCT email) FROM mail`); mails != visitors || receivers != visitors {
		t.Errorf("%d visitors got %d mails", receivers, mails)
	}
}

func TestMail_NothingIsToldWhileTheRoomIsPausedOrTooLate(t *testing.T) {
	t.Parallel()
	n := open(t).node()
	n.asks(5, turns.Request{Email: "ann@example.org"})
	n.call(5)
	n.exec(`UPDATE room SET phase = 'paused'`)
	n.do()
	if mails := n.count(`SELECT count(*) FROM mail`); mails != 0 {
		t.Errorf("%d mails of a paused room", mails)
	}
	n.exec(`UPDATE room SET phase = 'open'`)
	n.exec(`UPDATE called SET at = at - interval '11 minutes'`)
	n.do()
	if mails, left := n.count(`SELECT count(*) FROM mail`), n.count(`SELECT count(*) FROM turn_request`); mails != 0 || left != 0 {
		t.Errorf("%d mails of a number that expired, %d requests are kept", mails, left)
	}
}

func TestNumber_LobbyIsToldByItsDraw(t *testing.T) {
	t.Parallel()
	f := open(t)
	soon := time.Now().Add(time.Hour)
	c := waitingroom.Control{DB: f.db, Who: "test"}
	f.exec(`UPDATE event SET room_id = NULL`)
	f.exec(`UPDATE room SET slug = 'before', phase = 'ended', version = version + 1`)
	if _, err := c.Create(t.Context(), waitingroom.NewRoom{Name: "Evening", Events: []string{"evening"}, OpensAt: &soon, Slots: 1}); err != nil {
		t.Fatal(err)
	}
	f.exec(`UPDATE room SET lobby = 50, version = version + 1 WHERE slug = 'evening'`)
	n := f.node()
	for i := range int64(50) {
		p := waitingroom.Place{Room: n.room.ID, Epoch: n.room.State().Epoch, Kind: waitingroom.Lobby, Index: i + 1}
		if err := n.Ask(t.Context(), n.room, p, turns.Request{Email: fmt.Sprintf("a%d@example.org", p.Index)}); err != nil {
			t.Fatal(err)
		}
	}
	if n.do(); n.count(`SELECT count(*) FROM turn_request WHERE number IS NULL`) != 50 {
		t.Error("the lobby has numbers before its draw")
	}
	if err := c.Open(t.Context(), "evening", nil); err != nil {
		t.Fatal(err)
	}
	other := f.node()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- other.rooms.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	for end := time.Now().Add(30 * time.Second); other.room.State().DrawnAt == nil || f.count(`SELECT count(*) FROM turn_request WHERE number IS NULL`) > 0; time.Sleep(50 * time.Millisecond) {
		if other.do(); time.Now().After(end) {
			t.Fatal("the lobby got no numbers")
		}
	}
	numbers, wrong := map[int64]bool{}, 0
	rows, err := f.db.Query(t.Context(), `
		SELECT index, number FROM turn_request UNION ALL SELECT substr(split_part(email, '@', 1), 2)::bigint, (about::json->>'number')::bigint FROM mail`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		p := waitingroom.Place{Room: n.room.ID, Epoch: n.room.State().Epoch, Kind: waitingroom.Lobby}
		var number int64
		if err := rows.Scan(&p.Index, &number); err != nil {
			t.Fatal(err)
		}
		if numbers[number] = true; number != other.room.Number(p) {
			wrong++
		}
	}
	if len(numbers) != 50 || wrong > 0 {
		t.Errorf("%d of 50 visitors have numbers, %d of them not their own", len(numbers), wrong)
	}
}

func TestPurge_ForgetsWhatIsOver(t *testing.T) {
	t.Parallel()
	n := open(t).node()
	n.asks(5, turns.Request{Email: "ann@example.org"})
	n.asks(6, turns.Request{Email: "bob@example.org"})
	n.call(5)
	n.do()
	n.exec(`UPDATE mail SET sent_at = clock_timestamp() - interval '61 minutes', email = ''`)
	n.exec(`UPDATE event SET starts_at = clock_timestamp()`)
	if _, err := n.Jobs()[2].Do(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if mails, left := n.count(`SELECT count(*) FROM mail`), n.count(`SELECT count(*) FROM turn_request`); mails != 0 || left != 0 {
		t.Errorf("%d mails and %d requests are kept", mails, left)
	}
}

func TestKey_IsMadeOnceAndKeptSealed(t *testing.T) {
	t.Parallel()
	f := open(t)
	box, err := seal.New(seal.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	keys := make([]string, 8)
	var nodes sync.WaitGroup
	for i := range keys {
		n := f.node()
		n.SealWith(box)
		nodes.Go(func() { keys[i] = n.PublicKey(context.WithoutCancel(t.Context())) })
	}
	nodes.Wait()
	for _, k := range keys {
		if k == "" || k != keys[0] {
			t.Errorf("nodes have different keys: %q", keys)
		}
	}
	var kept []byte
	if err := f.db.QueryRow(t.Context(), `SELECT secret FROM push_key`).Scan(&kept); err != nil || !seal.Sealed(kept) {
		t.Errorf("the key is not sealed: %v", err)
	}
}

func TestNumber_RequestsOfAnEarlierLobbyDelayNone(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.exec(`UPDATE room SET lobby = 1, secret = decode(repeat('00', 32), 'hex'), drawn_at = clock_timestamp(), epoch = 2, version = version + 1`)
	n := f.node()
	n.exec(`INSERT INTO turn_request (room_id, epoch, kind, index, email) SELECT id, 1, 1, n, 'a' || n || '@example.org' FROM room, generate_series(1, 2000) n`)
	n.exec(`INSERT INTO turn_request (room_id, epoch, kind, index, email) SELECT id, 2, 1, 1, 'ann@example.org' FROM room`)
	n.do()
	if numbered := n.count(`SELECT count(*) FROM turn_request WHERE email = 'ann@example.org' AND number IS NOT NULL`); numbered != 1 {
		t.Error("the visitor of this lobby has no number")
	}
}
