package webhooks_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/webhooks"
)

// told is a delivery as it is sent.
type told struct {
	Type      string         `json:"type"`
	Timestamp time.Time      `json:"timestamp"`
	Data      map[string]any `json:"data"`
}

func read(t *testing.T, body string) (one told) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &one); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return one
}

// wrongSignature holds a call against a secret with another implementation of the standard.
func wrongSignature(t *testing.T, c call, secret string) error {
	t.Helper()
	w, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return w.Verify([]byte(c.body), c.header)
}

func TestHeader_SignsWithEachSecretAsTheStandardSays(t *testing.T) {
	t.Parallel()
	standard, err := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		secrets        [][]byte
		id, body, want string
	}{
		{[][]byte{standard}, "msg_p5jXN8AQM9LWM0D4loKWxJek", `{"test": 2432232314}`, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
		{
			[][]byte{[]byte("the newest secret"), []byte("the one before")},
			"msg_1", `{"type":"test","data":{"ü":1}}`,
			"v1,AHURUZABkNq8GhVU8lXYiZHIyDNnMj5NBKI6ycke9Z0= v1,hr82+wxxocN1fOmUJZyGpsLcq41u/yM2uHahBJ1ED6I=",
		},
	} {
		got := http.Header{}
		if err := webhooks.SetHeader(got, c.secrets, c.id, time.Unix(1614265330, 999), []byte(c.body)); err != nil {
			t.Fatal(err)
		}
		want := http.Header{
			"Content-Type": {"application/json"}, "User-Agent": {"Usher"},
			"Webhook-Id": {c.id}, "Webhook-Timestamp": {"1614265330"}, "Webhook-Signature": {c.want},
		}
		if !maps.EqualFunc(got, want, slices.Equal) {
			t.Errorf("the headers are %v, want %v", got, want)
		}
	}
}

func TestDelivery_IsSentAndSigned(t *testing.T) {
	t.Parallel()
	h := open(t)
	l := listen(t, nil)
	_, secret := h.hook(t, l.url)
	h.orders.Happened = h.hooks.Wake
	h.send(t, h.hooks)
	order := h.sold(t, "a", 0, 1)
	door, err := h.orders.OpenDoor(t.Context(), "evening", nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := h.orders.Doorway(t.Context(), door)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := h.orders.Scan(t.Context(), d, orders.Scan{Key: "s", Code: order.Tickets[0].Code, Place: "North"}); err != nil || v.Word != orders.ScanIn {
		t.Fatal(v, err)
	}
	if err := h.orders.Move(t.Context(), h.sale, order, orders.Moving{Key: "m", Tickets: []seats.ID{order.Tickets[1].ID}, To: []int{5}}, nil); err != nil {
		t.Fatal(err)
	}
	if order, err = h.orders.Find(t.Context(), order.Code); err != nil {
		t.Fatal(err)
	}
	last := order.Tickets[slices.IndexFunc(order.Tickets, func(one orders.Ticket) bool { return one.Idx == 5 })]
	if err := h.orders.Revoke(t.Context(), h.sale, order, false, last.ID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.orders.Payments.PaidOut(t.Context(), order.Code, nil); err != nil {
		t.Fatal(err)
	}
	until(t, "six deliveries came", func() bool { return len(l.got()) == 6 })
	found := map[string]map[string]any{}
	for _, c := range l.got() {
		if err := wrongSignature(t, c, secret); err != nil {
			t.Errorf("%s: %v", c.body, err)
		}
		one := read(t, c.body)
		found[one.Type] = one.Data
		if strings.Contains(c.body, "Eve") || strings.Contains(c.body, "eve@") || one.Data["event"] != "evening" || one.Data["order"] != order.Code || time.Since(one.Timestamp) > time.Minute {
			t.Errorf("it says %s", c.body)
		}
	}
	for _, want := range []struct {
		kind, field string
		value       any
	}{
		{"order.confirmed", "tickets", 2.0},
		{"order.confirmed", "at_office", true},
		{"order.paid", "paid", float64(order.Total)},
		{"order.cancelled", "amount", float64(last.Price)},
		{"order.cancelled", "state", "confirmed"},
		{"order.refunded", "amount", float64(last.Price)},
		{"order.refunded", "by_hand", true},
		{"ticket.moved", "to", last.ID.String()},
		{"ticket.scanned", "place", "North"},
		{"ticket.scanned", "ticket", order.Tickets[0].ID.String()},
	} {
		if got := found[want.kind][want.field]; got != want.value {
			t.Errorf("%s has %s %v, want %v", want.kind, want.field, got, want.value)
		}
	}
}

func TestDelivery_IsNotWrittenForARolledBackChange(t *testing.T) {
	t.Parallel()
	h := open(t)
	mine, _ := h.hook(t, "http://example.org/mine", webhooks.Confirmed)
	var other int64
	h.scan(t, &other, `INSERT INTO team (name) VALUES ('Others') RETURNING id`)
	h.exec(t, `INSERT INTO hook (team_id, url, kinds) VALUES ($1, 'http://example.org/theirs', '{order.confirmed}')`, other)
	off, _ := h.hook(t, "http://example.org/off")
	if err := h.hooks.Switch(t.Context(), h.ann, off, false, "off"); err != nil {
		t.Fatal(err)
	}
	gone, _ := h.hook(t, "http://example.org/gone")
	if err := h.hooks.Remove(t.Context(), h.ann, gone, "gone"); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("planted")
	err := pgx.BeginFunc(t.Context(), h.db, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `INSERT INTO orders (id, event_id, code, holder, hold_id, wish, name, email, method, currency, total)
			SELECT gen_random_uuid(), id, 'X', gen_random_uuid(), gen_random_uuid(), '', 'Eve', 'eve@example.org', 'free', 'EUR', 0 FROM event`)
		return errors.Join(failed, err)
	})
	if !errors.Is(err, failed) || strings.Contains(err.Error(), "SQLSTATE") {
		t.Fatal(err)
	}
	h.sold(t, "a", 0)
	var of []int64
	if h.scan(t, &of, `SELECT array_agg(hook_id) FROM notice`); len(of) != 1 || of[0] != mine {
		t.Errorf("the deliveries are for %v, want one for %d", of, mine)
	}
}

