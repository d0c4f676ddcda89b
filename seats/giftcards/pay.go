package giftcards

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
)

const dueSQL = `
SELECT id::text, next_try FROM gift_card WHERE state IN ('open', 'refunding')
 UNION ALL
SELECT id::text, next_try FROM gift_card WHERE state = 'refunded' AND next_try > refunded_at`

const takeSQL = `
UPDATE gift_card SET tries = tries + 1, next_try = clock_timestamp() + make_interval(secs => ($2::float8[])[least(tries + 1, cardinality($2))])
 WHERE id = $1 AND (state IN ('open', 'refunding') OR state = 'refunded' AND next_try > refunded_at)`

// work makes the call that is due for a card, and stores its answer.
func (g *GiftCards) work(ctx context.Context, key string) (n int, err error) {
	id, err := seats.ParseID(key)
	if err != nil {
		return 0, err
	}
	ctx = context.WithoutCancel(ctx) // the buyer may leave; the payment goes on
	if _, err := g.db.Exec(ctx, takeSQL, id, payments.StandaloneBackoff.Seconds()); err != nil {
		return 0, fmt.Errorf("giftcards: take: %w", err)
	}
	c, err := g.find(ctx, cardByIDSQL, id)
	if err != nil {
		return 0, err
	}
	switch c.State {
	case Open:
		err = g.pay(ctx, c)
	case Refunding:
		err = g.payBack(ctx, c)
	case Refunded:
		err = g.lookBack(ctx, c)
	}
	if payments.IsDown(err) {
		g.job.Failed(c.ID, c.tries, payments.StandaloneBackoff.After(c.tries), err)
		return 1, nil
	}
	return 1, err
}

// payment is a card as package payments needs to know it.
func (g *GiftCards) payment(ctx context.Context, c Card) payments.Standalone {
	return payments.Standalone{Method: c.method, Age: c.age, Charge: payments.Charge{
		Key: "usher-gift-", Payment: c.ID, Order: c.ID, Reference: c.reference, Amount: c.Amount, Currency: c.Currency,
		Email: c.Buyer, What: text.T(text.For(ctx, c.language), "Gift card, %s", c.TeamName), Back: g.home + "/gift-cards/" + c.Code,
	}}
}

const referSQL = `UPDATE gift_card SET reference = $2, page = $3 WHERE id = $1 AND (reference, page) <> ($2, $3)`

// pay brings an open card on: to its page, to the capture, to its end.
func (g *GiftCards) pay(ctx context.Context, c Card) error {
	s, err := g.pays.Advance(ctx, g.payment(ctx, c), func(s payments.Standing) error {
		_, err := g.db.Exec(ctx, referSQL, c.ID, s.Reference, s.Page)
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("giftcards: pay: %w", err)
	case s.Stand == payments.Captured:
		return g.issue(ctx, c)
	case s.Stand == payments.Declined, s.Stand == payments.Voided:
		return g.close(ctx, c, s.Reason)
	}
	return nil
}

const closeSQL = `UPDATE gift_card SET state = 'closed', reason = $2, page = '' WHERE id = $1 AND state = 'open'`

func (g *GiftCards) close(ctx context.Context, c Card, reason string) error {
	if reason == "" {
		reason = text.Mark("The card was not paid within an hour.")
	}
	if _, err := g.db.Exec(ctx, closeSQL, c.ID, reason); err != nil {
		return fmt.Errorf("giftcards: close: %w", err)
	}
	return nil
}

// The lock is the guard: of several nodes and webhooks one meets an open card.
const lockOpenSQL = `
SELECT CASE WHEN months IS NOT NULL
            THEN (date_trunc('year', clock_timestamp() AT TIME ZONE 'UTC' + make_interval(months => months)) + interval '1 year') AT TIME ZONE 'UTC' END
  FROM gift_card WHERE id = $1 AND state = 'open' FOR NO KEY UPDATE`

const issueSQL = `
WITH issued AS (
    UPDATE gift_card SET state = 'issued', voucher_id = $2, secret = $3, issued_at = clock_timestamp(), page = '', reason = '' WHERE id = $1 RETURNING id
)
INSERT INTO mail (gift_card_id, kind) SELECT id, unnest('{gift-card,gift-receipt}'::text[]) FROM issued`

// issue makes the voucher of a card that is paid, and queues its mails, all of it once.
func (g *GiftCards) issue(ctx context.Context, c Card) error {
	worth := credit.Amount{Minor: c.Amount, Currency: c.Currency}
	if err := g.ledger.Ready(ctx, worth); err != nil {
		return err
	}
	err := pgx.BeginFunc(ctx, g.db, func(tx pgx.Tx) error {
		var expires *time.Time
		if err := tx.QueryRow(ctx, lockOpenSQL, c.ID).Scan(&expires); err != nil {
			return err
		}
		voucher, code, err := credit.SellVoucher(ctx, tx, worth, expires)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, issueSQL, c.ID, voucher, g.box.Seal([]byte(code), Secrets.Context(c.ID)))
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // another one was first
	}
	if err != nil {
		return fmt.Errorf("giftcards: issue: %w", err)
	}
	g.MailQueued()
	return nil
}

// ErrSpent says that a gift card cannot be paid back: it was redeemed, or never paid.
var ErrSpent = errors.New("the gift card was redeemed, or is not paid")

const refundSQL = `
UPDATE gift_card SET state = 'refunding', tries = 0, next_try = clock_timestamp() WHERE id = $1 AND team_id = $2 AND state = 'issued' RETURNING voucher_id, code`

const stateSQL = `SELECT state FROM gift_card WHERE id = $1 AND team_id = $2`

// Refund pays a card of a member's team back that was not redeemed. A repeat changes nothing.
//
// Errors: ErrNoCard; ErrSpent; the database's.
func (g *GiftCards) Refund(ctx context.Context, m organizers.Member, id seats.ID) error {
	err := pgx.BeginFunc(ctx, g.db, func(tx pgx.Tx) error {
		var voucher int64
		var code string
		if err := tx.QueryRow(ctx, refundSQL, id, m.Team).Scan(&voucher, &code); err != nil {
			return err
		}
		if err := credit.VoidVoucher(ctx, tx, voucher); err != nil {
			return err
		}
		if err := organizers.TellOwners(m, organizers.NoticeCardPaidBack).Run(ctx, tx); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("paid a gift card back"), "gift-cards", map[string]string{"card": code})
	})
	switch {
	case errors.Is(err, credit.ErrRedeemed):
		return ErrSpent
	case errors.Is(err, pgx.ErrNoRows):
		return g.notIssued(ctx, m, id)
	case err != nil:
		return fmt.Errorf("giftcards: refund: %w", err)
	}
	_, err = g.work(ctx, id.String())
	return err
}

