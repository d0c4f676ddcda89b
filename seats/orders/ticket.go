package orders

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seal"
)

// A ticket's code is a version, the number of the key, the event, the ticket, and a signature of all that; in 149
// letters and digits.
const (
	codeVersion = 1
	signedBytes = 1 + 4 + 8 + 16
	codeBytes   = signedBytes + ed25519.SignatureSize
)

// sign makes the code of a ticket.
func (k key) sign(event int64, ticket seats.ID) string {
	b := make([]byte, 0, codeBytes)
	b = append(b, codeVersion)
	b = binary.BigEndian.AppendUint32(b, uint32(k.id))
	b = binary.BigEndian.AppendUint64(b, uint64(event))
	b = append(b, ticket[:]...)
	return seal.Letters.EncodeToString(append(b, ed25519.Sign(k.private, b)...))
}

// claimed is what a code says of itself, before anybody believes it.
type claimed struct {
	key       int32
	event     int64
	ticket    seats.ID
	signed    []byte
	signature []byte
}

// read takes a code apart. Only the one way in which it is written is read: no other case, no loose bits at the end.
func read(code string) (c claimed, ok bool) {
	b, err := seal.Letters.DecodeString(code)
	if err != nil || len(b) != codeBytes || b[0] != codeVersion || seal.Letters.EncodeToString(b) != code {
		return c, false
	}
	c.key = int32(binary.BigEndian.Uint32(b[1:]))
	c.event = int64(binary.BigEndian.Uint64(b[5:]))
	copy(c.ticket[:], b[13:])
	c.signed, c.signature = b[:signedBytes], b[signedBytes:]
	return c, true
}

const ticketSQL = `
SELECT t.id, t.idx, t.price, coalesce(y.name, ''), coalesce(y.proof, ''), t.revoked_at IS NOT NULL, t.moved_to IS NOT NULL, t.resale_id IS NOT NULL, e.slug
  FROM ticket t JOIN event e ON e.id = t.event_id` + typeOfTicket + `
 WHERE t.event_id = $1 AND t.id = $2`

// Check returns the ticket a code is for, and its event's slug. ErrNoTicket if the code is not ours, or its key was
// revoked, in one and the same way; a ticket that was revoked itself says so.
func (o *Orders) Check(ctx context.Context, code string) (t Ticket, event string, err error) {
	c, ok := read(code)
	if !ok {
		return Ticket{}, "", ErrNoTicket
	}
	private, err := o.keys.private(ctx, c.key)
	if err != nil {
		return Ticket{}, "", err
	}
	if private == nil || !ed25519.Verify(private.Public().(ed25519.PublicKey), c.signed, c.signature) {
		return Ticket{}, "", ErrNoTicket
	}
	err = o.db.QueryRow(ctx, ticketSQL, c.event, c.ticket).Scan(&t.ID, &t.Idx, &t.Price, &t.Type, &t.Proof, &t.Revoked, &t.Replaced, &t.OfferedBack, &event)
	if errors.Is(err, pgx.ErrNoRows) {
		return Ticket{}, "", ErrNoTicket
	}
	if err != nil {
		return Ticket{}, "", fmt.Errorf("orders: check a ticket: %w", err)
	}
	t.Code = code
	return t, event, nil
}

// keys are those that sign tickets. They are asked for each time, so that a revocation holds on all nodes at once.
type keys struct {
	db  seats.DB
	box *seal.Box // nil: seeds are not sealed
}

// Secrets is the table of the seeds that sign tickets.
var Secrets = seal.Table{Name: "ticket_key", Select: sealedSeedsSQL, Update: sealSeedSQL}

const sealedSeedsSQL = `SELECT id::text, seed FROM ticket_key ORDER BY id FOR UPDATE`

const sealSeedSQL = `UPDATE ticket_key SET seed = $2 WHERE id = $1::text::integer AND seed = $3`

// SealWith has the seeds of tickets sealed with a key outside the database. Call it before anything else.
func (o *Orders) SealWith(box *seal.Box) { o.keys.box = box }

