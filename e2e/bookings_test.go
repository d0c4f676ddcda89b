package e2e

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

// A school takes an option on seats of the plan, wants fewer, confirms and gets an invoice, and sends the names. The seats of another
// group come back on sale by themselves.
func TestBookings_OfAGroupAreConfirmedOrComeBack(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	owner := o.owner(t)
	o.atDesk(t, "invoices", map[string]any{"name": "City Stage", "street": "Ring 1", "postcode": "1010", "city": "Vienna", "country": "AT", "vat_id": "ATU13585627"})
	for _, d := range walked(desktop) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			slug := o.event(t, "theatre", "--starts", "2030-05-01 20:00", "--opens", "2030-04-30 10:00") // its prices are set before the sale
			prices := map[string]any{"type.0.name": "Adult", "type.1.name": "Child"}
			for _, category := range []string{"A", "B", "C", "D", "E"} {
				prices["price.0.0."+category], prices["price.0.1."+category] = "30", "9"
			}
			o.atDesk(t, "events/"+slug+"/prices", prices)
			o.atDesk(t, "events/"+slug+"/status", map[string]any{"status": "on sale", "now": "on", "anyway": true})
			at := "/desk/events/" + slug
			ann := someone(t, o, "ann", d)
			ann.entersDesk(owner)
			ann.visit(at + "/bookings")
			ann.inBothLights("bookings-none")

			ann.visit(at + "/seats")
			check(t, ann.page.GetByLabel("More seats").Fill("Stalls/B/5-16, Stalls/C/5-16"))
			ann.press(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Take an option"}))
			ann.sees(ann.page.GetByText("24 seats:"))
			check(t, ann.page.GetByLabel("Name", playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).Fill("Eva Roth"))
			check(t, ann.page.GetByLabel("School, company or agency").Fill("Secondary school at the park"))
			check(t, ann.page.GetByLabel("Email").Fill("eva."+slug+"@example.org"))
			check(t, ann.page.GetByLabel("Option until").Fill("2030-04-01T18:00"))
			check(t, ann.page.Locator("input[name^='tickets.']").Nth(1).Fill("20"))
			check(t, ann.page.Locator("input[name^='price.']").Nth(1).Fill("6.50"))
			check(t, ann.page.GetByLabel("Note").Fill("Year 9, two teachers. The bus comes at seven."))
			ann.inBothLights("bookings-form")
			ann.press(ann.button("Take the option"))
			ann.sees(ann.page.GetByText("The seats are kept for the group."))
			ann.inBothLights("bookings-option")
			booking := ann.page.URL()[strings.Index(ann.page.URL(), "/desk/"):]
			o.mailed(t, "eva."+slug+"@example.org", regexp.MustCompile(`We keep 24 seats for you until 1 Apr 2030, 18:00`))

			check(t, ann.page.GetByText("Fewer seats").Click())
			check(t, ann.page.GetByLabel("Seats that the group keeps").Fill("22"))
			ann.press(ann.button("Put the others on sale"))
			ann.sees(ann.page.GetByText("These seats are free again."))
			check(t, ann.page.GetByLabel("Invoice due on").Fill("2030-04-20T23:59"))
			check(t, ann.page.GetByLabel("Street and number").Fill("Park lane 4"))
			check(t, ann.page.GetByRole("textbox", playwright.PageGetByRoleOptions{Name: "City"}).Fill("Vienna"))
			ann.inBothLights("bookings-confirming")
			ann.press(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Confirm for"}))
			ann.sees(ann.page.GetByText("Confirmed. The order and its invoice are here."))
			ann.sees(ann.page.GetByText("0 of 22 tickets have a name."))
			check(t, ann.page.GetByLabel("One name on each line").Fill("Ida Berg\nOle Adeyemi-Lindqvist\nRosa"))
			ann.press(ann.button("Save names"))
			ann.sees(ann.page.GetByText("3 of 22 tickets have a name."))
			ann.inBothLights("bookings-confirmed")
			ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "View order"}))
			ann.sees(ann.page.GetByText("Ole Adeyemi-Lindqvist"))

			o.atDesk(t, "events/"+slug+"/bookings", map[string]any{"name": "Max Weiss", "organisation": "Coach tours Weiss", "number": 40, "until": time.Now().Add(30 * time.Second).Format(time.RFC3339)}) // asked for before that, on a slow machine, too
			o.atDesk(t, "events/"+slug+"/bookings", map[string]any{"name": "Jo Lang", "number": 12, "until": "2030-04-02T12:00"})
			for end := time.Now().Add(30*time.Second + 2*patience); ; time.Sleep(time.Second) {
				ann.visit(at + "/bookings")
				if n, err := ann.page.GetByText("Expired").Count(); err != nil || n > 0 || time.Now().After(end) {
					check(t, err)
					break
				}
			}
			ann.inBothLights("bookings")
			ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Coach tours Weiss"}))
			ann.sees(ann.page.GetByText("The option ended without a confirmation, and its seats are on sale."))
			ann.inBothLights("bookings-expired")
			ann.visit(at + "/blocks")
			ann.sees(ann.page.GetByText("12 of 12 left"))
			ann.inBothLights("bookings-blocks")
			ann.visit(booking)
			ann.sees(ann.page.GetByText("Secondary school at the park").First())
		})
	}
}

