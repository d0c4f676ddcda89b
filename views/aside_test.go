package views_test

import (
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// aside is every page of attendees beside the way from the list of events to an order.
func aside(t *testing.T, page views.Page) (list []shown) {
	t.Helper()
	s := sale(t, "theatre", nil)
	for _, status := range []seats.Status{seats.Scheduled, seats.Paused, seats.Closed, seats.Cancelled} {
		shut := s
		shut.Event.Status, shut.Event.Reason, shut.Event.OpensAt = status, "The hall is being aired.", time.Unix(2e9, 0)
		shut.Now = time.Unix(2e9-60, 0)
		list = append(list, shown{"an event that is " + string(status), true, shop.Shut(shop.ShutPage{Page: page, Sale: shut})})
		shut.Hold = holds["a hold"]
		list = append(list, shown{"an event that is " + string(status) + ", with a hold", true, shop.Shut(shop.ShutPage{Page: page, Sale: shut})})
	}
	return append(append(list, creditPages(page)...), paymentPages(page, s)...)
}

func creditPages(page views.Page) []shown {
	page.Style = "account.css"
	return []shown{
		{"personal data, asked for", true, shop.Personal(shop.PersonalPage{Page: page, Key: "key", Email: "ann@", Wrong: "Say it."})},
		{"personal data, mailed", true, shop.Personal(shop.PersonalPage{Page: page, Asked: "ann@example.org"})},
		{"personal data, by its link", true, shop.Personal(shop.PersonalPage{Page: page, Token: "token", Email: "ann@example.org"})},
		{"personal data", true, shop.Personal(shop.PersonalPage{Page: page, Token: "token", Email: "ann@example.org", Text: "[]"})},
		{"credit, asked for", true, shop.Account(shop.AccountPage{Page: page, Key: "key", Typed: "ann@", WrongEmail: "Say it.", Back: "/events/evening/checkout"})},
		{"credit, mailed", true, shop.Account(shop.AccountPage{Page: page, Asked: "ann@example.org"})},
		{"credit, by its link", true, shop.Account(shop.AccountPage{Page: page, Token: "token", Typed: "ann@example.org", Key: "key"})},
		{"credit", true, shop.Account(shop.AccountPage{
			Page: page, Account: "ann@example.org", Code: "ABCD", WrongCode: "There is no voucher of this code.", Key: "key",
			Statements: []credit.Statement{{Currency: "EUR", Balance: 2500, Lines: []credit.Line{{Kind: "voucher", Amount: 2500, At: time.Unix(2e9, 0)}}}},
		})},
	}
}

func paymentPages(page views.Page, s shop.Sale) []shown {
	page.Style, page.Script = "order.css", "buy.js"
	p := payments.Payment{Code: "7", State: "open", Currency: "EUR", Amount: 9500, Page: "/demo-card/x", Details: payments.Details{Email: "ann@example.org", Seats: []int{4}}}
	over := p
	over.State, over.Reason = "closed", "The card was declined."
	return []shown{
		{"a payment", true, shop.Payment(shop.PaymentPage{Page: page, Sale: s, Payment: p, Mine: true})},
		{"a payment that came to nothing", true, shop.Payment(shop.PaymentPage{Page: page, Sale: s, Payment: over, Mine: true})},
		{"the demo card", true, shop.DemoCard(shop.DemoPage{Page: page, Reference: "x", What: "1 ticket", Currency: "EUR", Back: "/payments/7", Amount: 9500})},
	}
}
