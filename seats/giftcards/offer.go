package giftcards

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/text"
)

// GiftCards sells gift cards for one node.
type GiftCards struct {
	MailQueued func() // called after a mail was queued; must return at once

	db     seats.DB
	desk   *organizers.Desk
	pays   *payments.Payments
	ledger *credit.Ledger
	box    *seal.Box // nil: codes are not sealed
	home   string    // the address of our pages
	job    *jobs.Job
}

// New returns the gift cards of a database. home is the address of our pages.
func New(db seats.DB, desk *organizers.Desk, pays *payments.Payments, ledger *credit.Ledger, home string) *GiftCards {
	g := &GiftCards{MailQueued: func() {}, db: db, desk: desk, pays: pays, ledger: ledger, home: home}
	g.job = jobs.New("gift cards", dueSQL, g.work)
	return g
}

// SealWith has codes sealed with a key outside the database. Call it before anything else.
func (g *GiftCards) SealWith(box *seal.Box) { g.box = box }

// Job returns the job that pays, issues and refunds gift cards.
func (g *GiftCards) Job() *jobs.Job { return g.job }

// Offer is what gift cards a team sells.
type Offer struct {
	Team     int64   `json:"team"`
	TeamName string  `json:"team_name"`
	Open     bool    `json:"open"`
	Currency string  `json:"currency"`
	Amounts  []int64 `json:"amounts"` // minor units, the smallest first
	Months   int     `json:"months"`  // a card is valid so long, and to the end of that year; 0: always
}

const (
	offerColumns = `SELECT t.id, t.name, o.open, o.currency, o.amounts, coalesce(o.months, 0) FROM gift_card_offer o JOIN team t ON t.id = o.team_id`
	offersSQL    = offerColumns + ` WHERE o.open ORDER BY t.name, t.id`
	teamOfferSQL = offerColumns + ` WHERE o.team_id = $1`
)

// method is how gift cards are paid. Demo money would become credit that pays for real seats.
const method = payments.Card

// Payable reports whether there is a way to pay for gift cards.
func (g *GiftCards) Payable() bool { return g.pays.Accepts(method) }

// Offers lists what teams sell; nothing if there is no way to pay.
func (g *GiftCards) Offers(ctx context.Context) (list []Offer, err error) {
	if !g.Payable() {
		return nil, nil
	}
	rows, err := g.db.Query(ctx, offersSQL)
	if err == nil {
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Offer])
	}
	if err != nil {
		return nil, fmt.Errorf("giftcards: list offers: %w", err)
	}
	return list, nil
}

// Fields of the form of an offer.
const (
	FieldCurrency = "currency"
	FieldAmounts  = "amounts"
	FieldMonths   = "months"
)

// The most of an offer.
const (
	mostAmounts = 12
	mostMonths  = 600
	mostWorth   = 1_000_000 // minor units
)

const setOfferSQL = `
INSERT INTO gift_card_offer (team_id, open, currency, amounts, months) VALUES ($1, $2, $3, $4, nullif($5, 0))
ON CONFLICT (team_id) DO UPDATE SET open = excluded.open, currency = excluded.currency, amounts = excluded.amounts, months = excluded.months`

// SetOffer changes what gift cards a member's team sells. Cards that were bought stay as they are.
//
// Errors: organizers.Mistakes; those of organizers.Desk.Change; the database's.
func (g *GiftCards) SetOffer(ctx context.Context, m organizers.Member, o Offer, key string) error {
	o.Amounts = slices.Clone(o.Amounts)
	slices.Sort(o.Amounts)
	o.Amounts = slices.Compact(o.Amounts)
	var wrong organizers.Mistakes
	if pricing.CheckCurrency(o.Currency) != nil {
		wrong = append(wrong, organizers.Mistake{Field: FieldCurrency, Message: text.Mark("Enter three letters of a currency, such as EUR.")})
	}
	if n := len(o.Amounts); n == 0 || n > mostAmounts || o.Amounts[0] <= 0 || o.Amounts[n-1] > mostWorth {
		wrong = append(wrong, organizers.Mistake{Field: FieldAmounts, Message: text.Mark("Enter up to %d amounts, such as 25, 50, 100. The largest is %s."), Args: []any{mostAmounts, pricing.Amount(mostWorth, o.Currency)}})
	}
	if o.Months < 0 || o.Months > mostMonths {
		wrong = append(wrong, organizers.Mistake{Field: FieldMonths, Message: text.Mark("Enter a number of months from 1 to %d, or nothing."), Args: []any{mostMonths}})
	}
	if wrong != nil {
		return wrong
	}
	return g.desk.Change(ctx, m, key, []any{"gift cards", o}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, setOfferSQL, m.Team, o.Open, o.Currency, o.Amounts, o.Months); err != nil {
			return fmt.Errorf("giftcards: set the offer: %w", err)
		}
		return organizers.Note(ctx, tx, m, text.Mark("changed the gift cards on sale"), "gift-cards", o)
	})
}

