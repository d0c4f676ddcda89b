package audit

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/publiclog"
	"github.com/usherbox/usher/seats/waitingroom"
)

// house serves logs as a house does that has the key, also forged ones.
type house struct {
	t      testing.TB
	signer note.Signer
	key    string
	leaves [][]byte
	tree   stored
	map_   string       // what map.bin answers; empty: it is not there
	draw   string       // the record of the draw of room lobby; empty: it is not there
	tile   string       // a tile of hashes that is answered as zeros
	behind atomic.Int64 // leaves that are not signed yet; they are once the checkpoint was asked for

	cosigned string // the root that witnesses cosigned; empty: it is not there
}

const doorsAt = int64(1_900_000_000_000_000)

func newHouse(t testing.TB) *house {
	t.Helper()
	secret, public, err := note.GenerateKey(rand.Reader, "tickets.example.org/events/evening/log")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	return &house{t: t, signer: signer, key: public}
}

// with is the same house with another log.
func (h *house) with(leaves []publiclog.Leaf) *house {
	h.t.Helper()
	other := &house{t: h.t, signer: h.signer, key: h.key}
	for i, l := range leaves {
		other.leaves = append(other.leaves, l.Append(nil))
		hashes, err := tlog.StoredHashes(int64(i), other.leaves[i], other.tree)
		if err != nil {
			h.t.Fatal(err)
		}
		other.tree = append(other.tree, hashes...)
	}
	return other
}

func (h *house) checkpoint() string {
	size := int64(len(h.leaves)) - h.behind.Swap(0)
	root, err := tlog.TreeHash(size, h.tree)
	if err != nil {
		h.t.Fatal(err)
	}
	signed, err := note.Sign(&note.Note{Text: fmt.Sprintf("%s\n%d\n%v\n", h.signer.Name(), size, root)}, h.signer)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(signed)
}

func (h *house) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, found := strings.CutPrefix(r.URL.Path, "/events/evening/log/")
	switch {
	case r.URL.Path == "/events/evening/map.bin" && h.map_ != "":
		fmt.Fprint(w, h.map_)
	case r.URL.Path == "/rooms/lobby/draw.json" && h.draw != "":
		fmt.Fprint(w, h.draw)
	case !found:
		http.NotFound(w, r)
	case path == "checkpoint":
		fmt.Fprint(w, h.checkpoint())
	case path == "cosigned" && h.cosigned != "":
		fmt.Fprint(w, h.cosigned)
	case path == "key":
		fmt.Fprintln(w, h.key)
	default:
		level, n, width, ok := publiclog.ParseTile(strings.TrimPrefix(path, "tile/"))
		if !ok {
			http.NotFound(w, r)
			return
		}
		if level >= 0 {
			data, err := tlog.ReadTileData(tlog.Tile{H: 8, L: level, N: n, W: width}, h.tree)
			if err != nil {
				http.NotFound(w, r)
				return
			}
			if path == "tile/"+h.tile {
				clear(data)
			}
			_, _ = w.Write(data)
			return
		}
		for _, leaf := range h.leaves[n*256 : n*256+int64(width)] {
			_, _ = w.Write(binary.BigEndian.AppendUint16(nil, uint16(len(leaf))))
			_, _ = w.Write(leaf)
		}
	}
}

