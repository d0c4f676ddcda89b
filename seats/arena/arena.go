package arena

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The bounds of the file.
const (
	MostSales    = 24
	mostFindings = 100
	mostKinds    = 1000 // of findings that count in one sale
	mostWords    = 600  // bytes of the words of a finding
)

// The referees.
const (
	Verify = "verify" // the books, as "usher verify" reads them
	Audit  = "audit"  // the public log over HTTP, as "usher audit" reads it
)

// How a sale ended.
const (
	Under   = ""        // it did not end yet
	Held    = "held"    // both referees looked at the end, and found nothing in all of it
	Broken  = "broken"  // a referee found something
	Unclear = "unclear" // a referee could not look at the end
)

// The kinds of attempts that were refused.
const (
	Taken   = "taken"   // another visitor has the seats
	Limit   = "limit"   // more seats than one person may have
	Rules   = "rules"   // another rule of the sale
	Guard   = "guard"   // a request without the right to it
	Input   = "input"   // a request that makes no sense
	TooMany = "toomany" // too many requests
)

// Kinds are all of them, in the order in which they are shown.
var Kinds = []string{Taken, Limit, Rules, Guard, Input, TooMany}

// Sale is one sale of the arena.
type Sale struct {
	Number   int              `json:"number"`
	Slug     string           `json:"slug"` // of its event
	Opens    time.Time        `json:"opens"`
	Ends     time.Time        `json:"ends"`
	Seats    int              `json:"seats"`
	Free     int              `json:"free"`
	Held     int              `json:"held"`
	Sold     int              `json:"sold"`
	Claims   int64            `json:"claims"`  // requests for seats
	Holds    int64            `json:"holds"`   // of them granted
	Orders   int64            `json:"orders"`  // that were confirmed
	Refused  map[string]int64 `json:"refused"` // by kind
	Failed   int64            `json:"failed"`  // answers with a status of 500 or more
	Looks    int              `json:"looks"`   // of referees, to their end
	Findings int              `json:"findings"`
	Verdict  string           `json:"verdict"` // Held, Broken, Unclear; Under while it goes on
}

// Look is the last look of a referee.
type Look struct {
	Referee  string    `json:"referee"`
	At       time.Time `json:"at"`
	Seconds  float64   `json:"seconds"`
	Findings int       `json:"findings"`
	Of       int       `json:"of"`              // promises, or leaves of the log
	Error    string    `json:"error,omitempty"` // of a look that did not come to its end; the page and programs are not told why
}

// Finding is a broken promise, in the words of the referee.
type Finding struct {
	At      time.Time `json:"at"`
	Sale    int       `json:"sale"`
	Referee string    `json:"referee"`
	Promise string    `json:"promise,omitempty"` // of verify, such as P1
	Words   string    `json:"words"`
}

// Caught is a planted bug of the twin, and the referee that caught it.
type Caught struct {
	Bug     string  `json:"bug"`
	Referee string  `json:"referee"`
	Seconds float64 `json:"seconds"` // after the sale opened; less than 0: before that
	Words   string  `json:"words"`
}

// state is what the file has.
type state struct {
	House    int       `json:"house"` // number of the folder with the database
	Since    time.Time `json:"since"` // when that house was made
	Sales    int       `json:"sales"` // that began, in all
	Last     time.Time `json:"last"`  // when the last of them opened
	Sale     *Sale     `json:"sale"`  // the one under way; nil: there is none
	Past     []Sale    `json:"past"`  // the newest first
	Found    int       `json:"found"` // findings in all
	Findings []Finding `json:"findings"`
	Known    []string  `json:"known"`  // kinds of findings that counted in the last sale
	Seen     string    `json:"seen"`   // the last checkpoint of the log that was right
	Broken   []int     `json:"broken"` // houses with findings, which stay for a while
}

// Arena is the state of a public house. Its methods may be called by many goroutines.
type Arena struct {
	Every, For time.Duration
	Contact    string // whom to tell of a hole in the site; empty: not known
	Twin       []Caught

	file string
	now  atomic.Pointer[answers] // of the sale under way, since they were last added to it; nil: there is none

	mu    sync.Mutex
	state state
	count Counter
	looks map[string]Look
	rates rates
}

// Counter counts the seats of an event as its map shows them; known is false without such an event.
type Counter func(slug string) (free, held, sold int, known bool)

