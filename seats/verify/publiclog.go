package verify

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// publicLog is the public log of an event (docs/audit-log.md) as it is stored, and what the change log makes of it. In memory is a digest for each
// tile of 256 leaves, and the leaf that sold each seat.
type publicLog struct {
	size, version                int64
	origin, verifier, checkpoint string
	salts, rows                  hash.Hash        // the salts of a version, and of its seats, follow from it
	notes                        map[int64][]byte // statements, by leaf
	stored                       map[int64]stored // tiles of level 0, by number
	root                         *tlog.Hash       // of the stored tiles; nil if they make none

	next    int64 // the leaf that follows those that were made
	last    int64 // the version that the last of them is of
	term    int   // the rules that the log has come to, in books.terms
	seats   int   // that were there with them
	buffer  []byte
	tile    []byte  // hashes of leaves, from the last full tile on
	of      []int64 // the version of each; statement
	first   int64   // the place of the first one in the change log
	part    int
	noted   int // statements that were met
	sold    map[int32]place
	strange []strange // tiles of other leaves: the first ten
	more    int       // and how many there are besides
}

// stored is a tile of level 0: what its hashes come to, and the place of its first leaf in the change log.
type stored struct {
	sum     [sha256.Size]byte
	bytes   int
	version int64
	part    int
}

// strange is a tile that has other leaves than the change log makes.
type strange struct {
	n      int64
	hashes []byte // as they ought to be
	of     []int64
}

// place is the leaf of a version.
type place struct{ leaf, version int64 }

// statement stands for the version of a leaf that is no change.
const statement = -1

const (
	hashBytes = tlog.HashSize
	tileWidth = 256 // hashes
	levelBits = 8
)

const publicLogSQL = `SELECT size, version, origin, verifier, checkpoint, secret FROM public_log WHERE event_id = $1`

const statementsSQL = `SELECT leaf, at, text FROM public_log_statement WHERE event_id = $1`

// readPublicLog reads the log of the event, if there is one, and holds its tiles and its checkpoint against H2.
func (b *books) readPublicLog(ctx context.Context, tx pgx.Tx) error {
	p := &publicLog{notes: map[int64][]byte{}, stored: map[int64]stored{}, sold: map[int32]place{}, last: statement, term: -1, seats: b.seats}
	var secret []byte
	err := tx.QueryRow(ctx, publicLogSQL, b.id).Scan(&p.size, &p.version, &p.origin, &p.verifier, &p.checkpoint, &secret)
	switch {
	case errors.Is(err, pgx.ErrNoRows), err == nil && p.size == 0 && p.version < 0:
		return nil // it has not begun
	case err != nil:
		return err
	case p.size < 0:
		b.broken(h2, none, "its public log has %d leaves", p.size)
		return nil
	}
	if secret, err = b.box.Open(secret, fmt.Sprint("public_log/", b.id)); err != nil {
		return err
	}
	for _, t := range b.terms {
		p.seats -= t.added
	}
	p.salts = hmac.New(sha256.New, derived(secret, "usher-log/salts/v1"))
	p.rows = sha256.New()
	b.public = p
	if err := b.checkTiles(ctx, tx); err != nil {
		return err
	}
	b.checkCheckpoint(ed25519.NewKeyFromSeed(derived(secret, "usher-log/key/v1")))
	return p.readStatements(ctx, tx, b.id)
}

func derived(secret []byte, what string) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(what)) // never fails
	return h.Sum(nil)
}

func (p *publicLog) readStatements(ctx context.Context, tx pgx.Tx, event int64) error {
	rows, err := tx.Query(ctx, statementsSQL, event)
	if err != nil {
		return err
	}
	var leaf int64
	var at time.Time
	var text string
	_, err = pgx.ForEachRow(rows, []any{&leaf, &at, &text}, func() error {
		p.notes[leaf] = append(number([]byte{2}, at.UnixMicro()), text...)
		return nil
	})
	return err
}

// checkCheckpoint holds the signed root against the tiles and the key: H2.
func (b *books) checkCheckpoint(key ed25519.PrivateKey) {
	p := b.public
	if want, err := note.NewEd25519VerifierKey(p.origin, key.Public().(ed25519.PublicKey)); err != nil || want != p.verifier {
		b.broken(h2, none, "the key %q of its public log does not belong to its secret", p.verifier)
		return
	}
	verifier, err := note.NewVerifier(p.verifier)
	if err != nil {
		b.broken(h2, none, "the key %q of its public log is none: %v", p.verifier, err)
		return
	}
	opened, err := note.Open([]byte(p.checkpoint), note.VerifierList(verifier))
	switch {
	case err != nil:
		b.broken(h2, none, "the checkpoint of its public log is not signed by its key: %v", err)
	case p.root == nil: // a tile is not there, which was told
	case opened.Text != fmt.Sprintf("%s\n%d\n%s\n", p.origin, p.size, p.root):
		b.broken(h2, none, "the checkpoint of its public log signs %q; its %d leaves have the root %s", opened.Text, p.size, p.root)
	}
}