// audit audits the log of a house.
func (h *house) audit(o Options) *Report {
	h.t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	o.URL = server.URL + "/events/evening/log"
	r, err := Run(h.t.Context(), o)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// story makes the leaves of a sale.
type story struct {
	leaves []publiclog.Leaf
	states []byte
	at     int64
	next   uint64
	orders map[uint32]seats.ID
	salts  map[uint32]publiclog.Salt
}

func newStory(n int) *story {
	s := &story{states: make([]byte, n), at: doorsAt - int64(time.Hour/time.Microsecond), orders: map[uint32]seats.ID{}, salts: map[uint32]publiclog.Salt{}}
	s.version(&publiclog.Rules{Status: publiclog.OnSale, Opens: doorsAt, Seats: uint32(n)})
	return s
}

// version adds a change that brings seats into a state.
func (s *story) version(rules *publiclog.Rules, change ...[2]int) {
	l := publiclog.Leaf{Kind: publiclog.Version, Version: s.next, At: s.at, Parts: 1, Rules: rules}
	for _, c := range change {
		e := publiclog.Entry{Seat: uint32(c[0]), State: byte(c[1])}
		if e.State != free {
			order, salt := seats.NewID(), publiclog.Salt(seats.NewID())
			e.Commitment = publiclog.Commitment(salt, order)
			s.orders[e.Seat], s.salts[e.Seat] = order, salt
		}
		s.states[c[0]] = e.State
		l.Entries = append(l.Entries, e)
	}
	for _, state := range s.states {
		switch state {
		case held, paying:
			l.Held++
		case sold:
			l.Sold++
		case blocked:
			l.Blocked++
		default:
			l.Free++
		}
	}
	s.leaves, s.next, s.at = append(s.leaves, l), s.next+1, s.at+int64(time.Millisecond/time.Microsecond)
}

// shown is the map that a house shows after the last version.
func (s *story) shown() string {
	digits := make([]byte, len(s.states))
	for i, state := range s.states {
		digits[i] = [...]byte{'0', '1', '0', '1', '2', '3'}[state]
	}
	l := s.leaves[len(s.leaves)-1]
	return fmt.Sprintf(`{"version":%d,"states":%q,"counts":[{"free":%d,"held":%d,"sold":%d,"blocked":%d}]}`, l.Version, digits, l.Free, l.Held, l.Sold, l.Blocked)
}

// state adds a statement.
func (s *story) state(text string) {
	s.leaves = append(s.leaves, publiclog.Leaf{Kind: publiclog.Statement, At: s.at, Text: text})
}

// evening is an honest sale: two seats are blocked and one of them is sold before the doors open, then the crowd comes.
func evening(n int) *story {
	s := newStory(n)
	s.version(nil, [2]int{0, 5}, [2]int{1, 5})
	s.version(nil, [2]int{0, 4})
	s.at = doorsAt
	for i := 2; i < n; i++ {
		s.version(nil, [2]int{i, 1})
		if i%5 > 0 {
			s.version(nil, [2]int{i, 4})
		}
	}
	return s
}

func (s *story) proof(seat uint32) string {
	for i := len(s.leaves) - 1; i >= 0; i-- {
		for _, e := range s.leaves[i].Entries {
			if e.Seat == seat {
				hash := tlog.RecordHash(s.leaves[i].Append(nil))
				return fmt.Sprintf("%s.%d.%x.%v", publiclog.Code(int64(i), hash[:]), seat, s.salts[seat], s.orders[seat])
			}
		}
	}
	return ""
}

func TestAudit_HonestSaleIsRight(t *testing.T) {
	t.Parallel()
	s := evening(400)
	h := newHouse(t).with(s.leaves)
	h.map_ = s.shown()
	r := h.audit(Options{Ticket: s.proof(3), Since: "kept:\n\n" + h.with(s.leaves[:300]).checkpoint()})
	if len(r.Problems) > 0 {
		t.Fatalf("%q", r.Problems)
	}
	if got, want := fmt.Sprint(r.Free, r.Held, r.Sold, r.Blocked, r.Declared, r.EarlyBlocks, r.LateBlocks, r.Shown, r.Since, r.Doors.UnixMicro()), fmt.Sprint(0, 79, 320, 1, 2, 1, 0, s.next-1, []int{300}, doorsAt); got != want {
		t.Errorf("the report has %s, want %s", got, want)
	}
	if !strings.Contains(r.Ticket, "sold seat 3.") {
		t.Errorf("the ticket: %q", r.Ticket)
	}
}

// frauds are what a house with its key may try. before is what an auditor saw, as many leaves of the honest log; 0: nothing.
var frauds = []struct {
	name   string
	before int
	forge  func(s *story)
	says   string
}{
	{"a hold that was made before the doors opened", 0, func(s *story) {
		*s = *newStory(20)
		s.version(nil, [2]int{7, 1})
	}, "Seat 7 was taken in version 1"},
	{"a hold that was given an earlier time", 0, func(s *story) {
		s.at = doorsAt - int64(time.Minute/time.Microsecond)
		s.version(nil, [2]int{19, 0})
	}, "written later than it says"},
	{"a back-dated hold that takes the place of another version", 10, func(s *story) { s.leaves[4].At = doorsAt - 1 }, "not those that were signed before"},
	{"a removed row", 0, func(s *story) { s.leaves = slices.Delete(s.leaves, 9, 10) }, "a change is missing"},
	{"a removed row, with all later ones renumbered", 20, func(s *story) {
		s.leaves = slices.Delete(s.leaves, 9, 10)
		for i := 9; i < len(s.leaves); i++ {
			s.leaves[i].Version--
		}
	}, "not those that were signed before"},
	{"a log that became shorter", 20, func(s *story) { s.leaves = s.leaves[:15] }, "some were removed"},
	{"another log than the one that was shown to the other auditor", 20, func(s *story) { *s = *evening(20) }, "two logs are shown"},
	{"a block slipped in later", 20, func(s *story) {
		l := s.leaves[2]
		l.Entries = []publiclog.Entry{{Seat: 12, State: 5, Commitment: [32]byte{1}}}
		s.leaves = slices.Insert(s.leaves, 2, l)
	}, "not those that were signed before"},
	{"a block that is written at the end with an earlier time", 0, func(s *story) {
		s.at = doorsAt - int64(time.Minute/time.Microsecond)
		s.version(nil, [2]int{5, 5})
	}, "written later than it says"},
	{"a seat that is sold twice", 0, func(s *story) { s.version(nil, [2]int{3, 4}) }, "Seat 3 was sold in version"},
	{"counts that hide seats", 0, func(s *story) { s.leaves[8].Free--; s.leaves[8].Sold++ }, "was shown with"},
}

func TestAudit_FindsEachPlantedFraud(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, f := range frauds {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			honest := evening(20)
			o := Options{}
			if f.before > 0 {
				o.Since = h.with(honest.leaves[:f.before]).checkpoint()
			}
			f.forge(honest)
			r := h.with(honest.leaves).audit(o)
			if !slices.ContainsFunc(r.Problems, func(p string) bool { return strings.Contains(p, f.says) }) {
				t.Errorf("the audit says %q", r.Problems)
			}
		})
	}
}

