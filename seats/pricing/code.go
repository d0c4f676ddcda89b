package pricing

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// Code takes something off the prices of an event, or unlocks something, or both. It does not change; it is retired.
type Code struct {
	ID   seats.ID
	Code string // as SpellCode writes it
	Name string // of the codes that were made together
	Discount
	UnlocksTypes  []int      // ticket types that are sold with a code
	UnlocksBlocks []seats.ID // blocks; their seats are reserved for the code
	Presale       bool       // seats may be claimed before the event is on sale
	PersonTickets int        // of one person before the event is on sale; 0: as many as the event lets them have
	Members       string     // the kind of membership that it was mailed for; empty: it is of no member

	Most      int // orders; 0: no limit
	PerPerson int // orders of one person; 0: no limit
	BeginsAt  *time.Time
	EndsAt    *time.Time
	RetiredAt *time.Time
	Used      int // orders and payments under way; only if it has a limit
	State     CodeState
}

// CodeState says whether a code is good, by the database's clock.
type CodeState string

// The states of a code.
const (
	CodeGood    CodeState = "good"
	CodeEarly   CodeState = "early" // it begins later
	CodeOver    CodeState = "over"  // it ended, or was retired
	CodeUsedUp  CodeState = "used"
	CodeUnknown CodeState = "unknown" // this event has no such code
)

// SpellCode writes a code as it is compared: capital letters and digits. Empty if it cannot be one.
func SpellCode(text string) string {
	text = strings.ToUpper(strings.NewReplacer(" ", "", "-", "", "\u00a0", "").Replace(text))
	if len(text) < 3 || len(text) > 40 || strings.IndexFunc(text, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') }) >= 0 {
		return ""
	}
	return text
}

// codeLetters leave out what is easily mistaken for another letter.
const codeLetters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"

// NewCode makes a code that cannot be guessed: 80 random bits.
func NewCode() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	for i := range b {
		b[i] = codeLetters[int(b[i])%len(codeLetters)]
	}
	return string(b)
}

// Uses are the allowances that an order of a person with these purchase keys counts for.
func (c Code) Uses(person []seats.ID) (uses []seats.Use) {
	if c.Most > 0 {
		uses = append(uses, seats.Use{Key: c.ID, Most: c.Most})
	}
	if c.PerPerson > 0 {
		for _, key := range person {
			of := c.ID
			for i := range of {
				of[i] ^= key[i]
			}
			uses = append(uses, seats.Use{Key: of, Most: c.PerPerson})
		}
	}
	return uses
}

// MostCodes is how many codes can be made at once.
const MostCodes = 10_000

// CheckCode returns what is wrong with a code, empty if nothing is.
func CheckCode(c Code) text.Message {
	switch {
	case c.Percent < 0 || c.Percent > WholePercent || c.Amount < 0 || c.Amount > 1<<40 || !c.TakesOff() && !c.Unlocks():
		return text.Say("A code takes a percentage up to 100 or an amount off the price, or it unlocks something.")
	case c.Percent > 0 && c.Amount > 0:
		return text.Say("A code takes a percentage or an amount off, not both.")
	case c.Most < 0 || c.PerPerson < 0 || c.Tickets < 0 || max(c.Most, c.PerPerson, c.Tickets) > 1_000_000:
		return text.Say("A limit is between 0, which is none, and 1,000,000.")
	case c.PersonTickets < 0 || c.PersonTickets > 1_000_000 || c.PersonTickets > 0 && !c.Presale:
		return text.Say("A limit of tickets of one person before the sale is for codes with a presale, and at most 1,000,000.")
	case c.BeginsAt != nil && c.EndsAt != nil && !c.EndsAt.After(*c.BeginsAt):
		return text.Say("A code ends after it begins.")
	case !seats.OneLine(c.Name, 100):
		return text.Say("A name is one line of at most 100 characters.")
	}
	return text.Message{}
}

const createCodesSQL = `
INSERT INTO code (id, event_id, code, name, percent, amount, per_order, types, categories, tickets, most, per_person, begins_at, ends_at, unlocks_types, unlocks_blocks, presale, membership_id, person_tickets)
SELECT n.id, $1, n.code, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, n.member, $19
  FROM unnest($2::uuid[], $3::text[], $18::uuid[]) AS n(id, code, member)`

// ErrCodeTaken says that the event has one of the codes.
var ErrCodeTaken = errors.New("the event has this code")

// CodeTaken says so to organizers.
func CodeTaken(e seats.Event, code string) *seats.Conflict {
	return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("%s has or had a code %s. Nothing was changed. Choose another one."), Args: []any{e.Name, code}}
}

