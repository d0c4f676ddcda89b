// Package audit checks the public log of a sale from outside, with what anybody can download (docs/audit-log.md).
package audit

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
	"golang.org/x/sync/errgroup"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/publiclog"
	"github.com/usherbox/usher/seats/waitingroom"
)

// Options are what is checked.
type Options struct {
	URL    string // of the log, such as https://tickets.example.org/events/evening/log
	Key    string // the vkey that the auditor knows; empty: the one that the house shows
	Since  string // text with checkpoints that were seen before, as a report prints them
	Ticket string // code of a ticket, or its whole proof

	Witnesses []note.Verifier // that must have cosigned a root
	Client    *http.Client

	patience time.Duration // for the log to have the map that is shown; 0: as long as docs/audit-log.md says that it may take
}

// Report is what an audit found.
type Report struct {
	Origin     string
	Key        string
	Checkpoint string
	Cosigners  int      // signatures of others on the checkpoint
	Witnessed  []string // what each witness cosigned
	Leaves     int64
	Versions   int64
	Bytes      int64
	Seats      int
	Doors      time.Time // when the first change with open doors was; zero: they were not open yet

	Free, Held, Sold, Blocked int // at the end

	Declared    int // seats that were blocked when the doors opened, or had been sold or held out of a block before
	EarlyBlocks int // of them taken before the doors opened
	Presale     int // seats taken early after the statement that codes may
	LateBlocks  int // seats blocked after the doors opened
	Returned    int // sold seats that one change freed and gave on
	Since       []int64
	Draws       []string
	Shown       int64  // the version of the map that the house showed; -1: it showed none
	Ticket      string // what is known of the ticket; empty: none was asked about

	Problems []string
}

const (
	most        = 64 << 20 // bytes of one file
	filesAtOnce = 8
	skew        = 5 * time.Second // that clocks of a house may be set back
	mostSaid    = 20
	followsIn   = 40 * time.Second // a change that a node made before it died is in the log after 30 s
)

func (r *Report) wrong(format string, args ...any) {
	if r.Problems = append(r.Problems, fmt.Sprintf(format, args...)); len(r.Problems) > mostSaid {
		r.Problems = append(r.Problems[:mostSaid], "and more")
	}
}

// auditor is one audit under way.
type auditor struct {
	Options
	*Report
	verifier note.Verifier
	root     tlog.Hash
	leaves   [][]byte
	cosigned string // the newest root that witnesses cosigned
	tree     stored
	shown    *shown
}

// Run audits a log. An error means that it could not look; what is wrong is in the report.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Client == nil {
		o.Client = &http.Client{Timeout: time.Minute}
	}
	o.URL = strings.TrimSuffix(o.URL, "/")
	if u, err := url.Parse(o.URL); err != nil || u.Host == "" || !strings.HasSuffix(u.Path, "/log") {
		return nil, fmt.Errorf("audit: %q is not the address of a public log, such as https://tickets.example.org/events/evening/log", o.URL)
	}
	a := &auditor{Options: o, Report: &Report{Shown: -1}}
	if a.patience == 0 {
		a.patience = followsIn
	}
	for _, step := range []func(context.Context) error{a.readShown, a.readCosigned, a.readKey, a.readLog, a.checkTree, a.checkWitnesses, a.checkTiles, a.replay, a.checkTicket} {
		err := step(ctx)
		if errors.Is(err, errUnsigned) {
			break // that is the finding
		}
		if err != nil {
			return nil, fmt.Errorf("audit: %w", err)
		}
	}
	return a.Report, nil
}

var errNotThere = errors.New("it is not there")

func (a *auditor) get(ctx context.Context, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	answer, err := a.Client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // only read
	switch body, err := io.ReadAll(io.LimitReader(answer.Body, most)); {
	case answer.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("%s: %w", address, errNotThere)
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s answers %s", address, answer.Status)
	default:
		return body, err
	}
}