func TestAudit_MapThatIsNotOfTheLogIsFound(t *testing.T) {
	t.Parallel()
	s := evening(20)
	right := s.shown()
	s.version(nil, [2]int{5, 0})
	for name, c := range map[string]struct{ shown, says string }{
		"fewer free seats":                     {strings.Replace(s.shown(), `"free":1,`, `"free":0,`, 1), "The house shows 0"},
		"a free seat that is shown as sold":    {strings.Replace(s.shown(), `"states":"23222`, `"states":"23232`, 1), "shows seat 3 as 3"},
		"a seat too many":                      {strings.Replace(s.shown(), `"states":"`, `"states":"0`, 1), "shows 21 seats"},
		"a version that is not there yet":      {strings.Replace(s.shown(), fmt.Sprintf(`"version":%d`, s.next-1), fmt.Sprintf(`"version":%d`, s.next), 1), "its log ends with version"},
		"a version that the log does not have": {strings.Replace(s.shown(), fmt.Sprintf(`"version":%d`, s.next-1), `"version":-5`, 1), "which is not in the log"},
		"an older version with newer seats":    {strings.Replace(s.shown(), fmt.Sprintf(`"version":%d`, s.next-1), fmt.Sprintf(`"version":%d`, s.next-2), 1), "The house shows"},
	} {
		h := newHouse(t).with(s.leaves)
		if h.map_ = c.shown; c.shown == s.shown() {
			t.Fatalf("%s: the map is the right one, %s", name, c.shown)
		}
		if r := h.audit(Options{patience: 10 * time.Millisecond}); len(r.Problems) == 0 || !strings.Contains(r.Problems[0], c.says) {
			t.Errorf("%s: the audit says %q", name, r.Problems)
		}
	}
	h := newHouse(t).with(s.leaves)
	h.map_ = right
	if r := h.audit(Options{}); len(r.Problems) > 0 || r.Shown != int64(s.next)-2 {
		t.Errorf("a map of a moment ago: %q, compared with version %d", r.Problems, r.Shown)
	}
}

func TestAudit_LogFollowsTheMapThatWasShown(t *testing.T) {
	t.Parallel()
	s := evening(400)
	for _, behind := range []int64{1, 5, 300} {
		h := newHouse(t).with(s.leaves)
		h.map_ = s.shown()
		h.behind.Store(behind)
		r := h.audit(Options{patience: time.Minute, Since: h.with(s.leaves[:300]).checkpoint()})
		if len(r.Problems) > 0 || r.Shown != int64(s.next)-1 || r.Leaves != int64(len(s.leaves)) {
			t.Errorf("the log was %d leaves behind: %q, %d leaves, compared with version %d", behind, r.Problems, r.Leaves, r.Shown)
		}
	}
}