// CreateCodes makes codes with the terms of one. codes are spelled as SpellCode does. With members, each is for the person of the membership at its
// place. It is part of an inventory's ChangeEvent if they unlock something. *seats.ValidationError if that is not of the event.
func CreateCodes(ctx context.Context, tx pgx.Tx, event int64, c Code, codes []string, members ...seats.ID) error {
	if c.Unlocks() {
		if err := unlockable(ctx, tx, event, c); err != nil {
			return err
		}
	}
	ids := make([]seats.ID, len(codes))
	for i := range ids {
		ids[i] = seats.NewID()
	}
	_, err := tx.Exec(ctx, createCodesSQL, event, ids, codes, c.Name, c.Percent, c.Amount, c.PerOrder, listed(c.Types), listed(c.Categories), c.Tickets, c.Most, c.PerPerson, c.BeginsAt, c.EndsAt,
		listed(c.UnlocksTypes), append([]seats.ID{}, c.UnlocksBlocks...), c.Presale, append([]seats.ID{}, members...), c.PersonTickets)
	if seats.IsConstraint(err, "a code is there once in an event") {
		return ErrCodeTaken
	}
	if err != nil {
		return fmt.Errorf("pricing: create codes: %w", err)
	}
	return nil
}

func listed(numbers []int) []int32 {
	list := make([]int32, len(numbers))
	for i, n := range numbers {
		list[i] = int32(n)
	}
	return list
}

const (
	codeMembers = `coalesce((SELECT k.name FROM membership m JOIN membership_kind k ON k.id = m.kind_id WHERE m.id = c.membership_id), '')`

	codeOfMember = `(c.membership_id IS NULL OR member_now(c.membership_id, c.event_id))`
)

const codeColumns = `
SELECT c.id, c.code, c.name, c.percent, c.amount, c.per_order, c.types, c.categories, c.tickets, c.most, c.per_person, c.begins_at, c.ends_at, c.retired_at,
       c.unlocks_types, c.unlocks_blocks, c.presale, c.person_tickets, ` + codeMembers + `, coalesce(a.used, 0),
       CASE WHEN c.retired_at IS NOT NULL OR c.ends_at <= clock_timestamp() OR NOT ` + codeOfMember + ` THEN 'over' WHEN c.begins_at > clock_timestamp() THEN 'early'
            WHEN a.used >= a.most THEN 'used' ELSE 'good' END
  FROM code c LEFT JOIN allowance a ON a.event_id = c.event_id AND a.key = c.id
 WHERE c.event_id = $1`

const findCodeSQL = codeColumns + ` AND c.code = $2`

func (c *Code) scan(row pgx.Row) error {
	return row.Scan(&c.ID, &c.Code, &c.Name, &c.Percent, &c.Amount, &c.PerOrder, &c.Types, &c.Categories, &c.Tickets, &c.Most, &c.PerPerson, &c.BeginsAt, &c.EndsAt, &c.RetiredAt, &c.UnlocksTypes, &c.UnlocksBlocks, &c.Presale, &c.PersonTickets, &c.Members, &c.Used, &c.State)
}

// FindCode returns the code that was typed. Its state is CodeUnknown if the event has no such code.
func FindCode(ctx context.Context, db seats.DB, event int64, typed string) (c Code, err error) {
	spelled := SpellCode(typed)
	if spelled == "" {
		return Code{State: CodeUnknown}, nil
	}
	err = c.scan(db.QueryRow(ctx, findCodeSQL, event, spelled))
	if errors.Is(err, pgx.ErrNoRows) {
		return Code{State: CodeUnknown}, nil
	}
	if err != nil {
		return c, fmt.Errorf("pricing: find a code: %w", err)
	}
	return c, nil
}

const hasCodesSQL = `SELECT EXISTS (SELECT FROM code WHERE event_id = $1 AND retired_at IS NULL AND (ends_at IS NULL OR ends_at > clock_timestamp()))`

// HasCodes reports whether an event has a code that did not end.
func HasCodes(ctx context.Context, db seats.DB, event int64) (has bool, err error) {
	if err = db.QueryRow(ctx, hasCodesSQL, event).Scan(&has); err != nil {
		err = fmt.Errorf("pricing: look for codes: %w", err)
	}
	return has, err
}

const retireCodesSQL = `UPDATE code SET retired_at = clock_timestamp() WHERE event_id = $1 AND code = ANY($2::text[]) AND retired_at IS NULL`

// retireCodes ends codes. Orders and payments that have them keep their price. It returns how many were good until now.
func retireCodes(ctx context.Context, tx pgx.Tx, event int64, codes []string) (int, error) {
	tag, err := tx.Exec(ctx, retireCodesSQL, event, codes)
	if err != nil {
		return 0, fmt.Errorf("pricing: retire codes: %w", err)
	}
	return int(tag.RowsAffected()), nil
}

// Message says why a code is not taken; empty if it is good.
func (s CodeState) Message() string {
	switch s {
	case CodeGood:
		return ""
	case CodeEarly:
		return text.Mark("This code cannot be used yet.")
	case CodeOver:
		return text.Mark("This code has ended.")
	case CodeUsedUp:
		return text.Mark("This code has been used up, or is in an order that is being paid for.")
	}
	return text.Mark("There is no such code for this event. Check each letter.")
}