// tiles are those of a log, level by level.
type tiles struct {
	*books
	level       int
	seen        int64               // tiles of this level
	below, here map[int64]tlog.Hash // roots of full tiles: of the level below, and of this one
	edge        [][]byte            // by level, the hashes of the tile that is not full
	wrong       bool
}

const tilesSQL = `SELECT level, n, hashes, version, part FROM public_log_tile WHERE event_id = $1 ORDER BY level, n`

// checkTiles holds every tile against those below it, and finds the root of all.
func (b *books) checkTiles(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, tilesSQL, b.id)
	if err != nil {
		return err
	}
	t := &tiles{books: b, here: map[int64]tlog.Hash{}, edge: [][]byte{nil}}
	var level, part int
	var n, version int64
	var hashes []byte
	_, err = pgx.ForEachRow(rows, []any{&level, &n, &hashes, &version, &part}, func() error {
		for t.level < level {
			t.climb()
		}
		if have := t.hashes(); level < 0 || n < 0 || n > (have-1)/tileWidth || have == 0 {
			t.say("tile %d of level %d of its public log is beyond its %d leaves", n, level, b.public.size)
			return nil
		}
		t.check(n, hashes)
		if level == 0 {
			b.public.stored[n] = stored{sha256.Sum256(hashes), len(hashes), version, part}
		}
		return nil
	})
	for t.hashes() > 0 {
		t.climb()
	}
	if !t.wrong && b.public.size > 0 {
		b.public.root = rootOf(t.edge)
	}
	return err
}

func (t *tiles) say(what string, args ...any) {
	t.wrong = true
	t.broken(h2, none, what, args...)
}

// hashes is how many the level at hand has.
func (t *tiles) hashes() int64 { return t.public.size >> (levelBits * t.level) }

// climb goes one level up.
func (t *tiles) climb() {
	if want := (t.hashes() + tileWidth - 1) / tileWidth; t.seen < want {
		t.say("of %d tiles of level %d of its public log %d are missing", want, t.level, want-t.seen)
	}
	t.level, t.seen, t.below, t.here = t.level+1, 0, t.here, map[int64]tlog.Hash{}
	t.edge = append(t.edge, nil)
}

func (t *tiles) check(n int64, hashes []byte) {
	t.seen++
	if want := min(tileWidth, t.hashes()-n*tileWidth) * hashBytes; int64(len(hashes)) != want {
		t.say("tile %d of level %d of its public log has %d bytes, and a tree of %d leaves needs %d", n, t.level, len(hashes), t.public.size, want)
		return
	}
	for i := int64(0); t.level > 0 && i*hashBytes < int64(len(hashes)); i++ {
		below, there := t.below[n*tileWidth+i]
		if there && below != tlog.Hash(hashes[i*hashBytes:][:hashBytes]) {
			t.say("tile %d of level %d of its public log has another hash than tile %d below it", n, t.level, n*tileWidth+i)
		}
	}
	if len(hashes) < tileWidth*hashBytes {
		t.edge[t.level] = hashes
		return
	}
	t.here[n] = *rootOf([][]byte{hashes})
}

// rootOf is the Merkle tree hash (RFC 6962, section 2.1) over the tiles at the right edge of a tree, the lowest level first.
func rootOf(edge [][]byte) (root *tlog.Hash) {
	for _, hashes := range edge {
		n := len(hashes) / hashBytes
		for width := 1; n > 0; width *= 2 {
			if n&width == 0 {
				continue
			}
			n -= width
			tree := perfect(hashes[n*hashBytes:][:width*hashBytes])
			if root != nil {
				tree = tlog.NodeHash(tree, *root)
			}
			root = &tree
		}
	}
	return root
}

// perfect is the hash over a power of two of hashes.
func perfect(hashes []byte) tlog.Hash {
	if len(hashes) == hashBytes {
		return tlog.Hash(hashes)
	}
	half := len(hashes) / 2
	return tlog.NodeHash(perfect(hashes[:half]), perfect(hashes[half:]))
}
