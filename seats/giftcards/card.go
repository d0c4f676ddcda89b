package giftcards

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/text"
)

// States of a gift card.
const (
	Open      = "open"      // it is being paid
	Issued    = "issued"    // it is paid and mailed
	Refunding = "refunding" // it is worth nothing any more, and the money is going back
	Refunded  = "refunded"
	Closed    = "closed" // it was not paid
)

// Kinds of mail.
const (
	MailCard    = "gift-card"    // brings the card to its recipient
	MailReceipt = "gift-receipt" // to the buyer
)

// Card is a gift card.
type Card struct {
	ID        seats.ID
	Team      int64
	TeamName  string
	Code      string // of the buyer's page
	Currency  string
	Amount    int64 // minor units
	Months    int   // as it was offered; 0: always
	Buyer     string
	Recipient string
	Giver     string
	Message   string
	State     string
	Reason    string // why it was not sold, or is not paid back yet
	Page      string // where it is paid, while it is open; may be empty
	CreatedAt time.Time
	IssuedAt  *time.Time
	ExpiresAt *time.Time // of its voucher; nil: never

	Voucher string // the code to redeem; empty until it is paid

	voucherID *int64
	secret    []byte
	reference string
	method    string
	language  string // of the buyer
	tries     int
	age       time.Duration
}

// Mistakes is a form that cannot be taken as it is.
type Mistakes = organizers.Mistakes

// Form is what a buyer sends.
type Form struct {
	Team      int64
	Amount    int64 // minor units
	Buyer     string
	Recipient string // empty: the buyer
	Giver     string
	Message   string

	Terms   int // the version of the team's terms that the buyer accepted; 0: none
	InForce int // the version that the team shows; 0: it has none
}

// Fields of the form of a buyer.
const (
	FieldAmount    = "amount"
	FieldBuyer     = "email"
	FieldRecipient = "recipient"
	FieldGiver     = "giver"
	FieldMessage   = "message"
	FieldTerms     = "terms"
)

const (
	mostGiver   = 100 // characters
	mostMessage = 500
)

// tidy writes addresses in one spelling, and finds every mistake.
func (f Form) tidy(o Offer) (Form, error) {
	var wrong organizers.Mistakes
	note := func(field, message string) { wrong = append(wrong, organizers.Mistake{Field: field, Message: message}) }
	if !slices.Contains(o.Amounts, f.Amount) {
		note(FieldAmount, text.Mark("Choose one of the amounts."))
	}
	if strings.TrimSpace(f.Recipient) == "" {
		f.Recipient = f.Buyer
	}
	for _, a := range []struct {
		field string
		typed *string
	}{{FieldBuyer, &f.Buyer}, {FieldRecipient, &f.Recipient}} {
		address, err := credit.Address(*a.typed)
		if err != nil {
			note(a.field, text.Mark("Enter an email address in the format name@example.com."))
		}
		*a.typed = address
	}
	f.Giver, f.Message = strings.Join(strings.Fields(f.Giver), " "), strings.TrimSpace(strings.ReplaceAll(f.Message, "\r\n", "\n"))
	for _, t := range []struct {
		field, typed string
		most         int
	}{{FieldGiver, f.Giver, mostGiver}, {FieldMessage, f.Message, mostMessage}} {
		switch {
		case !utf8.ValidString(t.typed) || strings.ContainsFunc(t.typed, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }):
			note(t.field, text.Mark("This has characters that cannot be printed."))
		case utf8.RuneCountInString(t.typed) > t.most:
			note(t.field, text.Mark("This text is too long."))
		}
	}
	switch {
	case f.Terms == f.InForce:
	case f.Terms == 0:
		note(FieldTerms, text.Mark("Please accept the terms."))
	case f.InForce == 0:
		f.Terms = 0
	default:
		note(FieldTerms, text.Mark("The terms have changed. Please read and accept the new version."))
	}
	if wrong != nil {
		return f, wrong
	}
	return f, nil
}

// ErrNoOffer says that a team sells no gift cards.
var ErrNoOffer = errors.New("the team sells no gift cards")

