package gate

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Kind is which of the two ways into a room a place is of.
type Kind uint8

// The kinds of places.
const (
	Lobby Kind = 1 // its number is drawn
	Line  Kind = 2 // its number follows those of the lobby, in the order of coming
)

// Place is what somebody who waits has: nothing of it is stored, a browser keeps it.
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

// Sign writes a place down for the one holder it is good for, in 54 letters that fit a cookie.
func (g *Gate) Sign(ctx context.Context, p Place, holder seats.ID) (string, error) {
	k, err := g.keys.signing(ctx)
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

// Read reads what Sign wrote. ErrNoPlace if it is another holder's or nobody's.
func (g *Gate) Read(ctx context.Context, text string, holder seats.ID) (Place, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != placeBody+placeMAC || b[0] != placeVersion {
		return Place{}, ErrNoPlace
	}
	k, err := g.keys.find(ctx, binary.BigEndian.Uint16(b[1:]))
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
	p, err := r.gate.Read(ctx, text, holder)
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

// keys are those of the house. They are the same on all nodes, so that a place outlives all of them.
type keys struct {
	db seats.DB

	mu     sync.Mutex
	known  map[uint16]key
	newest key // the one that signs
	read   time.Time
}

// keysStale is how long nobody asks again for a key that is not there.
const keysStale = time.Second

func (ks *keys) signing(ctx context.Context) (key, error) {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	if ks.newest.secret == nil {
		if err := ks.load(ctx); err != nil {
			return key{}, err
		}
	}
	return ks.newest, nil
}

func (ks *keys) find(ctx context.Context, id uint16) (key, error) {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	if k, ok := ks.known[id]; ok {
		return k, nil
	}
	if time.Since(ks.read) < keysStale {
		return key{}, ErrNoPlace
	}
	if err := ks.load(ctx); err != nil {
		return key{}, err
	}
	if k, ok := ks.known[id]; ok {
		return k, nil
	}
	return key{}, ErrNoPlace
}

const firstKeySQL = `
INSERT INTO place_key (secret) SELECT $1 WHERE NOT EXISTS (SELECT FROM place_key WHERE signs) ON CONFLICT (signs) WHERE signs DO NOTHING`

const keysSQL = `SELECT id, secret, signs FROM place_key WHERE revoked_at IS NULL ORDER BY id`

// load reads the keys, and makes the first one.
func (ks *keys) load(ctx context.Context) error {
	var q pgx.Batch
	q.Queue(firstKeySQL, newSecret())
	known, newest := map[uint16]key{}, key{}
	q.Queue(keysSQL).Query(func(rows pgx.Rows) error {
		var id int32
		var secret []byte
		var signs bool
		_, err := pgx.ForEachRow(rows, []any{&id, &secret, &signs}, func() error {
			k := key{uint16(id), secret}
			known[k.id] = k
			if signs {
				newest = k
			}
			secret = nil
			return nil
		})
		return err
	})
	if err := ks.db.SendBatch(ctx, &q).Close(); err != nil {
		return fmt.Errorf("gate: read the keys of places: %w", err)
	}
	if newest.secret == nil {
		return errors.New("gate: no key signs places")
	}
	ks.known, ks.newest, ks.read = known, newest, time.Now()
	return nil
}

func newSecret() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the program instead
	return b
}

const retireKeySQL = `UPDATE place_key SET signs = false WHERE signs`

const addKeySQL = `INSERT INTO place_key (secret) VALUES ($1)`

// RotateKey makes another key sign places from now on. Those signed before are still good.
func RotateKey(ctx context.Context, db seats.DB) error {
	err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, retireKeySQL); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, addKeySQL, newSecret())
		return err
	})
	if err != nil {
		return fmt.Errorf("gate: change the key of places: %w", err)
	}
	return nil
}
