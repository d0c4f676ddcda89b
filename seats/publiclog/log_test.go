package publiclog_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/publiclog"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/waitingroom"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// fixture is an event on sale on one node, and its log.
type fixture struct {
	*publiclog.Logs
	db   *pgxpool.Pool
	sale *seats.Sale
	desk *organizers.Desk
	ann  organizers.Member
}

func open(t *testing.T, named string) *fixture {
	t.Helper()
	h := &fixture{db: seatstest.DB(t), ann: organizers.Member{Team: 1, Organizer: 1, Name: "Ann", Role: organizers.Owner}}
	p, _ := plan.Named(named)
	if _, err := events.Create(t.Context(), h.db, events.Settings{Name: "Evening", StartsAt: time.Unix(2e9, 0), SeatsPerHolder: 50}, p); err != nil {
		t.Fatal(err)
	}
	office := seats.NewInventory(h.db, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- office.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	var err error
	if h.sale, err = office.Sale(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	h.desk = organizers.New(h.db, func() {})
	h.Logs = h.node(t)
	return h
}

// node is the logs as one more node has them.
func (h *fixture) node(t *testing.T) *publiclog.Logs {
	t.Helper()
	l := publiclog.New(h.db, h.desk, "https://tickets.example.org")
	box, err := seal.New("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
	if err != nil {
		t.Fatal(err)
	}
	l.SealWith(box)
	return l
}

func (h *fixture) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := h.db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (h *fixture) count(t *testing.T, sql string, args ...any) (n int) {
	t.Helper()
	if err := h.db.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// claim has a visitor claim some of the best seats.
func (h *fixture) claim(t *testing.T, n int) (who seats.ID, hold seats.Hold) {
	t.Helper()
	who = seats.NewID()
	hold, err := h.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Best: n})
	if err != nil {
		t.Fatal(err)
	}
	return who, hold
}

// extend appends what is new, as if a second had passed.
func (h *fixture) extend(t *testing.T) int {
	t.Helper()
	h.exec(t, `UPDATE public_log SET signed_at = signed_at - interval '1 minute'`)
	return seatstest.Do(t.Context(), t, h.db, h.Job())
}

// published is a log as anybody downloads it, checked with the library of the Go team.
type published struct {
	tlog.Tree
	text   string
	leaves []publiclog.Leaf
	hashes []tlog.Hash
}

// tiles reads tiles for the library.
type tiles struct {
	t     *testing.T
	logs  *publiclog.Logs
	event int64
}

func (r tiles) Height() int                     { return 8 }
func (r tiles) SaveTiles([]tlog.Tile, [][]byte) {}
func (r tiles) ReadTiles(list []tlog.Tile) (data [][]byte, err error) {
	for _, tile := range list {
		hashes, err := r.logs.Tile(r.t.Context(), r.event, tile.L, tile.N, tile.W)
		if err != nil {
			return nil, err
		}
		data = append(data, hashes)
	}
	return data, nil
}

func (h *fixture) download(t *testing.T) published {
	t.Helper()
	event := h.sale.Event.ID
	signed, key, err := h.Checkpoint(t.Context(), event)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := note.NewVerifier(key)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := note.Open([]byte(signed), note.VerifierList(verifier))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(opened.Text, "\n")
	p := published{text: opened.Text}
	if len(lines) != 4 || lines[0] != "tickets.example.org/events/evening/log" || verifier.Name() != lines[0] {
		t.Fatalf("the checkpoint is %q", opened.Text)
	}
	if _, err := fmt.Sscan(lines[1], &p.N); err != nil {
		t.Fatal(err)
	}
	if p.Hash, err = tlog.ParseHash(lines[2]); err != nil {
		t.Fatal(err)
	}
	reader := tlog.TileHashReader(p.Tree, tiles{t, h.Logs, event})
	for n := int64(0); n*256 < p.N; n++ {
		width := int(min(256, p.N-n*256))
		bundle, err := h.Entries(t.Context(), event, n, width)
		if err != nil {
			t.Fatal(err)
		}
		for i := range width {
			size := int(binary.BigEndian.Uint16(bundle))
			leaf, err := publiclog.ParseLeaf(bundle[2 : 2+size])
			if err != nil {
				t.Fatal(err)
			}
			hash := tlog.RecordHash(bundle[2 : 2+size])
			in, err := reader.ReadHashes([]int64{tlog.StoredHashIndex(0, n*256+int64(i))}) // it checks tiles against the root
			if err != nil || in[0] != hash {
				t.Fatalf("leaf %d is not the one of the tree (%v)", n*256+int64(i), err)
			}
			p.leaves, p.hashes, bundle = append(p.leaves, leaf), append(p.hashes, hash), bundle[2+size:]
		}
		if len(bundle) > 0 {
			t.Fatalf("bundle %d has %d bytes too many", n, len(bundle))
		}
	}
	return p
}

// continues fails the test unless a tree continues another one.
func (h *fixture) continues(t *testing.T, before, after published) {
	t.Helper()
	reader := tlog.TileHashReader(after.Tree, tiles{t, h.Logs, h.sale.Event.ID})
	proof, err := tlog.ProveTree(after.N, before.N, reader)
	if err == nil {
		err = tlog.CheckTree(proof, after.N, after.Hash, before.N, before.Hash)
	}
	if err != nil {
		t.Fatalf("the tree of %d leaves does not continue that of %d: %v", after.N, before.N, err)
	}
}

func TestLog_IsTheChangeLogFromItsFirstVersion(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre")
	var before []published
	for range 30 {
		who, _ := h.claim(t, 2)
		for range 10 {
			h.claim(t, 1)
		}
		if _, err := seatstest.Order(t.Context(), h.db, h.sale, who); err != nil {
			t.Fatal(err)
		}
		if h.extend(t) == 0 {
			t.Fatal("nothing was appended")
		}
		if len(before) < 3 {
			before = append(before, h.download(t))
		}
	}
	p := h.download(t)
	for _, b := range before {
		h.continues(t, b, p)
	}
	version := h.count(t, `SELECT version FROM counter`)
	if len(p.leaves) != version+1 || version < 300 {
		t.Fatalf("%d leaves of %d versions", len(p.leaves), version)
	}
	for i, leaf := range p.leaves {
		if int(leaf.Version) != i || leaf.Kind != publiclog.Version || i > 0 && leaf.At < p.leaves[i-1].At {
			t.Fatalf("leaf %d is %+v", i, leaf)
		}
	}
	first := p.leaves[0]
	if r := first.Rules; r == nil || int(r.Seats) != len(h.sale.Plan.Seats) || r.Status != publiclog.OnSale || r.Opens != publiclog.AtOnce || first.Free != r.Seats {
		t.Errorf("version 0 is %+v with the rules %+v", first, first.Rules)
	}
	last, n := p.leaves[len(p.leaves)-1], h.sale.Snapshot().Counts
	if got, want := fmt.Sprint(last.Free, last.Held, last.Sold, last.Blocked), fmt.Sprint(total(n.Free), total(n.Held), total(n.Sold), total(n.Blocked)); got != want {
		t.Errorf("the last leaf counts %s, the map %s", got, want)
	}
}

func total(list []int) (n int) {
	for _, c := range list {
		n += c
	}
	return n
}

func TestLog_TwoNodesThatAreKilledSignOneTree(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre")
	var all sync.WaitGroup
	stop := make(chan struct{})
	for _, node := range []*publiclog.Logs{h.node(t), h.node(t)} {
		all.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(n%12)*time.Millisecond) // ends at any statement of it
				if n%4 == 0 {
					ctx, cancel = context.WithCancel(context.Background())
				}
				_, _ = h.db.Exec(context.Background(), `UPDATE public_log SET signed_at = signed_at - interval '1 minute'`)
				_, _ = node.Job().Do(ctx, fmt.Sprint(h.sale.Event.ID)) // it may be cut off; what is stored counts
				cancel()
			}
		})
	}
	var seen []published
	for range 40 {
		h.claim(t, 1)
		if _, _, err := h.Checkpoint(t.Context(), h.sale.Event.ID); errors.Is(err, publiclog.ErrNone) {
			continue
		}
		p := h.roots(t)
		if len(seen) > 0 && seen[len(seen)-1].N == p.N && seen[len(seen)-1].Hash != p.Hash {
			t.Fatalf("two roots of %d leaves were signed", p.N)
		}
		seen = append(seen, p)
	}
	close(stop)
	all.Wait()
	h.extend(t)
	last := h.download(t)
	if want := h.count(t, `SELECT version + 1 FROM counter`); len(last.leaves) != want {
		t.Errorf("%d leaves, want %d", len(last.leaves), want)
	}
	for _, p := range seen {
		h.continues(t, p, last)
	}
}