// A school pays a deposit: the link in its email says how much, until when and how. The final invoice is less the deposit.
func TestBookings_DepositIsOnTheFinalInvoice(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	owner := o.owner(t)
	o.atDesk(t, "invoices", map[string]any{"name": "City Stage", "street": "Ring 1", "postcode": "1010", "city": "Vienna", "country": "AT", "vat_id": "ATU13585627"})
	o.atDesk(t, "bank", map[string]any{"holder": "City Stage", "iban": "DE75512108001245126199", "bank": "City bank"})
	for _, d := range walked(desktop) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			slug := o.event(t, "theatre", "--starts", "2030-05-01 20:00", "--opens", "2030-04-30 10:00")
			at := "/desk/events/" + slug
			o.atDesk(t, "events/"+slug+"/status", map[string]any{"status": "on sale", "now": "on", "anyway": true})
			ann := someone(t, o, "ann", d)
			ann.entersDesk(owner)
			ann.visit(at + "/bookings")
			check(t, ann.page.GetByLabel("Number of seats").Fill("20"))
			check(t, ann.page.GetByLabel("Name", playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).Fill("Eva Roth"))
			check(t, ann.page.GetByLabel("School, company or agency").Fill("Secondary school at the park"))
			check(t, ann.page.GetByLabel("Email").Fill("eva."+slug+"@example.org"))
			check(t, ann.page.GetByLabel("Option until").Fill("2030-04-01T18:00"))
			check(t, ann.page.Locator("input[name^='price.']").First().Fill("10.00"))
			check(t, ann.page.GetByLabel("or percentage").Fill("20%"))
			check(t, ann.page.GetByLabel("Deposit due on").Fill("2030-03-01T18:00"))
			check(t, ann.page.GetByLabel("Refundable until").Fill("2030-03-15T18:00"))
			ann.inBothLights("deposit-form")
			ann.press(ann.button("Take the option"))
			ann.sees(ann.page.GetByText("The seats are kept for the group."))
			ann.inBothLights("deposit-option")
			booking := ann.page.URL()[strings.Index(ann.page.URL(), "/desk/"):]

			link := o.mailed(t, "eva."+slug+"@example.org", regexp.MustCompile(`/deposits/\w+`))
			eva := someone(t, o, "eva", d)
			eva.visit(link)
			eva.sees(eva.page.GetByText("Deposit of €40, due on"))
			eva.sees(eva.page.GetByText("DE75 5121 0800 1245 1261 99"))
			eva.inBothLights("deposit-page")
			ann.press(ann.button("Paid by bank transfer"))
			ann.sees(ann.page.GetByText("Marked as paid."))
			eva.visit(link)
			eva.sees(eva.page.GetByText("We received the deposit of €40"))
			eva.inBothLights("deposit-paid")

			ann.visit(booking)
			ann.sees(ann.page.GetByText("The deposit of €40 is taken off what is due."))
			check(t, ann.page.GetByLabel("Invoice due on").Fill("2030-04-20T23:59"))
			check(t, ann.page.GetByLabel("Street and number").Fill("Park lane 4"))
			check(t, ann.page.GetByRole("textbox", playwright.PageGetByRoleOptions{Name: "City"}).Fill("Vienna"))
			ann.press(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Confirm for"}))
			ann.sees(ann.page.GetByText("Confirmed. The order and its invoice are here."))
			ann.sees(ann.page.GetByText("€160 due"))
			ann.sees(ann.page.Locator("#deposit-title").GetByText("In the order"))
			ann.inBothLights("deposit-confirmed")
			eva.visit(link)
			eva.sees(eva.page.GetByText("The deposit of €40 is taken off its invoice."))

			given := o.atDesk(t, "events/"+slug+"/bookings", map[string]any{"name": "Max Weiss", "number": 4, "until": "2030-04-01T18:00", "deposit": "25.00", "deposit_due": "2030-03-01T18:00"})
			id := regexp.MustCompile(`[0-9a-f-]{36}`).FindString(given)
			o.atDesk(t, "events/"+slug+"/bookings/"+id+"/deposit/payment", map[string]any{"method": "cash"})
			o.atDesk(t, "events/"+slug+"/bookings/"+id+"/cancellation", map[string]any{})
			ann.visit(at + "/bookings/" + id)
			ann.inBothLights("deposit-owed")
			ann.press(ann.button("Paid back in cash"))
			ann.sees(ann.page.GetByText("Saved."))
			ann.visit(at + "/bookings")
			ann.inBothLights("deposit-list")
		})
	}
}

