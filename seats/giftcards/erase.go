package giftcards

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

const exportCardsSQL = `
SELECT coalesce(json_agg(json_build_object('bought_at', c.created_at, 'state', c.state, 'currency', c.currency, 'amount_in_minor_units', c.amount, 'buyer', c.buyer, 'recipient', c.recipient,
       'giver', c.giver, 'message', c.message) ORDER BY c.created_at), '[]')
  FROM gift_card c WHERE c.team_id = $1 AND $2 IN (lower(c.buyer), lower(c.recipient))`

// Export returns the gift cards of a team that a person bought or got.
func Export(ctx context.Context, tx pgx.Tx, team int64, email string) (list json.RawMessage, err error) {
	if err := tx.QueryRow(ctx, exportCardsSQL, team, email).Scan(&list); err != nil {
		return nil, fmt.Errorf("giftcards: export: %w", err)
	}
	return list, nil
}

const eraseCardsSQL = `
UPDATE gift_card SET buyer = CASE WHEN lower(buyer) = $2 THEN '' ELSE buyer END, recipient = CASE WHEN lower(recipient) = $2 THEN '' ELSE recipient END, giver = '', message = ''
 WHERE team_id = $1 AND $2 IN (lower(buyer), lower(recipient)) AND state NOT IN ('open', 'refunding')`

// Erase takes a person's address, and the texts, out of the gift cards of a team that the person bought or got. Sums stay, and
// the code: it is the recipient's money.
func Erase(ctx context.Context, tx pgx.Tx, team int64, email string) error {
	if _, err := tx.Exec(ctx, eraseCardsSQL, team, email); err != nil {
		return fmt.Errorf("giftcards: erase: %w", err)
	}
	return nil
}

const eraseOldSQL = `
UPDATE gift_card c SET buyer = '', recipient = '', giver = '', message = ''
  FROM retention r WHERE r.team_id = c.team_id AND c.created_at < clock_timestamp() - make_interval(months => r.months)
   AND c.state NOT IN ('open', 'refunding') AND (c.buyer <> '' OR c.recipient <> '' OR c.giver <> '' OR c.message <> '')`

// EraseOld takes persons out of gift cards that were bought longer ago than the retention time of their team.
func EraseOld(ctx context.Context, db seats.DB) error {
	if _, err := db.Exec(ctx, eraseOldSQL); err != nil {
		return fmt.Errorf("giftcards: erase old cards: %w", err)
	}
	return nil
}

const underWaySQL = `SELECT count(*) FROM gift_card WHERE team_id = $1 AND $2 IN (lower(buyer), lower(recipient)) AND state IN ('open', 'refunding')`

// UnderWay counts the gift cards of a person that are being paid or paid back.
func UnderWay(ctx context.Context, tx pgx.Tx, team int64, email string) (n int, err error) {
	if err := tx.QueryRow(ctx, underWaySQL, team, email).Scan(&n); err != nil {
		return 0, fmt.Errorf("giftcards: find what is under way: %w", err)
	}
	return n, nil
}
