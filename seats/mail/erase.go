package mail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
)

const exportMailsSQL = `
SELECT coalesce(json_agg(json_build_object('kind', m.kind, 'created_at', m.created_at, 'sent_at', m.sent_at, 'refused_at', m.refused_at, 'error', m.error) ORDER BY m.id), '[]')
  FROM mail m
 WHERE lower(m.email) = $2 AND m.kind IN ('link', 'place', 'turn', 'passkey-added', 'passkey-removed')
    OR lower(m.email) = $2 AND m.code_id IN (SELECT id FROM code WHERE event_id = ANY($1))
    OR lower(m.email) = $2 AND m.kind IN ('option', 'option-ends') AND m.about IN (SELECT id::text FROM booking WHERE event_id = ANY($1))
    OR m.order_id IN (SELECT id FROM orders WHERE event_id = ANY($1) AND lower(email) = $2)
    OR m.payment_id IN (SELECT id FROM payment WHERE event_id = ANY($1) AND lower(form->>'email') = $2)
    OR m.entry_id IN (SELECT id FROM entry WHERE event_id = ANY($1) AND email = $2)
    OR m.transfer_id IN (SELECT id FROM ticket_transfer WHERE event_id = ANY($1) AND lower(CASE m.kind WHEN 'ticket-offer' THEN sent_to ELSE email END) = $2)
    OR m.email_change_id IN (SELECT id FROM email_change WHERE event_id = ANY($1) AND lower(CASE m.kind WHEN 'email-allow' THEN old_email ELSE new_email END) = $2)
    OR m.resale_offer_id IN (SELECT id FROM resale_offer WHERE event_id = ANY($1) AND lower(sent_to) = $2)`

// Export returns which mails a person got about some events.
func Export(ctx context.Context, tx pgx.Tx, events []int64, email string) (list json.RawMessage, err error) {
	if err := tx.QueryRow(ctx, exportMailsSQL, events, email).Scan(&list); err != nil {
		return nil, fmt.Errorf("mail: export: %w", err)
	}
	return list, nil
}

// Mails about what has no receiver any more are not sent. A mail's error may quote the address.
const deleteUnsentSQL = `
DELETE FROM mail m
 WHERE m.sent_at IS NULL
   AND (m.order_id IN (SELECT id FROM orders WHERE event_id = ANY($1) AND erased_at IS NOT NULL)
     OR m.payment_id IN (SELECT id FROM payment WHERE event_id = ANY($1) AND form->>'email' = '')
     OR m.entry_id IN (SELECT id FROM entry WHERE event_id = ANY($1) AND email = '')
     OR m.transfer_id IN (SELECT id FROM ticket_transfer WHERE event_id = ANY($1) AND CASE m.kind WHEN 'ticket-offer' THEN sent_to ELSE email END = '')
     OR m.email_change_id IN (SELECT id FROM email_change WHERE event_id = ANY($1) AND '' IN (old_email, new_email))
     OR m.resale_offer_id IN (SELECT id FROM resale_offer WHERE event_id = ANY($1) AND sent_to = ''))`

const eraseReceiversSQL = `
UPDATE mail m SET sent_to = NULL, error = ''
 WHERE (m.sent_to IS NOT NULL OR m.error <> '')
   AND (m.order_id IN (SELECT id FROM orders WHERE event_id = ANY($1) AND erased_at IS NOT NULL)
     OR m.payment_id IN (SELECT id FROM payment WHERE event_id = ANY($1) AND form->>'email' = '')
     OR m.entry_id IN (SELECT id FROM entry WHERE event_id = ANY($1) AND email = '')
     OR m.transfer_id IN (SELECT id FROM ticket_transfer WHERE event_id = ANY($1) AND CASE m.kind WHEN 'ticket-offer' THEN sent_to ELSE email END = '')
     OR m.email_change_id IN (SELECT id FROM email_change WHERE event_id = ANY($1) AND '' IN (old_email, new_email))
     OR m.resale_offer_id IN (SELECT id FROM resale_offer WHERE event_id = ANY($1) AND sent_to = ''))`

const eraseLinksSQL = `DELETE FROM mail WHERE lower(email) = $1 AND kind IN ('link', 'place', 'turn', 'passkey-added', 'passkey-removed')`

// A room of which another event is to come is still entered by these invitations.
const eraseInvitationsSQL = `
DELETE FROM mail m
 WHERE m.kind IN ('place', 'turn') AND m.room_id IN (SELECT room_id FROM event WHERE id = ANY($1))
   AND NOT EXISTS (SELECT FROM event WHERE room_id = m.room_id AND id <> ALL($1) AND starts_at > clock_timestamp())`

const eraseCodesSQL = `DELETE FROM mail WHERE code_id IN (SELECT id FROM code WHERE event_id = ANY($1)) AND ($2 = '' OR lower(email) = $2)`

const eraseOptionsSQL = `
DELETE FROM mail WHERE kind IN ('option', 'option-ends') AND about IN (SELECT id::text FROM booking WHERE event_id = ANY($1)) AND ($2 = '' OR lower(email) = $2)`

// Erase takes the receiver out of mails about orders, payments and entries of some events that were erased before, and
// deletes mails to the address itself, and those with codes or about options of the events. Without an address it deletes all of these, and
// invitations to their waiting rooms.
func Erase(ctx context.Context, tx pgx.Tx, events []int64, email string) error {
	for _, sql := range []string{deleteUnsentSQL, eraseReceiversSQL} {
		if _, err := tx.Exec(ctx, sql, events); err != nil {
			return fmt.Errorf("mail: erase: %w", err)
		}
	}
	for _, sql := range []string{eraseCodesSQL, eraseOptionsSQL} {
		if _, err := tx.Exec(ctx, sql, events, email); err != nil {
			return fmt.Errorf("mail: erase: %w", err)
		}
	}
	links, of := eraseLinksSQL, any(email)
	if email == "" {
		links, of = eraseInvitationsSQL, events
	}
	if _, err := tx.Exec(ctx, links, of); err != nil {
		return fmt.Errorf("mail: erase: %w", err)
	}
	return nil
}

// Erase removes the letters to an address.
func (f Folder) Erase(email string) error {
	files, err := os.ReadDir(f.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("mail: read the folder of mail: %w", err)
	}
	for _, file := range files {
		path := filepath.Join(f.Dir, file.Name())
		text, err := os.ReadFile(path)
		if err == nil && strings.Contains(strings.ToLower(string(text)), strings.ToLower(email)) {
			err = os.Remove(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("mail: erase a letter: %w", err)
		}
	}
	return nil
}