// roots is the newest checkpoint by itself.
func (h *fixture) roots(t *testing.T) (p published) {
	t.Helper()
	signed, _, err := h.Checkpoint(t.Context(), h.sale.Event.ID)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(signed, "\n")
	if _, err := fmt.Sscan(lines[1], &p.N); err != nil {
		t.Fatal(err)
	}
	if p.Hash, err = tlog.ParseHash(lines[2]); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestLog_CostsNothingWhileNothingChanges(t *testing.T) {
	t.Parallel()
	h := open(t, "conference")
	h.extend(t)
	before := h.download(t)
	if n := h.extend(t); n != 0 {
		t.Errorf("%d leaves were appended", n)
	}
	if n, err := h.Job().Do(t.Context(), fmt.Sprint(h.sale.Event.ID)); n != 0 || err != nil {
		t.Errorf("%d leaves were appended, %v", n, err)
	}
	if after := h.download(t); after.text != before.text {
		t.Errorf("%q was signed after %q", after.text, before.text)
	}
	h.claim(t, 1)
	h.extend(t)
	h.claim(t, 1)
	if n, err := h.Job().Do(t.Context(), fmt.Sprint(h.sale.Event.ID)); n != 0 || err != nil {
		t.Errorf("%d leaves were signed within the same second, %v", n, err)
	}
}

func TestLog_VersionWithManySeatsHasSeveralLeaves(t *testing.T) {
	t.Parallel()
	h := open(t, "stadium")
	for range 254 { // so that the version begins in one bundle and ends in the next
		h.claim(t, 1)
	}
	h.exec(t, `
WITH s AS (UPDATE seat_state SET state = 5, holder = gen_random_uuid(), expires_at = 'infinity' WHERE idx >= 10000 AND idx < 14000 RETURNING idx, holder),
     c AS (UPDATE counter SET version = version + 1 RETURNING *)
INSERT INTO change (event_id, version, idx, state, holder, free, held, sold, blocked, batch, passed)
SELECT c.event_id, c.version, array_agg(s.idx), array_agg(5), array_agg(s.holder), free, held, sold, blocked, gen_random_uuid(), 4000 FROM s, c GROUP BY c.event_id, c.version, free, held, sold, blocked`)
	h.claim(t, 1)
	h.extend(t)
	p := h.download(t)
	var parts []string
	for _, leaf := range p.leaves {
		if leaf.Parts > 1 {
			parts = append(parts, fmt.Sprint(leaf.Part, " of ", leaf.Parts, ": ", len(leaf.Entries)))
		}
	}
	if got, want := strings.Join(parts, ", "), "0 of 3: 1500, 1 of 3: 1500, 2 of 3: 1000"; got != want {
		t.Errorf("the parts are %s, want %s", got, want)
	}
	if last := p.leaves[len(p.leaves)-1]; last.Version != uint64(len(p.leaves)-3) {
		t.Errorf("the last of %d leaves is version %d", len(p.leaves), last.Version)
	}
}

func TestStatement_StandsBeforeWhatCameAfterIt(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre")
	h.claim(t, 1)
	h.extend(t)
	c := waitingroom.Control{DB: h.db, Who: "test"}
	opens := time.Now().Add(time.Hour)
	if _, err := c.Create(t.Context(), waitingroom.NewRoom{Name: "Lobby", Events: []string{"evening"}, OpensAt: &opens}); err != nil {
		t.Fatal(err)
	}
	h.exec(t, `INSERT INTO code (id, event_id, code, name, percent, amount, per_order, types, categories, tickets, most, per_person, presale)
		SELECT gen_random_uuid(), id, 'FRIENDS', 'Friends', 0, 0, false, '{}', '{}', 0, 0, 0, true FROM event`)
	h.extend(t)
	p := h.download(t)
	var said []string
	for _, leaf := range p.leaves {
		if leaf.Kind == publiclog.Statement {
			said = append(said, leaf.Text)
		}
	}
	if len(said) != 2 || !strings.HasPrefix(said[0], "draw\nroom lobby\nepoch 1\ncommitment ") || said[1] != "presale\n" {
		t.Errorf("the log states %q", said)
	}
	if n := h.extend(t); n != 0 {
		t.Errorf("%d leaves state the same again", n)
	}
}

func TestProof_OpensTheSaleOfASeatToItsOrderOnly(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre")
	who, hold := h.claim(t, 2)
	other, _ := h.claim(t, 2)
	for _, holder := range []seats.ID{who, other} {
		if _, err := seatstest.Order(t.Context(), h.db, h.sale, holder); err != nil {
			t.Fatal(err)
		}
	}
	var order seats.ID
	if err := h.db.QueryRow(t.Context(), `SELECT holder FROM seat_state WHERE idx = $1`, hold.Seats[0]).Scan(&order); err != nil {
		t.Fatal(err)
	}
	if early, err := h.Proofs(t.Context(), h.sale.Event.ID, order, hold.Seats); err != nil || len(early) > 0 {
		t.Errorf("before the log has it, the proof is %v, %v", early, err)
	}
	h.extend(t)
	p := h.download(t)
	proofs, err := h.Proofs(t.Context(), h.sale.Event.ID, order, hold.Seats)
	if err != nil || len(proofs) != 2 {
		t.Fatalf("the proofs are %v, %v", proofs, err)
	}
	for idx, proof := range proofs {
		leaf, begins, ok := publiclog.ParseCode(strings.ToLower(proof.Code))
		if !ok || leaf != proof.Leaf || string(p.hashes[leaf][:len(begins)]) != string(begins) {
			t.Fatalf("code %s is of leaf %d with the hash %v", proof.Code, leaf, p.hashes[leaf])
		}
		var found *publiclog.Entry
		for i, e := range p.leaves[leaf].Entries {
			if int(e.Seat) == idx {
				found = &p.leaves[leaf].Entries[i]
			}
		}
		if found == nil || found.State != 4 {
			t.Fatalf("leaf %d says %+v of seat %d", leaf, found, idx)
		}
		// By the specification alone.
		if want := sha256.Sum256([]byte("usher-log/holder/v1" + string(proof.Salt[:]) + string(order[:]))); found.Commitment != want {
			t.Errorf("the commitment does not open")
		}
	}
	if strange, err := h.Proofs(t.Context(), h.sale.Event.ID, who, hold.Seats); err != nil || len(strange) > 0 {
		t.Errorf("another order has the proof %v, %v", strange, err)
	}
}

func TestLog_HoldersAreNotInIt(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre")
	h.claim(t, 2)
	h.extend(t)
	p := h.download(t)
	seen := map[[32]byte]bool{}
	for _, leaf := range p.leaves {
		for _, e := range leaf.Entries {
			if seen[e.Commitment] {
				t.Errorf("two entries have one commitment, so they have one holder")
			}
			seen[e.Commitment] = true
		}
	}
	if len(seen) < 2 {
		t.Errorf("%d entries", len(seen))
	}
	if plain := h.count(t, `SELECT count(*) FROM public_log WHERE octet_length(secret) <> 80`); plain != 0 {
		t.Error("the secret is not sealed")
	}
}

func TestLog_WhatWasSignedCannotBeTakenBack(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre")
	h.claim(t, 1)
	h.extend(t)
	for _, sql := range []string{
		`UPDATE public_log SET size = size - 1`,
		`UPDATE public_log SET checkpoint = checkpoint || 'x'`,
		`UPDATE public_log SET origin = 'elsewhere'`,
		`UPDATE public_log_tile SET hashes = substr(hashes, 1, 32)`,
		`UPDATE public_log_tile SET hashes = decode(repeat('00', octet_length(hashes)), 'hex')`,
	} {
		if _, err := h.db.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "only grows") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

func TestSwitch_LogGoesOnWithoutAGap(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre")
	h.claim(t, 1)
	h.extend(t)
	before := h.download(t)
	e := h.sale.Event
	if err := h.Switch(t.Context(), h.ann, seats.NewID().String(), e, false); err != nil {
		t.Fatal(err)
	}
	h.claim(t, 1)
	if n := h.extend(t); n != 0 {
		t.Errorf("%d leaves were appended to a log that is off", n)
	}
	if _, _, err := h.Checkpoint(t.Context(), e.ID); !errors.Is(err, publiclog.ErrNone) {
		t.Errorf("a log that is off is answered with %v", err)
	}
	if err := h.Switch(t.Context(), h.ann, seats.NewID().String(), e, true); err != nil {
		t.Fatal(err)
	}
	h.extend(t)
	after := h.download(t)
	h.continues(t, before, after)
	if want := h.count(t, `SELECT version + 1 FROM counter`); len(after.leaves) != want {
		t.Errorf("%d leaves, want %d", len(after.leaves), want)
	}
	if found, err := h.Log(t.Context(), h.ann, e.ID); err != nil || !found.Enabled || found.Size != after.N {
		t.Errorf("the desk sees %+v, %v", found, err)
	}
}
