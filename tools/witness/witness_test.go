package witness

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	cosignature "github.com/transparency-dev/formats/note"
	"github.com/transparency-dev/witness/persistence/inmemory"
	"github.com/transparency-dev/witness/witness"
	"golang.org/x/mod/sumdb/note"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/publiclog"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// house is a box office that sells one event, of which witnesses cosign the log.
type house struct {
	*publiclog.Logs
	db   *pgxpool.Pool
	sale *seats.Sale
}

// sentry is a witness that may be away.
type sentry struct {
	*httptest.Server
	key  string
	away bool
	asks int
}

// newSentry starts a witness that trusts the key of each log that it meets first.
func newSentry(t *testing.T, h *house, name string) *sentry {
	t.Helper()
	secret, public, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := cosignature.NewSignerForCosignatureV1(secret)
	if err != nil {
		t.Fatal(err)
	}
	key, err := cosignature.VKeyToCosignatureV1(public)
	if err != nil {
		t.Fatal(err)
	}
	w, err := witness.New(t.Context(), witness.Opts{
		Persistence: inmemory.New(), Signers: []note.Signer{signer},
		VerifierForLog: func(ctx context.Context, _ string) (note.Verifier, bool, error) {
			_, vkey, err := h.Checkpoint(ctx, h.sale.Event.ID)
			if err != nil {
				return nil, false, err
			}
			v, err := note.NewVerifier(vkey)
			return v, true, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &sentry{key: key}
	handler := witness.NewHTTPHandler(w)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /add-checkpoint", func(w http.ResponseWriter, r *http.Request) {
		if s.asks++; s.away {
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		}
		handler.AddCheckpoint(w, r)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{db: seatstest.DB(t)}
	p, _ := plan.Named("theatre")
	if _, err := events.Create(t.Context(), h.db, events.Settings{Name: "Evening", StartsAt: time.Unix(2e9, 0)}, p); err != nil {
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
	return h
}

// node is the logs of one node, whose roots these witnesses cosign.
func (h *house) node(t *testing.T, sentries ...*sentry) {
	t.Helper()
	var list []string
	for _, s := range sentries {
		list = append(list, s.key+" "+s.URL)
	}
	witnesses, err := publiclog.ParseWitnesses(strings.Join(list, ", "))
	if err != nil {
		t.Fatal(err)
	}
	h.Logs = publiclog.New(h.db, organizers.New(h.db, func() {}), "https://tickets.example.org")
	h.WitnessedBy(witnesses)
}

func (h *house) exec(t *testing.T, sql string) {
	t.Helper()
	if _, err := h.db.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// sell has changes appended and signed, and witnesses asked, as if some time had passed.
func (h *house) sell(t *testing.T, claims int) {
	t.Helper()
	for range claims {
		if _, err := h.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Best: 1}); err != nil {
			t.Fatal(err)
		}
	}
	h.exec(t, `UPDATE public_log SET signed_at = signed_at - interval '1 minute'`)
	seatstest.Do(t.Context(), t, h.db, h.Jobs()[0])
	h.exec(t, `UPDATE public_log SET asked_at = asked_at - interval '1 year'`)
	seatstest.Do(t.Context(), t, h.db, h.Jobs()[1])
}

// hourly does what a node does each hour.
func (h *house) hourly(t *testing.T) {
	t.Helper()
	if _, err := h.Jobs()[2].Do(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
}

// cosigned returns how many leaves the root has that witnesses cosigned, and which of them did.
func (h *house) cosigned(t *testing.T, sentries ...*sentry) (size int, by []string) {
	t.Helper()
	signed, err := h.Cosigned(t.Context(), h.sale.Event.ID)
	if err != nil {
		t.Fatal(err)
	}
	signed = publiclog.Checkpoints(signed)[0]
	var keys []note.Verifier
	for _, s := range sentries {
		key, err := cosignature.NewVerifierForCosignatureV1(s.key)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	opened, err := note.Open([]byte(signed), note.VerifierList(keys...))
	if err != nil {
		t.Fatalf("%v: %s", err, signed)
	}
	for _, s := range opened.Sigs {
		by = append(by, s.Name)
	}
	if _, err := fmt.Sscan(strings.Split(opened.Text, "\n")[1], &size); err != nil {
		t.Fatal(err)
	}
	return size, by
}

func (h *house) size(t *testing.T) (n int) {
	t.Helper()
	if err := h.db.QueryRow(t.Context(), `SELECT size FROM public_log`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWitness_CosignsEachRootThatContinuesTheOneBefore(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := newSentry(t, h, "example.org/witness")
	h.node(t, s)
	for _, claims := range []int{1, 7, 300} { // 300: over the edge of a tile
		h.sell(t, claims)
		if size, by := h.cosigned(t, s); size != h.size(t) || len(by) != 1 {
			t.Fatalf("%v cosigned %d leaves, there are %d", by, size, h.size(t))
		}
		if signed, _, err := h.Checkpoint(t.Context(), h.sale.Event.ID); err != nil || strings.Count(signed, "\n— ") != 2 {
			t.Errorf("the checkpoint is served without the cosignature: %v, %s", err, signed)
		}
	}
	if s.asks != 3 {
		t.Errorf("a witness that knows three roots was asked %d times", s.asks)
	}
	h.node(t, s) // a node that knows nothing of the witness
	h.sell(t, 1)
	if size, _ := h.cosigned(t, s); size != h.size(t) || s.asks != 5 {
		t.Errorf("after a start %d leaves are cosigned, and there were %d questions", size, s.asks)
	}
	h.sell(t, 0)
	if s.asks != 5 {
		t.Error("the witness was asked about a root that it had cosigned")
	}
}

func TestWitness_ThatWasAwayCosignsTheSameRootLater(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first, second := newSentry(t, h, "example.org/first"), newSentry(t, h, "example.org/second")
	h.node(t, first, second)
	second.away = true
	h.sell(t, 3)
	if size, by := h.cosigned(t, first, second); size != h.size(t) || len(by) != 1 || by[0] != "example.org/first" {
		t.Errorf("%v cosigned %d leaves", by, size)
	}
	second.away = false
	h.sell(t, 0)
	if size, by := h.cosigned(t, first, second); size != h.size(t) || len(by) != 2 {
		t.Errorf("%v cosigned %d leaves", by, size)
	}
	if first.asks != 1 { // it had cosigned
		t.Errorf("the first one was asked %d times about one root", first.asks)
	}
	second.away = true
	h.sell(t, 2)
	if size, by := h.cosigned(t, first, second); size != h.size(t) || len(by) != 1 {
		t.Errorf("%v cosigned %d leaves", by, size)
	}
	signed, err := h.Cosigned(t.Context(), h.sale.Event.ID)
	if behind := publiclog.Checkpoints(signed); err != nil || len(behind) != 2 || !strings.Contains(behind[1], "— example.org/second ") {
		t.Errorf("what the second one cosigned before is not shown: %v, %s", err, signed)
	}
	if newest, _, err := h.Checkpoint(t.Context(), h.sale.Event.ID); err != nil || len(publiclog.Checkpoints(newest)) != 1 {
		t.Errorf("the checkpoint is %s, %v", newest, err)
	}
	second.away = false
	h.sell(t, 0)
	if signed, err := h.Cosigned(t.Context(), h.sale.Event.ID); err != nil || len(publiclog.Checkpoints(signed)) != 1 {
		t.Errorf("both cosigned one root, and shown is %s, %v", signed, err)
	}
	first.away, second.away = true, true
	before := h.size(t)
	h.sell(t, 3)
	if size, by := h.cosigned(t, first, second); size != before || len(by) != 2 {
		t.Errorf("while all are away, %v cosigned %d leaves, and %d are signed", by, size, before)
	}
}

func TestWitness_NamedAfterTheSaleCosignsItsLastRoot(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first, late := newSentry(t, h, "example.org/first"), newSentry(t, h, "example.org/late")
	h.node(t, first)
	h.sell(t, 3)
	h.node(t, first, late)
	h.hourly(t)
	h.sell(t, 0)
	if size, by := h.cosigned(t, first, late); size != h.size(t) || len(by) != 2 || first.asks != 1 || late.asks != 1 {
		t.Errorf("%v cosigned %d leaves of %d after %d and %d questions", by, size, h.size(t), first.asks, late.asks)
	}
	var before, after string
	row := `SELECT xmin::text FROM public_log`
	if err := h.db.QueryRow(t.Context(), row).Scan(&before); err != nil {
		t.Fatal(err)
	}
	h.hourly(t)
	if err := h.db.QueryRow(t.Context(), row).Scan(&after); err != nil || after != before {
		t.Errorf("a log that all witnesses cosigned was written to, %v", err)
	}
}

func TestWitness_SignatureOfAnotherKeyIsNotShown(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s, other := newSentry(t, h, "example.org/witness"), newSentry(t, h, "example.org/witness")
	s.key = other.key
	h.node(t, s)
	h.sell(t, 1)
	if signed, err := h.Cosigned(t.Context(), h.sale.Event.ID); !errors.Is(err, publiclog.ErrNone) || s.asks == 0 {
		t.Errorf("shown is %q, %v", signed, err)
	}
}

// A log that was set back goes on otherwise: two auditors would see two logs.
func TestWitness_DoesNotCosignALogThatWasSetBack(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := newSentry(t, h, "example.org/witness")
	h.node(t, s)
	h.sell(t, 1)
	for _, table := range []string{"public_log", "public_log_tile", "public_log_statement", "public_log_seat"} {
		h.exec(t, `CREATE TABLE before_`+table+` AS TABLE `+table)
	}
	h.sell(t, 5)
	size, _ := h.cosigned(t, s)
	for _, step := range []string{
		`SET session_replication_role = replica; DELETE FROM public_log_tile; DELETE FROM public_log_statement; DELETE FROM public_log_seat; DELETE FROM public_log;
		INSERT INTO public_log TABLE before_public_log; INSERT INTO public_log_tile TABLE before_public_log_tile;
		UPDATE change SET at = at - interval '1 second' WHERE version > (SELECT version FROM public_log)`,
	} {
		h.exec(t, `DO $do$ BEGIN `+step+`; SET session_replication_role = origin; END $do$`)
	}
	h.sell(t, 0)
	if h.size(t) != size {
		t.Fatalf("the other log has %d leaves, the first one has %d", h.size(t), size)
	}
	if again, _ := h.cosigned(t, s); again == size {
		t.Error("a witness cosigned two logs of one size")
	}
	h.sell(t, 5)
	if again, _ := h.cosigned(t, s); again >= size {
		t.Errorf("a witness cosigned %d leaves of a log that forked before %d", again, size)
	}
}
