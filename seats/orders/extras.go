package orders

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// Address is where tickets go by post. The name is that of the order.
type Address struct {
	Street   string `json:"street"`
	Postcode string `json:"postcode,omitempty"`
	City     string `json:"city"`
	Country  string `json:"country"` // ISO 3166-1 alpha-2
}

// Fields of what a buyer adds.
const (
	FieldDonation     = "donation"
	FieldPost         = "post"
	FieldPostStreet   = "post_street"
	FieldPostPostcode = "post_postcode"
	FieldPostCity     = "post_city"
	FieldPostCountry  = "post_country"
)

// texts are those of an address, and the most characters of each.
func (a *Address) texts() []addressText {
	return []addressText{
		{FieldPostStreet, &a.Street, 200, text.Mark("Enter street and house number.")},
		{FieldPostPostcode, &a.Postcode, 20, ""},
		{FieldPostCity, &a.City, 100, text.Mark("Enter the city.")},
		{FieldPostCountry, &a.Country, 2, text.Mark("Choose the country.")},
	}
}

type addressText struct {
	field   string
	text    *string
	most    int
	missing string // what to say if it is empty; empty: it may be
}

// tidied is the address in one spelling; nil for none.
func (a *Address) tidied() *Address {
	if a == nil {
		return nil
	}
	b := *a
	for _, t := range b.texts() {
		*t.text = strings.Join(strings.Fields(*t.text), " ")
	}
	b.Country = strings.ToUpper(b.Country)
	return &b
}

// mistakes finds everything that is wrong with an address.
func (a *Address) mistakes() (m Mistakes) {
	if a == nil {
		return nil
	}
	for _, t := range a.texts() {
		switch {
		case *t.text == "" && t.missing != "", t.field == FieldPostCountry && !countryForm.MatchString(*t.text):
			m = append(m, Mistake{t.field, t.missing})
		case !utf8.ValidString(*t.text) || strings.ContainsFunc(*t.text, unicode.IsControl):
			m = append(m, Mistake{t.field, text.Mark("This has characters that cannot be printed.")})
		case utf8.RuneCountInString(*t.text) > t.most:
			m = append(m, Mistake{t.field, text.Mark("This text is too long.")})
		}
	}
	return m
}

// Extras are what the buyer adds, as far as the event offers it.
func (f Form) Extras(e seats.Event) []pricing.Extra {
	return pricing.ExtrasOf(e, f.Donation, f.Post != nil)
}

// wrongExtras finds what the event does not offer.
func (f Form) wrongExtras(e seats.Event) (m Mistakes) {
	if f.Donation != 0 && !slices.Contains(e.Rules.Extras.Donations, f.Donation) {
		m = append(m, Mistake{FieldDonation, text.Mark("This donation is not offered any more. Choose another amount, or none.")})
	}
	if f.Post != nil && !pricing.Posts(e) {
		m = append(m, Mistake{FieldPost, text.Mark("Tickets for this event are not sent by post. We’ll email them to you.")})
	}
	return append(m, f.Post.mistakes()...)
}

// terms are what the order of the form is priced by, with what the buyer adds: those that a payment began with, or those of now.
func (f Form) terms(e seats.Event) pricing.Terms {
	t := pricing.TermsAgreed(f.Agreed, &e)
	if f.Agreed == nil {
		t.Extras = f.Extras(e)
	}
	return t
}

// Extra is what the extras of an order cost.
func (o Order) Extra() int64 { return pricing.SumOf(o.Extras) }

// Parcel is an order with tickets to post.
type Parcel struct {
	Code      string
	Name      string
	To        Address
	Tickets   int // that hold
	Paid      bool
	CreatedAt time.Time
	PostedAt  *time.Time
}

const parcelsSQL = `
SELECT o.code, o.name, o.post_to, t.n, t.cost + o.kept - o.paid - o.waived <= 0, o.created_at, o.posted_at
  FROM orders o, LATERAL (SELECT count(*) FILTER (WHERE revoked_at IS NULL) AS n, coalesce(sum(price + fee) FILTER (WHERE revoked_at IS NULL), 0) AS cost
                            FROM ticket WHERE order_id = o.id) t
 WHERE o.event_id = $1 AND o.post_to IS NOT NULL AND (o.state = 'confirmed' OR o.posted_at IS NOT NULL)
 ORDER BY o.posted_at IS NOT NULL, o.created_at, o.id`

// Parcels lists the orders of an event with tickets to post, those that were posted last.
func (o *Orders) Parcels(ctx context.Context, event int64) ([]Parcel, error) {
	rows, _ := o.db.Query(ctx, parcelsSQL, event) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Parcel])
	if err != nil {
		return nil, fmt.Errorf("orders: list what to post: %w", err)
	}
	return list, nil
}

const (
	parcelsOfSQL = `SELECT count(*) FROM orders WHERE event_id = $1 AND code = ANY($2) AND post_to IS NOT NULL`
	postedSQL    = `
UPDATE orders SET posted_at = CASE WHEN $3 THEN clock_timestamp() END
 WHERE event_id = $1 AND code = ANY($2) AND post_to IS NOT NULL AND (posted_at IS NOT NULL) <> $3`
)

// MarkPosted notes that the tickets of orders were posted, or that they were not, and commits also with it. A repeat changes
// nothing. ErrNoOrder if one of them is not an order of the event with an address.
func (o *Orders) MarkPosted(ctx context.Context, event int64, codes []string, posted bool, also seats.TxHook) error {
	codes = slices.Compact(slices.Sorted(slices.Values(codes)))
	var n int
	if err := o.db.QueryRow(ctx, parcelsOfSQL, event, codes).Scan(&n); err != nil {
		return fmt.Errorf("orders: mark as posted: %w", err)
	}
	if n == 0 || n < len(codes) {
		return ErrNoOrder
	}
	if _, err := o.execAnd(ctx, also, postedSQL, event, codes, posted); err != nil {
		return fmt.Errorf("orders: mark as posted: %w", err)
	}
	return nil
}
