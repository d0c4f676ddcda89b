package views_test

import (
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
	mails "github.com/usherbox/usher/views/mail"
	"github.com/usherbox/usher/views/shop"
)

// aWaiter is an entry that wants everything one can want. Every text that comes from people is this one.
func aWaiter(state, text string) waitlist.Entry {
	until := time.Unix(2e9, 0)
	n := waitlist.Entry{
		ID: 7, Event: "evening", Code: "CODE", Email: text, State: state, Until: &until, JoinedAt: until.Add(-time.Hour),
		Wanted: waitlist.Wanted{Quantity: 3, Sections: []int{0}, Categories: []int{0}, Together: true, Fewer: true}, Passed: waitlist.PassedFew, Had: 2, Misses: 1,
		Consent: waitlist.Consent{Method: "door", Name: text, Most: 5000},
	}
	if state == waitlist.Offered {
		n.Offer = &waitlist.Made{Seats: []int{0, 1}, Until: until, Why: text}
	}
	return n
}

// entryStates are all of them.
var entryStates = []string{waitlist.Unverified, waitlist.Waiting, waitlist.Offered, waitlist.Served, waitlist.Left, waitlist.Over}

// waitMails is every mail of the waiting list.
func waitMails(s shop.Sale, text string) (list []shown) {
	for _, state := range entryStates {
		for _, kind := range []string{"verify", "offer", "missed", "left"} {
			letter := mails.WaitLetter{Sale: s, Entry: aWaiter(state, text), Kind: kind, Address: "/waitlist/CODE", EventAt: "/events/evening"}
			list = append(list, shown{"mail about a place that is " + state + ": " + kind, false, mails.WaitMail(letter)})
		}
	}
	return list
}

// waitPages is every page of the waiting list in every state worth a look.
func waitPages(page views.Page, s shop.Sale, text string) (list []shown) {
	wrong := waitlist.Mistakes{}
	for _, field := range []string{waitlist.FieldEmail, waitlist.FieldQuantity, waitlist.FieldWhere, waitlist.FieldUntil, waitlist.FieldMethod, waitlist.FieldName, waitlist.FieldMost, waitlist.FieldTerms} {
		wrong[field] = text
	}
	agreed := shop.Alone{Methods: []string{"card", "credit", "door"}, Terms: 2}
	typed := shop.EntryForm{Method: "door", Name: text, Most: text, Email: text, Quantity: 3, Sections: []int{0}, Categories: []int{0}, Together: true, Fewer: true, Until: text}
	stand := waitlist.Stand{Place: 2, Waiting: 3, Figures: waitlist.Figures{Open: 1, Accepted: 2, Ended: 3}, Before: 1, Paused: true, Note: text}
	list = append(list,
		shown{"joining a waiting list", true, shop.WaitJoin(shop.JoinPage{Page: page, Sale: s, Waiting: 3, Number: 12})},
		shown{"joining a waiting list, refused", true, shop.WaitJoin(shop.JoinPage{Page: page, Sale: s, Typed: typed, Mistakes: wrong, Message: text, Alone: agreed})},
		shown{"joining a waiting list, asked", true, shop.WaitJoin(shop.JoinPage{Page: page, Sale: s, Asked: text})},
		shown{"joining a waiting list, shut", true, shop.WaitJoin(shop.JoinPage{Page: page, Sale: s, Shut: true})},
	)
	for _, state := range entryStates {
		n := aWaiter(state, text)
		list = append(list, shown{"a place that is " + state, true, shop.WaitPlace(shop.WaitPage{Page: page, Sale: s, Entry: n, Stand: stand, Typed: typed, Mistakes: wrong, Message: text, Alone: agreed, Card: shop.CardWanted})})
	}
	list = append(list, shown{"a place with a card that is saved", true, shop.WaitPlace(shop.WaitPage{Page: page, Sale: s, Entry: aWaiter(waitlist.Waiting, text), Stand: stand, Card: shop.CardSaved})})
	event := s.Event
	event.Slug = "evening"
	of := desk.WaitListPage{
		Frame: desk.Frame{Page: page, Member: organizers.Member{Name: text, TeamName: text, Role: organizers.Owner}, Path: "/desk/events/evening/waitlist", Event: &event}, Sale: s, Key: text,
		List: waitlist.Overview{Paused: true, Note: text, Waiting: 300, Waitlisted: 2, Figures: stand.Figures}, Message: text, Form: map[string][]string{"email": {text}, "reason": {text}, "seats": {text}},
	}
	for _, state := range []string{waitlist.Unverified, waitlist.Waiting, waitlist.Offered} {
		of.List.Entries = append(of.List.Entries, waitlist.Placed{Entry: aWaiter(state, text), Place: 1})
	}
	of.Steps = []waitlist.Step{{At: time.Unix(2e9, 0), Email: text, What: text, Detail: text, Who: text}}
	quiet := of
	quiet.List, quiet.Steps, quiet.Message, quiet.Form, quiet.Member.Role = waitlist.Overview{}, nil, "", nil, organizers.Viewer
	return append(list, shown{"a waiting list at the desk", true, desk.WaitList(of)}, shown{"an empty waiting list at the desk", true, desk.WaitList(quiet)})
}

