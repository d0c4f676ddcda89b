package publiclog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/outbound"
)

// Witness cosigns roots: it says that each continues every root of the log that it cosigned before, so two auditors who trust it see one log
// (https://c2sp.org/tlog-witness).
type Witness struct {
	Key note.Verifier // of its cosignatures
	URL string        // to which "/add-checkpoint" is added
}

// ParseWitnesses reads the key of each witness, as a vkey of signed-note, and its address; two witnesses have a comma between.
func ParseWitnesses(list string) (all []Witness, err error) {
	for one := range strings.SplitSeq(list, ",") {
		fields := strings.Fields(one)
		if len(fields) == 0 && len(all) == 0 && strings.TrimSpace(list) == "" {
			return nil, nil
		}
		if len(fields) != 2 {
			return nil, fmt.Errorf("a witness is its key and its address, such as example.org/witness+a1b2c3d4+BA… https://witness.example.org: %q", strings.TrimSpace(one))
		}
		w := Witness{URL: strings.TrimSuffix(fields[1], "/")}
		if w.Key, err = cosignature.NewVerifierForCosignatureV1(fields[0]); err != nil {
			return nil, fmt.Errorf("the key of a witness %q: %w", fields[0], err)
		}
		if u, err := url.Parse(w.URL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return nil, fmt.Errorf("the address of witness %s, %q, is none such as https://witness.example.org", w.Key.Name(), fields[1])
		}
		if slices.ContainsFunc(all, func(other Witness) bool { return other.Key.Name() == w.Key.Name() }) {
			return nil, fmt.Errorf("two witnesses have the name %s", w.Key.Name())
		}
		all = append(all, w)
	}
	return all, nil
}

// The logs with a root that a witness has not cosigned. Witnesses are asked at most each five seconds; those that do not answer, after as long as the
// root is old.
const (
	askAgain   = `coalesce(asked_at + greatest(interval '5 seconds', asked_at - signed_at), signed_at)`
	askDueSQL  = `SELECT event_id::text, ` + askAgain + ` FROM public_log WHERE enabled AND (size > cosigned_size OR unanswered)`
	askOfSQL   = askDueSQL + ` AND event_id = ANY ($1::text[]::bigint[])`
	askWithin  = 4 * time.Second
	mostAnswer = 16 << 10 // bytes
)

// witnesses are those that this node asks.
type witnesses struct {
	list []Witness
	job  *jobs.Job

	mu    sync.Mutex
	sizes map[string]int64 // leaves that a witness saw, by its key and the origin
}

// WitnessedBy has witnesses cosign the roots of all logs. Call it before anything else.
func (l *Logs) WitnessedBy(list []Witness) {
	if len(list) == 0 {
		return
	}
	l.witnesses = &witnesses{list: list, sizes: map[string]int64{}}
	l.witnesses.job = jobs.New("witnesses of public logs", askDueSQL, l.askWitnesses)
	l.witnesses.job.DueOf, l.witnesses.job.AtOnce = askOfSQL, 2
}

const newWitnessSQL = `
UPDATE public_log SET unanswered = true
 WHERE enabled AND NOT unanswered AND size = cosigned_size AND EXISTS (SELECT FROM unnest($1::text[]) w WHERE position(E'\n— ' || w || ' ' IN cosigned) = 0)`

// findNewWitnesses has witnesses that were named after the end of a sale cosign the last root of its log, too.
func (l *Logs) findNewWitnesses(ctx context.Context) error {
	var names []string
	for _, w := range l.witnesses.list {
		names = append(names, w.Key.Name())
	}
	found, err := l.db.Exec(ctx, newWitnessSQL, names)
	if err != nil {
		return fmt.Errorf("public log: find logs that a new witness has not cosigned: %w", err)
	}
	if found.RowsAffected() > 0 {
		l.witnesses.job.Wake()
	}
	return nil
}

// The time is written first, so one node asks.
const askSQL = `
UPDATE public_log SET asked_at = clock_timestamp()
 WHERE event_id = $1 AND enabled AND (size > cosigned_size OR unanswered) AND ` + askAgain + ` <= clock_timestamp()
RETURNING size, checkpoint, cosigned`

