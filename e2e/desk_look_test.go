package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// eachAtDesk is every page and state of the desk that is looked at, in the order one comes upon them. The box office is
// the person's own, with the event "a-night-out" in the plan theatre, and has no organizer yet.
var eachAtDesk = []struct {
	name string
	open func(p *person)
}{
	{"desk-setup", func(p *person) { p.visit(p.office.printedLink(p.t)) }},
	{"desk-setup-wrong", func(p *person) {
		p.expect("422")
		check(p.t, p.page.GetByLabel("Email").Fill("ann@example.org"))
		p.becomes("Ann Ørsted", "too short")
		p.sees(p.page.GetByText("Use at least 12 characters."))
	}},
	{"desk-events", func(p *person) {
		p.becomes("Ann Ørsted", deskPassword)
		p.sees(p.page.Locator("#today"))
	}},
	{"desk-event", func(p *person) { p.visit("/desk/events/a-night-out") }},
	{"desk-event-menu", func(p *person) { p.press(p.page.Locator(".here summary")) }}, // covers none of the navigation
	{"desk-waitlist", func(p *person) {
		p.office.usher(p.t, "event", "create", "--plan", tinyPlan(p.t), "--name", "Box", "--paid-ahead=false")
		program := someProgram(p.t, p.office)
		program.claim("box", "Box/1/1", "Box/1/2")
		for _, email := range []string{"bob.with.a.long.address@mail.example.org", "eve@example.org"} {
			program.ask("POST", "/events/box/waitlist", map[string]any{"email": email, "quantity": 2, "together": true, "key": email})
		}
		program.ask("POST", p.office.mailed(p.t, "eve@example.org", placeLink)+"/confirm", nil)
		p.visit("/desk/events/box/waitlist")
		form := p.page.Locator("form").Filter(playwright.LocatorFilterOptions{HasText: "Pause offers"})
		check(p.t, form.GetByLabel("Reason, shown to everyone who waits").Fill("The hall is being measured again."))
		p.press(form.GetByRole("button"))
		p.sees(p.page.GetByText("Everyone waiting reads:"))
	}},
	{"desk-live-waitlist", func(p *person) { p.visit("/desk/events/box"); p.sees(p.page.Locator("#live-waitlist")) }},
	{"desk-team", func(p *person) { p.visit("/desk/team") }},
	{"desk-team-wrong", func(p *person) {
		check(p.t, p.page.GetByLabel("Email").Fill("ann@example.org"))
		p.press(p.button("Send an invitation"))
		p.sees(p.page.GetByText("They are a member of this team already."))
	}},
	{"desk-team-invited", func(p *person) {
		p.invites("bob.with.a.long.address@mail.example.org", "door")
		p.joins("Charlotte Dupont-Lefèvre", "viewer")
		p.joins("Dan", "manager")
		p.visit("/desk/team?done=invited")
	}},
	{"desk-team-owner", func(p *person) {
		p.expect("409")
		p.press(p.button("Remove Ann Ørsted"))
		p.sees(p.page.GetByText("A team needs at least one owner"))
	}},
	{"desk-bank", func(p *person) {
		p.expect("422")
		p.visit("/desk/bank")
		check(p.t, p.page.GetByLabel("Account owner").Fill("Lindengasse Playhouse"))
		check(p.t, p.page.GetByLabel("IBAN").Fill("AT61 1904 3002 3457 3202"))
		p.press(p.button("Save account"))
		p.sees(p.page.GetByText("The check digits of this IBAN are wrong."))
	}},
	{"desk-bank-open", func(p *person) {
		check(p.t, p.page.GetByLabel("IBAN").Fill("AT61 1904 3002 3457 3201"))
		p.press(p.button("Save account"))
		p.sees(p.page.GetByText("Saved."))
		check(p.t, p.page.GetByLabel("File", playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).SetInputFiles([]playwright.InputFile{{
			Name: "statement-of-march.csv", MimeType: "text/csv", Buffer: []byte("Date,Amount,Name,Text\n2030-03-01,190.00,Charlotte Dupont-Lefèvre,Two tickets for the first night\n2030-03-02,35.50,Bob,RF18539007547034\n"),
		}}))
		p.press(p.button("Import statement"))
		p.sees(p.page.GetByText("2 payments in this file."))
	}},
	{"desk-prices-first", func(p *person) { p.visit("/desk/events/a-night-out/prices") }},
	{"desk-prices-wrong", func(p *person) {
		p.expect("422")
		p.opens("Tax")
		p.fills("Name of the tax", "VAT", "Tax on tickets, in percent", "ten")
		p.press(p.button("Save prices"))
		p.sees(p.page.GetByText("is not a percentage"))
	}},
	{"desk-prices", func(p *person) {
		p.pricesAnEvening("a-night-out")
		p.visit("/desk/events/a-night-out/prices")
		p.sees(p.page.GetByText("VAT 10% inside of the prices"))
	}},
	{"desk-codes-none", func(p *person) { p.visit("/desk/events/a-night-out/codes") }},
	{"desk-codes", func(p *person) {
		p.fills("Discount per ticket", "10%", "Code", "MEMBERS")
		p.press(p.button("Create codes"))
		p.sees(p.page.GetByText("The codes are ready to use."))
		p.press(p.page.GetByText("Limits", playwright.PageGetByTextOptions{Exact: playwright.Bool(true)}))
		p.fills("Discount per ticket", "5.00", "Or number of random codes", "250", "Name for your list", "Guests of the harbour festival", "Orders with each code", "1", "Until", "2031-05-01T23:59")
		check(p.t, p.page.GetByLabel("Child").Check())
		p.press(p.button("Create codes"))
		p.sees(p.page.GetByText("250 codes").First())
	}},
	{"desk-codes-wrong", func(p *person) {
		p.expect("409")
		p.fills("Discount per ticket", "20%", "Code", "members")
		p.press(p.button("Create codes"))
		p.sees(p.page.GetByText("has or had a code MEMBERS."))
	}},
	{"desk-taxes", func(p *person) { p.visit("/desk/taxes") }},
	{"desk-customers", func(p *person) { p.visit("/desk/customers") }},
	{"desk-books", func(p *person) { p.visit("/desk/books?from=&by=performance") }},
	{"desk-accounts", func(p *person) { p.visit("/desk/books/accounts") }},
	{"desk-settlement", func(p *person) { p.visit("/desk/events/a-night-out/settlement") }},
	{"desk-comparison", func(p *person) { p.visit("/desk/events/a-night-out/comparison") }},
	{"desk-invoices", func(p *person) { p.visit("/desk/invoices") }},
	{"desk-invoices-wrong", func(p *person) {
		p.expect("422")
		p.fills("Legal name", "Lindengasse Playhouse", "Street and number", "Lindengasse 1", "City", "Vienna", "Country (two letters, such as AT)", "AT", "VAT ID", "ATU12345678")
		p.press(p.button("Save seller"))
		p.sees(p.page.GetByText("Enter a valid VAT ID"))
	}},
	{"desk-legal", func(p *person) { p.visit("/desk/legal"); p.press(p.page.Locator("#terms summary")) }},
	{"desk-mail-texts", func(p *person) { p.visit("/desk/mail-texts") }},
	{"desk-mail-texts-preview", func(p *person) {
		p.fills("Subject", "Your seats at {event}", "Opening", "Dear {name},\nwe look forward to {date}.")
		p.press(p.button("Preview"))
		p.sees(p.page.GetByText("This is not saved yet."))
	}},
	{"desk-mail-texts-wrong", func(p *person) {
		p.expect("422")
		p.fills("Closing", "See you, {nobody}")
		p.press(p.button("Save texts"))
		p.sees(p.page.GetByText("Your changes were not saved."))
	}},
	{"desk-limits", func(p *person) { p.visit("/desk/events/a-night-out/limits") }},
	{"desk-privacy", func(p *person) { p.visit("/desk/privacy") }},
	{"desk-account", func(p *person) { p.visit("/desk/account") }},
	{"desk-passkeys", func(p *person) {
		p.authenticator()
		check(p.t, p.page.GetByLabel("Name of a new passkey").Fill("My own telephone"))
		p.press(p.button("Add a passkey"))
		p.sees(p.page.GetByText("The passkey was added."))
	}},
	{"desk-account-wrong", func(p *person) {
		p.expect("403")
		check(p.t, p.page.GetByLabel("Current password").Fill("something else"))
		check(p.t, p.page.GetByLabel("New password").Fill("four other plain words"))
		p.press(p.button("Change password"))
		p.sees(p.page.GetByText("This is not your current password."))
	}},
	{"desk-keys", func(p *person) { p.visit("/desk/keys") }},
	{"desk-keys-wrong", func(p *person) {
		p.expect("422")
		check(p.t, p.page.GetByLabel("Purpose").Fill("The till in the foyer"))
		check(p.t, p.page.GetByLabel("read events").Uncheck())
		p.press(p.button("Make the key"))
		p.sees(p.page.GetByText("Choose what the key may do."))
	}},
	{"desk-keys-made", func(p *person) {
		check(p.t, p.page.GetByLabel("sell at the box office").Check())
		p.press(p.button("Make the key"))
		p.sees(p.page.GetByText("Copy it now"))
	}},
	{"desk-hook", func(p *person) {
		p.visit("/desk/hooks")
		check(p.t, p.page.GetByLabel("Address").Fill("https://the-accounts-of-the-theatre.example/what-usher-tells"))
		p.press(p.button("Add it"))
		p.sees(p.page.GetByText("Copy it now"))
		p.press(p.button("Send a test"))
		p.sees(p.page.GetByText("This is a test. Nothing happened."))
	}},
	{"board", func(p *person) {
		p.visit("/desk/events/a-night-out/shares")
		check(p.t, p.page.GetByLabel("Who it is for").Fill("The harbour festival"))
		p.press(p.button("Create link"))
		link, err := p.page.Locator(".made code").InnerText()
		check(p.t, err)
		p.visit(link[strings.Index(link, "/boards/"):])
		p.sees(p.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Sold and held over time"}))
	}},
	{"desk-public-log", func(p *person) {
		p.visit("/desk/events/a-night-out/log")
		p.seesAfterReload("The log is public.")
	}},
	{"desk-public-log-off", func(p *person) {
		p.press(p.button("Stop the public log"))
		p.sees(p.page.GetByText("The log is off."))
	}},
	{"desk-log", func(p *person) { p.visit("/desk/log") }},
	{"desk-log-none", func(p *person) { p.visit("/desk/log?what=nothing") }},
	{"desk-menu", func(p *person) {
		p.visit("/desk/team")
		form := p.page.Locator(`form[action="/desk/teams"]`)
		check(p.t, form.GetByLabel("Team name").Fill("The festival in the old harbour"))
		p.press(form.GetByRole("button"))
		p.sees(p.page.GetByText("This is your new team."))
		p.press(p.page.Locator(".here summary"))
	}},
	{"desk-events-none", func(p *person) { p.visit("/desk") }},
	{"desk-foreign", func(p *person) { p.expect("404"); p.visit("/desk/events/nothing") }},
	{"desk-invitation", func(p *person) {
		p.visit("/desk")
		p.leavesDesk()
		p.visit(p.office.mailed(p.t, "bob.with.a.long.address@mail.example.org", invitationLink))
	}},
	{"desk-sign-in", func(p *person) { p.visit("/desk/session") }},
	{"desk-sign-in-wrong", func(p *person) {
		p.expect("403")
		p.givesPassword("ann@example.org", "something else")
		p.sees(p.page.GetByText("Wrong email or password."))
	}},
	{"desk-forgotten", func(p *person) { p.visit("/desk/password") }},
	{"desk-asked", func(p *person) {
		check(p.t, p.page.GetByLabel("Email").Fill("ann@example.org"))
		p.press(p.button("Send me a link"))
		p.sees(p.page.GetByText("Check your email"))
	}},
	{"desk-password", func(p *person) { p.visit(p.office.mailed(p.t, "ann@example.org", passwordLink)) }},
}

// joins makes the person a member of the first team.
func (p *person) joins(name, role string) {
	p.t.Helper()
	out := p.office.usher(p.t, "organizer", "link", strings.ToLower(name[:3])+"@example.org", "--role", role)
	status, _ := someProgram(p.t, p.office).ask("POST", invitationLink.FindString(out), map[string]string{"name": name, "password": deskPassword})
	if status != http.StatusNoContent {
		p.t.Fatalf("the invitation of %s answers %d", name, status)
	}
}

func TestEveryPageOfTheDeskIsAccessibleOnPhoneAndDesktopInLightAndDark(t *testing.T) {
	t.Parallel()
	for i, d := range walked(desktop) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o := ownOffice(t)
			o.url = strings.Replace(o.url, "127.0.0.1", "localhost", 1) // browsers keep passkeys for names only
			o.usher(t, "event", "create", "--plan", "theatre", "--name", "A night out", "--paid-ahead=false", "--venue", "Lindengasse Playhouse, Vienna")
			p := someone(t, o, fmt.Sprint(i), d)
			for _, page := range eachAtDesk {
				page.open(p)
				p.inBothLights(page.name)
			}
		})
	}
}