const buySQL = `
INSERT INTO gift_card (id, team_id, code, currency, amount, months, buyer, recipient, giver, message, method, terms, agreed_at, language)
VALUES ($1, $2, $3, $4, $5, nullif($6, 0), $7, $8, $9, $10, $11, nullif($12, 0), CASE WHEN $12 > 0 THEN clock_timestamp() END, $13)`

// Buy begins the sale of a gift card. Its page is asked for by Ask, or by the job: a form that is done once has a transaction
// open, during which no provider is called. Its mails are in the language of ctx.
//
// Errors: organizers.Mistakes; ErrNoOffer; the database's.
func (g *GiftCards) Buy(ctx context.Context, f Form) (Card, error) {
	offers, err := g.Offers(ctx)
	if err != nil {
		return Card{}, err
	}
	at := slices.IndexFunc(offers, func(o Offer) bool { return o.Team == f.Team })
	if at < 0 {
		return Card{}, ErrNoOffer
	}
	o := offers[at]
	if f, err = f.tidy(o); err != nil {
		return Card{}, err
	}
	id, code := seats.NewID(), seal.NewCode()
	if _, err := g.db.Exec(ctx, buySQL, id, o.Team, code, o.Currency, f.Amount, o.Months, f.Buyer, f.Recipient, f.Giver, f.Message, method, f.Terms, text.Tag(ctx)); err != nil {
		return Card{}, fmt.Errorf("giftcards: buy: %w", err)
	}
	g.job.Wake()
	return g.Find(ctx, code)
}

const cardSQL = `
SELECT c.id, c.team_id, t.name, c.code, c.currency, c.amount, coalesce(c.months, 0), c.buyer, c.recipient, c.giver, c.message, c.state, c.reason, c.page,
       c.created_at, c.issued_at, v.expires_at, c.voucher_id, c.secret, c.reference, c.method, c.language, c.tries, extract(epoch FROM clock_timestamp() - c.created_at)::float8
  FROM gift_card c JOIN team t ON t.id = c.team_id LEFT JOIN credit_voucher v ON v.id = c.voucher_id`

const (
	cardByCodeSQL = cardSQL + ` WHERE c.code = $1`
	cardByIDSQL   = cardSQL + ` WHERE c.id = $1`
)

// ErrNoCard is the answer to an unknown gift card.
var ErrNoCard = errors.New("there is no such gift card")

// Find returns the gift card with the code of its buyer's page. ErrNoCard if there is none.
func (g *GiftCards) Find(ctx context.Context, code string) (Card, error) {
	return g.find(ctx, cardByCodeSQL, code)
}

// ByID returns the gift card of a mail. ErrNoCard if there is none.
func (g *GiftCards) ByID(ctx context.Context, id seats.ID) (Card, error) {
	return g.find(ctx, cardByIDSQL, id)
}

func (g *GiftCards) find(ctx context.Context, sql string, arg any) (c Card, err error) {
	var age float64
	err = g.db.QueryRow(ctx, sql, arg).Scan(&c.ID, &c.Team, &c.TeamName, &c.Code, &c.Currency, &c.Amount, &c.Months, &c.Buyer, &c.Recipient, &c.Giver, &c.Message,
		&c.State, &c.Reason, &c.Page, &c.CreatedAt, &c.IssuedAt, &c.ExpiresAt, &c.voucherID, &c.secret, &c.reference, &c.method, &c.language, &c.tries, &age)
	if errors.Is(err, pgx.ErrNoRows) {
		return c, ErrNoCard
	}
	if err == nil && c.secret != nil {
		var voucher []byte
		voucher, err = g.box.Open(c.secret, Secrets.Context(c.ID))
		c.Voucher = string(voucher)
	}
	if err != nil {
		return c, fmt.Errorf("giftcards: find: %w", err)
	}
	c.age = time.Duration(age * float64(time.Second))
	return c, nil
}

// Secrets is the table of the codes of gift cards.
var Secrets = seal.Table{Name: "gift_card", Select: sealedCodesSQL, Update: sealCodeSQL}

const sealedCodesSQL = `SELECT id::text, secret FROM gift_card WHERE secret IS NOT NULL ORDER BY id FOR UPDATE`

const sealCodeSQL = `UPDATE gift_card SET secret = $2 WHERE id = $1::text::uuid AND secret = $3`
