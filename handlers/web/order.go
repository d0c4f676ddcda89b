package web

import (
	"context"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// joinWords says in a calendar how people join; nothing of an event with a place.
func joinWords(ctx context.Context, s *seats.Sale, o orders.Order) string {
	if !s.Event.Online.On || o.State == orders.Cancelled {
		return ""
	}
	return text.T(ctx, "Join the event from the page of your order:") + "\n"
}

type OrderAnswer struct {
	Order OrderBody `json:"order"`
}

type OrderBody struct {
	Code        string       `json:"code"`
	Number      string       `json:"number"` // to be read out; it opens nothing
	Event       string       `json:"event"`
	State       string       `json:"state"`
	Name        string       `json:"name"`
	Email       string       `json:"email"`
	Born        string       `json:"born,omitempty"`
	Method      string       `json:"method"`
	FreeReason  string       `json:"free_reason,omitempty"` // at the desk only
	Currency    string       `json:"currency"`
	Total       int64        `json:"total"`
	Fee         int64        `json:"fee"`
	Discount    int64        `json:"discount"`
	Offer       string       `json:"offer,omitempty"`
	Due         int64        `json:"due"`
	Back        int64        `json:"back,omitempty"`
	CreatedAt   time.Time    `json:"created_at"`
	DueAt       *time.Time   `json:"due_at,omitempty"`       // until when it is to be paid; it is cancelled then
	CancelUntil *time.Time   `json:"cancel_until,omitempty"` // until when its attendee cancels; left out: never
	Tickets     []ticketBody `json:"tickets"`
	Rotates     bool         `json:"rotates,omitempty"` // codes of its tickets alone open no door: its page shows those of the moment

	ExchangeUntil *time.Time        `json:"exchange_until,omitempty"` // until when its attendee exchanges tickets; left out: never
	TypesUntil    *time.Time        `json:"types_until,omitempty"`    // until when its buyer changes types of tickets; left out: never
	Exchanges     []orders.Exchange `json:"exchanges,omitempty"`      // that it came of, or that its tickets went into

	Answers map[string]string `json:"answers,omitempty"` // by number of the question, from 1

	Terms *TermsBody `json:"terms,omitempty"` // those that the buyer accepted

	Extras   []pricing.Extra `json:"extras,omitempty"`    // that the buyer added
	Post     *orders.Address `json:"post,omitempty"`      // where the tickets go by post
	PostedAt *time.Time      `json:"posted_at,omitempty"` // when they were posted
}

// TermsBody names a version of a team's terms.
type TermsBody struct {
	Version    int        `json:"version"`
	Path       string     `json:"path"`
	AcceptedAt *time.Time `json:"accepted_at,omitempty"`
}

// DescribeTerms names a version of a team's terms; nil for version 0.
func DescribeTerms(team int64, version int) *TermsBody {
	if version == 0 {
		return nil
	}
	return &TermsBody{Version: version, Path: views.TermsPath(team, version)}
}

type ticketBody struct {
	ID      string `json:"id"`
	Seat    string `json:"seat"`
	Idx     int    `json:"idx"`
	Type    string `json:"type,omitempty"`  // its name, if the event has several
	Proof   string `json:"proof,omitempty"` // to be shown at the door
	Name    string `json:"name"`            // on the ticket
	Price   int64  `json:"price"`
	Fee     int64  `json:"fee"`
	Off     int64  `json:"discount"`
	Tax     int64  `json:"tax"`
	Code    string `json:"code"`
	Revoked bool   `json:"revoked"`

	OfferedBack bool `json:"offered_back,omitempty"` // its seat is for sale, and it is valid until that is sold
	Resold      bool `json:"resold,omitempty"`       // revoked, because its seat was sold again

	OfferedTo    string     `json:"offered_to,omitempty"`    // the email of the friend who alone may buy it
	OfferedUntil *time.Time `json:"offered_until,omitempty"` // and until when

	SentTo string `json:"sent_to,omitempty"` // the name of the friend who has it
	Offer  string `json:"offer,omitempty"`   // the address of the page on which a friend accepts it

	In *time.Time `json:"in,omitempty"` // when the ticket was scanned at the door
}

func DescribeOrder(s *seats.Sale, o orders.Order) OrderBody {
	body := OrderBody{
		Code: o.Code, Number: o.Number(), Event: o.Event, State: o.State, Name: o.Name, Email: o.Email, Method: o.Method, Currency: o.Currency,
		Total: o.Total, Fee: o.Fee, Discount: o.Discount, Offer: o.Offer, Due: o.Due(), Back: o.Back, CreatedAt: o.CreatedAt.UTC(), Answers: o.Answers, Tickets: []ticketBody{},
		DueAt: o.DueAt, CancelUntil: o.CancelEnds, ExchangeUntil: o.ExchangeEnds, TypesUntil: o.TypesEnd, Exchanges: o.Exchanges, Extras: o.Extras, Post: o.Post, PostedAt: o.PostedAt, Rotates: o.Rotates,
	}
	if o.Consent != nil {
		at := o.Consent.At.UTC()
		body.Terms = DescribeTerms(o.Consent.Team, o.Consent.Version)
		body.Terms.AcceptedAt = &at
	}
	if o.Born != nil {
		body.Born = o.Born.Format(time.DateOnly)
	}
	for _, t := range o.Tickets {
		body.Tickets = append(body.Tickets, ticketBody{t.ID.String(), s.Plan.Label(t.Idx), t.Idx, t.Type, t.Proof, o.NameOn(t), t.Price, t.Fee, t.Discount, t.Tax + t.FeeTax, t.Code, t.Revoked, t.OfferedBack, t.Resold, "", nil, "", "", t.In})
		one := &body.Tickets[len(body.Tickets)-1]
		if t.Friend != nil {
			one.SentTo = t.Friend.Name
		}
		if to := t.OfferedTo; to != nil {
			until := to.Until.UTC()
			one.OfferedTo, one.OfferedUntil = to.Email, &until
		}
		if t.Offer != nil {
			one.Offer = shop.TransferPath(t.Offer.Code)
		}
	}
	return body
}

// CalendarOf is an order as calendars read it (RFC 5545).
func CalendarOf(ctx context.Context, s *seats.Sale, o orders.Order, address string) string {
	place, status := s.Event.Venue, ""
	if s.Event.Online.On {
		place = address
	}
	if o.State == orders.Cancelled {
		status = "CANCELLED"
	}
	var words []string
	for _, t := range o.Tickets {
		if t.Friend != nil {
			continue
		}
		one := shop.SeatWords(ctx, s.Plan, t.Idx)
		if kind := shop.TypeWords(ctx, t); kind != "" {
			one += " (" + kind + ")"
		}
		if t.Name != "" {
			one += ", " + t.Name
		}
		words = append(words, one)
	}
	id := o.ID
	if o.Received != nil {
		id = o.Received.ID // a friend may have several tickets of one order
	}
	return Calendar{
		ID: id.String() + "@usher", Summary: s.Event.Name, Location: place, URL: address, Status: status, Made: o.CreatedAt, Starts: s.Event.StartsAt,
		Description: strings.TrimPrefix(strings.Join(words, "\n")+"\n"+joinWords(ctx, s, o)+address, "\n"),
	}.Text()
}
