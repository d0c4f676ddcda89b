package desk

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

// exports are the lists that organizers take away.
var exports = map[string]func(*Handlers, context.Context, *seats.Sale, sheet) error{
	"orders": (*Handlers).exportOrders, "attendees": (*Handlers).exportTickets, "seats": (*Handlers).exportSeats, "payments": (*Handlers).exportMoney,
	"taxes": (*Handlers).exportTaxes,
}

// Export answers GET /desk/events/{slug}/exports/{file}
func (h *Handlers) Export(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	if r.PathValue("file") == desk.RoomEvidence {
		return h.exportRoom(w, r, m, s)
	}
	name, kind, _ := strings.Cut(r.PathValue("file"), ".")
	list, known := exports[name]
	if name == "codes" {
		list, known = exportCodes(m, r.URL.Query().Get("name")), true
	}
	if !known || kind != "csv" && kind != "xlsx" && kind != "json" {
		return web.ErrNoPage
	}
	if err := h.Organizers.Record(r.Context(), m, "exported "+name, "events/"+s.Event.Slug+"/orders", map[string]string{"as": kind}); err != nil {
		return err
	}
	w.Header().Set("Content-Disposition", `attachment; filename="`+s.Event.Slug+"-"+name+"."+kind+`"`)
	write := func(to sheet) error { return list(h, r.Context(), s, to) }
	if kind == "json" {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		answers := 0
		if name == "orders" || name == "attendees" {
			answers = len(s.Event.Questions)
		}
		return h.finishSheet(w, r, newJSON(w, name, answers), write)
	}
	return h.writeSheet(w, r, kind, s.Event.Local(s.Event.StartsAt).Location(), write)
}

// exportRoom writes the evidence of the waiting room of an event, a line of JSON for each call, admission and change: what "usher room
// export" writes.
func (h *Handlers) exportRoom(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	room := h.Rooms.Of(s.Event.ID)
	if room == nil {
		return errNoRoomHere
	}
	if ours, err := h.Organizers.HasRoom(r.Context(), m, room.ID); err != nil {
		return err
	} else if !ours {
		return errSharedRoom
	}
	slug := room.State().Slug
	if err := h.Organizers.Record(r.Context(), m, "exported room", "events/"+s.Event.Slug+"/room", map[string]string{"room": slug}); err != nil {
		return err
	}
	w.Header().Set("Content-Disposition", `attachment; filename="`+slug+`-evidence.jsonl"`)
	w.Header().Set("Content-Type", "application/jsonl")
	lines := json.NewEncoder(w)
	if err := h.Rooms.Control(m.Name).Evidence(r.Context(), slug, false, func(e waitingroom.Evidence) error { return lines.Encode(e) }); err != nil {
		if r.Context().Err() == nil {
			h.About(w, r).Error("the evidence of a room was not written to its end", "error", err)
		}
		panic(http.ErrAbortHandler) // a reader does not take the first lines for all
	}
	return nil
}

