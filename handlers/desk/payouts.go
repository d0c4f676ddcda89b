package desk

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/payouts"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

type payoutsAnswer struct {
	ReadAt  *time.Time    `json:"read_at"`
	Reading bool          `json:"reading"`
	Error   bool          `json:"error"`
	Payouts []payoutBody  `json:"payouts"`
	Next    string        `json:"next_cursor,omitempty"`
	Missing []missingBody `json:"missing"`
}

type payoutBody struct {
	ID         string     `json:"id"`
	Status     string     `json:"status"`
	CreatedAt  time.Time  `json:"created_at"`
	ArrivesOn  string     `json:"arrives_on"`
	Currency   string     `json:"currency"`
	Amount     int64      `json:"amount"`
	Whole      bool       `json:"whole"`
	Read       bool       `json:"read"`
	Payments   int        `json:"payments"`
	Received   int64      `json:"received"`
	Refunds    int        `json:"refunds"`
	Refunded   int64      `json:"refunded"`
	Fees       int64      `json:"fees"`
	Others     int64      `json:"others"`
	Difference int64      `json:"difference"`
	Unmatched  int        `json:"unmatched"`
	Lines      []lineBody `json:"lines,omitempty"`
}

type lineBody struct {
	ID       string    `json:"id"`
	Kind     string    `json:"kind"`
	Type     string    `json:"type"`
	Source   string    `json:"source"`
	At       time.Time `json:"at"`
	Amount   int64     `json:"amount"`
	Fee      int64     `json:"fee"`
	Net      int64     `json:"net"`
	Event    string    `json:"event"`
	Order    string    `json:"order"`
	Number   string    `json:"number"`
	Reason   string    `json:"reason"`
	Off      int64     `json:"difference"`
	GiftCard bool      `json:"gift_card"`
	Deposit  bool      `json:"deposit,omitempty"`
}

type missingBody struct {
	Event    string    `json:"event"`
	Order    string    `json:"order"`
	Number   string    `json:"number"`
	At       time.Time `json:"at"`
	Currency string    `json:"currency"`
	Amount   int64     `json:"amount"`
}

func describePayout(r payouts.Reckoned) payoutBody {
	return payoutBody{
		r.ID, r.Status, r.CreatedAt.UTC(), r.ArrivesOn.Format(time.DateOnly), r.Currency, r.Total(), r.Whole, r.Read, r.Payments, r.Received, r.Refunds, r.Returned, r.Fees, r.Others,
		r.Difference(), r.Wrong, nil,
	}
}

func describeLine(e payouts.Entry) lineBody {
	return lineBody{e.ID, e.Kind, e.Type, e.Source, e.At.UTC(), e.Amount, e.Fee, e.Net, e.Event, e.Code, numberOf(e.Order), e.Why, e.Off, e.Gift, e.Deposit}
}

// numberOf is the number of an order; empty for none.
func numberOf(order seats.ID) string {
	if order == (seats.ID{}) {
		return ""
	}
	return orders.Number(order)
}

// Payouts answers GET /desk/books/payouts
func (h *Handlers) Payouts(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showPayouts(w, r, m, http.StatusOK, "")
}

func (h *Handlers) showPayouts(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, wrong string) error {
	const of = "payouts"
	page, err := web.Page(r, of, payouts.PageSize)
	if err != nil {
		return err
	}
	account, place, err := h.Server.Payouts.List(r.Context(), m, page)
	if err != nil {
		return err
	}
	next := place.Cursor(of)
	if web.WantsJSON(r) {
		answer := payoutsAnswer{ReadAt: account.Reading.At, Reading: account.Reading.Due != nil, Error: account.Reading.Error != "", Payouts: []payoutBody{}, Next: next, Missing: []missingBody{}}
		for _, p := range account.Payouts {
			answer.Payouts = append(answer.Payouts, describePayout(p))
		}
		for _, p := range account.Missing {
			answer.Missing = append(answer.Missing, missingBody{p.Event, p.Code, numberOf(p.Order), p.At.UTC(), p.Currency, p.Amount})
		}
		return web.WriteJSON(w, status, answer)
	}
	p := desk.PayoutsPage{Frame: h.frame(w, r, m, text.T(r.Context(), "Payouts")), Account: account, Next: next, Has: h.Server.Payouts.Has(), Wrong: wrong}
	p.Path = desk.PayoutsPath
	return web.WritePage(w, r, status, desk.Payouts(p))
}

