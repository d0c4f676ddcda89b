package waitingroom

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seal"
)

// Kind is one of the two kinds of places.
type Kind uint8

// The kinds of places.
const (
	Lobby Kind = 1 // its number is drawn
	Line  Kind = 2 // its number follows those of the lobby, in the order of joining
)

// Place is a visitor's place in a room. Only the browser stores it, signed.
type Place struct {
	Room  int64
	Epoch int32
	Kind  Kind
	Index int64 // from 1, without gaps
}

const (
	placeVersion = 1
	placeBody    = 1 + 2 + 8 + 4 + 1 + 8 // version, key, room, epoch, kind, index
	placeMAC     = 16
)

// Sign encodes and signs a place for one holder, in 54 letters that fit a cookie.
func (rs *Rooms) Sign(ctx context.Context, p Place, holder seats.ID) (string, error) {
	k, err := rs.keys.signing(ctx)
	if err != nil {
		return "", err
	}
	b := make([]byte, 0, placeBody+placeMAC)
	b = append(b, placeVersion)
	b = binary.BigEndian.AppendUint16(b, k.id)
	b = binary.BigEndian.AppendUint64(b, uint64(p.Room))
	b = binary.BigEndian.AppendUint32(b, uint32(p.Epoch))
	b = append(b, byte(p.Kind))
	b = binary.BigEndian.AppendUint64(b, uint64(p.Index))
	return base64.RawURLEncoding.EncodeToString(append(b, k.mac(b, holder)...)), nil
}

// Read decodes a signed place. ErrNoPlace if it is invalid or another holder's.
func (rs *Rooms) Read(ctx context.Context, text string, holder seats.ID) (Place, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != placeBody+placeMAC || b[0] != placeVersion {
		return Place{}, ErrNoPlace
	}
	k, err := rs.keys.find(ctx, binary.BigEndian.Uint16(b[1:]))
	if err != nil {
		return Place{}, err
	}
	if !hmac.Equal(b[placeBody:], k.mac(b[:placeBody], holder)) {
		return Place{}, ErrNoPlace
	}
	return Place{
		Room:  int64(binary.BigEndian.Uint64(b[3:])),
		Epoch: int32(binary.BigEndian.Uint32(b[11:])),
		Kind:  Kind(b[15]),
		Index: int64(binary.BigEndian.Uint64(b[16:])),
	}, nil
}

// place reads a place of this room and of its epoch.
func (r *Room) place(ctx context.Context, text string, holder seats.ID) (Place, error) {
	p, err := r.rooms.Read(ctx, text, holder)
	if err == nil && (p.Room != r.ID || p.Epoch != r.state.Load().Epoch) {
		err = ErrNoPlace
	}
	return p, err
}

// key signs places, and seals secrets.
type key struct {
	id     uint16
	secret []byte
}

func (k key) mac(body []byte, holder seats.ID) []byte {
	h := hmac.New(sha256.New, k.secret)
	h.Write([]byte("usher/place/v1"))
	h.Write(body)
	h.Write(holder[:])
	return h.Sum(nil)[:placeMAC]
}

// keys are the signing keys of the database. All nodes share them, so that a place stays valid without any of them. A known key
// is found without waiting, also while the database is gone and another request waits for an unknown one.
type keys struct {
	db    seats.DB
	box   *seal.Box  // nil: keys are not sealed
	asked sync.Mutex // held while the database is asked
	known atomic.Pointer[keyring]
}

// keyring is the valid keys of a moment.
type keyring struct {
	by    map[uint16]key
	signs key
	at    time.Time // of this machine's clock
	now   time.Time // of the database's clock then
}

// Secrets is the table of the keys that sign places.
var Secrets = seal.Table{Name: "place_key", Select: sealedKeysSQL, Update: sealKeySQL}

const sealedKeysSQL = `SELECT id::text, secret FROM place_key ORDER BY id FOR UPDATE`

const sealKeySQL = `UPDATE place_key SET secret = $2 WHERE id = $1::text::integer AND secret = $3`

func newKeys(db seats.DB, box *seal.Box) *keys {
	ks := &keys{db: db, box: box}
	ks.known.Store(&keyring{})
	return ks
}

// keysStale is how long an unknown key is not searched again.
const keysStale = time.Second

// signing returns the key that signs; the first use makes it.
func (ks *keys) signing(ctx context.Context) (key, error) {
	ring := ks.known.Load()
	if ring.signs.secret != nil {
		return ring.signs, nil
	}
	ring, err := ks.since(ctx, ring.at)
	if err != nil {
		return key{}, err
	}
	return ring.signs, nil
}

// now is the time by the database's clock. Once the keys are known it needs no question to the database.
func (ks *keys) now(ctx context.Context) (time.Time, error) {
	if _, err := ks.signing(ctx); err != nil {
		return time.Time{}, err
	}
	ring := ks.known.Load()
	return ring.now.Add(time.Since(ring.at)), nil
}

