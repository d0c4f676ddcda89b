package turns_test

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/turns"
	"github.com/usherbox/usher/seats/waitingroom"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// fixture is an event with an open waiting room, in which numbers are called by hand.
type fixture struct {
	t   *testing.T
	db  *pgxpool.Pool
	dsn string
}

func open(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, db: seatstest.DB(t)}
	f.dsn = f.db.Config().ConnString()
	p, _ := plan.Named("conference")
	if _, err := events.Create(t.Context(), f.db, events.Settings{Name: "Evening", StartsAt: time.Unix(2e9, 0)}, p); err != nil {
		t.Fatal(err)
	}
	c := waitingroom.Control{DB: f.db, Who: "test"}
	if _, err := c.Create(t.Context(), waitingroom.NewRoom{Name: "Evening", Events: []string{"evening"}}); err != nil {
		t.Fatal(err)
	}
	f.exec(`UPDATE room SET phase = 'open', line = 1000, version = version + 1`)
	return f
}

func (f *fixture) exec(sql string, args ...any) {
	f.t.Helper()
	if _, err := f.db.Exec(f.t.Context(), sql, args...); err != nil {
		f.t.Fatalf("%s: %v", sql, err)
	}
}

func (f *fixture) count(sql string, args ...any) (n int) {
	f.t.Helper()
	if err := f.db.QueryRow(f.t.Context(), sql, args...).Scan(&n); err != nil {
		f.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// call calls the numbers up to one.
func (f *fixture) call(serving int) {
	f.t.Helper()
	f.exec(`UPDATE room SET serving = $1, version = version + 1`, serving)
	f.exec(`INSERT INTO called (room_id, epoch, serving) SELECT id, epoch, serving FROM room`)
}

// node is the requests as one node sees them.
type node struct {
	*fixture
	*turns.Turns
	rooms *waitingroom.Rooms
	room  *waitingroom.Room
}

func (f *fixture) node() *node {
	f.t.Helper()
	log := slog.New(slog.DiscardHandler)
	rooms := waitingroom.New(f.db, f.dsn, log)
	room, err := rooms.Room(f.t.Context(), "evening")
	if err != nil {
		f.t.Fatal(err)
	}
	n := &node{fixture: f, Turns: turns.New(f.db, rooms, log), rooms: rooms, room: room}
	n.Contact = "tickets@example.org"
	return n
}

// do does the work that is due.
func (n *node) do() int {
	n.t.Helper()
	return seatstest.Do(n.t.Context(), n.t, n.db, n.Jobs()...)
}

func (n *node) place(index int64) waitingroom.Place {
	return waitingroom.Place{Room: n.room.ID, Epoch: 1, Kind: waitingroom.Line, Index: index}
}

// asks has the visitor of a number ask.
func (n *node) asks(number int64, r turns.Request) {
	n.t.Helper()
	if err := n.Ask(n.t.Context(), n.room, n.place(number), r); err != nil {
		n.t.Fatal(err)
	}
}

// browser is the browser of a visitor with its push service.
type browser struct {
	*httptest.Server
	key  *ecdh.PrivateKey
	auth []byte

	mu       sync.Mutex
	status   int // of its answers
	requests []*http.Request
	bodies   [][]byte
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	b := &browser{status: http.StatusCreated, auth: make([]byte, 16)}
	var err error
	if b.key, err = ecdh.P256().GenerateKey(rand.Reader); err != nil {
		t.Fatal(err)
	}
	_, _ = rand.Read(b.auth)
	b.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.requests, b.bodies = append(b.requests, r), append(b.bodies, body)
		w.WriteHeader(b.status)
	}))
	t.Cleanup(b.Close)
	return b
}

func (b *browser) answers(status int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.status = status
}

func (b *browser) got() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.bodies)
}

// service is the name of its push service, under which its client finds it.
const service = "https://push.example.com"

// request is its subscription.
func (b *browser) request() turns.Request {
	encode := base64.RawURLEncoding.EncodeToString
	return turns.Request{Endpoint: service + "/push/1", P256dh: encode(b.key.PublicKey().Bytes()), Auth: encode(b.auth), Language: "de"}
}

// shown is what its last message says. It checks that the box office with the key sent it.
func (b *browser) shown(t *testing.T, publicKey string) (s turns.Shown) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	last := len(b.bodies) - 1
	message, err := decrypt(b.bodies[last], b.key, b.auth)
	if err != nil {
		t.Fatalf("the browser cannot read the message: %v", err)
	}
	if err := json.Unmarshal(message, &s); err != nil {
		t.Fatalf("%q: %v", message, err)
	}
	signed, named, _ := strings.Cut(strings.TrimPrefix(b.requests[last].Header.Get("Authorization"), "vapid t="), ", k=")
	if named != publicKey {
		t.Errorf("the call names the key %q, and pages %q", named, publicKey)
	}
	point, _ := base64.RawURLEncoding.DecodeString(publicKey)
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		t.Fatal(err)
	}
	claims := jwt.MapClaims{}
	if _, err := jwt.ParseWithClaims(signed, claims, func(*jwt.Token) (any, error) { return key, nil }, jwt.WithValidMethods([]string{"ES256"}), jwt.WithAudience(service), jwt.WithExpirationRequired()); err != nil {
		t.Errorf("the signature of the call: %v", err)
	}
	if claims["sub"] != "mailto:tickets@example.org" {
		t.Errorf("the call is of %v", claims["sub"])
	}
	return s
}

// decrypt reads a message as RFC 8291 says a browser does, and shares no code with what encrypts.
func decrypt(body []byte, key *ecdh.PrivateKey, auth []byte) ([]byte, error) {
	if len(body) < 86 {
		return nil, errors.New("too short")
	}
	salt, size, sender, sealed := body[:16], binary.BigEndian.Uint32(body[16:20]), body[21:86], body[86:]
	if body[20] != 65 || int(size) < len(sealed) {
		return nil, errors.New("not one record")
	}
	public, err := ecdh.P256().NewPublicKey(sender)
	if err != nil {
		return nil, err
	}
	secret, err := key.ECDH(public)
	if err != nil {
		return nil, err
	}
	derive := func(secret, salt []byte, info string, n int) []byte {
		out, _ := hkdf.Key(sha256.New, secret, salt, info, n)
		return out
	}
	ikm := derive(secret, auth, "WebPush: info\x00"+string(key.PublicKey().Bytes())+string(sender), 32)
	block, err := aes.NewCipher(derive(ikm, salt, "Content-Encoding: aes128gcm\x00", 16))
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	text, err := gcm.Open(nil, derive(ikm, salt, "Content-Encoding: nonce\x00", 12), sealed, nil)
	if err != nil {
		return nil, err
	}
	text = []byte(strings.TrimRight(string(text), "\x00"))
	if len(text) == 0 || text[len(text)-1] != 2 {
		return nil, errors.New("not the last record")
	}
	return text[:len(text)-1], nil
}