// ReadPayouts answers POST /desk/books/payouts: they are read in the background.
func (h *Handlers) ReadPayouts(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	err = h.Server.Payouts.Ask(r.Context(), m, deskKeyOf(r, form))
	if words, refused := deskRefused(r, err); refused {
		return h.showPayouts(w, r, m, deskStatus(err), words)
	}
	if err != nil {
		return err
	}
	return deskDone(w, r, desk.PayoutsPath, "payouts")
}

// Payout answers GET /desk/books/payouts/{file}
//
// The file is the name of a payout, alone or with .csv or .xlsx for its lines.
func (h *Handlers) Payout(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	id, kind, _ := strings.Cut(r.PathValue("file"), ".")
	if kind != "" && kind != "csv" && kind != "xlsx" {
		return web.ErrNoPage
	}
	payout, lines, err := h.Server.Payouts.Find(r.Context(), m, id)
	if errors.Is(err, payouts.ErrNoPayout) {
		return web.ErrNoPage
	}
	if err != nil {
		return err
	}
	switch {
	case kind != "":
		if err := h.Organizers.Record(r.Context(), m, "exported books", "books/payouts", map[string]string{"payout": id, "as": kind}); err != nil {
			return err
		}
		w.Header().Set("Content-Disposition", `attachment; filename="payout-`+plainName.ReplaceAllString(id, "_")+"."+kind+`"`)
		return h.writeSheet(w, r, kind, time.UTC, func(to sheet) error { return payoutRows(to, payout, lines) })
	case web.WantsJSON(r):
		body := describePayout(payout)
		for _, l := range lines {
			body.Lines = append(body.Lines, describeLine(l))
		}
		return web.WriteJSON(w, http.StatusOK, body)
	}
	p := desk.PayoutPage{Frame: h.frame(w, r, m, text.T(r.Context(), "Payout %s", payout.ID)), Payout: payout, Lines: lines}
	p.Path = desk.PayoutsPath
	return web.WritePage(w, r, http.StatusOK, desk.Payout(p))
}

// payoutRows writes the lines of a payout. Money that went is negative; the net column comes to the payout.
func payoutRows(to sheet, payout payouts.Reckoned, lines []payouts.Entry) error {
	if err := to.row("line", "kind", "type", "source", "time", "event", "order", "currency", "amount", "fee", "net", "difference", "reason"); err != nil {
		return err
	}
	d := pricing.Decimals(payout.Currency)
	for _, l := range lines {
		of := numberOf(l.Order)
		if l.Gift {
			of = "gift card"
		} else if l.Deposit {
			of = "deposit"
		}
		if err := to.row(l.ID, l.Kind, l.Type, l.Source, l.At, l.Event, of, payout.Currency, amount{l.Amount, d}, amount{l.Fee, d}, amount{l.Net, d}, amount{l.Off, d}, l.Why); err != nil {
			return err
		}
	}
	return nil
}

// payoutsFile answers with all payouts of the team as a list.
func (h *Handlers) payoutsFile(w http.ResponseWriter, r *http.Request, m organizers.Member, kind string) error {
	var all []payouts.Reckoned
	for page := (paging.Page{Limit: paging.Most}); ; {
		account, next, err := h.Server.Payouts.List(r.Context(), m, page)
		if err != nil {
			return err
		}
		if all = append(all, account.Payouts...); next == nil {
			break
		}
		page.After = *next
	}
	if err := h.Organizers.Record(r.Context(), m, "exported books", "books/payouts", map[string]string{"by": "payouts", "as": kind}); err != nil {
		return err
	}
	w.Header().Set("Content-Disposition", `attachment; filename="payouts.`+kind+`"`)
	return h.writeSheet(w, r, kind, time.UTC, func(to sheet) error {
		if err := to.row("payout", "created", "arrives", "status", "currency", "amount", "payments", "received", "refunds", "refunded", "fees", "others", "difference"); err != nil {
			return err
		}
		for _, p := range all {
			d := pricing.Decimals(p.Currency)
			if err := to.row(p.ID, p.CreatedAt, p.ArrivesOn.Format(time.DateOnly), p.Status, p.Currency, amount{p.Total(), d}, p.Payments, amount{p.Received, d}, p.Refunds, amount{-p.Returned, d},
				amount{-p.Fees, d}, amount{p.Others, d}, amount{p.Difference(), d}); err != nil {
				return err
			}
		}
		return nil
	})
}
