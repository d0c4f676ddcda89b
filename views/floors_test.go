package views_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/subscriptions"
	"github.com/usherbox/usher/seats/wallets"
	mails "github.com/usherbox/usher/views/mail"
	"github.com/usherbox/usher/views/shop"
)

// upstairs is an order with tickets on two floors: the last section of its plan is on the balcony.
func upstairs(t *testing.T) shop.OrderPage {
	t.Helper()
	p := paperOrder(t)
	plan := *p.Plan
	plan.Sections = append([]seats.Section{}, plan.Sections...)
	last := len(plan.Sections) - 1
	plan.Floors = []seats.Floor{{Name: "Ground", High: seats.Point{X: plan.Width, Y: plan.Height}}, {Name: "Gallery", High: seats.Point{X: plan.Width, Y: plan.Height}}}
	plan.Sections[last].Name, plan.Sections[last].Floor = "Left", 1
	p.Plan = &plan
	return p
}

func TestTickets_NameTheirFloor(t *testing.T) {
	t.Parallel()
	p := upstairs(t)
	ticket := p.Order.Tickets[len(p.Order.Tickets)-1]
	var page bytes.Buffer
	if err := shop.Order(p).Render(t.Context(), &page); err != nil {
		t.Fatal(err)
	}
	pdf, err := p.Paper(t.Context(), printedLook(t, "classic"), "a4")
	if err != nil {
		t.Fatal(err)
	}
	var paper []string
	for _, sheet := range sheetsOf(t, pdf) {
		for _, word := range sheet.Words {
			paper = append(paper, word.Words)
		}
	}
	var pass wallets.Pass
	if pass, err = p.Pass(t.Context(), printedLook(t, "classic"), ticket); err != nil {
		t.Fatal(err)
	}
	letter := mails.LetterPage{Sale: p.Sale, Order: p.Order}.Text(t.Context())
	for where, said := range map[string]string{
		"the page": page.String(), "the paper": strings.Join(paper, " "), "the pass": pass.Seat[0].Words, "the letter": letter, "a list": p.Plan.SeatName(ticket.Idx-1, ticket.Idx).In(t.Context()),
	} {
		if !strings.Contains(said, "Gallery, Left") {
			t.Errorf("%s does not name the floor: %.300s", where, said)
		}
	}
	if !strings.Contains(page.String(), `href="#hall1"`) {
		t.Error("the small drawing beside the ticket is of another floor")
	}
}

func TestSubscription_ItsSectionsNameTheirFloor(t *testing.T) {
	t.Parallel()
	p := upstairs(t)
	sale := &seats.Sale{Event: p.Event, Plan: p.Plan}
	prices := map[string]int64{}
	for _, c := range p.Plan.Categories {
		prices[c.Key] = 1000
	}
	house := &subscriptions.House{Subscription: subscriptions.Subscription{Slug: "season", Now: sale.Event.StartsAt, ClosesAt: sale.Event.StartsAt.AddDate(0, 0, 1), Performances: []subscriptions.Performance{{Prices: prices}}}, First: sale, Sales: []*seats.Sale{sale}}
	var page bytes.Buffer
	if err := shop.Subscription(shop.SubscriptionPage{House: house, States: make([]seats.State, len(p.Plan.Seats)), Section: len(p.Plan.Sections) - 1}).Render(t.Context(), &page); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(page.String(), ">Gallery, Left<"); n != 2 {
		t.Errorf("the list of sections and the rows name the floor %d times of 2", n)
	}
}

func TestSeats_OfASectionThatIsCalledAsItsFloorSayItOnce(t *testing.T) {
	t.Parallel()
	p := upstairs(t)
	last := len(p.Plan.Sections) - 1
	p.Plan.Sections[last].Name = "Gallery"
	if said := p.Plan.Words(len(p.Plan.Seats) - 1); strings.Count(said, "Gallery") != 1 {
		t.Errorf("a seat is called %q", said)
	}
}
