package web

import (
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/programme"
	"github.com/usherbox/usher/views/shop"
)

func Labels(s *seats.Sale, idxs []int) []string {
	names := make([]string, len(idxs))
	for i, idx := range idxs {
		names[i] = s.Plan.Label(idx)
	}
	return names
}

type Listed struct {
	Slug     string    `json:"slug"`
	Name     string    `json:"name"`
	StartsAt time.Time `json:"starts_at"`
	Seats    int       `json:"seats"`
	Free     int       `json:"free"`
	Held     int       `json:"held"`
	Sold     int       `json:"sold"`

	Status  seats.Status `json:"status"`
	OpensAt *time.Time   `json:"opens_at,omitempty"` // while it is scheduled
	Reason  string       `json:"reason,omitempty"`   // of its status
}

// listedOf is an event with its counts over all categories.
func listedOf(e seats.Event, free, held, sold int) Listed {
	l := Listed{e.Slug, e.Name, e.StartsAt.UTC(), e.Seats, free, held, sold, e.Status, nil, e.Reason}
	if e.Status == seats.Scheduled {
		opens := e.OpensAt.UTC()
		l.OpensAt = &opens
	}
	return l
}

// programmed is an event as the programme says it.
type programmed struct {
	Listed
	Path     string `json:"path"`
	Venue    string `json:"venue"`
	Town     string `json:"town"`
	Category string `json:"category"`
	Online   bool   `json:"online"`
	Price    int64  `json:"price"` // the lowest that is not 0, with fees and taxes
	Currency string `json:"currency"`

	Series *seriesDates `json:"series,omitempty"` // the card is about a series; left out: about an event
}

// seriesDates are the performances of a series that a filter finds.
type seriesDates struct {
	Slug         string `json:"slug"`
	Performances int    `json:"performances"`
	Last         string `json:"last"` // day
}

type eventsAnswer struct {
	Events []Listed `json:"events"`
}

// DescribeEvents lists the events of a team.
func DescribeEvents(list []seats.Listing) eventsAnswer {
	answer := eventsAnswer{[]Listed{}}
	for _, e := range list {
		answer.Events = append(answer.Events, listedOf(e.Event, e.Free, e.Held, e.Sold))
	}
	return answer
}

type programmeAnswer struct {
	Events []programmed `json:"events"`
	Next   string       `json:"next,omitempty"` // the address of the next page; left out: there is none
}

// DescribeProgramme is a page of the programme; next is the address of the page behind it, and empty if there is none.
func DescribeProgramme(list []programme.Card, next string) programmeAnswer {
	answer := programmeAnswer{[]programmed{}, next}
	for _, c := range list {
		answer.Events = append(answer.Events, describeCard(c))
	}
	return answer
}

func describeCard(c programme.Card) programmed {
	one := programmed{listedOf(c.Event, c.Free, c.Held, c.Sold), shop.CardPath(c), c.Venue, c.Town, c.Category, c.Online.On, c.Price, c.Currency, nil}
	if c.Series != nil {
		one.Series = &seriesDates{c.Series.Slug, c.Series.N, c.Series.Last.Format(time.DateOnly)}
	}
	return one
}

type seriesAnswer struct {
	Slug         string       `json:"slug"`
	Name         string       `json:"name"`
	Performances []programmed `json:"performances"`
	Page         *PageBody    `json:"page,omitempty"` // of the production; left out: there is none
}

// DescribeSeries is a series with its performances to come.
func DescribeSeries(slug string, lead seats.Event, page *pages.EventPage, list []programme.Card) seriesAnswer {
	answer := seriesAnswer{slug, lead.Name, []programmed{}, DescribePage(lead, page)}
	for _, c := range list {
		answer.Performances = append(answer.Performances, describeCard(c))
	}
	return answer
}

type sectionCounts struct {
	Name   string `json:"name"`
	Number int    `json:"number"`
	Seats  int    `json:"seats"`
	Free   int    `json:"free"`
	Held   int    `json:"held"`
	Sold   int    `json:"sold"`
}

type categoryCounts struct {
	Key      string `json:"key"`
	Name     string `json:"name"`
	Price    *int64 `json:"price,omitempty"` // with fees and taxes; nil: no ticket type is sold there to everyone
	Fee      int64  `json:"fee"`
	Tax      int64  `json:"tax"`
	Currency string `json:"currency"`
	Seats    int    `json:"seats"`
	Free     int    `json:"free"`
	Held     int    `json:"held"`
	Sold     int    `json:"sold"`
}

type eventAnswer struct {
	Listed
	Version    int64            `json:"version"`
	Epoch      uint32           `json:"epoch"`
	Currency   string           `json:"currency"`
	Sections   []sectionCounts  `json:"sections"`
	Areas      []sectionCounts  `json:"areas"`
	Categories []categoryCounts `json:"categories"`
	Types      []typePrices     `json:"types"`
	Phase      *phaseLeft       `json:"phase,omitempty"`
	Cancelling *cancelling      `json:"cancelling,omitempty"` // left out: tickets cannot be cancelled
	Exchanging *exchanging      `json:"exchanging,omitempty"` // left out: tickets cannot be exchanged
	Terms      *TermsBody       `json:"terms,omitempty"`      // an order has to accept them
	Page       *PageBody        `json:"page,omitempty"`       // left out: nobody wrote one
	Extras     *offeredExtras   `json:"extras,omitempty"`     // that an order can add; left out: none
}

