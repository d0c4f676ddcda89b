package shop

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/views"
)

// JoinPage is where an attendee enters the waiting list of an event.
type JoinPage struct {
	views.Page
	Sale
	Typed    EntryForm
	Mistakes waitlist.Mistakes
	Message  string // why they could not join
	Asked    string // the address a link is on its way to; empty if none is
	Waiting  int    // people who wait
	Verified string // the address they showed to be theirs; empty if none
	Number   int64  // theirs in the waiting room; 0 if they do not come from there
	Shut     bool   // joining is closed
	Alone    Alone  // orders that are placed at once
}

// EntryForm is what the form of an entry says.
type EntryForm struct {
	Email      string
	Quantity   int
	Sections   []int
	Categories []int
	Together   bool
	Fewer      bool
	Until      string // a day, 2006-01-02; empty: as long as the sale is open
	Method     string // order at once, paid so; empty: ask
	Name       string // for that order
	Most       string // that it may cost
	Terms      int    // the version that they accept for it; 0: none
}

// EntryFormOf is what the form of an entry says.
func EntryFormOf(e seats.Event, n waitlist.Entry) EntryForm {
	w, c := n.Wanted, n.Consent
	l := EntryForm{n.Email, w.Quantity, w.Sections, w.Categories, w.Together, w.Fewer, "", c.Method, c.Name, "", c.Terms}
	if c.Most > 0 {
		l.Most = pricing.Amount(c.Most, e.Currency)
	}
	if n.Until != nil {
		l.Until = e.Local(n.Until.Add(-time.Minute)).Format(time.DateOnly)
	}
	return l
}

func (l EntryForm) marked(list []int, i int) bool { return slices.Contains(list, i) }

// quantity is what the field shows.
func (l EntryForm) quantity() string { return strconv.Itoa(max(1, l.Quantity)) }

// WaitPage is an attendee's place in a waiting list.
type WaitPage struct {
	views.Page
	Sale
	Entry    waitlist.Entry
	Stand    waitlist.Stand
	Mistakes waitlist.Mistakes
	Typed    EntryForm
	Message  string // why something could not be done
	Order    string // code of the order they made of an offer; empty if none is known
	Alone    Alone  // orders that are placed at once
	Card     string // CardWanted or CardSaved; empty if nothing is paid with one
	CardPage string // where it is saved; empty until they ask for that
	PushKey  string // by which browsers subscribe to push messages; empty: they cannot
	Browsers int    // that are told of offers
}

// JoinPath is the address of an event's waiting list.
func (s Sale) JoinPath() string { return s.Path() + "/waitlist" }

// WaitPath is the address of an attendee's place in a waiting list.
func WaitPath(code string) string { return "/waitlist/" + code }

func (p WaitPage) path() string { return WaitPath(p.Entry.Code) }

// facts are what the script of the page needs: what it shows, to tell whether that changed.
func (p WaitPage) facts() templ.Attributes {
	return templ.Attributes{"data-entry": p.path(), "data-shown": p.Shown()}
}

// Shown names what the page shows: another one is worth loading it again.
func (p WaitPage) Shown() string {
	s := p.Stand
	text := fmt.Sprint(p.Entry.State, " ", s.Place, " ", s.Waiting, " ", s.Open, " ", s.Ended, " ", s.Accepted, " ", s.Before, " ", p.Entry.Passed, " ", s.Paused)
	if p.Entry.Offer != nil {
		text += " " + p.Entry.Offer.ID.String()
	}
	return text
}

// withRefresh is the page that a browser without scripts loads again.
func (p WaitPage) withRefresh() views.Page {
	if p.Entry.State == waitlist.Waiting && p.Message == "" && len(p.Mistakes) == 0 {
		p.Page.Refresh = "30;url=" + p.path()
	}
	return p.Page
}
