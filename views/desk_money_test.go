package views_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/blocks"
	"github.com/usherbox/usher/seats/bookings"
	"github.com/usherbox/usher/seats/guests"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/memberships"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	texts "github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/privacy"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

// moneyAtDesk is the pages of the desk about prices, codes, taxes, the bank, invoices, legal texts and personal data.
func moneyAtDesk(t *testing.T, text string) []shown {
	t.Helper()
	now := time.Unix(2e9, 0)
	event := sale(t, "club", nil)
	event.Event.Name, event.Event.Venue = text, text
	ann := organizers.Member{Organizer: 1, Team: 1, Name: text, Email: text, TeamName: text, Role: organizers.Owner, Teams: []organizers.Team{{ID: 1, Name: text}}}
	looks := ann
	looks.Role = organizers.Viewer
	of := func(m organizers.Member, path string) desk.Frame {
		return desk.Frame{Page: views.Page{Title: text, Nonce: text}, Member: m, Path: path, Key: text}
	}
	ofEvent := func(m organizers.Member, path string) desk.Frame {
		f := of(m, path)
		f.Event = &event.Event
		return f
	}
	sells, adult, half := 10, 0, 50_00
	list := &seats.Prices{
		Types: []seats.TicketType{
			{Key: "adult", Name: text, SoldTo: seats.SoldToEveryone},
			{Key: "child", Name: text, SoldTo: seats.SoldAtDesk, Proof: text, Least: 1, Most: 3, With: seats.With{Type: &adult, Each: 2}},
			{Key: "gone", Name: text, SoldTo: seats.SoldWithCode, With: seats.With{Accessible: true}, Retired: true},
		},
		Phases:  []seats.Phase{{Name: text, BeginsAt: &now, EndsAt: &now, Sells: &sells}, {Name: text, Retired: true}},
		Amounts: []seats.Amount{{Amount: 3000}, {Type: 1, Amount: 1500, Percent: &half}, {Phase: 1, Amount: 2500}},
	}
	list = list.Indexed(event.Plan.Categories)
	first := desk.PricesPage{Frame: ofEvent(ann, desk.PricesPath("x")), Sale: shop.Sale{Event: event.Event, Plan: event.Plan}, List: (seats.Prices{}).Indexed(event.Plan.Categories), Rates: pricing.Rates()}
	event.Event.Rules = seats.PriceRules{
		Tax: seats.Tax{Name: text, Country: "AT", Rate: 10_000, FeeRate: 20_000, Types: []seats.TypeRate{{Type: 1, Rate: 13_000}}, OnTop: true, ByTotal: true},
		Offers: []seats.PriceOffer{
			{Number: 1, Name: text, Kind: seats.OfferMulti, Count: 3, Pay: 2, Types: []int{0}},
			{Number: 2, Name: text, Kind: seats.OfferGroup, Count: 10, Percent: 500, Categories: []int{0}},
			{Number: 3, Name: text, Kind: seats.OfferFamily, Types: []int{0}, ChildTypes: []int{1}, Count: 2, Children: 1, Percent: 2000},
		},
		LastOffer: 3,
	}
	code := pricing.Code{Code: "MEMBERS", Name: text, Discount: pricing.Discount{Percent: 1000, Types: []int{1}, Categories: []int{0}, Tickets: 2}, Most: 5, PerPerson: 1, BeginsAt: &now, EndsAt: &now, State: pricing.CodeGood}
	code.Presale, code.UnlocksTypes, code.UnlocksBlocks = true, []int{2}, []seats.ID{seats.NewID()}
	over := pricing.Code{Code: "OLD", Name: text, Discount: pricing.Discount{Amount: 500, PerOrder: true}, RetiredAt: &now, State: pricing.CodeOver}
	groups := []pricing.CodeGroup{{Code: code, Count: 500, Uses: 3, Saved: 900}, {Code: code, Count: 1}, {Code: over, Count: 1}}
	prices := desk.PricesPage{Frame: ofEvent(ann, desk.PricesPath("x")), Sale: shop.Sale{Event: event.Event, Plan: event.Plan}, List: list, Left: []int{3, -1}, Rates: pricing.Rates(), Codes: groups, Home: "AT"}
	refused, viewed := prices, prices
	refused.Wrong, refused.Form, viewed.Member = text, url.Values{"tax.name": {text}, "offer.0.kind": {"multi"}, "offer.0.name": {text}, "code.new": {text}, "phase.1.name": {text}, "tax.country": {"DE"}}, looks
	codes := desk.CodesPage{Frame: ofEvent(ann, desk.CodesPath("x")), Plan: event.Plan, List: list, Groups: groups, Blocks: []blocks.Block{{ID: seats.NewID(), BlockTerms: seats.BlockTerms{Reason: text}, Blocked: 4}, {ID: seats.NewID(), Blocked: 1}}}
	wrongCode := desk.CodesPage{Frame: ofEvent(ann, desk.CodesPath("x")), Plan: event.Plan, List: list, Form: url.Values{"code": {text}, "off": {text}, "name": {text}, "types": {"adult"}}, Wrong: text}
	rates := pricing.Rates()
	rates.Countries = append([]pricing.CountryRate{{Code: "CH", Name: text, Standard: 8100, Reduced: []int{2600}, ByLine: true, ChangedAt: &now}}, rates.Countries[:3]...)
	seller := invoices.Party{Name: text, Street: text, Postcode: text, City: text, Country: "AT", VATID: "ATU13585627"}
	taxes := desk.TaxesPage{Frame: of(ann, desk.TaxesPath), Rates: rates, Sender: invoices.Sender{Party: seller}}
	book := invoices.Book{Year: 2030, Years: []invoices.Series{{Year: 2030}, {Year: 2029}}, Waiting: 2, List: []invoices.Document{
		{Year: 2030, Number: 2, Label: "2030-000002", Kind: invoices.Credit, Currency: "EUR", Gross: 1000, IssuedOn: now, Content: invoices.Content{Buyer: invoices.Party{Name: text, Company: text}, Corrects: &invoices.Reference{Label: "2030-000001"}}},
		{Year: 2030, Number: 1, Label: "2030-000001", Kind: invoices.Invoice, Currency: "EUR", Gross: 1000, IssuedOn: now, Content: invoices.Content{Buyer: invoices.Party{Name: text}}},
	}}
	invited := desk.GuestsPage{Frame: ofEvent(ann, desk.GuestsPath("x")), Plan: event.Plan, Prices: list, Blocks: codes.Blocks, List: []guests.Guest{
		{ID: seats.NewID(), Name: text, Email: text, Places: 2, Note: text, InvitedBy: text}, {ID: seats.NewID(), Name: text, Places: 2, Order: "x", Seats: []int{0, 1}, In: 1}, {ID: seats.NewID(), Places: 1, Order: "x", Struck: true},
	}}
	members := desk.MembershipsPage{Frame: of(ann, desk.MembershipsPath), Kinds: []memberships.Kind{{ID: 1, Name: text, Text: text, Currency: "EUR", Price: 4500, Months: 12, Valid: 1}, {ID: 2, Name: text, Currency: "JPY", Price: 4500, Months: 1}}, List: []memberships.Membership{
		{ID: seats.NewID(), Title: text, Name: text, Email: text, Card: text, From: now, Until: now, State: memberships.Valid, Customer: seats.NewID()}, {ID: seats.NewID(), Title: text, Email: text, From: now, Until: now, State: memberships.Over},
	}}
	each := int64(500)
	group := desk.GroupBooking{Sum: 1000, Booking: bookings.Booking{ID: seats.NewID(), Contact: bookings.Contact{Name: text, Email: text, Organisation: text, Note: text}, Places: 2, Prices: []bookings.Price{{Type: "adult", Count: 1, Each: &each}}, At: now, Until: now, State: bookings.Option, Seats: []int{0, 1}}}
	booked, gone := group, group
	booked.State, booked.Order, booked.Due, gone.State, gone.Seats = bookings.Confirmed, "x", 500, bookings.Expired, nil
	groups0 := desk.BookingsPage{Frame: ofEvent(ann, desk.BookingsPath("x")), Plan: event.Plan, Prices: list, List: []desk.GroupBooking{group, booked, gone}}
	option := desk.BookingPage{Frame: ofEvent(ann, desk.BookingsPath("x")), Plan: event.Plan, Prices: list, Booking: group, Lines: []seats.Line{{Seat: 0, Price: 500}, {Seat: 1, Price: 500}}, Cost: pricing.Cost{Total: 1000, Lines: []pricing.Priced{{Price: 500}, {Price: 500}}}, Country: "AT"}
	unpriced, confirmed, expired := option, option, option
	unpriced.Unpriced, unpriced.Message, unpriced.Part, unpriced.Form = text, text, "change", url.Values{"name": {text}}
	confirmed.Booking, confirmed.Order, confirmed.Invoices = booked, orders.Order{Code: "x", DueAt: &now, Currency: "EUR", Tickets: []orders.Ticket{{Name: text}, {}}}, book.List
	expired.Booking = gone
	kept := desk.BlocksPage{Frame: ofEvent(ann, desk.BlocksPath("x")), List: []blocks.Block{
		{ID: seats.NewID(), BlockTerms: seats.BlockTerms{Kind: seats.BlockPress, Owner: text, Reason: text, EndsAt: now}, Made: 9, Blocked: 4, Held: 1, Sold: 2, Codes: 1}, {ID: seats.NewID(), Made: 1, Blocked: 1},
	}}
	keptWrong := kept
	keptWrong.Changed, keptWrong.Message, keptWrong.Form = kept.List[1].ID, text, url.Values{"owner": {text}}
	mistake := organizers.Mistakes{{Field: "name", Message: text}, {Field: "country", Message: text}, {Field: banktransfer.FieldIBAN, Message: text}, {Field: privacy.FieldEmail, Message: text}, {Field: privacy.FieldMonths, Message: text}}
	bank := desk.BankPage{
		Frame: of(ann, desk.BankPath), Details: banktransfer.Details{Holder: text, IBAN: "AT611904300234573201", Bank: text}, Imported: text, Message: text,
		Open: []banktransfer.Open{{ID: seats.NewID(), Booked: now, Amount: 100, Currency: "EUR", Payer: text, Words: text, Reference: text}}, Files: []banktransfer.File{{Name: text, Format: "CSV", Imported: now, Entries: 2}},
	}
	legal := desk.LegalPage{Frame: of(ann, desk.LegalPath), Open: texts.Terms, Texts: []desk.LegalForm{
		{Kind: texts.Terms, Team: 1, Text: text, Base: 2, Published: 1, Mistakes: organizers.Mistakes{{Field: texts.FieldText, Message: text}}, Wrong: text, Versions: []texts.Version{{Number: 2, SavedBy: text, At: now}, {Number: 1, Published: true, SavedBy: text, At: now}}},
		{Kind: texts.Imprint, Team: 1, Text: text},
	}}
	return []shown{
		{"prices, at first", true, desk.Prices(first)},
		{"prices", true, desk.Prices(prices)},
		{"prices, refused", true, desk.Prices(refused)},
		{"prices, looked at", true, desk.Prices(viewed)},
		{"blocks", true, desk.Blocks(kept)},
		{"memberships", true, desk.Memberships(members)},
		{"no memberships, refused", true, desk.Memberships(desk.MembershipsPage{Frame: of(ann, desk.MembershipsPath), Form: url.Values{"name": {text}, "price": {text}}, Refused: desk.FormKind, Wrong: text})},
		{"blocks, refused", true, desk.Blocks(keptWrong)},
		{"guests", true, desk.Guests(invited)},
		{"guests on paper", true, desk.GuestPaper(invited)},
		{"no guests, refused", true, desk.Guests(desk.GuestsPage{Frame: kept.Frame, Plan: event.Plan, Prices: list, Form: url.Values{"guests": {text}}, Message: text})},
		{"groups", true, desk.Bookings(groups0)},
		{"no groups, refused", true, desk.Bookings(desk.BookingsPage{Frame: groups0.Frame, Plan: event.Plan, Prices: list, Chosen: []int{0, 1}, Form: url.Values{"name": {text}}, Message: text})},
		{"option", true, desk.Booking(option)},
		{"option without a price", true, desk.Booking(unpriced)},
		{"confirmed group", true, desk.Booking(confirmed)},
		{"expired option", true, desk.Booking(expired)},
		{"no blocks", true, desk.Blocks(desk.BlocksPage{Frame: kept.Frame})},
		{"codes", true, desk.Codes(codes)},
		{"codes, refused", true, desk.Codes(wrongCode)},
		{"taxes", true, desk.Taxes(taxes)},
		{"taxes, refused", true, desk.Taxes(desk.TaxesPage{Frame: of(ann, desk.TaxesPath), Rates: rates, Form: url.Values{"rate.CH.standard": {text}, "new.name": {text}}, Wrong: text})},
		{"invoices", true, desk.Invoices(desk.InvoicesPage{Frame: of(ann, desk.InvoicesPath), Book: book, Sender: taxes.Sender, Issues: true})},
		{"invoices, refused", true, desk.Invoices(desk.InvoicesPage{Frame: of(ann, desk.InvoicesPath), Sender: invoices.Sender{Party: invoices.Party{Name: text}}, Mistakes: mistake})},
		{"invoices, looked at", true, desk.Invoices(desk.InvoicesPage{Frame: of(looks, desk.InvoicesPath), Sender: taxes.Sender, Issues: true})},
		{"bank", true, desk.Bank(bank)},
		{"bank, refused", true, desk.Bank(desk.BankPage{Frame: of(ann, desk.BankPath), Details: bank.Details, Mistakes: mistake})},
		{"legal", true, desk.Legal(legal)},
		{"privacy", true, desk.Privacy(desk.PrivacyPage{Frame: of(ann, desk.PrivacyPath), Months: 24, Erasures: []privacy.Erasure{{ID: 1, Orders: 2, At: now}, {ID: 2, Event: text, At: now}}, Erased: &privacy.Erased{Orders: 2, Credit: 5}})},
		{"privacy, refused", true, desk.Privacy(desk.PrivacyPage{Frame: of(ann, desk.PrivacyPath), Typed: url.Values{"email": {text}, "months": {text}}, Mistakes: mistake, Wrong: text})},
	}
}
