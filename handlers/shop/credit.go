package shop

import (
	"crypto/rand"
	"errors"
	"net/http"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

type creditAnswer struct {
	Email    string        `json:"email"`
	Accounts []accountBody `json:"accounts"`
}

type accountBody struct {
	Currency string     `json:"currency"`
	Balance  int64      `json:"balance"`
	Lines    []lineBody `json:"lines"`
	Older    bool       `json:"older"`
}

type lineBody struct {
	At     time.Time `json:"at"`
	Kind   string    `json:"kind"`
	Amount int64     `json:"amount"`
	Order  string    `json:"order,omitempty"`
	Event  string    `json:"event,omitempty"`
}

func describeCredit(email string, list []credit.Statement) creditAnswer {
	answer := creditAnswer{Email: email, Accounts: []accountBody{}}
	for _, s := range list {
		account := accountBody{Currency: s.Currency, Balance: s.Balance, Lines: []lineBody{}, Older: s.Older}
		for _, line := range s.Lines {
			account.Lines = append(account.Lines, lineBody{line.At.UTC(), line.Kind, line.Amount, line.Order, line.Event})
		}
		answer.Accounts = append(answer.Accounts, account)
	}
	return answer
}

// Statement answers GET /credit
func (h *Handlers) Statement(w http.ResponseWriter, r *http.Request) error {
	if web.WantsJSON(r) && h.account(r) == "" {
		return errNotSignedIn
	}
	var p shop.CreditPage
	if r.URL.Query().Has("loaded") {
		p.Notice = text.T(h.Reading(r), "The amount of your voucher is in your credit.")
	}
	return h.showCredit(w, r, http.StatusOK, p)
}

// showCredit writes the statement of the signed-in visitor, or asks for an address.
func (h *Handlers) showCredit(w http.ResponseWriter, r *http.Request, status int, p shop.CreditPage) (err error) {
	if p.Account = h.account(r); p.Account != "" {
		w.Header().Set("Cache-Control", "no-store") // the back button must not show it after signing out
		if p.Statements, err = h.Credit.Statements(r.Context(), p.Account); err != nil {
			return err
		}
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, status, describeCredit(p.Account, p.Statements))
	}
	p.Page = views.Page{Title: text.T(r.Context(), "Your credit"), Nonce: web.Nonce(w), Legal: h.Legal(r, 0), Branding: h.Branding(r, 0), Style: "credit.css", Notice: p.Notice}
	p.Back, p.Key = h.backTo(r), rand.Text()
	return web.WritePage(w, r, status, shop.Credit(p))
}

type voucherAnswer struct {
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

// Redeem answers POST /credit/vouchers
func (h *Handlers) Redeem(w http.ResponseWriter, r *http.Request) error {
	asked, err := decodeCredit(r)
	if err != nil {
		return err
	}
	if h.account(r) == "" {
		return errNotSignedIn
	}
	loaded, err := h.Credit.Redeem(r.Context(), h.account(r), asked.Code)
	if p := refusedVoucher(err); p != nil && !web.WantsJSON(r) {
		return h.showCredit(w, r, p.Status, shop.CreditPage{Code: asked.Code, WrongCode: p.Brief(r.Context())})
	} else if p != nil {
		return p
	}
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusCreated, voucherAnswer{loaded.Minor, loaded.Currency})
	}
	to := shop.CreditPath + "?loaded"
	if back := h.backTo(r); back != "" {
		to += "&back=" + back
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// refusedVoucher is what is wrong with a voucher, in words; nil if that is not what is wrong.
func refusedVoucher(err error) *web.Problem {
	for _, known := range []struct {
		err    error
		status int
		what   string
		next   string
	}{
		{credit.ErrNoVoucher, 404, text.Mark("There is no voucher with this code."), text.Mark("Check each letter: a code has sixteen of them.")},
		{credit.ErrExpired, 410, text.Mark("This voucher has expired."), text.Mark("Ask the person who gave it to you.")},
		{credit.ErrPaidBack, 410, text.Mark("This gift card was paid back to its buyer."), text.Mark("Ask the person who gave it to you.")},
		{credit.ErrRedeemed, 409, text.Mark("This voucher was redeemed already."), text.Mark("Another person had its code.")},
	} {
		if errors.Is(err, known.err) {
			return web.NewProblem(known.status, "voucher", known.what, text.Mark("Your credit is as it was."), known.next)
		}
	}
	return nil
}

// creditWanted is what forms and programs send here.
type creditWanted struct {
	Email string `json:"email"`
	Token string `json:"token"`
	Code  string `json:"code"`
	Back  string `json:"back"`
	Key   string `json:"key"`
}

func decodeCredit(r *http.Request) (asked creditWanted, err error) {
	if web.IsForm(r) {
		if err := web.ParseForm(r); err != nil {
			return asked, err
		}
		f := r.PostForm
		asked = creditWanted{f.Get("email"), f.Get("token"), f.Get("code"), f.Get("back"), f.Get("key")}
	} else if err := web.DecodeBody(r, &asked); err != nil {
		return asked, err
	}
	return asked, web.WrongKey(asked.Key)
}