const cosignedSQL = `UPDATE public_log SET cosigned = $2, cosigned_size = $3, unanswered = $4 WHERE event_id = $1 AND cosigned_size <= $3`

// root is a signed root that witnesses are asked about.
type root struct {
	event  int64
	size   int64
	signed string // the checkpoint
	origin string
	hash   tlog.Hash
}

// parse reads the body of the checkpoint.
func (r *root) parse() (err error) {
	lines := strings.SplitN(r.signed, "\n", 4)
	if len(lines) < 4 {
		return fmt.Errorf("a checkpoint has three lines: %q", r.signed)
	}
	r.origin = lines[0]
	r.hash, err = tlog.ParseHash(lines[2])
	return err
}

// cosignatures returns the lines of these witnesses under a note, if it is of this root, by the names of their keys.
func (r *root) cosignatures(signed string, list []Witness) map[string]string {
	lines := map[string]string{}
	keys := make([]note.Verifier, len(list))
	for i, w := range list {
		keys[i] = w.Key
	}
	opened, err := note.Open([]byte(signed), note.VerifierList(keys...))
	if err != nil || opened.Text != r.text() {
		return lines // no witness signed it, or it is older
	}
	for _, s := range opened.Sigs {
		lines[s.Name] = fmt.Sprintf("— %s %s\n", s.Name, s.Base64)
	}
	return lines
}

// askWitnesses asks each witness that has not cosigned the newest root of an event's log. It returns how many did.
func (l *Logs) askWitnesses(ctx context.Context, key string) (n int, err error) {
	event, err := strconv.ParseInt(key, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("public log: %w", err)
	}
	r := root{event: event}
	var cosigned string
	err = l.db.QueryRow(ctx, askSQL, event).Scan(&r.size, &r.signed, &cosigned)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil // another node asks
	}
	if err == nil {
		err = r.parse()
	}
	if err != nil {
		return 0, fmt.Errorf("public log: ask the witnesses of event %d: %w", event, err)
	}
	lines, before := map[string]string{}, Checkpoints(cosigned)
	for _, c := range before {
		maps.Copy(lines, r.cosignatures(c, l.witnesses.list))
	}
	had := len(lines)
	l.askAll(ctx, &r, lines)
	if len(lines) == had && had < len(l.witnesses.list) {
		return 0, nil // nothing new
	}
	if _, err := l.db.Exec(ctx, cosignedSQL, event, r.cosigned(lines, before, l.witnesses.list), r.size, len(lines) < len(l.witnesses.list)); err != nil {
		return 0, fmt.Errorf("public log: store the cosignatures of event %d: %w", event, err)
	}
	return len(lines) - had, nil
}

// cosigned is this root with the lines of witnesses, and after it, for each witness that has none, the newest of the roots before that it cosigned.
func (r *root) cosigned(lines map[string]string, before []string, list []Witness) string {
	all := r.signed
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		all += lines[name]
	}
	for _, c := range before {
		needed := slices.ContainsFunc(list, func(w Witness) bool {
			return lines[w.Key.Name()] == "" && strings.Contains(c, "\n— "+w.Key.Name()+" ")
		})
		if needed && !strings.HasPrefix(c, r.text()) {
			all += "\n" + c
		}
	}
	return all
}

// Checkpoints finds the signed roots in a text, such as what witnesses cosigned, or reports of audits.
func Checkpoints(text string) (list []string) {
	lines := strings.SplitAfter(text, "\n")
	for i := 3; i+1 < len(lines); i++ {
		if lines[i] != "\n" || !strings.HasPrefix(lines[i+1], "— ") {
			continue
		}
		end := i + 1
		for end < len(lines) && strings.HasPrefix(lines[end], "— ") {
			end++
		}
		list = append(list, strings.Join(lines[i-3:end], ""))
	}
	return list
}

