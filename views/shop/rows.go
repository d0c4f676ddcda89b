package shop

import (
	"context"
	"io"
	"strconv"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// seats writes one fieldset per row. A section may have thousands of seats and a crowd opens it at once, so bytes are
// appended by hand.
func (m RowsModel) seats() templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		at := m.Plan.Sections[m.Section]
		b := make([]byte, 0, at.Count*160)
		row, open := "", false
		whole, shared := m.Plan.WholeRows(), m.Plan.SharedRows()
		say := m.said(ctx)
		prices := make([]string, len(m.Plan.Categories))
		for _, c := range m.categoriesIn(m.Section) {
			prices[c] = m.priceIn(ctx, c)
		}
		for idx := at.First; idx < at.First+at.Count; idx++ {
			if next := m.Plan.Seats[idx].Row; !open || next != row {
				b = closeRow(b, open)
				b = append(b, `<fieldset><legend>`...)
				b = append(b, templ.EscapeString(RowWords(ctx, next))...)
				at := seats.WholeRow{Section: m.Section, Row: next}
				if whole[at] {
					b = append(b, templ.EscapeString(text.T(ctx, ", all seats sold together"))...)
				}
				if r := shared[at]; r != nil {
					b = append(b, templ.EscapeString(text.T(ctx, ", %d to %d seats for each party", r.Least, r.Most))...)
				}
				b = append(b, `</legend><div>`...)
				row, open = next, true
			}
			b = m.seat(say, b, idx, prices[m.Plan.Seats[idx].Category])
		}
		_, err := w.Write(closeRow(b, open))
		return err
	})
}

func closeRow(b []byte, open bool) []byte {
	if !open {
		return b
	}
	return append(b, `</div></fieldset>`...)
}

// rowSaid are the words of rows in the language of their page: they are looked up once, and not for each seat.
type rowSaid struct {
	ctx                   context.Context
	seat, yours, reserved string
	states                map[seats.State]string
	hues                  []string // by category
}

func (m RowsModel) said(ctx context.Context) rowSaid {
	say := rowSaid{ctx, text.T(ctx, "Seat"), templ.EscapeString(text.T(ctx, ", yours")), templ.EscapeString(text.T(ctx, ", reserved, needs a code")), map[seats.State]string{}, nil}
	for c := range m.Plan.Categories {
		say.hues = append(say.hues, m.hue(c))
	}
	for state, words := range stateWords {
		say.states[state] = templ.EscapeString(text.T(ctx, words))
	}
	return say
}

// seat appends one checkbox: ticked if it is mine, disabled if it is taken, with the reason in its name.
func (m RowsModel) seat(say rowSaid, b []byte, idx int, price string) []byte {
	seat, state := &m.Plan.Seats[idx], m.Map.States[idx].Shown()
	label, mine, expired := m.Plan.Label(idx), m.mine(idx), m.expired(idx)
	if mine || expired {
		price = m.PriceOf(say.ctx, idx)
	}
	if expired { // the map may not have heard of it yet
		state = seats.Expired
	}
	b = append(b, `<label class="seat `...)
	b = append(b, say.hues[seat.Category]...)
	if seat.Flags&seats.Accessible != 0 {
		b = append(b, ` wheel`...)
	}
	if seat.Flags&seats.AisleAfter != 0 {
		b = append(b, ` aisle`...)
	}
	if !m.fits(idx) {
		b = append(b, ` off`...)
	}
	b = append(b, `"><input type="checkbox" name="seat" value="`...)
	b = append(b, templ.EscapeString(label)...)
	b = append(b, `" data-idx="`...)
	b = strconv.AppendInt(b, int64(idx), 10)
	b = append(b, `" data-state="`...)
	b = append(b, state.String()...)
	b = append(b, `" aria-label="`...)
	b = append(b, templ.EscapeString(say.seat+" "+seat.Number+", "+price+flagWords(say.ctx, seat.Flags))...)
	switch {
	case mine:
		b = append(b, say.yours...)
		b = append(b, `" checked>`...)
	case state == seats.Free, expired:
		b = append(b, say.states[state]...)
		b = append(b, `">`...)
	case state == seats.Blocked && m.Codes.Reserved != nil && m.Codes.Reserved(idx):
		b = append(b, say.reserved...)
		b = append(b, `" disabled>`...)
	default:
		b = append(b, say.states[state]...)
		b = append(b, `" disabled>`...)
	}
	b = append(b, `<span>`...)
	b = append(b, templ.EscapeString(seat.Number)...)
	return append(b, `</span></label>`...)
}
