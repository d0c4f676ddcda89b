package desk

import (
	"context"
	"net/url"
	"strconv"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/memberships"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// MembershipsPath is the address of the memberships of a team.
const MembershipsPath = Path + "/memberships"

// Forms of the page of memberships.
const (
	FormKind   = "kind"
	FormImport = "import"
)

// MembershipsPage is the kinds of membership of a team, and its members.
type MembershipsPage struct {
	Frame
	Kinds   []memberships.Kind
	Filter  memberships.Filter
	List    []memberships.Membership
	Next    string     // cursor of the next page; empty: there is none
	Form    url.Values // as it was sent, if it was refused
	Refused string     // which form it was
	Wrong   string
}

// value is what was typed into a field of a form that was refused.
func (p MembershipsPage) value(form, name string) string {
	if p.Refused != form {
		return ""
	}
	return p.Form.Get(name)
}

// ofKind is what was typed about a kind, or what it has.
func (p MembershipsPage) ofKind(k memberships.Kind, name, has string) string {
	if p.kindRefused(k.ID) {
		return p.Form.Get(name)
	}
	return has
}

// kindRefused reports whether a kind, or a new one for 0, was refused.
func (p MembershipsPage) kindRefused(id int64) bool {
	written := ""
	if id != 0 {
		written = strconv.FormatInt(id, 10)
	}
	return p.Refused == FormKind && p.Form.Get("kind") == written
}

// narrowed reports whether not all members are looked for.
func (p MembershipsPage) narrowed() bool { return p.Filter != memberships.Filter{} }

// path is the address of these members: of the page, of its next one, or of the file.
func (p MembershipsPage) path(base, cursor string) string {
	q := url.Values{}
	for name, value := range map[string]string{"q": p.Filter.Words, "show": string(p.Filter.Show), "cursor": cursor} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if p.Filter.Kind != 0 {
		q.Set("kind", strconv.FormatInt(p.Filter.Kind, 10))
	}
	if len(q) == 0 {
		return base
	}
	return base + "?" + q.Encode()
}

// membershipShows are which members can be looked for.
var membershipShows = []struct {
	show memberships.Show
	name string
}{{"", text.Mark("Not over")}, {memberships.ShowSoon, text.Mark("Ending in 30 days")}, {memberships.ShowOver, text.Mark("Over")}, {memberships.ShowAll, text.Mark("All")}}

// membershipWords say how a membership stands.
func membershipWords(ctx context.Context, s memberships.State) (words, class string) {
	switch s {
	case memberships.Valid:
		return text.T(ctx, "Valid"), "good"
	case memberships.Soon:
		return text.T(ctx, "Ends soon"), "warn"
	case memberships.Early:
		return text.T(ctx, "Not begun"), ""
	case memberships.Ended:
		return text.T(ctx, "Ended early"), "bad"
	}
	return text.T(ctx, "Over"), ""
}

// ends reports whether a membership can be ended.
func ends(m memberships.Membership) bool {
	return m.State == memberships.Valid || m.State == memberships.Soon || m.State == memberships.Early
}

func hasCustomer(m memberships.Membership) bool { return m.Customer != seats.ID{} }

// membershipDays are the first and the last day of a membership.
func membershipDays(ctx context.Context, m memberships.Membership) string {
	return text.T(ctx, "%s – %s", text.Time(ctx, m.From, "2 Jan 2006"), text.Time(ctx, m.Until, "2 Jan 2006"))
}

// pricedKind names a kind with its price.
func pricedKind(ctx context.Context, k memberships.Kind) string {
	return text.T(ctx, "%s, %s", k.Name, views.MoneyIn(ctx, k.Price, k.Currency))
}