// offeredExtras are what buyers can add to an order.
type offeredExtras struct {
	Donations   []int64 `json:"donations"` // minor units
	DonationFor string  `json:"donation_for,omitempty"`
	Postage     int64   `json:"postage,omitempty"` // minor units, with the tax; left out: tickets are not posted
}

func describeExtras(e seats.Event) *offeredExtras {
	x := offeredExtras{append([]int64{}, e.Rules.Extras.Donations...), e.Rules.Extras.DonationFor, pricing.PostageOf(e)}
	if len(x.Donations) == 0 && x.Postage == 0 {
		return nil
	}
	return &x
}

// typePrices is a ticket type with what it costs now, fees and taxes inside, by category.
type typePrices struct {
	Key    string           `json:"key"`
	Name   string           `json:"name"`
	SoldTo seats.SoldTo     `json:"sold_to"`
	Proof  string           `json:"proof,omitempty"`
	Prices map[string]int64 `json:"prices"`
}

// phaseLeft is the phase of the sale that counts.
type phaseLeft struct {
	Name   string     `json:"name"`
	EndsAt *time.Time `json:"ends_at,omitempty"`
	Left   *int       `json:"left,omitempty"`
}

func describeTypes(s *seats.Sale, phase int) []typePrices {
	list := []typePrices{}
	for _, kind := range s.Prices.Order() {
		t := &s.Prices.Types[kind]
		if t.Retired {
			continue
		}
		p := typePrices{t.Key, t.Name, t.SoldTo, t.Proof, map[string]int64{}}
		for i, c := range s.Plan.Categories {
			if price, sold := s.Prices.Price(phase, kind, i); sold {
				p.Prices[c.Key] = pricing.AllIn(pricing.Line{Type: kind, Category: i, Price: price}, pricing.TermsOf(&s.Event)).Cost()
			}
		}
		list = append(list, p)
	}
	return list
}

// cancelling is the event's policy: until when a buyer may cancel, and what is kept of each ticket.
type cancelling struct {
	Until   time.Time `json:"until"`
	Fee     int64     `json:"fee"`     // minor units, at most the price
	Percent float64   `json:"percent"` // of the price
}

// exchanging is until when a buyer may exchange tickets for those of another performance, and what is kept of each.
type exchanging struct {
	Until time.Time `json:"until"`
	Fee   int64     `json:"fee"` // minor units, at most the price
}

// Describe counts everything from one snapshot, so that the numbers of an answer belong together. Its prices are those of a time.
func Describe(s *seats.Sale, m seats.Snapshot, now time.Time) eventAnswer {
	running := s.Prices.Running(now, m.Counts.Quota)
	a := eventAnswer{
		Listed:  listedOf(s.Event, 0, 0, 0),
		Version: m.Version, Epoch: m.Epoch, Currency: s.Event.Currency, Sections: []sectionCounts{}, Areas: []sectionCounts{},
		Types: describeTypes(s, running.Phase),
	}
	if running.Phase > 0 {
		f := &s.Prices.Phases[running.Phase-1]
		if a.Phase = (&phaseLeft{Name: f.Name, EndsAt: f.EndsAt}); running.Left >= 0 {
			a.Phase.Left = &running.Left
		}
	}
	if ends, may := events.CancelEnds(s.Event); may {
		a.Cancelling = &cancelling{ends.UTC(), s.Event.Policy.CancelFee, float64(s.Event.Policy.CancelPercent) / 100}
	}
	if ends, may := events.ExchangeEnds(s.Event); may {
		a.Exchanging = &exchanging{ends.UTC(), s.Event.Policy.ExchangeFee}
	}
	a.Extras = describeExtras(s.Event)
	for i, c := range s.Plan.Categories {
		n := categoryCounts{Key: c.Key, Name: c.Name, Currency: s.Event.Currency, Free: m.Counts.Free[i], Held: m.Counts.Held[i], Sold: m.Counts.Sold[i]}
		if kind, sold := s.Prices.Default(i); sold {
			price, _ := s.Prices.Price(running.Phase, kind, i)
			all := pricing.AllIn(pricing.Line{Type: kind, Category: i, Price: price}, pricing.TermsOf(&s.Event))
			cost := all.Cost()
			n.Price, n.Fee, n.Tax = &cost, all.Fee, all.Tax+all.FeeTax
		}
		n.Seats = n.Free + n.Held + n.Sold + m.Counts.Blocked[i]
		a.Free, a.Held, a.Sold = a.Free+n.Free, a.Held+n.Held, a.Sold+n.Sold
		a.Categories = append(a.Categories, n)
	}
	for i, section := range s.Plan.Sections {
		n := sectionCounts{Name: section.Name, Number: i, Seats: section.Count}
		for _, state := range m.States[section.First : section.First+section.Count] {
			switch state {
			case seats.Free:
				n.Free++
			case seats.Held:
				n.Held++
			case seats.Sold:
				n.Sold++
			}
		}
		if section.Area {
			a.Areas = append(a.Areas, n)
			continue
		}
		a.Sections = append(a.Sections, n)
	}
	return a
}
