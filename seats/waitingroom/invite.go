package waitingroom

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// MailPlace is the kind of mail that invites somebody to a waiting room.
const MailPlace = "place"

// mostInvited is how many addresses are invited at once.
const mostInvited = 100_000

// Who has their mail already gets no second one, unless it is sent again.
const inviteSQL = `
WITH room AS (
    SELECT id FROM room WHERE slug = $1 AND entry = 'email' AND phase <> 'ended'
), sent AS (
    INSERT INTO mail AS m (email, kind, room_id)
    SELECT address, 'place', room.id FROM room, unnest($2::text[]) AS address
        ON CONFLICT (room_id, email) WHERE kind = 'place'
        DO UPDATE SET tries = 0, next_try = clock_timestamp(), sent_at = NULL, refused_at = NULL, error = '' WHERE $3
    RETURNING m.id
)
SELECT room.id, (SELECT count(*) FROM sent) FROM room`

// Invite mails people the link by which they join a room that is entered by address; again also sends it to those who were
// sent it before. It returns how many mails are on their way. Nobody is invited if one address is none.
func (c Control) Invite(ctx context.Context, slug string, addresses []string, again bool) (sent int, err error) {
	list, err := addressed(addresses)
	if err != nil {
		return 0, err
	}
	err = pgx.BeginFunc(ctx, c.DB, func(tx pgx.Tx) error {
		var room int64
		if err := tx.QueryRow(ctx, inviteSQL, slug, list, again).Scan(&room, &sent); err != nil {
			return err
		}
		return c.note(ctx, tx, room, "invite", fmt.Sprintf("%d addresses", sent))
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, c.refuse(ctx, slug, "Only a room that is entered by e-mail, and has not ended, takes invitations.")
	}
	if err != nil {
		return 0, fmt.Errorf("waitingroom: invite to room %q: %w", slug, err)
	}
	return sent, nil
}

// addressed writes addresses in one way, each once.
func addressed(addresses []string) (list []string, err error) {
	for _, text := range addresses {
		text = strings.ToLower(strings.TrimSpace(text))
		if text == "" {
			continue
		}
		if a, err := mail.ParseAddress(text); err != nil || a.Address != text || len(text) > 254 {
			return nil, &seats.Nonsense{Message: fmt.Sprintf("%q is not an e-mail address. Nobody was invited.", text)}
		}
		list = append(list, text)
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list) == 0 || len(list) > mostInvited {
		return nil, &seats.Nonsense{Message: fmt.Sprintf("%d addresses are not between 1 and 100,000. Nobody was invited.", len(list))}
	}
	return list, nil
}
