package e2e

import (
	"regexp"
	"testing"

	"github.com/playwright-community/playwright-go"
)

var giftCode = regexp.MustCompile(`[0-9A-Z]{4}(-[0-9A-Z]{4}){3}`)

// buysGiftCard fills in the form of a gift card and pays it at the bank.
func (p *person) buysGiftCard(amount, buyer, recipient string) {
	p.t.Helper()
	check(p.t, p.page.GetByRole("radio", playwright.PageGetByRoleOptions{Name: amount}).Check())
	p.fills("Your email", buyer, "Recipient’s email (optional)", recipient)
	p.press(p.button("Pay " + amount))
	p.atTheBank()
	p.card("Pay")
	p.sees(p.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Your gift card is on its way"}))
}

func TestGiftCard_IsBoughtPaidMailedAndRedeemed(t *testing.T) {
	t.Parallel()
	for _, d := range walked(handheld) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o, _ := stripeOffice(t)
			olga, ann, bea := someone(t, o, "olga", d), someone(t, o, "ann", d), someone(t, o, "bea", d)
			olga.entersDesk(o.owner(t))
			olga.visit("/desk/gift-cards")
			check(t, olga.page.GetByLabel("Sell gift cards").Check())
			olga.inBothLights("desk-gift-cards-first")
			olga.press(olga.button("Save"))
			olga.sees(olga.page.GetByText("Attendees buy them at"))

			ann.visit("/gift-cards")
			ann.fills("From (optional)", "Ann and Ørjan", "Message (optional)", "Happy birthday, Bea!\nSee you in the front row.")
			ann.inBothLights("gift-cards")
			ann.buysGiftCard("€50", "ann@localhost.example", "bea@localhost.example")
			ann.sees(ann.page.GetByText("We’re sending it to bea@localhost.example"))
			ann.inBothLights("gift-card")
			ann.visit("/gift-cards")
			ann.buysGiftCard("€25", "ann@localhost.example", "")

			code := o.mailed(t, "bea@localhost.example", giftCode)
			bea.visit("/account")
			bea.signsIn("bea@localhost.example")
			bea.redeems(code)
			bea.sees(bea.page.GetByText("€50").First())
			olga.visit("/desk/gift-cards")
			olga.sees(olga.page.GetByText("Not redeemed"))
			olga.sees(olga.page.GetByText("Redeemed", playwright.PageGetByTextOptions{Exact: playwright.Bool(true)}))
			olga.inBothLights("desk-gift-cards")
			o.usher(t, "verify")
		})
	}
}
