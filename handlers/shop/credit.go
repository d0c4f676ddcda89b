package shop

import (
	"errors"
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/shop"
)

type voucherAnswer struct {
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

// Redeem answers POST /account/vouchers
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
		return h.showAccount(w, r, p.Status, shop.AccountPage{Code: asked.Code, WrongCode: p.Brief(r.Context())})
	} else if p != nil {
		return p
	}
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusCreated, voucherAnswer{loaded.Minor, loaded.Currency})
	}
	to := shop.AccountPath + "?loaded"
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