// askAll asks those witnesses of which no line is there, and adds theirs.
func (l *Logs) askAll(ctx context.Context, r *root, lines map[string]string) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	var mu sync.Mutex
	var asked sync.WaitGroup
	for _, w := range l.witnesses.list {
		if lines[w.Key.Name()] != "" {
			continue
		}
		asked.Go(func() {
			line, err := l.ask(ctx, w, r)
			if err != nil {
				l.witnesses.job.Failed(fmt.Sprintf("event %d, witness %s", r.event, w.Key.Name()), 1, 0, err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			lines[w.Key.Name()] = line
		})
	}
	asked.Wait()
}

// ask has a witness cosign a root, and returns the line of its signature. A witness says how many leaves it saw if that is another number.
func (l *Logs) ask(ctx context.Context, w Witness, r *root) (line string, err error) {
	known := w.Key.Name() + "\n" + r.origin
	l.witnesses.mu.Lock()
	saw := min(l.witnesses.sizes[known], r.size)
	l.witnesses.mu.Unlock()
	answer, other, err := l.addCheckpoint(ctx, w, r, saw)
	if err == nil && other != saw {
		if other > r.size {
			return "", fmt.Errorf("it saw %d leaves, and the log has %d: the log was set back, or signed twice", other, r.size)
		}
		saw = other
		answer, other, err = l.addCheckpoint(ctx, w, r, saw)
	}
	if err != nil {
		return "", err
	}
	if other != saw {
		return "", fmt.Errorf("it saw %d leaves, and says %d now", saw, other)
	}
	lines := r.cosignatures(r.text()+"\n"+answer, []Witness{w})
	if line = lines[w.Key.Name()]; line == "" {
		return "", fmt.Errorf("it answers %.200q, which is no signature of its key", answer)
	}
	l.witnesses.mu.Lock()
	defer l.witnesses.mu.Unlock()
	l.witnesses.sizes[known] = r.size
	return line, nil
}

// text is the part of the checkpoint that is signed.
func (r *root) text() string {
	text, _, _ := strings.Cut(r.signed, "\n\n")
	return text + "\n"
}

// addCheckpoint sends a root to a witness that saw so many leaves. It returns its answer, and how many leaves it saw.
func (l *Logs) addCheckpoint(ctx context.Context, w Witness, r *root, saw int64) (answer string, other int64, err error) {
	var body strings.Builder
	fmt.Fprintf(&body, "old %d\n", saw)
	if 0 < saw && saw < r.size {
		proof, err := tlog.ProveTree(r.size, saw, tlog.TileHashReader(tlog.Tree{N: r.size, Hash: r.hash}, &tileReader{ctx, l, r.event}))
		if err != nil {
			return "", 0, fmt.Errorf("prove that %d leaves continue %d: %w", r.size, saw, err)
		}
		for _, h := range proof {
			fmt.Fprintln(&body, h)
		}
	}
	fmt.Fprintf(&body, "\n%s", r.signed)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL+"/add-checkpoint", strings.NewReader(body.String()))
	if err != nil {
		return "", 0, err
	}
	response, err := outbound.Client.Do(request)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = response.Body.Close() }() // only read
	said, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	switch {
	case err != nil:
		return "", 0, err
	case response.StatusCode == http.StatusConflict:
		other, err = strconv.ParseInt(strings.TrimSpace(string(said)), 10, 64)
		if err != nil || other < 0 {
			return "", 0, fmt.Errorf("it answers %s without its number of leaves: %.100q", response.Status, said)
		}
		return "", other, nil
	case response.StatusCode != http.StatusOK:
		return "", 0, fmt.Errorf("it answers %s: %.100q", response.Status, said)
	}
	return string(said), saw, nil
}

// tileReader reads tiles for proofs.
type tileReader struct {
	ctx   context.Context
	logs  *Logs
	event int64
}

// Height, ReadTiles and SaveTiles are those of tlog.TileReader.
func (t *tileReader) Height() int { return tileHeight }

func (t *tileReader) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	list := make([][]byte, len(tiles))
	for i, one := range tiles {
		var err error
		if list[i], err = t.logs.Tile(t.ctx, t.event, one.L, one.N, one.W); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (t *tileReader) SaveTiles([]tlog.Tile, [][]byte) {}