func TestAudit_DrawIsTheOneThatWasCommittedTo(t *testing.T) {
	t.Parallel()
	closed := time.UnixMicro(doorsAt).UTC()
	record := func(epoch int32, secret byte, closed time.Time) waitingroom.Record {
		r := waitingroom.RecordOf(waitingroom.Draw{Room: 1, Epoch: epoch, Secret: [32]byte{secret}, People: 50})
		r.ClosedAt = closed
		return r
	}
	forged := record(1, 1, closed)
	forged.People = 51
	var names, says []string
	var asked []Options
	for name, c := range map[string]struct {
		late  bool // the commitment stands in the log after the lobby closed
		shown *waitingroom.Record
		says  string // empty: all is right
	}{
		"the draw as committed":                   {false, new(record(1, 1, closed)), ""},
		"no draw yet":                             {false, nil, ""},
		"another secret":                          {false, new(record(1, 2, closed)), "of the commitment"},
		"a draw that was made again":              {false, new(record(2, 2, closed)), "the log has no commitment to it"},
		"a commitment after the lobby closed":     {true, new(record(1, 1, closed)), "after its lobby closed"},
		"a lobby that closes when the room likes": {false, new(record(1, 1, time.Time{})), "does not say when its lobby closed"},
		"a person more":                           {false, &forged, "The draw of room lobby: The seed does not follow"},
		// A room that an event on sale was given: its doors are open, its lobby is not closed.
		"a lobby that closes after the doors open": {true, new(record(1, 1, closed.Add(time.Hour))), ""},
	} {
		s := evening(20)
		commit := fmt.Sprintf("draw\nroom lobby\nepoch 1\ncommitment %s\n", record(1, 1, closed).Commitment)
		if c.late {
			s.state(commit)
		} else {
			s.leaves = slices.Insert(s.leaves, 2, publiclog.Leaf{Kind: publiclog.Statement, At: s.leaves[1].At, Text: commit})
		}
		h := newHouse(t).with(s.leaves)
		if c.shown != nil {
			body, err := json.Marshal(c.shown)
			if err != nil {
				t.Fatal(err)
			}
			h.draw = string(body)
		}
		server := httptest.NewServer(h)
		defer server.Close()
		names, says, asked = append(names, name), append(says, c.says), append(asked, Options{URL: server.URL + "/events/evening/log"})
	}
	for i, page := range pages(t, asked, time.Millisecond) {
		r, err := Run(t.Context(), asked[i])
		if err != nil {
			t.Fatal(err)
		}
		for who, r := range map[string]*Report{"audit": r, "page": &page.Report} {
			switch {
			case says[i] == "" && (len(r.Problems) > 0 || len(r.Draws) != 1):
				t.Errorf("%s: the %s says %q, %q", names[i], who, r.Problems, r.Draws)
			case says[i] != "" && !slices.ContainsFunc(r.Problems, func(p string) bool { return strings.Contains(p, says[i]) }):
				t.Errorf("%s: the %s says %q", names[i], who, r.Problems)
			}
		}
	}
}

func TestAudit_LeavesThatWereNotSignedAreFound(t *testing.T) {
	t.Parallel()
	h := newHouse(t).with(evening(20).leaves)
	h.leaves[9] = evening(20).leaves[9].Append(nil) // the change log was altered after it was signed
	r := h.audit(Options{})
	if len(r.Problems) == 0 || !strings.Contains(r.Problems[0], "not those that were signed") {
		t.Errorf("the audit says %q", r.Problems)
	}
}

func TestAudit_CheckpointOfAnotherKeyIsFound(t *testing.T) {
	t.Parallel()
	h := newHouse(t).with(evening(20).leaves)
	h.key = newHouse(t).key
	if r := h.audit(Options{}); len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "not signed by the key "+h.key) || r.Checkpoint == "" {
		t.Errorf("the audit says %q of %q", r.Problems, r.Checkpoint)
	}
}

