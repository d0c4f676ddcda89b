package publiclog

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/text"
)

// ErrNone says that an event has no log, or not such a tile.
var ErrNone = errors.New("there is no such part of a public log")

// EntriesLevel is the level of a bundle of leaves.
const EntriesLevel = -1

// ParseTile reads the address of a tile after "tile/", such as 0/x001/067 or entries/000.p/12.
func ParseTile(path string) (level int, n int64, width int, ok bool) {
	if rest, bundle := strings.CutPrefix(path, "entries/"); bundle {
		path = "data/" + rest
	} else if strings.HasPrefix(path, "data/") {
		return 0, 0, 0, false
	}
	t, err := tlog.ParseTilePath("tile/8/" + path)
	return t.L, t.N, t.W, err == nil
}

const publishedSQL = `SELECT enabled, origin, verifier, size, checkpoint, signed_at FROM public_log WHERE event_id = $1 AND enabled AND size > 0`

// Published returns the log of an event as anybody sees it. Errors: ErrNone; the database's.
func (l *Logs) Published(ctx context.Context, event int64) (found Log, err error) {
	var signed *time.Time
	err = l.db.QueryRow(ctx, publishedSQL, event).Scan(&found.Enabled, &found.Origin, &found.Verifier, &found.Size, &found.Checkpoint, &signed)
	if signed != nil {
		found.SignedAt = *signed
	}
	return found, none("read a log", err)
}

// How long a page may be wrong about whether an event has a log, or has none.
const (
	hasFor  = 10 * time.Second
	lacksIt = time.Second
)

type known struct {
	is    bool
	until time.Time
}

// Has reports whether an event has a public log, as it was some seconds ago. It is for pages that many people open.
func (l *Logs) Has(ctx context.Context, event int64) bool {
	if k, ok := l.known.Load(event); ok && time.Now().Before(k.(known).until) {
		return k.(known).is
	}
	_, err := l.Published(ctx, event)
	switch {
	case err == nil:
		l.known.Store(event, known{true, time.Now().Add(hasFor)})
	case errors.Is(err, ErrNone):
		l.known.Store(event, known{false, time.Now().Add(lacksIt)})
	}
	return err == nil
}

const checkpointSQL = `
SELECT CASE WHEN cosigned_size = size THEN cosigned ELSE checkpoint END, verifier FROM public_log WHERE event_id = $1 AND enabled AND size > 0`

// Checkpoint returns the newest signed root of an event's log, with the signatures of witnesses that are there, and the key that verifies it.
// Errors: ErrNone; the database's.
func (l *Logs) Checkpoint(ctx context.Context, event int64) (signed, verifier string, err error) {
	err = l.db.QueryRow(ctx, checkpointSQL, event).Scan(&signed, &verifier)
	if list := Checkpoints(signed); len(list) > 0 {
		signed = list[0] // others are older
	}
	return signed, verifier, none("read a checkpoint", err)
}

const newestCosignedSQL = `SELECT cosigned FROM public_log WHERE event_id = $1 AND enabled AND cosigned_size > 0`

// Cosigned returns the newest root that a witness cosigned, with all signatures, and after an empty line the newest of each witness that has not
// cosigned that one. Errors: ErrNone; the database's.
func (l *Logs) Cosigned(ctx context.Context, event int64) (signed string, err error) {
	err = l.db.QueryRow(ctx, newestCosignedSQL, event).Scan(&signed)
	return signed, none("read a cosigned root", err)
}

func none(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrNoRows):
		return ErrNone
	}
	return fmt.Errorf("public log: %s: %w", what, err)
}

// Width is how many hashes or leaves a full tile has.
const Width = tileWidth

// A tile may be asked for as it was when it had fewer hashes.
const tileSQL = `
SELECT substr(t.hashes, 1, $4 * 32) FROM public_log_tile t JOIN public_log l USING (event_id)
 WHERE event_id = $1 AND t.level = $2 AND t.n = $3 AND octet_length(t.hashes) >= $4 * 32 AND l.enabled`

// Tile returns the first hashes of a tile. Errors: ErrNone; the database's.
func (l *Logs) Tile(ctx context.Context, event int64, level int, n int64, width int) (hashes []byte, err error) {
	err = l.db.QueryRow(ctx, tileSQL, event, level, n, width).Scan(&hashes)
	return hashes, none("read a tile", err)
}