// CountBy sets who counts the seats from now on: each house counts its own.
func (a *Arena) CountBy(count Counter) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.count = count
}

// Open reads the state in a file. A file that is not there is an arena without sales.
func Open(file string) (*Arena, error) {
	a := &Arena{file: file, looks: map[string]Look{}}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &a.state)
	}
	if err != nil {
		return nil, fmt.Errorf("read the state of the arena in %s: %w", file, err)
	}
	if a.state.Sale != nil {
		a.now.Store(&answers{})
	}
	return a, nil
}

// save replaces the file whole. It needs mu.
func (a *Arena) save() error {
	text, err := json.MarshalIndent(&a.state, "", " ")
	if err != nil {
		return fmt.Errorf("write the state of the arena: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(a.file), ".arena-")
	if err != nil {
		return fmt.Errorf("write the state of the arena: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // after the rename it is not there
	_, err = f.Write(append(text, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), a.file)
	}
	if err == nil {
		err = syncFolder(filepath.Dir(a.file))
	}
	if err != nil {
		return fmt.Errorf("write the state of the arena: %w", err)
	}
	return nil
}

// syncFolder puts the names in a folder on the disk.
func syncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// House returns the number of the house in use, and when it was made; 0 if there is none yet.
func (a *Arena) House() (number int, since time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state.House, a.state.Since
}

// mostBroken is how many houses with findings stay.
const mostBroken = 3

// Move notes that the next house is in use from now on.
func (a *Arena) Move(now time.Time) (number int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := &a.state
	if n := len(s.Broken) - mostBroken; n > 0 {
		s.Broken = slices.Clone(s.Broken[n:])
	}
	s.House, s.Since = s.House+1, now
	return s.House, a.save()
}

// Needs reports whether a house is in use, or is one of the newest three with findings. The others are of no more use.
func (a *Arena) Needs(house int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return house == a.state.House || slices.Contains(a.state.Broken, house)
}

// IsBroken reports whether the house in use has a finding. Its books would be found wrong again in each later sale.
func (a *Arena) IsBroken() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Contains(a.state.Broken, a.state.House)
}

// Sale returns the sale under way; false if there is none.
func (a *Arena) Sale() (Sale, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state.Sale == nil {
		return Sale{}, false
	}
	a.addAnswers()
	return a.state.Sale.clone(), true
}

func (s *Sale) clone() Sale {
	c, refused := *s, make(map[string]int64, len(Kinds))
	for _, kind := range Kinds {
		refused[kind] = s.Refused[kind]
	}
	c.Refused = refused
	return c
}

// Sales returns how many sales began, and when the last one opened.
func (a *Arena) Sales() (n int, last time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state.Sales, a.state.Last
}

// Found returns the number of findings in all sales.
func (a *Arena) Found() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state.Found
}

// Begin notes a sale whose event was made.
func (a *Arena) Begin(slug string, opens, ends time.Time, seats int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state.Sales++
	a.state.Last, a.state.Seen, a.state.Known = opens, "", nil
	a.state.Sale = &Sale{Number: a.state.Sales, Slug: slug, Opens: opens.UTC(), Ends: ends.UTC(), Seats: seats, Free: seats, Refused: map[string]int64{}}
	a.rates = rates{}
	a.now.Store(&answers{})
	return a.save()
}

// End notes that the sale is over. whole reports whether both referees looked at it to the end after it was closed.
func (a *Arena) End(whole bool) (Sale, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.addAnswers()
	a.now.Store(nil)
	s := a.state.Sale
	switch {
	case s.Findings > 0:
		s.Verdict = Broken
	case whole:
		s.Verdict = Held
	default:
		s.Verdict = Unclear
	}
	a.state.Sale = nil
	a.state.Past = append([]Sale{s.clone()}, a.state.Past...)
	if len(a.state.Past) > MostSales {
		a.state.Past = a.state.Past[:MostSales]
	}
	return s.clone(), a.save()
}

// Update notes what was counted of the sale under way, and stores it.
func (a *Arena) Update(now time.Time, c Counted) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.state.Sale
	if s == nil {
		return nil
	}
	a.addAnswers()
	s.Orders = c.Orders
	for _, kind := range []string{Taken, Limit, Rules} {
		s.Refused[kind] = c.Refused[kind]
	}
	if a.count != nil {
		if free, held, sold, known := a.count(s.Slug); known {
			s.Free, s.Held, s.Sold = free, held, sold
		}
	}
	a.rates.perSecond(moment{now, s.Claims, s.Holds, s.Orders})
	return a.save()
}