// shown is the map that the house shows.
type shown struct {
	Version int64                                     `json:"version"`
	States  string                                    `json:"states"` // a digit for each seat: 0 free, 1 held, 2 sold, 3 blocked
	Counts  []struct{ Free, Held, Sold, Blocked int } `json:"counts"` // by category
}

func (a *auditor) readShown(ctx context.Context) error {
	body, err := a.get(ctx, strings.TrimSuffix(a.URL, "/log")+"/map.bin?as=json")
	if errors.Is(err, errNotThere) {
		return nil
	}
	if err != nil {
		return err
	}
	a.shown = &shown{}
	if err := json.Unmarshal(body, a.shown); err != nil {
		return fmt.Errorf("read the map that is shown: %w", err)
	}
	return nil
}

// readCosigned comes before the checkpoint, which has as many leaves at least.
func (a *auditor) readCosigned(ctx context.Context) error {
	if len(a.Options.Witnesses) == 0 {
		return nil
	}
	signed, err := a.get(ctx, a.URL+"/cosigned")
	if err != nil && !errors.Is(err, errNotThere) {
		return err
	}
	a.cosigned = string(signed)
	return nil
}

func (a *auditor) readKey(ctx context.Context) (err error) {
	if a.Report.Key = a.Options.Key; a.Report.Key == "" {
		key, err := a.get(ctx, a.URL+"/key")
		if err != nil {
			return err
		}
		a.Report.Key = strings.TrimSpace(string(key))
	}
	if a.verifier, err = note.NewVerifier(a.Report.Key); err != nil {
		return fmt.Errorf("read the key %q: %w", a.Report.Key, err)
	}
	return nil
}

// readLog downloads the log. The map was shown before, and the log follows it: it is read again until it has that version.
func (a *auditor) readLog(ctx context.Context) error {
	for end := time.Now().Add(a.patience); ; {
		if err := a.readCheckpoint(ctx); err != nil {
			return err
		}
		if err := a.readLeaves(ctx); err != nil {
			return err
		}
		if a.shown == nil || a.newest() >= a.shown.Version || time.Now().After(end) {
			return nil
		}
		if err := seats.Sleep(ctx, min(time.Second, a.patience/4)); err != nil {
			return err
		}
	}
}

// newest is the last version of the log; -1: there is none.
func (a *auditor) newest() int64 {
	for i := len(a.leaves) - 1; i >= 0; i-- {
		if leaf, err := publiclog.ParseLeaf(a.leaves[i]); err == nil && leaf.Kind == publiclog.Version {
			return int64(leaf.Version)
		}
	}
	return -1
}

// errUnsigned ends an audit: without a signed checkpoint there is nothing to check.
var errUnsigned = errors.New("the checkpoint is not signed by the key of the log")

func (a *auditor) readCheckpoint(ctx context.Context) error {
	signed, err := a.get(ctx, a.URL+"/checkpoint")
	if err != nil {
		return err
	}
	a.Checkpoint = string(signed)
	opened, err := note.Open(signed, note.VerifierList(a.verifier))
	if err != nil {
		a.wrong("The checkpoint is not signed by the key %s: %v.", a.Report.Key, err)
		return errUnsigned
	}
	a.Cosigners = len(opened.UnverifiedSigs)
	a.Origin, a.Leaves, a.root, err = parseTree(opened.Text)
	return err
}

// parseTree reads the body of a checkpoint.
func parseTree(text string) (origin string, size int64, root tlog.Hash, err error) {
	lines := strings.Split(text, "\n")
	if len(lines) < 4 {
		return "", 0, root, fmt.Errorf("a checkpoint has three lines: %q", text)
	}
	if size, err = strconv.ParseInt(lines[1], 10, 64); err == nil {
		root, err = tlog.ParseHash(lines[2])
	}
	if err != nil || size < 1 {
		return "", 0, root, fmt.Errorf("a checkpoint has a size and a root: %q", text)
	}
	return lines[0], size, root, nil
}

