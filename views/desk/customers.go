package desk

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/customers"
	"github.com/usherbox/usher/seats/memberships"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/views"
)

// CustomersPath is the address of the customers of a team.
const CustomersPath = Path + "/customers"

// CustomerFiles are the endings of the names of lists of customers.
const CustomerFiles = ".csv,.txt,.tsv"

// CustomerPath is the address of a customer's record.
func CustomerPath(id seats.ID) string { return CustomersPath + "/" + id.String() }

// CustomersPage is the customers of a team, or those that a search found.
type CustomersPage struct {
	Frame
	Words string // that was looked for; empty: the latest customers
	Tag   string // that they have; empty: any
	Tags  []customers.Tag
	List  []customers.Customer
	More  bool   // the search found more than List
	Next  string // cursor of the next page; empty: there is none

	Form     url.Values          // of an import, as it was sent, if it was refused
	Wrong    string              // with the import
	Imported *customers.Imported // what was just imported; nil: nothing
}

// DuplicatesPage is customers that may be one person.
type DuplicatesPage struct {
	Frame
	List []customers.Duplicates
	More bool // there are others
}

// CustomerPage is the record of a customer.
type CustomerPage struct {
	Frame
	Record customers.Record
	Form   url.Values // as it was sent, if it was refused
	Wrong  string

	Memberships []memberships.Membership
	Kinds       []memberships.Kind
	MemberForm  url.Values // as it was sent, if it was refused
	MemberWrong string

	MergeForm  url.Values // as it was sent, if it was refused
	MergeWrong string
}

// note is the text of the note, as it was typed or as it is.
func (p CustomerPage) note() string {
	if p.Form != nil {
		return p.Form.Get(customers.FieldNote)
	}
	return p.Record.Note.Text
}

func (p CustomerPage) tags() string {
	if p.Form != nil {
		return p.Form.Get(customers.FieldTags)
	}
	return strings.Join(p.Record.Note.Tags, ", ")
}

// firstLine is how a note begins.
func firstLine(note string) string {
	line, _, _ := strings.Cut(note, "\n")
	if letters := []rune(line); len(letters) > 120 {
		return string(letters[:119]) + "…"
	}
	return line
}

// TagPath is the address of the customers with a tag.
func TagPath(tag string) string { return CustomersPath + "?" + url.Values{"tag": {tag}}.Encode() }

// addresses are those of the listed customers, to be copied.
func (p CustomersPage) addresses() string {
	list := []string{}
	for _, c := range p.List {
		list = append(list, c.Email)
	}
	return strings.Join(list, "\n")
}

// purchaseWords says how an order stands.
func purchaseWords(ctx context.Context, o customers.Order) (words, class string) {
	switch {
	case o.State == orders.Cancelled:
		return text.T(ctx, "Order cancelled"), "bad"
	case o.Came > 0 && o.Came == o.Tickets:
		return text.T(ctx, "Checked in"), "good"
	case o.Came > 0:
		return text.N(ctx, "%d checked in", "%d checked in", o.Came), "good"
	case o.Tickets > 0 && o.Began:
		return text.T(ctx, "Not checked in"), ""
	}
	return "", ""
}

// localDay is a day at the place of an event.
func localDay(ctx context.Context, t time.Time, zone string) string {
	return text.Time(ctx, seats.Event{TimeZone: zone}.Local(t), "2 Jan 2006")
}

// entryWords says how an entry of a waiting list stands.
func entryWords(ctx context.Context, e customers.Entry) string {
	return text.T(ctx, map[string]string{
		waitlist.Unverified: text.Mark("Not confirmed"), waitlist.Waiting: text.Mark("Waiting"), waitlist.Offered: text.Mark("Offered"),
		waitlist.Served: text.Mark("Served"), waitlist.Left: text.Mark("Left"), waitlist.Over: text.Mark("Over"),
	}[e.State])
}

// sumsIn writes money of several currencies.
func sumsIn(ctx context.Context, sums []customers.Sum) string {
	list := []string{}
	for _, s := range sums {
		list = append(list, views.MoneyIn(ctx, s.Amount, s.Currency))
	}
	return strings.Join(list, text.T(ctx, ", "))
}

// MergesPath is the address of merges of a customer with others.
func MergesPath(id seats.ID) string { return CustomerPath(id) + "/merges" }

// importedWords says what an import did.
func importedWords(ctx context.Context, i customers.Imported) string {
	if i.Repeated {
		return text.T(ctx, "This list was imported before.")
	}
	words := []string{text.N(ctx, "%d new customer.", "%d new customers.", i.Added)}
	if i.Changed > 0 {
		words = append(words, text.N(ctx, "%d was there and got something new.", "%d were there and got something new.", i.Changed))
	}
	if i.Same > 0 {
		words = append(words, text.N(ctx, "%d was there as the list has them.", "%d were there as the list has them.", i.Same))
	}
	if i.Withheld > 0 {
		words = append(words, text.N(ctx, "%d consent was left out, because the person unsubscribed or was erased since.", "%d consents were left out, because the persons unsubscribed or were erased since.", i.Withheld))
	}
	return strings.Join(words, " ")
}

// whyAlike says what customers have in common.
func whyAlike(ctx context.Context, why customers.Why) string {
	if why == customers.SameKey {
		return text.T(ctx, "Orders from one mailbox, account or card")
	}
	return text.T(ctx, "The same name")
}

// importedFacts says what a list had of a person, besides the name.
func importedFacts(ctx context.Context, c customers.Contact) (list []string) {
	if c.Phone != "" {
		list = append(list, text.T(ctx, "Phone %s", c.Phone))
	}
	if c.Language != "" {
		list = append(list, text.T(ctx, "Language %s", c.Language))
	}
	if !c.AgreedOn.IsZero() {
		agreed := text.T(ctx, "Agreed to emails on %s", text.Time(ctx, c.AgreedOn, "2 Jan 2006"))
		if c.AgreedBy != "" {
			agreed = text.T(ctx, "Agreed to emails on %[1]s: %[2]s", text.Time(ctx, c.AgreedOn, "2 Jan 2006"), c.AgreedBy)
		}
		list = append(list, agreed)
	}
	return append(list, text.T(ctx, "Imported %[1]s by %[2]s", text.Time(ctx, c.At.UTC(), "2 Jan 2006"), c.By))
}
