package publiclog

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"golang.org/x/mod/sumdb/note"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seal"
)

// Secrets is the table of the secrets of logs.
var Secrets = seal.Table{Name: "public_log", Select: sealedSQL, Update: resealSQL}

const sealedSQL = `SELECT event_id::text, secret FROM public_log WHERE secret IS NOT NULL ORDER BY event_id FOR UPDATE`

const resealSQL = `UPDATE public_log SET secret = $2 WHERE event_id = $1::text::bigint AND secret = $3`

// secret is what the salts and the signatures of an event's log follow from.
type secret struct {
	salts  []byte
	key    ed25519.PrivateKey
	origin string
	id     uint32 // of the key, by its name
}

func newSecret(value []byte, origin string) *secret {
	derive := func(what string) []byte {
		h := hmac.New(sha256.New, value)
		h.Write([]byte(what))
		return h.Sum(nil)
	}
	s := &secret{salts: derive("usher-log/salts/v1"), key: ed25519.NewKeyFromSeed(derive("usher-log/key/v1")), origin: origin}
	sum := sha256.Sum256(append([]byte(origin+"\n\x01"), s.key.Public().(ed25519.PublicKey)...))
	s.id = binary.BigEndian.Uint32(sum[:])
	return s
}

// Name, KeyHash and Sign are those of a note.Signer.
func (s *secret) Name() string { return s.origin }

func (s *secret) KeyHash() uint32 { return s.id }

func (s *secret) Sign(text []byte) ([]byte, error) { return ed25519.Sign(s.key, text), nil }

// row is what the salts of a version follow from.
type row [32]byte

func (s *secret) row(version int64) (r row) {
	h := hmac.New(sha256.New, s.salts)
	h.Write(binary.BigEndian.AppendUint64([]byte("usher-log/row/v1"), uint64(version)))
	h.Sum(r[:0])
	return r
}

// Salt makes a commitment unlike every other one.
type Salt [16]byte

func (r row) salt(idx int32) Salt {
	b := make([]byte, 0, 64)
	b = append(append(b, "usher-log/salt/v1"...), r[:]...)
	sum := sha256.Sum256(binary.BigEndian.AppendUint32(b, uint32(idx)))
	return Salt(sum[:16])
}

// Commitment is what a leaf says of a holder.
func Commitment(s Salt, holder seats.ID) [32]byte {
	b := make([]byte, 0, 64)
	b = append(append(append(b, "usher-log/holder/v1"...), s[:]...), holder[:]...)
	return sha256.Sum256(b)
}

// The first node that begins a log gives it its secret.
const beginSQL = `
INSERT INTO public_log (event_id, origin, secret, verifier) SELECT id, $2, $3, $4 FROM event WHERE id = $1
    ON CONFLICT (event_id) DO UPDATE SET origin = excluded.origin, secret = excluded.secret, verifier = excluded.verifier
 WHERE public_log.secret IS NULL`

const notBegunSQL = `SELECT slug FROM event e WHERE id = $1 AND NOT EXISTS (SELECT FROM public_log WHERE event_id = e.id AND secret IS NOT NULL)`

// begin gives an event's log its secret and its origin, unless it has them.
func (l *Logs) begin(ctx context.Context, event int64) error {
	var slug string
	err := l.db.QueryRow(ctx, notBegunSQL, event).Scan(&slug)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("public log: begin the log of event %d: %w", event, err)
	}
	value := make([]byte, 32)
	_, _ = rand.Read(value) // never fails: crypto/rand ends the program instead
	s := newSecret(value, l.home+Path(slug))
	verifier, err := note.NewEd25519VerifierKey(s.origin, s.key.Public().(ed25519.PublicKey))
	if err != nil {
		return fmt.Errorf("public log: begin the log of event %d: %w", event, err)
	}
	if _, err := l.db.Exec(ctx, beginSQL, event, s.origin, l.box.Seal(value, Secrets.Context(event)), verifier); err != nil {
		return fmt.Errorf("public log: begin the log of event %d: %w", event, err)
	}
	return nil
}

// open returns the secret of an event's log from its sealed value.
func (l *Logs) open(event int64, sealed []byte, origin string) (*secret, error) {
	value, err := l.box.Open(sealed, Secrets.Context(event))
	if err != nil {
		return nil, fmt.Errorf("public log: open the secret of event %d: %w", event, err)
	}
	return newSecret(value, origin), nil
}