func TestDelivery_IsRepeatedWithTheSameIDAndBodyUntilTaken(t *testing.T) {
	t.Parallel()
	h := open(t)
	l := listen(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		switch n {
		case 0:
			w.WriteHeader(520) // which has no name
		case 1:
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}
	})
	id, _ := h.hook(t, l.url, webhooks.Confirmed)
	h.send(t, h.hooks)
	h.sold(t, "a", 0)
	for n := 1; n <= 3; n++ {
		h.hooks.Wake()
		until(t, fmt.Sprintf("try %d", n), func() bool {
			var noted int
			h.scan(t, &noted, `SELECT jsonb_array_length(answers) FROM notice`)
			return noted == n
		})
		h.sooner(t)
	}
	calls := l.got()
	if len(calls) != 3 || calls[2].body != calls[0].body || calls[2].header.Get("webhook-id") != calls[0].header.Get("webhook-id") || calls[0].header.Get("webhook-id") == "" {
		t.Errorf("the calls were %+v", calls)
	}
	list, _, err := h.hooks.Deliveries(t.Context(), h.ann, id, paging.Page{Limit: webhooks.DeliveryRows})
	if err != nil || len(list) != 1 || list[0].SentAt == nil || list[0].Tries != 3 || list[0].Answers[0].Status != 520 || !strings.Contains(list[0].Answers[0].Why, "520") || list[0].Answers[1].Status != 307 || list[0].Answers[2].Status != 200 || list[0].Answers[2].Why != "" {
		t.Fatalf("the log is %+v, %v", list, err)
	}
	one, err := h.hooks.Find(t.Context(), h.ann, id)
	if err != nil || one.Failures != 0 || one.FailingSince != nil || one.Waiting != 0 {
		t.Errorf("the hook is %+v, %v", one, err)
	}
	if err := h.hooks.Again(t.Context(), h.ann, id, list[0].ID, "again"); err != nil {
		t.Fatal(err)
	}
	until(t, "it was sent again", func() bool { return len(l.got()) == 4 })
	if again := l.got()[3]; again.body != calls[0].body || again.header.Get("webhook-id") != calls[0].header.Get("webhook-id") {
		t.Errorf("again it was %+v", again)
	}
}

func TestSend_EachDeliveryOnceAndSlowHooksDelayNoOther(t *testing.T) {
	t.Parallel()
	h := open(t)
	quick := listen(t, nil)
	stuck := listen(t, func(_ http.ResponseWriter, r *http.Request, _ int) {
		select {
		case <-r.Context().Done():
		case <-t.Context().Done():
		}
	})
	h.hook(t, stuck.url)
	id, _ := h.hook(t, quick.url)
	h.exec(t, `INSERT INTO notice (hook_id, kind, data) SELECT h.id, 'test', jsonb_build_object('n', n) FROM hook h, generate_series(1, 150) n`)
	for range 3 {
		h.send(t, webhooks.New(h.db, h.desk, true))
	}
	until(t, "all 150 were taken", func() bool {
		var n int
		h.scan(t, &n, `SELECT count(*) FROM notice WHERE hook_id = $1 AND sent_at IS NOT NULL`, id)
		return n == 150
	})
	seen := map[string]int{}
	for _, c := range quick.got() {
		seen[c.header.Get("webhook-id")]++
	}
	if len(seen) != 150 || len(quick.got()) != 150 {
		t.Errorf("%d deliveries came in %d calls", len(seen), len(quick.got()))
	}
}