// notIssued says why a card that is not issued is not paid back; nothing if it is already.
func (g *GiftCards) notIssued(ctx context.Context, m organizers.Member, id seats.ID) error {
	var state string
	err := g.db.QueryRow(ctx, stateSQL, id, m.Team).Scan(&state)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return ErrNoCard
	case err != nil:
		return fmt.Errorf("giftcards: refund: %w", err)
	case state == Refunding || state == Refunded:
		return nil
	}
	return ErrSpent
}

const (
	refundedSQL = `UPDATE gift_card SET state = 'refunded', refunded_at = clock_timestamp(), next_try = created_at, reason = '' WHERE id = $1 AND state = 'refunding'`
	refusedSQL  = `UPDATE gift_card SET reason = $2 WHERE id = $1 AND state = 'refunding'`
)

// payBack has the provider give the money back. It is tried until all of it went back.
func (g *GiftCards) payBack(ctx context.Context, c Card) error {
	why, err := g.pays.GiveBack(ctx, g.payment(ctx, c))
	if err != nil {
		return fmt.Errorf("giftcards: refund: %w", err)
	}
	if why != "" {
		if _, err := g.db.Exec(ctx, refusedSQL, c.ID, why); err != nil {
			return fmt.Errorf("giftcards: note a refusal: %w", err)
		}
		return payments.Down(why)
	}
	if _, err := g.db.Exec(ctx, refundedSQL, c.ID); err != nil {
		return fmt.Errorf("giftcards: note a refund: %w", err)
	}
	return nil
}

const (
	cameAgainSQL = `UPDATE gift_card SET state = 'refunding', refunded_at = NULL, reason = $2, tries = 0, next_try = clock_timestamp() WHERE id = $1 AND state = 'refunded'`
	stayedSQL    = `UPDATE gift_card SET next_try = created_at WHERE id = $1 AND state = 'refunded' AND tries = $2` // unless its provider told of it meanwhile
)

// lookBack asks what became of money that went back: a bank may refuse it days later. Then it is on its way again.
func (g *GiftCards) lookBack(ctx context.Context, c Card) error {
	why, err := g.pays.IsBack(ctx, g.payment(ctx, c))
	if err != nil {
		return fmt.Errorf("giftcards: look what became of a refund: %w", err)
	}
	if why == "" {
		_, err = g.db.Exec(ctx, stayedSQL, c.ID, c.tries)
	} else {
		_, err = g.db.Exec(ctx, cameAgainSQL, c.ID, why)
	}
	switch {
	case err != nil:
		return fmt.Errorf("giftcards: note what became of a refund: %w", err)
	case why != "":
		return payments.Down(why)
	}
	return nil
}

// A card that was paid back is looked at again: the bank may have refused it. The count of tries tells this from a look before.
const makeDueSQL = `
UPDATE gift_card SET next_try = clock_timestamp(), tries = CASE state WHEN 'refunded' THEN tries + 1 ELSE tries END
 WHERE id = $1 AND state IN ('open', 'refunding', 'refunded')`

// MakeDue makes a card due: its provider told of it.
func (g *GiftCards) MakeDue(ctx context.Context, id seats.ID) error {
	if _, err := g.db.Exec(ctx, makeDueSQL, id); err != nil {
		return fmt.Errorf("giftcards: make a card due: %w", err)
	}
	g.job.Wake()
	return nil
}

// Ask asks the provider about an open card, for a buyer who is to pay it, or returned from its page.
func (g *GiftCards) Ask(ctx context.Context, c Card) (Card, error) {
	if c.State != Open {
		return c, nil
	}
	if _, err := g.work(ctx, c.ID.String()); err != nil {
		return c, err
	}
	return g.Find(ctx, c.Code)
}