func TestAudit_TicketOfAnotherIsNotInTheLog(t *testing.T) {
	t.Parallel()
	s := evening(20)
	h := newHouse(t).with(s.leaves)
	index, letters, _ := strings.Cut(s.proof(3), "-")
	for ticket, says := range map[string]string{
		"1" + index + "-" + letters: "not in the log",
		"3-" + letters:              "not in the log",
		strings.Replace(s.proof(3), s.orders[3].String(), s.orders[4].String(), 1): "another order",
	} {
		if r := h.audit(Options{Ticket: ticket}); len(r.Problems) == 0 || !strings.Contains(r.Problems[0], says) {
			t.Errorf("%s: the audit says %q", ticket, r.Problems)
		}
	}
	code := s.proof(3)
	s.version(nil, [2]int{3, 0})
	s.version(nil, [2]int{3, 4})
	if r := newHouse(t).with(s.leaves).audit(Options{Ticket: code}); len(r.Problems) == 0 || !strings.Contains(r.Problems[0], "changed it later") {
		t.Errorf("a ticket that was sold on: %q", r.Problems)
	}
}

// Of a sale of 50,000 seats and 40,000 orders, over HTTP. docs/audit-log.md has the figures.
func TestAudit_OfALargeSaleIsShort(t *testing.T) {
	s := newStory(50_000)
	s.at = doorsAt
	states := s.leaves[0]
	for i := range 50_000 { // the counts of each version would take long to count anew
		for _, state := range []byte{held, sold}[:min(2, 1+(i%5+3)/4)] {
			l := publiclog.Leaf{Kind: publiclog.Version, Version: s.next, At: s.at, Parts: 1, Entries: []publiclog.Entry{{Seat: uint32(i), State: state, Commitment: [32]byte{1, byte(i)}}}}
			if states.Free, states.Held = states.Free-1, states.Held+1; state == sold {
				states.Free, states.Held, states.Sold = states.Free+1, states.Held-2, states.Sold+1
			}
			l.Free, l.Held, l.Sold = states.Free, states.Held, states.Sold
			s.leaves, s.next, s.at = append(s.leaves, l), s.next+1, s.at+1000
		}
	}
	h := newHouse(t).with(s.leaves)
	began := time.Now()
	r := h.audit(Options{})
	took := time.Since(began)
	if len(r.Problems) > 0 || r.Sold != 40_000 {
		t.Fatalf("%d sold, %q", r.Sold, r.Problems)
	}
	t.Logf("%d leaves of 50,000 seats and 40,000 orders in %v", r.Leaves, took)
	check := newChecker(t)
	began = time.Now()
	if out, err := check(h, ""); err != nil || !strings.HasPrefix(out, "right: 90001 leaves") {
		t.Errorf("the other checker says %s, %v", out, err)
	}
	t.Logf("the other checker: %v", time.Since(began))
	if took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}

// newChecker builds tools/checker, which returns what it says of the log of a house. since is what an auditor saw before.
func newChecker(t *testing.T) (check func(h *house, since string) (string, error)) {
	t.Helper()
	checker := filepath.Join(t.TempDir(), "checker")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", checker, "../../../tools/checker/main.go").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return func(h *house, since string) (string, error) {
		t.Helper()
		server := httptest.NewServer(h)
		defer server.Close()
		args := []string{server.URL + "/events/evening/log"}
		if since != "" {
			file := filepath.Join(t.TempDir(), "since")
			if err := os.WriteFile(file, []byte(since), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, file)
		}
		out, err := exec.CommandContext(t.Context(), checker, args...).CombinedOutput()
		return string(out), err
	}
}

// The checker of tools/checker is written from docs/audit-log.md and shares no code with this package.
func TestAudit_IndependentCheckerFindsTheSame(t *testing.T) {
	t.Parallel()
	if source, err := os.ReadFile("../../../tools/checker/main.go"); err != nil || strings.Count(string(source), "\n") > 200 || strings.Contains(string(source), "usherbox") || strings.Contains(string(source), "golang.org") {
		t.Errorf("the checker has more than 200 lines, or imports more than the standard library (%v)", err)
	}
	check := newChecker(t)
	h := newHouse(t)
	honest := evening(400)
	if out, err := check(h.with(honest.leaves), h.with(honest.leaves[:300]).checkpoint()); err != nil || !strings.HasPrefix(out, "right: 720 leaves, 720 versions, 400 seats") {
		t.Errorf("of an honest log it says %s, %v", out, err)
	}
	for _, f := range frauds {
		s, since := evening(20), ""
		if f.before > 0 {
			since = h.with(s.leaves[:f.before]).checkpoint()
		}
		f.forge(s)
		if out, err := check(h.with(s.leaves), since); err == nil || !strings.Contains(out, "WRONG") {
			t.Errorf("%s: it says %s, %v", f.name, out, err)
		}
	}
}