// stored are the hashes of a tree, in memory.
type stored []tlog.Hash

// ReadHashes is part of tlog.HashReader.
func (s stored) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	list := make([]tlog.Hash, len(indexes))
	for i, at := range indexes {
		if at >= int64(len(s)) {
			return nil, errors.New("the tree is shorter")
		}
		list[i] = s[at]
	}
	return list, nil
}

// tilePath is the address of a tile; level -1: of a bundle.
func tilePath(level int, n int64, width int) string {
	path := tlog.Tile{H: 8, L: level, N: n, W: width}.Path()
	if level < 0 {
		return strings.Replace(path, "tile/8/data/", "tile/entries/", 1)
	}
	return strings.Replace(path, "tile/8/", "tile/", 1)
}

// readLeaves downloads all bundles but whole ones that it has.
func (a *auditor) readLeaves(ctx context.Context) error {
	have := min(int64(len(a.leaves)), a.Leaves) / 256
	bundles := make([][]byte, (a.Leaves+255)/256-have)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(filesAtOnce)
	for i := range bundles {
		g.Go(func() (err error) {
			n := have + int64(i)
			bundles[i], err = a.get(ctx, a.URL+"/"+tilePath(-1, n, int(min(256, a.Leaves-n*256))))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	a.leaves = a.leaves[:have*256]
	for i, b := range bundles {
		n := have + int64(i)
		a.Bytes += int64(len(b))
		for len(b) >= 2 {
			end := 2 + int(binary.BigEndian.Uint16(b))
			if end > len(b) {
				return fmt.Errorf("bundle %d ends within a leaf", n)
			}
			a.leaves, b = append(a.leaves, b[2:end]), b[end:]
		}
	}
	return nil
}

// checkTree holds the leaves against the signed root, and against the roots that were seen before.
func (a *auditor) checkTree(context.Context) error {
	if int64(len(a.leaves)) != a.Leaves {
		a.wrong("The log serves %d leaves of the %d that it signed.", len(a.leaves), a.Leaves)
		return nil
	}
	for i, leaf := range a.leaves {
		hashes, err := tlog.StoredHashes(int64(i), leaf, a.tree)
		if err != nil {
			return err
		}
		a.tree = append(a.tree, hashes...)
	}
	if root, err := tlog.TreeHash(a.Leaves, a.tree); err != nil {
		return err
	} else if root != a.root {
		a.wrong("The leaves are not those that were signed: their root is %v, the signed one is %v.", root, a.root)
	}
	before := publiclog.Checkpoints(a.Options.Since)
	if len(before) == 0 && strings.TrimSpace(a.Options.Since) != "" {
		return errors.New("there is no checkpoint in what was seen before")
	}
	for _, c := range before {
		if err := a.continues(c); err != nil {
			return err
		}
	}
	return nil
}

// continues holds the tree against a checkpoint that was signed before.
func (a *auditor) continues(before string) error {
	opened, err := note.Open([]byte(before), note.VerifierList(a.verifier))
	if err != nil {
		a.wrong("A checkpoint that was seen before is not signed by the key of this log: %.60q.", before)
		return nil
	}
	_, size, root, err := parseTree(opened.Text)
	if err != nil {
		return err
	}
	a.Report.Since = append(a.Report.Since, size)
	if size > a.Leaves {
		a.wrong("The log has %d leaves, and had %d before: some were removed.", a.Leaves, size)
		return nil
	}
	now, err := tlog.TreeHash(size, a.tree)
	if err != nil {
		return err
	}
	if now != root {
		a.wrong("The first %d leaves are not those that were signed before: a leaf was changed, removed or inserted, or two logs are shown.", size)
	}
	return nil
}

// checkWitnesses demands that each witness cosigned a root, and that the log continues it.
func (a *auditor) checkWitnesses(context.Context) error {
	if len(a.Options.Witnesses) == 0 || len(a.tree) == 0 {
		return nil
	}
	said := map[string]string{}
	for _, c := range publiclog.Checkpoints(a.cosigned) {
		opened, err := note.Open([]byte(c), note.VerifierList(a.Options.Witnesses...))
		if err != nil {
			continue // none of these witnesses signed it
		}
		_, size, _, err := parseTree(opened.Text)
		if err != nil {
			return err
		}
		for _, s := range opened.Sigs {
			at, err := cosignature.CoSigV1Timestamp(s)
			if err != nil {
				return err
			}
			if said[s.Name] == "" {
				said[s.Name] = fmt.Sprintf("%s cosigned %d leaves at %s UTC", s.Name, size, at.UTC().Format(time.DateTime))
			}
		}
		if err := a.continues(c); err != nil {
			return err
		}
	}
	for _, w := range a.Options.Witnesses {
		if said[w.Name()] == "" {
			a.wrong("The house shows no root that %s cosigned: it may show another log to others.", w.Name())
			continue
		}
		a.Witnessed = append(a.Witnessed, said[w.Name()])
	}
	return nil
}

// checkTiles holds the tiles of hashes against the leaves.
func (a *auditor) checkTiles(ctx context.Context) error {
	if len(a.Problems) > 0 {
		return nil
	}
	tiles := tlog.NewTiles(8, 0, a.Leaves)
	served := make([][]byte, len(tiles))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(filesAtOnce)
	for i, t := range tiles {
		g.Go(func() (err error) {
			served[i], err = a.get(ctx, a.URL+"/"+tilePath(t.L, t.N, t.W))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, t := range tiles {
		want, err := tlog.ReadTileData(t, a.tree)
		if err != nil {
			return err
		}
		if string(want) != string(served[i]) {
			a.wrong("Tile %s is not that of the leaves.", tilePath(t.L, t.N, t.W))
		}
	}
	return nil
}

// checkDraws holds the commitments of draws in the log against the records of the house.
func (s *sale) checkDraws(ctx context.Context) error {
	home, _, _ := strings.Cut(s.URL, "/events/")
	for _, room := range s.rooms {
		body, err := s.get(ctx, home+"/rooms/"+url.PathEscape(room)+"/draw.json")
		if errors.Is(err, errNotThere) {
			s.Draws = append(s.Draws, fmt.Sprintf("Room %s committed to its draw, and shows no record of one yet.", room))
			continue
		}
		if err != nil {
			return err
		}
		var record waitingroom.Record
		if err := json.Unmarshal(body, &record); err != nil {
			return fmt.Errorf("read the draw of room %s: %w", room, err)
		}
		s.checkDraw(room, &record)
	}
	return nil
}

func (s *sale) checkDraw(room string, record *waitingroom.Record) {
	committed, is := s.draws[draw{room, strconv.Itoa(int(record.Epoch))}]
	switch {
	case !is:
		s.wrong("Room %s shows the draw %d, and the log has no commitment to it.", room, record.Epoch)
	case record.Commitment.String() != committed.to:
		s.wrong("The draw of room %s is of the commitment %s, and the log has %s.", room, record.Commitment, committed.to)
	case record.ClosedAt.IsZero():
		s.wrong("The draw of room %s does not say when its lobby closed.", room)
	case committed.at > record.ClosedAt.UnixMicro():
		s.wrong("The draw of room %s was committed to after its lobby closed: the commitment stands behind a leaf of %s, and it closed at %s.", room, moment(committed.at), moment(record.ClosedAt.UnixMicro()))
	}
	for _, wrong := range waitingroom.Verify(record) {
		s.wrong("The draw of room %s: %s", room, wrong)
	}
	s.Draws = append(s.Draws, fmt.Sprintf("Room %s drew %d numbers; its lobby closed at %s.", room, record.People, moment(record.ClosedAt.UnixMicro())))
}