// Seen returns the checkpoint that the log of the sale has to continue; empty: none was seen yet.
func (a *Arena) Seen() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state.Seen
}

// Save stores what was answered since the last Update.
func (a *Arena) Save() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.addAnswers()
	return a.save()
}

// couldNotLook is all that strangers read of the error of a look, which may name users, addresses and paths of the machine.
const couldNotLook = "could not look"

// Looked notes a look of a referee at the sale under way, and what it found. seen is the checkpoint of an audit that found nothing.
func (a *Arena) Looked(l Look, found []Finding, seen string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	l.Findings = len(found)
	if l.Error != "" {
		l.Error = couldNotLook
	}
	s := a.state.Sale
	if s != nil && l.Error == "" {
		s.Looks++
		if seen != "" {
			a.state.Seen = seen
		}
		for _, f := range found {
			a.add(s, l, f)
		}
	}
	err := a.save() // before the page shows it
	a.looks[l.Referee] = l
	return err
}

// changing are the words of a finding that differ from one look to the next: numbers, moments, hashes.
var changing = regexp.MustCompile(`\S*[0-9]\S*`)

// kind is by what a finding is known again: its promise, or what the referee says of it without numbers.
func (f Finding) kind() string {
	kind := f.Promise
	if kind == "" {
		kind = changing.ReplaceAllString(f.Words, "#")
	}
	sum := sha256.Sum256([]byte(f.Referee + " " + kind))
	return hex.EncodeToString(sum[:8])
}

// add adds a finding of a kind that was not found before in this sale. It needs mu.
func (a *Arena) add(s *Sale, l Look, f Finding) {
	f.At, f.Sale, f.Referee, f.Words = l.At.UTC(), s.Number, l.Referee, shorten(f.Words)
	kind := f.kind()
	if slices.Contains(a.state.Known, kind) || len(a.state.Known) == mostKinds {
		return
	}
	a.state.Known = append(a.state.Known, kind)
	s.Findings++
	a.state.Found++
	a.state.Findings = append([]Finding{f}, a.state.Findings...)
	if len(a.state.Findings) > mostFindings {
		a.state.Findings = a.state.Findings[:mostFindings]
	}
	if !slices.Contains(a.state.Broken, a.state.House) {
		a.state.Broken = append(a.state.Broken, a.state.House)
	}
}

func shorten(words string) string {
	if len(words) <= mostWords {
		return words
	}
	return strings.ToValidUTF8(words[:mostWords], "") + "…"
}

// claims is the route by which seats are asked for.
const claims = "POST /events/{slug}/claims"

// answers are counted without mu, so that no visitor waits for the disk.
type answers struct{ claims, holds, failed, tooMany, guard, input atomic.Int64 }

// addAnswers adds what was answered to the sale under way, if there is one. It needs mu.
func (a *Arena) addAnswers() {
	s, n := a.state.Sale, a.now.Load()
	if s == nil || n == nil {
		return
	}
	s.Holds += n.holds.Swap(0)
	s.Failed += n.failed.Swap(0)
	s.Refused[TooMany] += n.tooMany.Swap(0)
	s.Refused[Guard] += n.guard.Swap(0)
	s.Refused[Input] += n.input.Swap(0)
	s.Claims += n.claims.Swap(0) // at last: each was counted before its outcome, so that there are never more outcomes than claims
}

// Answered counts an answer of the house during a sale. It waits for nothing.
func (a *Arena) Answered(route string, status int) {
	n := a.now.Load()
	if n == nil || status < 400 && route != claims {
		return
	}
	if route == claims {
		n.claims.Add(1)
	}
	switch {
	case status >= http.StatusInternalServerError:
		n.failed.Add(1)
	case status == http.StatusTooManyRequests || status == http.StatusPreconditionRequired: // or a proof of work is asked for
		n.tooMany.Add(1)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		n.guard.Add(1)
	case status == http.StatusConflict && route == claims: // counted by reason in the database
	case status >= http.StatusBadRequest:
		n.input.Add(1)
	case route == claims:
		n.holds.Add(1)
	}
}
