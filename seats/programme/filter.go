package programme

import (
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/usherbox/usher/seats/text"
)

// Filter is what a visitor looks for. The zero value is everything to come.
type Filter struct {
	Words       string
	From, Until time.Time // days, both included; zero: any
	Town        string
	Category    string
	Most        string // the highest price in units of the event's currency, such as 20; "0": free of charge; empty: any
	Wheelchair  bool   // the plan has wheelchair places
	Past        bool   // the archive, the last event first
	Team        int64  // only events of this team; 0: of any
	After       Cursor // of the last event of the page before
}

// Cursor is a place in the programme: behind this event.
type Cursor struct {
	At time.Time // on the clock of the event's place
	ID int64
}

// Names of parameters.
const (
	paramWords      = "q"
	paramFrom       = "from"
	paramUntil      = "until"
	paramTown       = "town"
	paramCategory   = "category"
	paramMost       = "price"
	paramWheelchair = "wheelchair"
	paramPast       = "past"
	paramAfter      = "after"
)

const (
	mostWords = 100       // characters of a search, as its refusal says
	mostPrice = 1_000_000 // units of a currency
)

// Read reads a filter from an address. wrong says what is wrong with it, for people; parameters of other programs are left
// alone.
func Read(v url.Values) (f Filter, wrong string) {
	say := func(refusal string) {
		if wrong == "" {
			wrong = refusal
		}
	}
	words := func(written, refusal string) string {
		if clean(written) && utf8.RuneCountInString(written) <= mostWords {
			return written
		}
		say(refusal)
		return ""
	}
	f.Words = words(strings.Join(strings.Fields(v.Get(paramWords)), " "), text.Mark("A search has at most 100 characters."))
	f.Town = words(strings.TrimSpace(v.Get(paramTown)), text.Mark("There is no such town."))
	f.Category = words(strings.TrimSpace(v.Get(paramCategory)), text.Mark("There is no such category."))
	f.From, f.Until = readDay(v.Get(paramFrom), say), readDay(v.Get(paramUntil), say)
	if !f.From.IsZero() && !f.Until.IsZero() && f.Until.Before(f.From) {
		say(text.Mark("The last day is before the first one."))
	}
	if most := strings.TrimSpace(v.Get(paramMost)); most != "" {
		if n, err := strconv.Atoi(most); err != nil || n < 0 || n > mostPrice {
			say(text.Mark("The highest price is a whole number, such as 20."))
		} else {
			f.Most = strconv.Itoa(n)
		}
	}
	f.Wheelchair, f.Past = v.Get(paramWheelchair) != "", v.Get(paramPast) != ""
	if after := v.Get(paramAfter); after != "" {
		var ok bool
		if f.After, ok = readCursor(after); !ok {
			say(text.Mark("This link to the next page is damaged. Start from the first page."))
		}
	}
	return f, wrong
}

// clean reports whether PostgreSQL can store a text.
func clean(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

func readDay(written string, say func(string)) time.Time {
	if written = strings.TrimSpace(written); written == "" {
		return time.Time{}
	}
	day, err := time.Parse(time.DateOnly, written)
	if err != nil || day.Year() < 1900 || day.Year() > 3000 {
		say(text.Mark("A date is a day such as 2026-12-09."))
		return time.Time{}
	}
	return day
}

func (c Cursor) String() string {
	if c.ID == 0 {
		return ""
	}
	return strconv.FormatInt(c.At.UnixMicro(), 10) + "-" + strconv.FormatInt(c.ID, 10)
}

func readCursor(text string) (Cursor, bool) {
	at, id, _ := strings.Cut(text, "-")
	micro, err := strconv.ParseInt(at, 10, 64)
	n, wrong := strconv.ParseInt(id, 10, 64)
	if err != nil || wrong != nil || micro < -1<<53 || micro > 1<<56 || n <= 0 {
		return Cursor{}, false
	}
	return Cursor{time.UnixMicro(micro).UTC(), n}, true
}

// Values are the parameters of an address that asks for the filter.
func (f Filter) Values() url.Values {
	v := url.Values{}
	set := func(name, value string) {
		if value != "" {
			v.Set(name, value)
		}
	}
	set(paramWords, f.Words)
	set(paramFrom, day(f.From))
	set(paramUntil, day(f.Until))
	set(paramTown, f.Town)
	set(paramCategory, f.Category)
	set(paramMost, f.Most)
	if f.Wheelchair {
		v.Set(paramWheelchair, "1")
	}
	if f.Past {
		v.Set(paramPast, "1")
	}
	set(paramAfter, f.After.String())
	return v
}

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateOnly)
}

// Narrows reports whether the filter leaves out events that the whole programme, or the whole archive, has.
func (f Filter) Narrows() bool {
	f.Past, f.After = false, Cursor{}
	return f != Filter{}
}