// Sold is a gift card as the desk lists it.
type Sold struct {
	Card
	Spent bool  // its voucher was redeemed, or paid at the box office
	Left  int64 // of one that paid at the box office, minor units; 0 of others
}

const soldSQL = `
SELECT c.id, c.code, c.currency, c.amount, c.buyer, c.recipient, c.state, c.reason, c.created_at, v.expires_at, v.redeemed_at IS NOT NULL AND ` + credit.CardUnused + ` IS NOT TRUE, CASE WHEN ` + credit.CardUnused + ` THEN 0 ELSE coalesce(a.balance, 0) END
  FROM gift_card c LEFT JOIN credit_voucher v ON v.id = c.voucher_id
       LEFT JOIN credit_account a ON a.kind = 'card' AND a.email = 'card-' || v.id AND a.currency = v.currency
 WHERE c.team_id = $1 AND (c.created_at, c.id) < (coalesce($2, 'infinity'::timestamptz), $3) ORDER BY c.created_at DESC, c.id DESC LIMIT $4`

// SoldRows is how many gift cards a page of the list usually has.
const SoldRows = 200

// Sold returns what a member's team offers, and the gift cards that it sold, the last first. next is where that list goes on, nil at its end.
func (g *GiftCards) Sold(ctx context.Context, m organizers.Member, p paging.Page) (o Offer, list []Sold, next *paging.Place, err error) {
	rows, _ := g.db.Query(ctx, teamOfferSQL, m.Team) // CollectOneRow returns its error
	o, err = pgx.CollectOneRow(rows, pgx.RowToStructByPos[Offer])
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return o, nil, nil, fmt.Errorf("giftcards: read the offer: %w", err)
	}
	if rows, err = g.db.Query(ctx, soldSQL, m.Team, p.After.Time(), p.After.ID, p.Limit+1); err == nil {
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (s Sold, err error) {
			return s, row.Scan(&s.ID, &s.Code, &s.Currency, &s.Amount, &s.Buyer, &s.Recipient, &s.State, &s.Reason, &s.CreatedAt, &s.ExpiresAt, &s.Spent, &s.Left)
		})
	}
	if err != nil {
		return o, nil, nil, fmt.Errorf("giftcards: list: %w", err)
	}
	list, next = paging.Cut(list, p, func(s Sold) paging.Place { return paging.Place{At: s.CreatedAt, ID: s.ID} })
	return o, list, next, nil
}

// Law is how long a gift card is valid by the law of a country.
type Law struct {
	Country string // ISO 3166-1 alpha-2
	Name    string // of the country
	Months  int
	Least   bool   // the law forbids a shorter time; else this is when claims end, and courts judge shorter times
	Source  string // the law, as one looks it up
}

// LawsOf is the year in which laws were compared with their sources.
const LawsOf = 2026

// laws are the countries with one time for gift cards of a theatre, read in these sources:
//
//   - Australia: Australian Consumer Law, in force for this since 1 November 2019 (commerce.wa.gov.au, allens.com.au).
//   - Austria: ABGB §§ 879 and 1479. Two years were not valid (Supreme Court, 28 June 2012, 7 Ob 22/12d), nor three
//     (OLG Vienna, 1 R 179/18a). Five were in one case (7 Ob 75/11x).
//   - Germany: BGB §§ 195 and 199. Ten months were not valid (webshoprecht.de), nor 24 (LG Braunschweig, 22 O 211/12).
//   - Ireland: Consumer Protection (Gift Vouchers) Act 2019, in force since 2 December 2019 (irishlegal.com, rpc.co.uk).
//   - Switzerland: OR articles 127 and 129. Whether a card may end earlier is disputed (srf.ch, Kassensturz; eberhart-law.ch).
//   - United States: 15 U.S.C. § 1693l-1 (uscode.house.gov). States may ask for more.
var laws = []Law{
	{"AT", text.Mark("Austria"), 30 * 12, false, text.Mark("Civil Code, ABGB §§ 879 and 1479; Supreme Court 7 Ob 22/12d")},
	{"AU", text.Mark("Australia"), 3 * 12, true, text.Mark("Australian Consumer Law, since November 2019")},
	{"CH", text.Mark("Switzerland"), 10 * 12, false, text.Mark("Code of Obligations, articles 127 and 129")},
	{"DE", text.Mark("Germany"), 3 * 12, false, text.Mark("Civil Code, BGB §§ 195 and 199, from the end of the year")},
	{"IE", text.Mark("Ireland"), 5 * 12, true, text.Mark("Consumer Protection (Gift Vouchers) Act 2019")},
	{"US", text.Mark("the United States"), 5 * 12, true, text.Mark("15 U.S.C. § 1693l-1; some states ask for more")},
}

// LawOf returns the law of a country; nil if none is known here.
func LawOf(country string) *Law {
	at := slices.IndexFunc(laws, func(l Law) bool { return l.Country == country })
	if at < 0 {
		return nil
	}
	return &laws[at]
}
