package shop

import (
	"net/http"
	"net/url"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/views/shop"
)

// seller is the team as an invoice for the company of a form needs it; it is empty if nothing depends on it.
func (h *Handlers) seller(r *http.Request, s *seats.Sale, form orders.Form) (seller orders.Seller, err error) {
	if form.Billing == nil || s.Event.Demo {
		return seller, nil
	}
	return h.Seller(r, s.Event.Team, form.Billing)
}

// typedBilling is the company of a form; nil if no invoice for one is wanted.
func typedBilling(f url.Values) *orders.Billing {
	if f.Get("billing") == "" {
		return nil
	}
	return &orders.Billing{
		Company: f.Get(orders.FieldCompany), Street: f.Get(orders.FieldStreet), Postcode: f.Get(orders.FieldPostcode),
		City: f.Get(orders.FieldCity), Country: f.Get(orders.FieldCountry), VATID: f.Get(orders.FieldVATID),
	}
}

// showBilling puts the company that was typed into the page of a checkout, and who owes the tax.
func (h *Handlers) showBilling(r *http.Request, s *seats.Sale, p *shop.CheckoutPage) (err error) {
	if s.Event.Demo {
		return nil
	}
	if p.Form.Seller, err = h.Seller(r, s.Event.Team, p.Form.Billing); err != nil {
		return err
	}
	p.Bills, p.Recharge = p.Form.Seller.Country != "", p.Form.Seller.VATID != "" && s.Event.Online.On && s.Event.Rules.Tax.Rate > 0
	if p.Form = p.Form.WithBilling(s.Event); p.Form.Billing == nil {
		return nil
	}
	p.Reverse = p.Form.Billing.Reverse
	if wrong := p.Form.Billing.WrongVATID(); wrong != "" && p.Mistakes.About(orders.FieldVATID) == "" {
		p.Mistakes = append(p.Mistakes, orders.Mistake{Field: orders.FieldVATID, Message: wrong})
	}
	return nil
}