// A school pays its deposit by card on the page of its email. The option is cancelled, and the deposit goes back to the card.
func TestBookings_DepositIsPaidByCardAndGoesBackToIt(t *testing.T) {
	t.Parallel()
	o, _ := stripeOffice(t)
	owner := o.owner(t)
	o.atDesk(t, "invoices", map[string]any{"name": "City Stage", "street": "Ring 1", "postcode": "1010", "city": "Vienna", "country": "AT", "vat_id": "ATU13585627"})
	for _, d := range walked(handheld) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			slug := o.event(t, "theatre", "--starts", "2030-05-01 20:00")
			email := "eva." + slug + "@example.org"
			given := o.atDesk(t, "events/"+slug+"/bookings", map[string]any{"name": "Eva Roth", "email": email, "number": 4, "until": "2030-04-01T18:00", "deposit": "25.00", "deposit_due": "2030-03-01T18:00"})
			booking := "events/" + slug + "/bookings/" + regexp.MustCompile(`[0-9a-f-]{36}`).FindString(given)
			link := o.mailed(t, email, regexp.MustCompile(`/deposits/\w+`))
			eva, ann := someone(t, o, "eva", d), someone(t, o, "ann", d)
			for end := time.Now().Add(patience); ; { // a job numbers the invoice
				eva.visit(link)
				if n, err := eva.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Invoice"}).Count(); err != nil || n > 0 || time.Now().After(end) {
					check(t, err)
					break
				}
			}
			eva.inBothLights("deposit-to-pay")
			eva.press(eva.button("Pay €25"))
			eva.atTheBank()
			eva.card("Pay")
			eva.sees(eva.page.GetByText("We received the deposit of €25"))
			eva.inBothLights("deposit-paid-by-card")
			o.atDesk(t, booking+"/cancellation", map[string]any{})
			ann.entersDesk(owner)
			ann.visit("/desk/" + booking)
			ann.inBothLights("deposit-to-pay-back")
			ann.press(ann.button("Pay back to the card"))
			ann.sees(ann.page.GetByText("Saved."))
			for end := time.Now().Add(patience); ; {
				eva.visit(link)
				if n, err := eva.page.GetByText("went back the way you paid").Count(); err != nil || n > 0 || time.Now().After(end) {
					check(t, err)
					break
				}
			}
			eva.sees(eva.page.GetByText("went back the way you paid"))
			eva.inBothLights("deposit-paid-back")
			o.usher(t, "verify")
		})
	}
}
