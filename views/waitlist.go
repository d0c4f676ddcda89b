package views

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitlist"
)

// JoinPage is where somebody enters the wait list of an event.
type JoinPage struct {
	Page
	Sale
	Typed    EntryForm
	Mistakes waitlist.Mistakes
	Message  string   // why they could not join
	Asked    string   // the address a link is on its way to; empty if none is
	Waiting  int      // people who wait
	Verified string   // the address they showed to be theirs; empty if none
	Number   int64    // theirs in the waiting room; 0 if they do not come from there
	Shut     string   // why nobody can join; empty if everybody can
	Alone    []string // how orders may be paid that are placed at once
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
}

// EntryFormOf is what the form of an entry says.
func EntryFormOf(e seats.Event, n waitlist.Entry) EntryForm {
	w, c := n.Wanted, n.Consent
	l := EntryForm{n.Email, w.Quantity, w.Sections, w.Categories, w.Together, w.Fewer, "", c.Method, c.Name, ""}
	if c.Most > 0 {
		l.Most = seats.Amount(c.Most, e.Currency)
	}
	if n.Until != nil {
		l.Until = local(e, n.Until.Add(-time.Minute)).Format(time.DateOnly)
	}
	return l
}

// WaitPage is somebody's place in a wait list.
type WaitPage struct {
	Page
	Sale
	Entry    waitlist.Entry
	Stand    waitlist.Stand
	Mistakes waitlist.Mistakes
	Typed    EntryForm
	Message  string   // why something could not be done
	Order    string   // code of the order they made of an offer; empty if none is known
	Alone    []string // how orders may be paid that are placed at once
}

// JoinPath is the address of an event's wait list.
func (s Sale) JoinPath() string { return s.Path() + "/waitlist" }

// WaitPath is the address of somebody's place in a wait list.
func WaitPath(code string) string { return "/waitlist/" + code }

func (p WaitPage) path() string { return WaitPath(p.Entry.Code) }

// facts are what the script of the page needs: what it shows, to tell whether that changed.
func (p WaitPage) facts() templ.Attributes {
	return templ.Attributes{"data-entry": p.path(), "data-shown": p.Shown()}
}