const bundleSQL = `
SELECT l.origin, l.secret, t.version, t.part FROM public_log_tile t JOIN public_log l USING (event_id)
 WHERE event_id = $1 AND t.level = 0 AND t.n = $2 AND octet_length(t.hashes) >= $3 * 32 AND l.enabled`

const notesSQL = `SELECT leaf, at, text FROM public_log_statement WHERE event_id = $1 AND leaf >= $2 AND leaf < $3`

// Entries returns the first leaves of a bundle, each with its length before it. They are made from the change log. Errors: ErrNone; the database's.
func (l *Logs) Entries(ctx context.Context, event, n int64, width int) (bundle []byte, err error) {
	var origin string
	var sealed []byte
	var version int64
	var part int
	if err := l.db.QueryRow(ctx, bundleSQL, event, n, width).Scan(&origin, &sealed, &version, &part); err != nil {
		return nil, none("read a bundle", err)
	}
	s, err := l.open(event, sealed, origin)
	if err != nil {
		return nil, err
	}
	select { // a bundle of versions with thousands of seats has megabytes
	case l.making <- struct{}{}:
		defer func() { <-l.making }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	from, to := n*tileWidth, n*tileWidth+int64(width)
	notes, err := l.notes(ctx, event, from, to)
	if err != nil {
		return nil, err
	}
	after := version - 1
	for last := false; from < to && !last; {
		var list []seats.Change
		var r *rules
		if list, r, last, err = versions(ctx, l.db, event, after); err != nil {
			return nil, none("make a bundle", err)
		}
		for i := 0; i < len(list) && from < to; i++ {
			leaves := leavesOf(&list[i], r.at(list[i].Version), s)
			for _, leaf := range leaves[min(part, len(leaves)):] {
				bundle, from = appendNotes(bundle, notes, from)
				if from == to {
					break
				}
				bundle, from = appendLeaf(bundle, &leaf), from+1
			}
			after, part = list[i].Version, 0
		}
	}
	if bundle, from = appendNotes(bundle, notes, from); from < to {
		return nil, fmt.Errorf("public log: make bundle %d of event %d: the change log ends before leaf %d", n, event, from)
	}
	return bundle, nil
}

// appendNotes appends the statements that are at a leaf, and returns the leaf after them.
func appendNotes(bundle []byte, notes map[int64]*Leaf, leaf int64) ([]byte, int64) {
	for ; notes[leaf] != nil; leaf++ {
		bundle = appendLeaf(bundle, notes[leaf])
	}
	return bundle, leaf
}

func appendLeaf(bundle []byte, l *Leaf) []byte {
	at := len(bundle)
	bundle = l.Append(append(bundle, 0, 0))
	binary.BigEndian.PutUint16(bundle[at:], uint16(len(bundle)-at-2))
	return bundle
}

func (l *Logs) notes(ctx context.Context, event, from, to int64) (map[int64]*Leaf, error) {
	rows, _ := l.db.Query(ctx, notesSQL, event, from, to) // ForEachRow returns its error
	notes := map[int64]*Leaf{}
	var leaf int64
	var at time.Time
	var said string
	_, err := pgx.ForEachRow(rows, []any{&leaf, &at, &said}, func() error {
		notes[leaf] = &Leaf{Kind: Statement, At: at.UnixMicro(), Text: said}
		return nil
	})
	return notes, none("read statements", err)
}

// Proof is what the owner of a ticket shows that its sale is in the log.
type Proof struct {
	Leaf  int64
	Code  string // the leaf and the beginning of its hash, for people
	Salt  Salt   // opens the commitment to the order
	Order seats.ID
	Seat  int
}

// String is the whole proof, as "usher audit --ticket" and the page of the log read it.
func (p Proof) String() string { return fmt.Sprintf("%s.%d.%x.%v", p.Code, p.Seat, p.Salt[:], p.Order) }

// The leaf that sold a seat the last time, if it sold it to this order.
const proofsSQL = `
SELECT s.idx, s.leaf, s.version, substr(t.hashes, (s.leaf % 256)::integer * 32 + 1, 32), l.origin, l.secret
  FROM public_log l JOIN public_log_seat s USING (event_id)
  JOIN public_log_tile t ON t.event_id = s.event_id AND t.level = 0 AND t.n = s.leaf / 256
  JOIN change c ON c.event_id = s.event_id AND c.version = s.version
 WHERE l.event_id = $1 AND l.enabled AND s.idx = ANY ($2::integer[]) AND c.holder[array_position(c.idx, s.idx)] = $3`

// Proofs returns the proof of each of an order's seats that is in the log; a sale is there about a second after it.
func (l *Logs) Proofs(ctx context.Context, event int64, order seats.ID, idxs []int) (map[int]Proof, error) {
	rows, _ := l.db.Query(ctx, proofsSQL, event, idxs, order) // ForEachRow returns its error
	proofs := map[int]Proof{}
	var s *secret
	p := Proof{Order: order}
	var version int64
	var hash, sealed []byte
	var origin string
	_, err := pgx.ForEachRow(rows, []any{&p.Seat, &p.Leaf, &version, &hash, &origin, &sealed}, func() (err error) {
		if s == nil {
			if s, err = l.open(event, sealed, origin); err != nil {
				return err
			}
		}
		p.Code, p.Salt = Code(p.Leaf, hash), s.row(version).salt(int32(p.Seat))
		proofs[p.Seat] = p
		return nil
	})
	return proofs, none("prove seats of an order", err)
}

// codeBytes is how much of a leaf's hash its code has.
const codeBytes = 10

// Code is the code of a leaf: its index, and the first 80 bits of its hash in groups of four letters.
func Code(leaf int64, hash []byte) string {
	b := []byte(strconv.FormatInt(leaf, 10))
	for i, c := range []byte(seal.Letters.EncodeToString(hash[:codeBytes])) {
		if i%4 == 0 {
			b = append(b, '-')
		}
		b = append(b, c)
	}
	return string(b)
}

// ParseCode reads a code as people type it: the index, and what the hash begins with.
func ParseCode(code string) (leaf int64, begins []byte, ok bool) {
	index, letters, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(code)), "-")
	letters = strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1").Replace(letters)
	leaf, err := strconv.ParseInt(index, 10, 64)
	begins, err2 := seal.Letters.DecodeString(letters)
	return leaf, begins, err == nil && err2 == nil && leaf >= 0 && len(begins) == codeBytes
}