// script runs a program with the scripts of the log's page, as browsers run them, and returns the lines that it prints.
func script(t *testing.T, program string, args ...string) []string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("this test needs Node 18 or newer: ", err)
	}
	dir := t.TempDir()
	for _, name := range []string{"audit", "logproof", "draw", "text"} {
		source, err := os.ReadFile("../../../static/js/" + name + ".js")
		if err != nil {
			t.Fatal(err)
		}
		source = regexp.MustCompile(`'usher/(\w+)'`).ReplaceAll(source, []byte(`'./$1.mjs'`))
		if err := os.WriteFile(filepath.Join(dir, name+".mjs"), source, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	main := filepath.Join(dir, "main.mjs")
	if err := os.WriteFile(main, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, append([]string{main}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

func TestPage_ProvesATicketByItsScript(t *testing.T) {
	t.Parallel()
	prove := func(h *house, proofs ...string) []string {
		t.Helper()
		server := httptest.NewServer(h)
		defer server.Close()
		return script(t, `import {proven} from './logproof.mjs'
const [log, ...proofs] = process.argv.slice(2)
for (const p of proofs) console.log(await proven(path => fetch(log + path), p).then(JSON.stringify, error => 'error ' + error.message))`,
			append([]string{server.URL + "/events/evening/log/"}, proofs...)...)
	}
	s := evening(400)
	house := newHouse(t)
	for strings.Count(house.key, "+") == 2 { // one with a + in its base64 is harder to read
		house = newHouse(t)
	}
	h := house.with(s.leaves)
	code, _, _ := strings.Cut(s.proof(398), ".")
	another := strings.Replace(s.proof(3), s.orders[3].String(), s.orders[4].String(), 1)
	got := prove(h, s.proof(3), s.proof(398), strings.ToLower(code), another, "9"+code, "7-7Q2M-4KXD-9F3A-T8WN", "nothing")
	for i, want := range []string{`"size":720,"signed":true,"opened":true`, `"size":720,"signed":true,"opened":true`, `"size":720,"signed":true}`, `{"wrong":true}`, `{"wrong":true}`, `{"wrong":true}`, `{"wrong":true}`} {
		if !strings.Contains(got[i], want) {
			t.Errorf("proof %d is answered %s, want %s", i, got[i], want)
		}
	}
	for _, size := range []int{257, 300, 513} { // other shapes of the tree
		if got := prove(h.with(s.leaves[:size]), s.proof(3)); !strings.Contains(got[0], `"opened":true`) {
			t.Errorf("of %d leaves: %s", size, got)
		}
	}
	forged := h.with(s.leaves)
	forged.tree[tlog.StoredHashIndex(0, 700)] = tlog.Hash{}
	if got := prove(forged, s.proof(398)); !strings.HasPrefix(got[0], "error") {
		t.Errorf("of a tile that does not fit the root: %s", got)
	}
}

// pageReport is the report of the page's script. It has no witnesses, and its doors are in microseconds.
type pageReport struct {
	Report
	Doors  *int64
	Signed bool
	Error  string
}

// pages audits logs with the script of the page.
func pages(t *testing.T, asked []Options, patience time.Duration) (reports []pageReport) {
	t.Helper()
	list := make([][3]string, len(asked))
	for i, o := range asked {
		list[i] = [3]string{o.URL, o.Since, o.Ticket}
	}
	jobs, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range script(t, `import {audit} from './audit.mjs'
for (const [log, seen, ticket] of JSON.parse(process.argv[2])) {
  const report = await audit({log, seen, ticket, patience: +process.argv[3], wait: 1}).catch(error => ({error: error.message}))
  console.log(JSON.stringify(report))
}`, string(jobs), fmt.Sprint(patience.Milliseconds())) {
		var r pageReport
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v\n%s", err, line)
		}
		reports = append(reports, r)
	}
	return reports
}

// The page of a log replays the sale as the command does, and says the same of honest logs, of each fraud, of false maps and of tickets.
func TestPage_SaysOfEachLogWhatTheCommandSays(t *testing.T) {
	t.Parallel()
	const patience = 20 * time.Millisecond
	var names []string
	var asked []Options
	add := func(name string, h *house, o Options) {
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		o.URL, o.patience = server.URL+"/events/evening/log", patience
		names, asked = append(names, name), append(asked, o)
	}
	one := newHouse(t)
	s := evening(400)
	h := one.with(s.leaves)
	h.map_ = s.shown()
	add("honest", h, Options{Ticket: s.proof(3), Since: "before:\n\n" + h.with(s.leaves[:300]).checkpoint()})
	index, letters, _ := strings.Cut(s.proof(3), "-")
	code, _, _ := strings.Cut(s.proof(7), ".")
	for _, ticket := range []string{"1" + index + "-" + letters, "3-" + letters, strings.Replace(s.proof(3), s.orders[3].String(), s.orders[4].String(), 1), strings.ToLower(code)} {
		add("ticket "+ticket, h, Options{Ticket: ticket})
	}
	for _, f := range frauds {
		honest := evening(20)
		o := Options{}
		if f.before > 0 {
			o.Since = one.with(honest.leaves[:f.before]).checkpoint()
		}
		f.forge(honest)
		h := one.with(honest.leaves)
		h.map_ = evening(20).shown()
		add(f.name, h, o)
	}
	for name, change := range map[string][2]string{
		"fewer free seats": {`"free":0,`, `"free":5,`}, "a seat that is shown as sold": {`"states":"2322`, `"states":"2320`},
		"a seat too many": {`"states":"`, `"states":"0`}, "a version that is not there": {`"version":`, `"version":9`}, "no version": {`"version":`, `"version":-`},
	} {
		s := evening(20)
		h := one.with(s.leaves)
		if h.map_ = strings.Replace(s.shown(), change[0], change[1], 1); h.map_ == s.shown() {
			t.Fatalf("%s: the map is the right one, %s", name, h.map_)
		}
		add(name, h, Options{})
	}
	unsigned := one.with(evening(20).leaves)
	unsigned.leaves[9] = evening(20).leaves[9].Append(nil)
	add("leaves that were not signed", unsigned, Options{})
	tile := one.with(evening(400).leaves)
	tile.tile = "0/001"
	add("a changed tile", tile, Options{})
	large := newStory(4000)
	large.version(nil, [2]int{5, 5})
	all := make([][2]int, 1600)
	for i := range all {
		all[i] = [2]int{i, 5}
	}
	large.version(nil, all[:1500]...)
	large.leaves[2].Parts = 2
	large.version(&publiclog.Rules{Status: publiclog.OnSale, Opens: publiclog.AtOnce, Seats: 3}, all[1500:]...)
	large.version(nil, [2]int{7, 4}, [2]int{8, 0}, [2]int{8, 0}, [2]int{9, 0}, [2]int{10, 0})
	e := large.leaves[len(large.leaves)-1].Entries
	e[0].State, e[3].Commitment, e[4].Seat = 9, [32]byte{1}, 4100
	add("versions in parts that do not fit, and seats that are not there", one.with(large.leaves), Options{})
	for name, leaf := range map[string]publiclog.Leaf{"a time that no calendar has": {Kind: publiclog.Version, Version: 1, At: 1_000_000_000_000_000_000, Parts: 1}, "a kind that is unknown": {Kind: 7}} {
		add(name, one.with(append(newStory(20).leaves, leaf)), Options{})
	}
	for i, r := range pages(t, asked, patience) {
		want, err := Run(t.Context(), asked[i])
		if err != nil || r.Error != "" || !r.Signed {
			t.Fatalf("%s: %v, %s", names[i], err, r.Error)
		}
		if (r.Doors == nil) != want.Doors.IsZero() || r.Doors != nil && *r.Doors != want.Doors.UnixMicro() {
			t.Errorf("%s: the doors open at %v, want %v", names[i], r.Doors, want.Doors)
		}
		got := r.Report
		got.Doors, got.Bytes = want.Doors, want.Bytes  // how often a log is read again depends on the pace
		for _, report := range []*Report{&got, want} { // nil or empty
			report.Since, report.Draws, report.Problems = append([]int64{}, report.Since...), append([]string{}, report.Draws...), append([]string{}, report.Problems...)
			for i, p := range report.Problems {
				report.Problems[i] = strings.Replace(p, " 0.02s later", " 20ms later", 1)
			}
		}
		if !reflect.DeepEqual(&got, want) {
			t.Errorf("%s: the page says\n%+v, the command\n%+v", names[i], got, *want)
		}
	}
}
