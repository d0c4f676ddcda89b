package publiclog

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/seal"
)

// Logs are the public logs of all events, for one node.
type Logs struct {
	db   *pgxpool.Pool
	desk *organizers.Desk
	box  *seal.Box
	home string
	job  *jobs.Job

	witnesses *witnesses // nil: none

	making chan struct{} // bundles at once
	known  sync.Map      // by event: known

	mu        sync.Mutex
	changed   map[int64]bool // events that changed and were not looked at since
	following bool
}

// The logs that have something to add, for package jobs. A draft is no event yet, and a test sale is none. It reads the counter of each event, so
// nodes ask for those events that changed on them (dueOfSQL) while something sells, and for all of them when another node may have died.
const dueSQL = `
SELECT c.event_id::text, coalesce(l.signed_at + interval '1 second', '-infinity')
  FROM counter c JOIN event e ON e.id = c.event_id
  LEFT JOIN public_log l ON l.event_id = c.event_id
  LEFT JOIN room r ON r.id = e.room_id
 WHERE e.status <> 'draft' AND e.test_of IS NULL AND coalesce(l.enabled, true)
   AND (l.event_id IS NULL OR l.version < c.version OR r.commitment IS NOT NULL AND r.commitment IS DISTINCT FROM l.draw)`

const dueOfSQL = dueSQL + ` AND c.event_id = ANY ($1::text[]::bigint[])`

const bundlesAtOnce = 4

// New returns the logs of a house, which is reached at home, such as https://tickets.example.org.
func New(db *pgxpool.Pool, desk *organizers.Desk, home string) *Logs {
	l := &Logs{db: db, desk: desk, home: withoutScheme(home), making: make(chan struct{}, bundlesAtOnce), changed: map[int64]bool{}}
	l.job = jobs.New("public logs of sales", dueSQL, l.extend)
	l.job.DueOf, l.job.AtOnce = dueOfSQL, 2
	return l
}

// Path is the page of the public log of an event, and the prefix of its files.
func Path(slug string) string { return "/events/" + slug + "/log" }

func withoutScheme(address string) string {
	_, rest, found := strings.Cut(address, "://")
	if !found {
		rest = address
	}
	return strings.TrimSuffix(rest, "/")
}

// SealWith has secrets sealed with a key outside the database. Call it before anything else.
func (l *Logs) SealWith(box *seal.Box) { l.box = box }

// Job is the job that appends changes to logs.
func (l *Logs) Job() *jobs.Job { return l.job }

// Jobs are all jobs of logs.
func (l *Logs) Jobs() []*jobs.Job {
	if l.witnesses == nil {
		return []*jobs.Job{l.job}
	}
	return []*jobs.Job{l.job, l.witnesses.job, jobs.Hourly("find logs that a new witness has not cosigned", l.findNewWitnesses)}
}

// Follow makes this node look at an event, at most once a second. It returns at once. Call it after a change of the event was committed.
func (l *Logs) Follow(event int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changed[event] = true
	if !l.following {
		l.follow()
	}
}

// follow looks at what changed, and again in a second. The caller holds l.mu.
func (l *Logs) follow() {
	if l.following = len(l.changed) > 0; !l.following {
		return
	}
	keys := make([]string, 0, len(l.changed))
	for event := range l.changed {
		keys = append(keys, strconv.FormatInt(event, 10))
	}
	clear(l.changed)
	l.job.WakeFor(keys...)
	time.AfterFunc(time.Second, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.follow()
	})
}

// mostVersions is how many versions one checkpoint adds at most: more are added by the next ones.
const mostVersions = 8192

// head is a log as it stands.
type head struct {
	event   int64
	origin  string
	sealed  []byte
	size    int64
	version int64
	at      *time.Time
	presale bool
	draw    []byte
}

// One node at a time: the row is locked until the checkpoint is stored.
const lockSQL = `
SELECT l.origin, l.secret, l.size, l.version, l.at, l.presale, l.draw FROM public_log l
 WHERE l.event_id = $1 AND l.enabled AND (l.signed_at IS NULL OR l.signed_at <= clock_timestamp() - interval '1 second')
   FOR NO KEY UPDATE SKIP LOCKED`

