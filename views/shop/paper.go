package shop

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/pdf"
)

// Where papers of a page begin, and how wide they are, in millimetres.
const (
	paperLeft  = 15.0
	paperTop   = 12.0
	paperWidth = 180.0
)

// Paper is an order's live tickets as a PDF, each with its QR code, on one of pages.Papers: three on a page of A4, or each on a
// page of its own.
func (p OrderPage) Paper(ctx context.Context, look Print, paper string) ([]byte, error) {
	doc := pdf.New(p.Event.Name, text.Tag(ctx), p.Order.CreatedAt)
	printer := ticketPrinter{pen: newPen(ctx, doc), look: look, plan: p.Plan, layout: look.Branding.LayoutOf()}
	if err := printer.takePictures(cmp.Or(look.Seed, p.Event.Slug), paper); err != nil {
		return nil, err
	}
	tickets := p.printed(ctx, look)
	switch {
	case len(tickets) == 0:
		doc.Page(pdf.A4Width, pdf.A4Height)
		printer.pen.write(paperLeft, paperTop+8, 14, paperWidth, 3, text.T(ctx, "The tickets of this order are no longer valid."))
	case paper == pages.Roll:
		printer.rolls(tickets)
	case paper == pages.A6:
		printer.cards(tickets)
	default:
		printer.sheets(ctx, tickets)
	}
	return doc.Output(), nil
}

// printed is what one ticket says on paper.
type printed struct {
	event, when, place string
	where              []labelled // section, row and seat; none if their names are too long to stand side by side
	seat               string     // the same as a sentence
	facts              []labelled
	notes, sponsor     string
	order, number      string
	code               string
	idx                int
}

// labelled is a word with a small one above it.
type labelled struct{ label, words string }

// printed lists what the tickets that are valid say.
func (p OrderPage) printed(ctx context.Context, look Print) (list []printed) {
	for _, t := range p.Tickets() {
		if t.Code == "" {
			continue
		}
		w := printed{
			event: p.Event.Name, when: views.WhenIn(ctx, p.Event), place: views.PlaceIn(ctx, p.Event),
			where: p.seatColumns(ctx, t.Idx), seat: SeatWords(ctx, p.Plan, t.Idx),
			order: text.T(ctx, "Order %s", p.Order.Number()), code: t.Code, idx: t.Idx,
		}
		if look.Branding != nil {
			w.sponsor = look.Branding.Sponsor
		}
		category := p.Plan.Categories[p.Plan.Seats[t.Idx].Category].Name
		w.facts = append(w.facts, labelled{text.T(ctx, "Ticket"), cmp.Or(t.Type, category) + ", " + views.PriceIn(ctx, t.Cost(), p.Order.Currency)})
		if name := p.Order.NameOn(t); name != "" {
			w.facts = append(w.facts, labelled{text.T(ctx, "Name"), name})
		}
		if gates := p.gates(t.Idx); gates != "" {
			w.facts = append(w.facts, labelled{text.T(ctx, "Gate"), gates})
		}
		if look.About != nil && look.About.Facts.Doors > 0 {
			w.facts = append(w.facts, labelled{text.T(ctx, "Doors"), views.ClockIn(ctx, p.Event, p.Event.StartsAt.Add(-look.About.Facts.Doors))})
		}
		for _, name := range []string{p.Plan.Seats[t.Idx].Row, p.Plan.Seats[t.Idx].Number} {
			if name != "" { // stays on the line of the word before it
				w.seat = strings.ReplaceAll(w.seat, " "+name, "\u00a0"+name)
			}
		}
		w.notes = p.paperNotes(ctx, t, category)
		list = append(list, w)
	}
	for i := range list {
		list[i].number = text.T(ctx, "Ticket %[1]d of %[2]d", i+1, len(list))
	}
	return list
}

// paperNotes are the small print of a ticket: its category and what is to be shown at the door, fees and taxes, and what is to pay.
func (p OrderPage) paperNotes(ctx context.Context, t orders.Ticket, category string) string {
	var notes []string
	if t.Type != "" {
		notes = append(notes, category)
	}
	if t.Proof != "" {
		notes = append(notes, TypeWords(ctx, t))
	}
	notes = append(notes, strings.Trim(ContainedIn(ctx, p.Event, t, p.Order.Currency), " ()"))
	if due := ToPay(ctx, p.Order); due != "" && !payments.Ahead(p.Order.Method) {
		notes = append(notes, text.T(ctx, "Of the whole order: %s", due))
	}
	if proof, in := p.Proofs[t.Idx]; in {
		notes = append(notes, text.T(ctx, "In the public log")+" "+proof.Code)
	}
	return strings.Join(said(notes...), " · ")
}

// said are the texts that are not empty.
func said(texts ...string) []string {
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}

// mostBeside is how many letters a row and a seat may have together to stand side by side in large letters.
const mostBeside = 12

// seatColumns are section, row and seat of a ticket, or area and place; none if they are too long for columns.
func (s Sale) seatColumns(ctx context.Context, idx int) []labelled {
	seat := s.Plan.Seats[idx]
	section := s.Plan.SectionIn(ctx, seat.Section)
	if utf8.RuneCountInString(seat.Row)+utf8.RuneCountInString(seat.Number) > mostBeside {
		return nil
	}
	if seat.Row == "" {
		return []labelled{{text.T(ctx, "Section"), section}, {text.T(ctx, "Place"), seat.Number}}
	}
	row := labelled{text.T(ctx, "Row"), seat.Row}
	if seats.OwnName(seat.Row) {
		row.label = "" // its name says what it is
	}
	return []labelled{{text.T(ctx, "Section"), section}, row, {text.T(ctx, "Seat"), seat.Number}}
}

// ContainedIn says what the price of a ticket contains, behind it; nothing if it is the price alone.
func ContainedIn(ctx context.Context, e seats.Event, t orders.Ticket, iso string) string {
	var said []string
	if t.Fee > 0 {
		said = append(said, text.T(ctx, "%s fee", views.MoneyIn(ctx, t.Fee, iso)))
	}
	for _, s := range pricing.Taxes([]pricing.Priced{t.Priced}) {
		if s.Tax > 0 {
			said = append(said, views.MoneyIn(ctx, s.Tax, iso)+" "+TaxName(ctx, e)+" "+taxRate(ctx, s.Rate))
		}
	}
	if len(said) == 0 {
		return ""
	}
	return " " + text.T(ctx, "(including %s)", text.List(ctx, said))
}