// open returns the private key of a stored seed.
func (k keys) open(id int32, value []byte) (ed25519.PrivateKey, error) {
	seed, err := k.box.Open(value, Secrets.Context(id))
	if err != nil {
		return nil, err
	}
	if len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("the seed of key %d has %d bytes", id, len(seed))
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

type key struct {
	id      int32
	private ed25519.PrivateKey
}

const signingKeySQL = `SELECT id, seed FROM ticket_key WHERE signs`

// The id comes first: the seed is sealed for it.
const nextKeySQL = `SELECT nextval(pg_get_serial_sequence('ticket_key', 'id'))::integer`

// Of nodes that make the first key at once, one does.
const makeKeySQL = `INSERT INTO ticket_key (id, seed) OVERRIDING SYSTEM VALUE VALUES ($1, $2) ON CONFLICT (signs) WHERE signs DO NOTHING`

// signing returns the key that signs now; the first use makes it.
func (k keys) signing(ctx context.Context) (key, error) {
	found, err := k.find(ctx)
	if !errors.Is(err, pgx.ErrNoRows) {
		return found, err
	}
	seed := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(seed) // never fails: crypto/rand ends the program instead
	var id int32
	if err := k.db.QueryRow(ctx, nextKeySQL).Scan(&id); err != nil {
		return key{}, fmt.Errorf("number a key: %w", err)
	}
	if _, err := k.db.Exec(ctx, makeKeySQL, id, k.box.Seal(seed, Secrets.Context(id))); err != nil {
		return key{}, fmt.Errorf("make a key: %w", err)
	}
	return k.find(ctx)
}

func (k keys) find(ctx context.Context) (found key, err error) {
	var seed []byte
	if err = k.db.QueryRow(ctx, signingKeySQL).Scan(&found.id, &seed); err != nil {
		return key{}, fmt.Errorf("read the key: %w", err)
	}
	if found.private, err = k.open(found.id, seed); err != nil {
		return key{}, fmt.Errorf("read the key: %w", err)
	}
	return found, nil
}

const keySQL = `SELECT seed FROM ticket_key WHERE id = $1 AND revoked_at IS NULL`

// private returns a key that signed codes; nil if there is none, or it was revoked.
func (k keys) private(ctx context.Context, id int32) (ed25519.PrivateKey, error) {
	var seed []byte
	err := k.db.QueryRow(ctx, keySQL, id).Scan(&seed)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("orders: read key %d: %w", id, err)
	}
	private, err := k.open(id, seed)
	if err != nil {
		return nil, fmt.Errorf("orders: read key %d: %w", id, err)
	}
	return private, nil
}

const retireKeySQL = `UPDATE ticket_key SET signs = false WHERE signs`

const revokeKeySQL = `UPDATE ticket_key SET signs = false, revoked_at = coalesce(revoked_at, clock_timestamp()) WHERE id = $1`

// NewKey lets another key sign from now on. Codes of the one before are believed until RevokeKey.
func (o *Orders) NewKey(ctx context.Context) error {
	if _, err := o.db.Exec(ctx, retireKeySQL); err != nil {
		return fmt.Errorf("orders: retire a key: %w", err)
	}
	_, err := o.keys.signing(ctx)
	return err
}

// ErrNoTicketKey is a number that no key has.
var ErrNoTicketKey = errors.New("no key has this number")

// RevokeKey ends the trust in every code a key signed, for a key that became known. Order pages show new codes then.
// ErrNoTicketKey if there is none; to revoke one once more changes nothing.
func (o *Orders) RevokeKey(ctx context.Context, id int32) error {
	tag, err := o.db.Exec(ctx, revokeKeySQL, id)
	if err != nil {
		return fmt.Errorf("orders: revoke key %d: %w", id, err)
	}
	if tag.RowsAffected() == 0 {
		return ErrNoTicketKey
	}
	return nil
}

// TicketKey is a key that signs or signed codes of tickets.
type TicketKey struct {
	ID        int32
	MadeAt    time.Time
	Signs     bool
	RevokedAt *time.Time // nil: its codes are believed
}

const ticketKeysSQL = `SELECT id, created_at, signs, revoked_at FROM ticket_key ORDER BY id`

// TicketKeys lists all keys there ever were, the oldest first.
func (o *Orders) TicketKeys(ctx context.Context) ([]TicketKey, error) {
	rows, err := o.db.Query(ctx, ticketKeysSQL)
	if err != nil {
		return nil, fmt.Errorf("orders: list keys: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[TicketKey])
}