// writeSheet writes a list as a CSV file or as a workbook, which shows times in a zone.
func (h *Handlers) writeSheet(w http.ResponseWriter, r *http.Request, kind string, zone *time.Location, list func(to sheet) error) error {
	if kind == "csv" {
		w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		return h.finishSheet(w, r, NewCSV(w), list)
	}
	w.Header().Set("Content-Type", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
	excel, err := newExcel(w, zone)
	if err != nil {
		return err
	}
	return h.finishSheet(w, r, excel, list)
}

// finishSheet writes a list to its end. If that fails, the download breaks off, so that a reader does not take the first rows for all.
func (h *Handlers) finishSheet(w http.ResponseWriter, r *http.Request, to sheet, list func(to sheet) error) error {
	err := list(to)
	if err == nil {
		err = to.end()
	}
	if err != nil && r.Context().Err() == nil {
		h.About(w, r).Error("a list was not written to its end", "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}

// lineCells are what every list says of a ticket's order.
func lineCells(l orders.Line, d int) []any {
	var born any
	if l.Born != nil {
		born = l.Born.Format("2006-01-02")
	}
	return []any{l.Order, l.CreatedAt, l.State, l.Name, l.Email, born, l.Method, l.Currency, amount{l.Paid, d}, amount{l.Back - l.OnItsWay, d}, amount{l.OnItsWay, d}}
}

var lineHead = []any{"order", "ordered at", "state", "name", "email", "born", "method", "currency", "paid", "refunded", "to refund"}

func (h *Handlers) exportTickets(ctx context.Context, s *seats.Sale, to sheet) error {
	head := append(append([]any{}, lineHead...), "seat", "category", "price", "fee", "ticket", "came at", "mail refused", "type", "discount", "code", "offer", "tax", "tax rate", "fee tax", "fee tax rate", "sent to", "name on the ticket")
	if err := to.row(withQuestions(head, s)...); err != nil {
		return err
	}
	d := pricing.Decimals(s.Event.Currency)
	return h.Orders.Lines(ctx, s.Event.Slug, func(l orders.Line) error {
		standing, came := "valid", any(nil)
		if l.In != nil {
			standing, came = "came", *l.In
		}
		if l.Revoked {
			standing = "cancelled"
		}
		row := append(lineCells(l, d), s.Plan.Label(l.Idx), s.Plan.Categories[s.Plan.Seats[l.Idx].Category].Name, amount{l.Price, d}, amount{l.Fee, d}, standing, came, l.Mail,
			l.Type, amount{l.Discount, d}, l.Code, l.Offer, amount{l.Tax, d}, pricing.Rate(l.Rate), amount{l.FeeTax, d}, pricing.Rate(l.FeeRate), l.Friend, l.On)
		return to.row(withAnswers(row, l, s)...)
	})
}

func withQuestions(head []any, s *seats.Sale) []any {
	for _, q := range s.Event.Questions {
		head = append(head, q.Label)
	}
	return head
}

func withAnswers(row []any, l orders.Line, s *seats.Sale) []any {
	for i := range s.Event.Questions {
		row = append(row, l.Answers[strconv.Itoa(i+1)])
	}
	return row
}

// eachOrder visits the orders of an event, each with its lines.
func (h *Handlers) eachOrder(ctx context.Context, s *seats.Sale, visit func(lines []orders.Line) error) error {
	var lines []orders.Line
	err := h.Orders.Lines(ctx, s.Event.Slug, func(l orders.Line) error {
		if len(lines) > 0 && lines[0].Order != l.Order {
			if err := visit(lines); err != nil {
				return err
			}
			lines = lines[:0]
		}
		lines = append(lines, l)
		return nil
	})
	if err != nil || len(lines) == 0 {
		return err
	}
	return visit(lines)
}

// exportOrders writes a row for each order. Its sums are those of its live tickets.
func (h *Handlers) exportOrders(ctx context.Context, s *seats.Sale, to sheet) error {
	head := append(append([]any{}, lineHead...), "price", "fee", "tickets", "cancelled", "came", "seats", "discount", "code", "offer", "tax", "donation", "postage", "post to")
	if err := to.row(withQuestions(head, s)...); err != nil {
		return err
	}
	d := pricing.Decimals(s.Event.Currency)
	return h.eachOrder(ctx, s, func(lines []orders.Line) error {
		var sum pricing.Priced
		var live, cancelled, came int
		var labels []string
		for _, l := range lines {
			if l.Revoked {
				cancelled++
				continue
			}
			if l.In != nil {
				came++
			}
			live, labels = live+1, append(labels, s.Plan.Label(l.Idx))
			sum.Price, sum.Fee, sum.Discount, sum.Tax = sum.Price+l.Price, sum.Fee+l.Fee, sum.Discount+l.Discount, sum.Tax+l.Tax+l.FeeTax
		}
		o := lines[0]
		var donation, postage int64
		for _, x := range o.Extras {
			sum.Tax += x.Tax
			if x.Kind == pricing.Donation {
				donation += x.Price
			} else {
				postage += x.Price
			}
		}
		address := ""
		if o.Post != nil {
			address = strings.Join(shop.AddressLines(ctx, *o.Post), ", ")
		}
		row := append(lineCells(o, d), amount{sum.Price, d}, amount{sum.Fee, d}, live, cancelled, came, strings.Join(labels, ", "), amount{sum.Discount, d}, o.Code, o.Offer, amount{sum.Tax, d}, amount{donation, d}, amount{postage, d}, address)
		return to.row(withAnswers(row, o, s)...)
	})
}

// exportTaxes writes a row for each order and rate, of the live tickets and what was added.
func (h *Handlers) exportTaxes(ctx context.Context, s *seats.Sale, to sheet) error {
	if err := to.row("order", "ordered at", "state", "currency", "tax rate", "gross", "net", "tax"); err != nil {
		return err
	}
	d := pricing.Decimals(s.Event.Currency)
	return h.eachOrder(ctx, s, func(lines []orders.Line) error {
		var live []pricing.Priced
		for _, l := range lines {
			if !l.Revoked {
				live = append(live, l.Priced)
			}
		}
		for _, t := range pricing.Taxes(live, lines[0].Extras...) {
			o := lines[0]
			if err := to.row(o.Order, o.CreatedAt, o.State, o.Currency, pricing.Rate(t.Rate), amount{t.Gross, d}, amount{t.Net(), d}, amount{t.Tax, d}); err != nil {
				return err
			}
		}
		return nil
	})
}

// exportSeats writes a row for each seat. A sold one has the price and the type of its ticket, another one those that it is sold
// at now.
func (h *Handlers) exportSeats(ctx context.Context, s *seats.Sale, to sheet) error {
	if err := to.row("seat", "section", "row", "number", "category", "price", "state", "blocked because", "order", "name", "type", "floor"); err != nil {
		return err
	}
	of := map[int]orders.Line{}
	if err := h.Orders.Lines(ctx, s.Event.Slug, func(l orders.Line) error {
		if !l.Revoked {
			of[l.Idx] = l
		}
		return nil
	}); err != nil {
		return err
	}
	why, err := h.Sales.Blocked(ctx, s, 0, len(s.Plan.Seats)-1)
	if err != nil {
		return err
	}
	d, m := pricing.Decimals(s.Event.Currency), s.Snapshot()
	_, running, _ := s.Running(time.Now())
	for idx := range s.Plan.Seats {
		seat, c := &s.Plan.Seats[idx], s.Plan.Categories[s.Plan.Seats[idx].Category]
		l, sold := of[idx]
		if !sold {
			l.Price = c.Price
			if kind, ok := s.Prices.Default(seat.Category); ok {
				l.Price, _ = s.Prices.Price(running.Phase, kind, seat.Category)
			}
		}
		if err := to.row(s.Plan.Label(idx), s.Plan.Sections[seat.Section].Name, seat.Row, seat.Number, c.Name, amount{l.Price, d}, m.States[idx].Shown().String(), why[idx], l.Order, cmp.Or(l.Friend, l.Name), l.Type, s.Plan.FloorOf(seat.Section)); err != nil {
			return err
		}
	}
	return nil
}

func (h *Handlers) exportMoney(ctx context.Context, s *seats.Sale, to sheet) error {
	if err := to.row("at", "order", "name", "what", "method", "reference", "amount", "currency", "standing"); err != nil {
		return err
	}
	d := pricing.Decimals(s.Event.Currency)
	return h.Orders.Payments.Movements(ctx, s.Event.ID, func(m payments.Movement) error {
		return to.row(m.At, m.Order, m.Name, m.Kind, m.Method, m.Reference, amount{m.Amount, d}, m.Currency, m.State)
	})
}