func TestAHookThatFailsForDaysIsSwitchedOffAndOneThatIsGoneAtOnce(t *testing.T) {
	t.Parallel()
	h := open(t)
	l := listen(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		w.WriteHeader([]int{http.StatusInternalServerError, http.StatusGone}[n])
	})
	id, _ := h.hook(t, l.url, webhooks.Confirmed)
	h.exec(t, `INSERT INTO notice (hook_id, kind, data, at) VALUES ($1, 'test', '{}', clock_timestamp() - interval '4 days')`, id)
	h.exec(t, `UPDATE hook SET failures = 9, failing_since = clock_timestamp() - interval '6 days'`)
	h.send(t, h.hooks)
	state := func() webhooks.Webhook {
		one, err := h.hooks.Find(t.Context(), h.ann, id)
		if err != nil {
			t.Fatal(err)
		}
		return one
	}
	until(t, "it was switched off", func() bool { return state().OffAt != nil })
	if one := state(); !strings.Contains(one.OffWhy, "five days") || one.Failures != 10 || one.Waiting != 0 {
		t.Errorf("it is %+v", one)
	}
	if err := h.hooks.Switch(t.Context(), h.ann, id, true, "on"); err != nil {
		t.Fatal(err)
	}
	if one := state(); one.OffAt != nil || one.Failures != 0 {
		t.Errorf("on again it is %+v", one)
	}
	if err := h.hooks.Try(t.Context(), h.ann, id, "try"); err != nil {
		t.Fatal(err)
	}
	until(t, "it was switched off at once", func() bool { return state().OffAt != nil })
	if one := state(); !strings.Contains(one.OffWhy, "410") {
		t.Errorf("it is off because %q", one.OffWhy)
	}
	h.sold(t, "a", 0)
	if n := len(l.got()); n != 2 || state().Waiting != 1 { // the test that was refused
		t.Errorf("off it was called %d times, %d wait", n, state().Waiting)
	}
}

func TestForADayTheSecretBeforeSignsAsWell(t *testing.T) {
	t.Parallel()
	h := open(t)
	l := listen(t, nil)
	id, before := h.hook(t, l.url)
	after, err := h.hooks.Rotate(t.Context(), h.ann, id, "rotate")
	if err != nil || after == before || !strings.HasPrefix(after, "whsec_") {
		t.Fatal(after, err)
	}
	if again, err := h.hooks.Rotate(t.Context(), h.ann, id, "rotate"); err != nil || again != "" {
		t.Errorf("the repeat returns %q, %v", again, err)
	}
	h.send(t, h.hooks)
	try := func(form string, n int) call {
		if err := h.hooks.Try(t.Context(), h.ann, id, form); err != nil {
			t.Fatal(err)
		}
		until(t, form, func() bool { return len(l.got()) == n })
		return l.got()[n-1]
	}
	if c := try("both", 1); wrongSignature(t, c, before) != nil || wrongSignature(t, c, after) != nil {
		t.Errorf("one of two secrets did not sign %+v", c)
	}
	h.exec(t, `UPDATE hook_secret SET until = clock_timestamp() WHERE until IS NOT NULL`)
	if c := try("one", 2); wrongSignature(t, c, before) == nil || wrongSignature(t, c, after) != nil {
		t.Errorf("the secret that ended still signs, or the other does not: %+v", c)
	}
}

func TestAHookIsItsTeamsOnly(t *testing.T) {
	t.Parallel()
	h := open(t)
	id, _ := h.hook(t, "http://example.org/mine")
	bob := organizers.Member{Organizer: h.ann.Organizer, Name: "Bob", Role: organizers.Owner}
	h.scan(t, &bob.Team, `INSERT INTO team (name) VALUES ('Others') RETURNING id`)
	h.exec(t, `INSERT INTO member (team_id, organizer_id, role) VALUES ($1, $2, 'owner')`, bob.Team, bob.Organizer)
	if list, err := h.hooks.List(t.Context(), bob); err != nil || len(list) != 0 {
		t.Errorf("Bob sees %v, %v", list, err)
	}
	_, rotated := h.hooks.Rotate(t.Context(), bob, id, "a")
	_, found := h.hooks.Find(t.Context(), bob, id)
	for what, err := range map[string]error{
		"find": found, "rotate": rotated, "change": h.hooks.Change(t.Context(), bob, id, "http://example.org/bob", webhooks.Kinds(), "b"), "remove": h.hooks.Remove(t.Context(), bob, id, "c"),
		"switch": h.hooks.Switch(t.Context(), bob, id, false, "d"), "try": h.hooks.Try(t.Context(), bob, id, "e"), "again": h.hooks.Again(t.Context(), bob, id, seats.NewID(), "f"),
	} {
		if !errors.Is(err, organizers.ErrNotYours) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestHook_IsLeftAloneLongerEachTime(t *testing.T) {
	t.Parallel()
	rests := webhooks.Rests()
	if last := rests[len(rests)-1]; rests[0] != 0 || rests[2] < 1 || last > 3600 || last < 3600*4/5 {
		t.Errorf("a hook is left alone for %v seconds", rests)
	}
	tries := 0
	for all := time.Duration(0); all < 72*time.Hour; tries++ {
		all += webhooks.Backoff.After(tries + 1)
	}
	if tries < 15 || tries > 30 {
		t.Errorf("a delivery is tried %d times in three days", tries)
	}
}