// agreed says what somebody agreed to.
func (p WaitPage) agreed() string {
	c := p.Entry.Consent
	if c.Most == 0 {
		return "ordered at once"
	}
	return "ordered at once, " + paidHow(c.Method) + ", for " + price(c.Most, p.Event.Currency) + " at most"
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
func (p WaitPage) withRefresh() Page {
	if p.Entry.State == waitlist.Waiting && p.Message == "" && len(p.Mistakes) == 0 {
		p.Page.Refresh = "30;url=" + p.path()
	}
	return p.Page
}

// ordinal is a place in words: 1st, 2nd, 113th.
func ordinal(n int) string {
	end := "th"
	if tens := n % 100; tens < 11 || tens > 13 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return number(n) + end
}

// wants says what an entry waits for: "2 seats together, or fewer, in Stalls or Balcony".
func (p WaitPage) wants() string {
	w := p.Entry.Wanted
	text := counted(w.Quantity, "seat")
	if w.Together && w.Quantity > 1 {
		text += " together"
	}
	if w.Fewer && w.Quantity > 1 {
		text += ", or fewer,"
	}
	return strings.TrimSuffix(text+" "+p.where(w), ",")
}

// where says where somebody would sit.
func (s Sale) where(w seats.Wanted) string {
	if w.Any() {
		return "anywhere"
	}
	var names []string
	for _, i := range w.Categories {
		if i >= 0 && i < len(s.Plan.Categories) {
			names = append(names, s.Plan.Categories[i].Name)
		}
	}
	for _, i := range w.Sections {
		if i >= 0 && i < len(s.Plan.Sections) {
			names = append(names, s.Plan.Sections[i].Name)
		}
	}
	return "in " + strings.Join(names, " or ")
}

// passed says why others were offered seats before; empty if nobody was.
func (p WaitPage) passed() string {
	had := counted(p.Entry.Had, "seat")
	why := map[string]string{
		waitlist.PassedNone:     "The seats that came back were elsewhere.",
		waitlist.PassedFew:      had + " came back where you would sit, and you wait for " + number(p.Entry.Wanted.Quantity) + ".",
		waitlist.PassedApart:    had + " came back where you would sit, and not side by side.",
		waitlist.PassedMissed:   "You let an offer of such seats go by, so they went to the next. The next ones that fit are yours again.",
		waitlist.PassedGathered: "The seats that came back are gathered for a group that waited before you, for an hour at most.",
	}[p.Entry.Passed]
	switch {
	case why == "":
		return ""
	case p.Stand.Before == 0:
		return why + " Your place is as it was."
	}
	return counted(p.Stand.Before, "offer") + " went to people behind you. " + why + " Your place is as it was."
}

// rate says how offers went so far; empty while none has ended.
func rate(f waitlist.Figures) string {
	if f.Ended == 0 {
		return "none has ended yet"
	}
	return fmt.Sprintf("%d %% were accepted so far", f.Rate())
}

// accepted is the share of offers that were accepted, with how many ended; a dash while none has.
func accepted(f waitlist.Figures) string {
	if f.Ended == 0 {
		return "–"
	}
	return fmt.Sprintf("%d %% of %s", f.Rate(), number(f.Ended))
}

// moment is a time at the event's place, with its day.
func (s Sale) moment(t time.Time) string {
	return local(s.Event, t).Format("Monday 2 January, 15:04 MST")
}

// seatsOf lists seats of an offer in words, as far as the plan has them.
func (s Sale) seatsOf(idxs []int) (words []string) {
	for _, idx := range idxs {
		if idx >= 0 && idx < len(s.Plan.Seats) {
			words = append(words, s.Plan.Words(idx)+", "+s.priceOf(idx))
		}
	}
	return words
}

// costs is what an offer costs with its fees, as far as the plan has its seats.
func (s Sale) costs(idxs []int) int64 {
	known := slices.DeleteFunc(slices.Clone(idxs), func(idx int) bool { return idx < 0 || idx >= len(s.Plan.Seats) })
	return seats.CostOf(s.Event, s.Plan, known).Total
}

// seatedSections are the sections one may wait for by name: where a category says as much, none.
func (s Sale) seatedSections() (list []int) {
	if len(s.Plan.Sections) > 1 {
		for i := range s.Plan.Sections {
			list = append(list, i)
		}
	}
	return list
}

func (l EntryForm) marked(list []int, i int) bool { return slices.Contains(list, i) }

// quantity is what the field shows.
func (l EntryForm) quantity() string { return strconv.Itoa(max(1, l.Quantity)) }

// WaitLetter is a mail about a place in a wait list.
type WaitLetter struct {
	Sale
	Entry   waitlist.Entry
	Kind    string // of the mail, without "wait-"
	Again   bool   // the offer is made once more
	Address string // of the place, whole
	EventAt string // address of the event's page, whole
}

// Subject is the mail's, and its first line.
func (p WaitLetter) Subject() string {
	what := map[string]string{
		"verify": "Confirm your place in the wait list: ", "offer": "Seats for you: ", "missed": "Your offer has ended: ", "left": "You left the wait list: ",
	}[p.Kind]
	if p.Kind == "offer" && p.Again {
		what = "Seats for you, once more: "
	}
	if p.Kind == "left" && p.Entry.State == waitlist.Over {
		what = "The wait is over: "
	}
	if p.Kind == "verify" && p.Entry.State != waitlist.Unverified {
		what = "Your place in the wait list: "
	}
	return what + p.Event.Name
}

// says is what the mail is about, in one sentence or two.
func (p WaitLetter) says() string {
	switch {
	case p.Kind == "verify" && p.Entry.State == waitlist.Unverified:
		page := WaitPage{Sale: p.Sale, Entry: p.Entry}
		text := "Somebody, we hope you, wants to wait for " + page.wants() + ". Confirm it, and you wait from the moment you asked."
		if p.Entry.Consent.Given() {
			text += " What you are offered is then " + page.agreed() + "."
		}
		return text
	case p.Kind == "verify":
		return "This is the address of your place. Whoever has it may take offers and change or leave the place: keep it to yourself."
	case p.Kind == "offer" && p.Entry.Offer != nil:
		return "These seats came back, and it is your turn. They are held for you until " + p.moment(p.Entry.Offer.Until) + "."
	case p.Kind == "missed" && p.Entry.Misses%2 == 1:
		return "Its time was over, so its seats went to the next. You keep your place: the next seats that fit are offered to you once more."
	case p.Kind == "missed":
		return "Its time was over for the second time, so you wait at the end of the list now."
	case p.Kind == "left" && p.Entry.State == waitlist.Over:
		return "The time until which you waited is over, and no seats that fit came back. Thank you for waiting."
	case p.Kind == "left" && p.Entry.Misses > 1:
		return "Four offers ended without an answer, so you do not wait any more. You may join again, at the end."
	}
	return "You do not wait any more. You may join again, at the end."
}

func (p WaitLetter) invitation() string {
	switch {
	case p.Kind == "verify" && p.Entry.State == waitlist.Unverified:
		return "Confirm my place"
	case p.Kind == "offer":
		return "Take the seats"
	case p.Kind == "left":
		return "Look at the event"
	}
	return "Look at my place"
}

func (p WaitLetter) to() string {
	if p.Kind == "left" {
		return p.EventAt
	}
	return p.Address
}

func (p WaitLetter) offered() []string {
	if p.Kind != "offer" || p.Entry.Offer == nil {
		return nil
	}
	return p.seatsOf(p.Entry.Offer.Seats)
}

const waitAdvice = "If you did not ask to wait, do nothing: nobody else can use this mail."

// Text is the same for programs that show plain text.
func (p WaitLetter) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n\n%s\n", p.Subject(), when(p.Event), p.says())
	for i, words := range p.offered() {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "- %s\n", words)
	}
	fmt.Fprintf(&b, "\n%s:\n%s\n", p.invitation(), p.to())
	if p.Kind == "verify" {
		fmt.Fprintf(&b, "\n%s\n", waitAdvice)
	}
	return b.String()
}

// waits is the verb that fits so many people.
func waits(n int) string {
	if n == 1 {
		return "waits"
	}
	return "wait"
}

// heldNow counts the held seats of an event.
func (s Sale) heldNow() (n int) {
	for _, held := range s.Map.Counts.Held {
		n += held
	}
	return n
}

// people counts those who wait: "1 person", "3 people".
func people(n int) string {
	if n == 1 {
		return "1 person"
	}
	return number(n) + " people"
}

// enoughEnded is how many held seats have to have ended before a share of them says anything.
const enoughEnded = 10

// cameBack says how many of the held seats came back so far; empty while too few have ended.
func (s Sale) cameBack() string {
	all := s.Returned + s.Bought
	if all < enoughEnded {
		return ""
	}
	return fmt.Sprintf("%d %% of held seats came back so far.", (100*s.Returned+all/2)/all)
}

// waitWrongly marks a field of an entry that is wrong.
func waitWrongly(m waitlist.Mistakes, field string) templ.Attributes {
	if m[field] == "" {
		return nil
	}
	return templ.Attributes{"aria-invalid": "true", "aria-describedby": field + "-wrong"}
}