// find returns a valid key. ErrNoPlace if there is none.
func (ks *keys) find(ctx context.Context, id uint16) (key, error) {
	if k, ok := ks.known.Load().by[id]; ok {
		return k, nil
	}
	ring, err := ks.since(ctx, time.Now().Add(-keysStale))
	if err != nil {
		return key{}, err
	}
	if k, ok := ring.by[id]; ok {
		return k, nil
	}
	return key{}, ErrNoPlace
}

// again reloads the keys, if they were loaded before.
func (ks *keys) again(ctx context.Context) error {
	if ks.known.Load().at.IsZero() {
		return nil
	}
	_, err := ks.since(ctx, time.Now())
	return err
}

// since returns the keys as of a moment or later.
func (ks *keys) since(ctx context.Context, moment time.Time) (*keyring, error) {
	ks.asked.Lock()
	defer ks.asked.Unlock()
	if ring := ks.known.Load(); ring.at.After(moment) {
		return ring, nil
	}
	ring, err := readKeys(ctx, ks.db, ks.box)
	if err != nil {
		return nil, fmt.Errorf("waitingroom: read the keys of places: %w", err)
	}
	ks.known.Store(ring)
	return ring, nil
}

// The id comes first, because the key is sealed for it.
const nextKeySQL = `SELECT nextval(pg_get_serial_sequence('place_key', 'id'))::integer`

// If several nodes make the first key at once, one succeeds.
const firstKeySQL = `
INSERT INTO place_key (id, secret) OVERRIDING SYSTEM VALUE VALUES ($1, $2) ON CONFLICT (signs) WHERE signs DO NOTHING`

const keysSQL = `SELECT id, secret, signs, clock_timestamp() FROM place_key WHERE revoked_at IS NULL ORDER BY id`

// readKeys reads the keys, and makes the first one.
func readKeys(ctx context.Context, db seats.DB, box *seal.Box) (*keyring, error) {
	ring, err := knownKeys(ctx, db, box)
	if err != nil || ring.signs.secret != nil {
		return ring, err
	}
	var id int32
	if err := db.QueryRow(ctx, nextKeySQL).Scan(&id); err != nil {
		return nil, err
	}
	if _, err := db.Exec(ctx, firstKeySQL, id, box.Seal(newSecret(), Secrets.Context(id))); err != nil {
		return nil, err
	}
	if ring, err = knownKeys(ctx, db, box); err == nil && ring.signs.secret == nil {
		err = errors.New("no key signs places")
	}
	return ring, err
}

func knownKeys(ctx context.Context, db seats.DB, box *seal.Box) (*keyring, error) {
	ring := &keyring{by: map[uint16]key{}, at: time.Now()}
	rows, err := db.Query(ctx, keysSQL)
	if err != nil {
		return nil, err
	}
	var id int32
	var value []byte
	var signs bool
	_, err = pgx.ForEachRow(rows, []any{&id, &value, &signs, &ring.now}, func() error {
		secret, err := box.Open(value, Secrets.Context(id))
		if err != nil {
			return err
		}
		k := key{uint16(id), bytes.Clone(secret)}
		ring.by[k.id] = k
		if signs {
			ring.signs = k
		}
		return nil
	})
	return ring, err
}

func newSecret() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the program instead
	return b
}

const retireKeysSQL = `
UPDATE place_key SET signs = false, revoked_at = CASE WHEN $1 THEN clock_timestamp() END WHERE signs OR $1 AND revoked_at IS NULL`

const addKeySQL = `INSERT INTO place_key (id, secret) OVERRIDING SYSTEM VALUE VALUES ($1, $2)`

const noteKeySQL = `INSERT INTO control (room_id, who, what, detail) SELECT id, $1, 'key', $2 FROM room WHERE phase <> 'ended'`

// keysChanged is the notification after a change of keys.
const keysChanged = "keys"

// NewKey makes a new key that signs places and invitations from now on, on all nodes. Older signatures stay valid, or, with
// revoke, become invalid: that is for a leaked key. Admitted visitors stay inside, and a committed draw is still made.
func (c Control) NewKey(ctx context.Context, revoke bool) error {
	detail := "older signatures stay valid"
	if revoke {
		detail = "older signatures are revoked"
	}
	err := pgx.BeginFunc(ctx, c.DB, func(tx pgx.Tx) error {
		var id int32
		if err := tx.QueryRow(ctx, nextKeySQL).Scan(&id); err != nil {
			return err
		}
		var q pgx.Batch
		q.Queue(retireKeysSQL, revoke)
		q.Queue(addKeySQL, id, c.Box.Seal(newSecret(), Secrets.Context(id)))
		q.Queue(noteKeySQL, c.Who, detail)
		q.Queue(notifySQL, keysChanged)
		return tx.SendBatch(ctx, &q).Close()
	})
	if err != nil {
		return fmt.Errorf("waitingroom: change the key of places: %w", err)
	}
	return nil
}
