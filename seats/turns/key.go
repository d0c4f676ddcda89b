package turns

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/usherbox/usher/seats/seal"
)

// Secrets is the table of the key by which push services know the box office.
var Secrets = seal.Table{Name: "push_key", Select: sealedKeysSQL, Update: sealKeySQL}

const sealedKeysSQL = `SELECT id::text, secret FROM push_key ORDER BY id FOR UPDATE`

const sealKeySQL = `UPDATE push_key SET secret = $2 WHERE id = $1::text::integer AND secret = $3`

// key is the key pair of the box office, in the form of the Push API.
type key struct{ public, private string }

// If several nodes make the key at once, one succeeds.
const makeKeySQL = `INSERT INTO push_key (id, public, secret) VALUES (1, $1, $2) ON CONFLICT DO NOTHING`

const readKeySQL = `SELECT public, secret FROM push_key WHERE id = 1`

// readKey reads the key of the box office, and makes it the first time.
func (t *Turns) readKey(ctx context.Context) (*key, error) {
	if k := t.key.Load(); k != nil {
		return k, nil
	}
	pair, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("turns: make a push key: %w", err)
	}
	if _, err := t.db.Exec(ctx, makeKeySQL, pair.PublicKey().Bytes(), t.box.Seal(pair.Bytes(), Secrets.Context(1))); err != nil {
		return nil, fmt.Errorf("turns: store the push key: %w", err)
	}
	var public, sealed []byte
	if err := t.db.QueryRow(ctx, readKeySQL).Scan(&public, &sealed); err != nil {
		return nil, fmt.Errorf("turns: read the push key: %w", err)
	}
	private, err := t.box.Open(sealed, Secrets.Context(1))
	if err != nil {
		return nil, fmt.Errorf("turns: open the push key: %w", err)
	}
	k := &key{base64.RawURLEncoding.EncodeToString(public), base64.RawURLEncoding.EncodeToString(private)}
	t.key.Store(k)
	return k, nil
}

// keyWithin is how long a page waits for the key: it works without the database.
const keyWithin = 2 * time.Second

// PublicKey is what browsers subscribe with, in base64url. It is empty while the database is away and the key was not read
// before, and while another request reads it.
func (t *Turns) PublicKey(ctx context.Context) string {
	if k := t.key.Load(); k != nil {
		return k.public
	}
	if !t.reading.TryLock() {
		return ""
	}
	defer t.reading.Unlock()
	ctx, cancel := context.WithTimeout(ctx, keyWithin)
	defer cancel()
	k, err := t.readKey(ctx)
	if err != nil {
		t.log.Warn("the push key cannot be read; pages offer no push messages meanwhile", "error", err)
		return ""
	}
	return k.public
}