func TestWaitlist_PageShowsRankAndReasons(t *testing.T) {
	t.Parallel()
	s := sale(t, "club", nil)
	stand := waitlist.Stand{Place: 14, Waiting: 1200, Figures: waitlist.Figures{Open: 3, Accepted: 61, Ended: 100}, Before: 2}
	for passed, why := range map[string]string{
		waitlist.PassedNone: "The seats that came back were in other sections.", waitlist.PassedFew: "Only 2 seats came back in your sections, and you need 3.",
		waitlist.PassedApart: "but not side by side", waitlist.PassedMissed: "You didn’t answer an offer of such seats", waitlist.PassedGathered: "for a group that joined before you, for up to an hour",
	} {
		n := aWaiter(waitlist.Waiting, "ann@example.org")
		n.Passed = passed
		page := render(t, shop.WaitPlace(shop.WaitPage{Sale: s, Entry: n, Stand: stand}))
		for _, want := range []string{"Your place: <strong>14</strong>", "1,200 people", "<dd>3</dd>", "61% accepted", "2 offers went to people behind you.", why, "You keep your place."} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page of a place lacks %q", passed, want)
			}
		}
	}
}

func TestAnEventOnWhichNothingIsFreeSaysHowManyAreHeldAndHowManyHoldsCameBack(t *testing.T) {
	t.Parallel()
	s := sale(t, "club", nil)
	s.Map.Counts.Free = make([]int, len(s.Plan.Categories))
	s.Map.Counts.Held = make([]int, len(s.Plan.Categories))
	s.Map.Counts.Held[0] = 37
	for _, c := range []struct {
		returned, bought int64
		says             string
	}{{24, 76, "24% of held seats came back so far."}, {4, 5, ""}, {0, 0, ""}} {
		s.Returned, s.Bought = c.returned, c.bought
		page := render(t, shop.Event(shop.EventPage{Sale: s}))
		_, gone, _ := strings.Cut(page, "<section data-gone")
		gone, _, _ = strings.Cut(gone, "</section>")
		if strings.HasPrefix(gone, " hidden") || !strings.Contains(gone, "<h2>Sold out</h2><p data-may><span data-free>37</span> held</p>") || !strings.Contains(gone, "/events/evening/waitlist") {
			t.Errorf("the page says %s", gone)
		}
		if c.says == "" && strings.Contains(gone, "%") || !strings.Contains(gone, c.says) {
			t.Errorf("%d of %d came back, and the page says %s", c.returned, c.returned+c.bought, gone)
		}
	}
}

func TestRoom_ConfirmedVisitorJoinsTheWaitlistWithOneTap(t *testing.T) {
	t.Parallel()
	p := waiting(views.Page{Title: "Evening"}, sale(t, "theatre", nil), shop.RoomSoldOut)
	for verified, asks := range map[string]bool{"ann@example.org": false, "": true} {
		p.Verified = verified
		page := render(t, shop.Room(p))
		_, out, _ := strings.Cut(page, `<section data-when="soldout">`)
		out, _, _ = strings.Cut(out, "</section>")
		for _, want := range []string{`action="/events/evening/waitlist"`, `name="quantity" value="1"`, "Join the waiting list of Evening", "keeps its order"} {
			if !strings.Contains(out, want) {
				t.Errorf("the room of a sale that is sold out lacks %q", want)
			}
		}
		if strings.Contains(out, `type="email"`) != asks || !asks && !strings.Contains(out, `name="email" value="ann@example.org"`) {
			t.Errorf("of %q the address is asked: %v", verified, !asks)
		}
	}
}