// Log is the log of an event as its organizers see it.
type Log struct {
	Enabled    bool
	Origin     string // empty: it has not begun
	Verifier   string
	Size       int64
	Checkpoint string
	SignedAt   time.Time
}

const logSQL = `SELECT enabled, origin, verifier, size, checkpoint, signed_at FROM public_log WHERE event_id = $1`

// Log returns the log of an event of a member's team. One that has not begun is enabled.
func (l *Logs) Log(ctx context.Context, m organizers.Member, event int64) (found Log, err error) {
	var signed *time.Time
	err = l.desk.As(ctx, m, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, logSQL, event).Scan(&found.Enabled, &found.Origin, &found.Verifier, &found.Size, &found.Checkpoint, &signed)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Log{Enabled: true}, nil
	case err != nil:
		return found, fmt.Errorf("public log: read the log of event %d: %w", event, err)
	}
	if signed != nil {
		found.SignedAt = *signed
	}
	return found, nil
}

const switchSQL = `UPDATE public_log SET enabled = $2 WHERE event_id = $1 AND enabled <> $2`

// Switch publishes the log of an event, or hides it. A log that is published again goes on where it was, without a gap.
//
// Errors: those of a form that is done once; the database's.
func (l *Logs) Switch(ctx context.Context, m organizers.Member, key string, e seats.Event, on bool) error {
	if err := l.begin(ctx, e.ID); err != nil {
		return err
	}
	err := l.desk.Change(ctx, m, key, []any{"public log", e.ID, on}, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, switchSQL, e.ID, on)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		what := text.Mark("published the log of an event")
		if !on {
			what = text.Mark("stopped the public log of an event")
		}
		return organizers.Note(ctx, tx, m, what, "events/"+e.Slug, nil)
	})
	if err != nil {
		return fmt.Errorf("public log: switch the log of event %d: %w", e.ID, err)
	}
	l.job.WakeFor(strconv.FormatInt(e.ID, 10))
	return nil
}
