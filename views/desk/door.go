package desk

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
)

// DoorsPath is the address of the links by which tickets of an event are looked at.
func DoorsPath(slug string) string { return EventPath(slug) + "/doors" }

// DoorsPage is who came to an event, and the links by which people are let in.
type DoorsPage struct {
	Frame
	orders.Turnout
	Plan    *seats.Plan
	Link    string        // that was just made; empty for none
	Asked   orders.Device // what it was asked for
	Message string        // why no link was made
}

// DoorPath is the address of one link.
func DoorPath(slug string, id int64) string { return DoorsPath(slug) + "/" + strconv.FormatInt(id, 10) }

// share is how much of the bar is filled.
func (p DoorsPage) share() stacked { return stack(p.Tickets-p.Came, 0, p.Came, 0) }

// entrance is where a link was used last.
func (p DoorsPage) entrance(ctx context.Context, l orders.DoorLink) string {
	switch {
	case l.Name != "":
		return l.Name
	case l.Place != "":
		return l.Place
	case l.LastAt != nil:
		return text.T(ctx, "An entrance without a name")
	}
	return text.T(ctx, "Not used yet")
}

// use is what became of a link so far.
func (p DoorsPage) use(ctx context.Context, l orders.DoorLink) string {
	made := doorMoment(ctx, *p.Event, l.OpenedAt)
	if l.LastAt == nil {
		return text.T(ctx, "Made %s", made)
	}
	return text.N(ctx, "Made %[2]s. It let %[1]d ticket in, the last scan was on %[3]s.", "Made %[2]s. It let %[1]d tickets in, the last scan was on %[3]s.", l.Admitted, made, doorMoment(ctx, *p.Event, *l.LastAt))
}

func doorMoment(ctx context.Context, e seats.Event, at time.Time) string {
	return text.Time(ctx, e.Local(at), "2 Jan, 15:04")
}

// more is the gate of a link, how much was scanned with it, and when its device was last seen.
func (p DoorsPage) more(ctx context.Context, l orders.DoorLink) (list []string) {
	if l.Gate != "" {
		list = append(list, text.T(ctx, "Gate %s", l.Gate))
	}
	list = append(list, text.N(ctx, "%d scan", "%d scans", l.Scans))
	if l.SeenAt != nil {
		list = append(list, text.T(ctx, "Last seen %s", doorMoment(ctx, *p.Event, *l.SeenAt)))
	}
	return list
}

// mostConflicts is how many of them the page lists. Programs get all.
const mostConflicts = 200

// latest are the newest conflicts, the last one first.
func (p DoorsPage) latest() []orders.DoorConflict {
	list := slices.Clone(p.Conflicts[max(0, len(p.Conflicts)-mostConflicts):])
	slices.Reverse(list)
	return list
}

// conflictWords say what happened at two devices that did not know of each other.
func (p DoorsPage) conflictWords(ctx context.Context, c orders.DoorConflict) string {
	moment := func(at time.Time, by string) string {
		when := text.Time(ctx, p.Event.Local(at), "2 Jan, 15:04:05")
		if by == "" {
			return text.T(ctx, "%[1]s at an entrance without a name", when)
		}
		return text.T(ctx, "%[1]s by %[2]s", when, by)
	}
	at := moment(c.At, c.By)
	other := ""
	if !c.OtherAt.IsZero() {
		other = moment(c.OtherAt, c.OtherBy)
	}
	switch {
	case c.Still && other != "":
		return text.T(ctx, "Let in %[1]s with a picture or a printout of a ticket. The holder came in %[2]s.", at, other)
	case c.Still:
		return text.T(ctx, "Let in %s with a picture or a printout of a ticket.", at)
	case c.Replaced && other != "":
		return text.T(ctx, "Let in %[1]s with a ticket that was replaced by a newer one, which came in %[2]s.", at, other)
	case c.Replaced:
		return text.T(ctx, "Let in %s with a ticket that was replaced by a newer one.", at)
	case c.Revoked && other != "":
		return text.T(ctx, "Let in %[1]s with a ticket that was cancelled. The valid one came in %[2]s.", at, other)
	case c.Revoked:
		return text.T(ctx, "Let in %s with a ticket that was cancelled.", at)
	}
	return text.T(ctx, "Let in twice: %[1]s, and %[2]s.", other, at)
}

// saidAtDoor is what a door said, for the history of an order.
func saidAtDoor(ctx context.Context, e seats.Event, s orders.Passage) string {
	words := map[string]string{
		orders.ScanIn: text.Mark("Let in"), orders.ScanAgain: text.Mark("Refused: it was used before"), orders.ScanOut: text.Mark("Went out"),
		orders.ScanOutside: text.Mark("Went out, and was not scanned in before"), orders.ScanRevoked: text.Mark("Not valid"), orders.ScanStill: text.Mark("A picture or a printout"),
	}
	said := []string{text.T(ctx, words[s.Said])}
	if by := cmp.Or(s.By, s.Place); by != "" {
		said = append(said, by)
	}
	if s.Offline {
		said = append(said, text.T(ctx, "the device was offline"))
	}
	return strings.Join(append([]string{doorMoment(ctx, e, s.At)}, said...), " · ")
}

// DoorPaperPage is the list of attendees for a door without a device.
type DoorPaperPage struct {
	Frame
	Plan    *seats.Plan
	parties []*party
	at      map[[2]string]*party // by order and name
}

// party is who comes under one name with the tickets of one order.
type party struct {
	Name  string
	Seats []int
	in    int // tickets that were checked in
}

// Add puts a ticket on the list, if it is valid, under the name on it, of the friend who has it, or of the buyer.
func (p *DoorPaperPage) Add(l orders.Line) {
	if l.Revoked {
		return
	}
	if p.at == nil {
		p.at = map[[2]string]*party{}
	}
	key := [2]string{l.Order, cmp.Or(l.On, l.Friend, l.Name)}
	of := p.at[key]
	if of == nil {
		of = &party{Name: key[1]}
		p.at[key], p.parties = of, append(p.parties, of)
	}
	if of.Seats = append(of.Seats, l.Idx); l.In != nil {
		of.in++
	}
}

// byName is the list as people look for them at a door, in the order of the reader's language.
func (p DoorPaperPage) byName(ctx context.Context) []*party {
	order := collate.New(language.Make(text.Tag(ctx)), collate.IgnoreCase)
	slices.SortStableFunc(p.parties, func(a, b *party) int {
		return cmp.Or(order.CompareString(a.Name, b.Name), cmp.Compare(a.Seats[0], b.Seats[0]))
	})
	return p.parties
}

// boxes has one to tick for each ticket; those that were checked in are ticked.
func (p *party) boxes() string {
	return strings.Repeat("☑", p.in) + strings.Repeat("☐", len(p.Seats)-p.in)
}