// extend appends what is new in one event's change log, and signs. It returns 0 if another node does, or nothing is due.
func (l *Logs) extend(ctx context.Context, key string) (n int, err error) {
	event, err := strconv.ParseInt(key, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("public log: %w", err)
	}
	if err := l.begin(ctx, event); err != nil {
		return 0, err
	}
	err = pgx.BeginFunc(ctx, l.db, func(tx pgx.Tx) error {
		h := head{event: event}
		err := tx.QueryRow(ctx, lockSQL, event).Scan(&h.origin, &h.sealed, &h.size, &h.version, &h.at, &h.presale, &h.draw)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err == nil {
			n, err = l.grow(ctx, tx, h)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("public log: extend the log of event %d: %w", event, err)
	}
	if n > 0 && l.witnesses != nil {
		l.witnesses.job.WakeFor(key)
	}
	return n, nil
}

// growth is what one checkpoint adds.
type growth struct {
	head
	secret *secret
	tree   *tree
	notes  []statement
	sold   map[int32]place // by seat
	buffer []byte
}

// place is where a version is in the log.
type place struct{ leaf, version int64 }

func (l *Logs) grow(ctx context.Context, tx pgx.Tx, h head) (int, error) {
	secret, err := l.open(h.event, h.sealed, h.origin)
	if err != nil {
		return 0, err
	}
	edge, err := readEdge(ctx, tx, h.event, h.size)
	if err != nil {
		return 0, err
	}
	waiting, err := readStatements(ctx, tx, &h)
	if err != nil {
		return 0, err
	}
	g := &growth{head: h, secret: secret, tree: newTree(h.size, edge), sold: map[int32]place{}}
	last := false
	for read := 0; !last && read < mostVersions; read += versionsAtOnce {
		var list []seats.Change
		var r *rules
		if list, r, last, err = versions(ctx, tx, h.event, g.version); err != nil {
			return 0, err
		}
		for i := range list {
			waiting = g.state(waiting, &list[i].At)
			g.add(&list[i], r.at(list[i].Version))
		}
	}
	if last {
		g.state(waiting, nil)
	}
	if g.tree.size == h.size {
		return 0, nil
	}
	return int(g.tree.size - h.size), g.write(ctx, tx)
}

// add appends the leaves of a version.
func (g *growth) add(c *seats.Change, rules *Rules) {
	for _, leaf := range leavesOf(c, rules, g.secret) {
		for _, e := range leaf.Entries {
			if seats.State(e.State) == seats.Sold {
				g.sold[int32(e.Seat)] = place{g.tree.size, c.Version}
			}
		}
		g.buffer = leaf.Append(g.buffer[:0])
		g.tree.add(g.buffer, c.Version, int(leaf.Part))
	}
	g.version, g.at = c.Version, &c.At
}

// statement is a leaf that is no change.
type statement struct {
	leaf int64
	at   time.Time
	text string
}

// state appends the statements that were made until a time, or all, and returns the rest.
func (g *growth) state(waiting []statement, until *time.Time) []statement {
	for len(waiting) > 0 && (until == nil || !waiting[0].at.After(*until)) && g.tree.size > 0 {
		s := waiting[0]
		if s.at.Before(*g.at) {
			s.at = *g.at
		}
		s.leaf, g.at = g.tree.size, &s.at
		leaf := Leaf{Kind: Statement, At: s.at.UnixMicro(), Text: s.text}
		g.tree.add(leaf.Append(nil), g.version+1, 0)
		g.notes, waiting = append(g.notes, s), waiting[1:]
	}
	return waiting
}

const edgeSQL = `
SELECT t.level, t.n, t.hashes, t.version, t.part
  FROM unnest($2::smallint[], $3::bigint[]) AS e(level, n), LATERAL (SELECT * FROM public_log_tile WHERE event_id = $1 AND level = e.level AND n = e.n OFFSET 0) t`

// readEdge reads the tiles of a tree that are not full.
func readEdge(ctx context.Context, tx pgx.Tx, event, size int64) (list []*tile, err error) {
	levels, numbers := edgeOf(size)
	rows, err := tx.Query(ctx, edgeSQL, event, levels, numbers)
	if err != nil {
		return nil, err
	}
	list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (*tile, error) {
		t := &tile{}
		return t, row.Scan(&t.level, &t.n, &t.hashes, &t.version, &t.part)
	})
	if err != nil {
		return nil, err
	}
	for _, t := range list {
		if have := size >> (tileHeight * t.level) % tileWidth; int64(len(t.hashes)) != have*hashSize {
			return nil, fmt.Errorf("tile %d of level %d has %d bytes; a tree of %d leaves needs %d hashes", t.n, t.level, len(t.hashes), size, have)
		}
	}
	if len(list) != len(levels) {
		return nil, fmt.Errorf("%d tiles at the edge of a tree of %d leaves; there are %d", len(levels), size, len(list))
	}
	return list, nil
}

// What is due to be stated: presale codes, and the commitment of the draw of the event's waiting room.
const statementsSQL = `
SELECT p.at, r.slug, r.epoch, r.commitment, r.committed_at
  FROM event e
  LEFT JOIN room r ON r.id = e.room_id AND r.commitment IS NOT NULL AND r.commitment IS DISTINCT FROM $3::bytea,
       LATERAL (SELECT min(created_at) AS at FROM code WHERE event_id = $1 AND presale AND NOT $2::boolean) p
 WHERE e.id = $1`

func readStatements(ctx context.Context, tx pgx.Tx, h *head) (list []statement, err error) {
	var presale, committed *time.Time
	var room *string
	var epoch *int32
	var commitment []byte
	if err := tx.QueryRow(ctx, statementsSQL, h.event, h.presale, h.draw).Scan(&presale, &room, &epoch, &commitment, &committed); err != nil {
		return nil, err
	}
	if presale != nil {
		h.presale = true
		list = append(list, statement{at: *presale, text: "presale\n"})
	}
	if commitment != nil {
		h.draw = commitment
		list = append(list, statement{at: *committed, text: fmt.Sprintf("draw\nroom %s\nepoch %d\ncommitment %s\n", *room, *epoch, hex.EncodeToString(commitment))})
	}
	slices.SortStableFunc(list, func(a, b statement) int { return a.at.Compare(b.at) })
	return list, nil
}

const writeTilesSQL = `
INSERT INTO public_log_tile (event_id, level, n, hashes, version, part)
SELECT $1, * FROM unnest($2::smallint[], $3::bigint[], $4::bytea[], $5::bigint[], $6::integer[])
    ON CONFLICT (event_id, level, n) DO UPDATE SET hashes = excluded.hashes`

const writeNotesSQL = `INSERT INTO public_log_statement (event_id, leaf, at, text) SELECT $1, * FROM unnest($2::bigint[], $3::timestamptz[], $4::text[])`

const writeSoldSQL = `
INSERT INTO public_log_seat (event_id, idx, leaf, version) SELECT $1, * FROM unnest($2::integer[], $3::bigint[], $4::bigint[])
    ON CONFLICT (event_id, idx) DO UPDATE SET leaf = excluded.leaf, version = excluded.version`

const signSQL = `
UPDATE public_log SET size = $2, version = $3, at = $4, presale = $5, draw = $6, checkpoint = $7, signed_at = clock_timestamp() WHERE event_id = $1`

// write stores what was added and the signed root of it.
func (g *growth) write(ctx context.Context, tx pgx.Tx) error {
	var q pgx.Batch
	tiles := g.tree.changed()
	levels, numbers, hashes := make([]int16, len(tiles)), make([]int64, len(tiles)), make([][]byte, len(tiles))
	first, parts := make([]int64, len(tiles)), make([]int32, len(tiles))
	for i, t := range tiles {
		levels[i], numbers[i], hashes[i], first[i], parts[i] = int16(t.level), t.n, t.hashes, t.version, int32(t.part)
	}
	q.Queue(writeTilesSQL, g.event, levels, numbers, hashes, first, parts)
	if len(g.notes) > 0 {
		var leaves []int64
		var times []time.Time
		var texts []string
		for _, s := range g.notes {
			leaves, times, texts = append(leaves, s.leaf), append(times, s.at), append(texts, s.text)
		}
		q.Queue(writeNotesSQL, g.event, leaves, times, texts)
	}
	if len(g.sold) > 0 {
		var sold []int32
		for idx := range g.sold {
			sold = append(sold, idx)
		}
		slices.Sort(sold)
		leaves, places := make([]int64, len(sold)), make([]int64, len(sold))
		for i, idx := range sold {
			leaves[i], places[i] = g.sold[idx].leaf, g.sold[idx].version
		}
		q.Queue(writeSoldSQL, g.event, sold, leaves, places)
	}
	checkpoint, err := checkpoint(g.secret, g.tree.size, g.tree.root())
	if err != nil {
		return err
	}
	q.Queue(signSQL, g.event, g.tree.size, g.version, g.at, g.presale, g.draw, checkpoint)
	return tx.SendBatch(ctx, &q).Close()
}

// checkpoint is the signed root of a tree.
func checkpoint(s *secret, size int64, root tlog.Hash) (string, error) {
	signed, err := note.Sign(&note.Note{Text: fmt.Sprintf("%s\n%d\n%s\n", s.origin, size, root)}, s)
	if err != nil {
		return "", fmt.Errorf("sign a checkpoint: %w", err)
	}
	return string(signed), nil
}
