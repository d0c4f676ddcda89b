package wallets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Device is a phone, by its own names for itself.
type Device struct {
	ID        string // its device library identifier
	PushToken string // by which Apple reaches it
}

// A pass is kept by a few phones of one person, not by a crowd.
const mostDevices = 20

// Errors of devices.
var (
	ErrDevice = errors.New("a device has an id of at most 100 letters, and a push token of at most 200")
	ErrMany   = errors.New("as many devices have this pass as may have it")
)

// What a pass says, as far as the database knows: the same is in what seats/wallets is given to make it of.
const stateOfPass = `
       md5(concat_ws('|', t.id, t.revoked_at IS NOT NULL, f.id IS DISTINCT FROM d.transfer_id, coalesce(f.name, nullif(t.name, ''), o.name), e.name, e.venue, e.starts_at, e.time_zone, e.status = 'cancelled', e.online,
           p.doors, p.street, p.postal_code, p.town, p.country, k.id, nullif(e.gates, '[]')))`

const stateFrom = lastTicket + `
  LEFT JOIN ticket_transfer f ON f.ticket_id = t.id AND f.accepted_at IS NOT NULL, event e LEFT JOIN event_page p ON p.event_id = e.id, orders o,
       (SELECT max(id) AS id FROM ticket_key WHERE signs) k`

const registerSQL = `
WITH d AS (
    SELECT $1::text AS device, $2::uuid AS serial, $3::bigint AS event_id, $4::uuid AS order_id, $5::uuid AS ticket_id, $6::uuid AS transfer_id, $7::text AS push_token
)
INSERT INTO wallet_device (device, serial, event_id, order_id, ticket_id, transfer_id, push_token, state)
SELECT d.*,` + stateOfPass + `
  FROM d, ` + stateFrom + `
 WHERE e.id = d.event_id AND o.id = d.order_id
   AND (SELECT count(*) FROM wallet_device WHERE serial = d.serial AND device <> d.device) < $8
    ON CONFLICT (device, serial) DO UPDATE SET push_token = excluded.push_token
RETURNING xmax = 0`

// Register notes that a phone has a pass and is to be told of its changes. It reports whether that is new.
//
// Errors: ErrDevice, ErrMany; the database's.
func (w *Wallets) Register(ctx context.Context, h Holding, d Device) (fresh bool, err error) {
	if !d.fits() || d.PushToken == "" || len(d.PushToken) > 200 || !printable(d.PushToken) {
		return false, ErrDevice
	}
	var transfer *seats.ID
	if h.Received {
		transfer = &h.transfer
	}
	err = w.db.QueryRow(ctx, registerSQL, d.ID, h.Serial, h.event, h.order, h.first, transfer, d.PushToken, mostDevices).Scan(&fresh)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, ErrMany
	}
	if err != nil {
		return false, fmt.Errorf("wallets: register a device: %w", err)
	}
	return fresh, nil
}

func (d Device) fits() bool { return d.ID != "" && len(d.ID) <= 100 && printable(d.ID) }

// printable reports whether a text is of ASCII letters, digits and signs.
func printable(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}

const unregisterSQL = `DELETE FROM wallet_device WHERE device = $1 AND serial = $2`

// Unregister forgets that a phone has a pass. It is no error if that is not known.
func (w *Wallets) Unregister(ctx context.Context, h Holding, d Device) error {
	if !d.fits() {
		return ErrDevice
	}
	if _, err := w.db.Exec(ctx, unregisterSQL, d.ID, h.Serial); err != nil {
		return fmt.Errorf("wallets: forget a device: %w", err)
	}
	return nil
}

// Rows of others are changed meanwhile: each node locks them in one order.
const (
	refreshOf = `
WITH seen AS (
    SELECT d.device, d.serial,` + stateOfPass + ` AS state
      FROM wallet_device d, ` + stateFrom + `
     WHERE e.id = d.event_id AND o.id = d.order_id AND `
	refreshTo = `
), due AS (
    SELECT w.device, w.serial, s.state FROM wallet_device w JOIN seen s USING (device, serial)
     WHERE w.state <> s.state ORDER BY w.device, w.serial FOR UPDATE OF w
)
UPDATE wallet_device w SET state = due.state, changed_at = clock_timestamp(), next_push = clock_timestamp(), tries = 0
  FROM due WHERE w.device = due.device AND w.serial = due.serial`

	refreshDeviceSQL = refreshOf + `d.device = $1` + refreshTo
	refreshPassSQL   = refreshOf + `d.serial = $1` + refreshTo
	refreshAllSQL    = refreshOf + `e.starts_at > clock_timestamp() - interval '1 day'` + refreshTo
)

// Tags are moments in microseconds.
const changedSQL = `
SELECT serial::text, (extract(epoch FROM changed_at) * 1000000)::bigint FROM wallet_device
 WHERE device = $1 AND (extract(epoch FROM changed_at) * 1000000)::bigint > $2 ORDER BY changed_at, serial`

// Changed lists the serial numbers of the passes that a phone has and that say something else since a tag, and the tag for its next
// question. Zero is the tag of a phone that never asked, which is told all.
func (w *Wallets) Changed(ctx context.Context, d Device, since int64) (serials []string, tag int64, err error) {
	if !d.fits() {
		return nil, since, ErrDevice
	}
	if _, err := w.db.Exec(ctx, refreshDeviceSQL, d.ID); err != nil {
		return nil, since, fmt.Errorf("wallets: look what changed: %w", err)
	}
	rows, err := w.db.Query(ctx, changedSQL, d.ID, since)
	if err != nil {
		return nil, since, fmt.Errorf("wallets: list what changed: %w", err)
	}
	tag = since
	var serial string
	var at int64
	_, err = pgx.ForEachRow(rows, []any{&serial, &at}, func() error {
		serials, tag = append(serials, serial), max(tag, at)
		return nil
	})
	if err != nil {
		return nil, since, fmt.Errorf("wallets: list what changed: %w", err)
	}
	return serials, tag, nil
}

const changedAtSQL = `SELECT max(changed_at) FROM wallet_device WHERE serial = $1`

// ChangedAt returns when a pass became what it is, as far as that was noticed; zero if no phone has it.
func (w *Wallets) ChangedAt(ctx context.Context, h Holding) (time.Time, error) {
	if _, err := w.db.Exec(ctx, refreshPassSQL, h.Serial); err != nil {
		return time.Time{}, fmt.Errorf("wallets: look whether a pass changed: %w", err)
	}
	var at *time.Time
	if err := w.db.QueryRow(ctx, changedAtSQL, h.Serial).Scan(&at); err != nil {
		return time.Time{}, fmt.Errorf("wallets: read when a pass changed: %w", err)
	}
	if at == nil {
		return time.Time{}, nil
	}
	return *at, nil
}

// The phones of a person, who has tickets of an order or was sent one.
const ofPerson = `d.event_id = ANY($1) AND ($2 = ''
    OR d.transfer_id IS NULL AND EXISTS (SELECT FROM orders WHERE id = d.order_id AND lower(email) = $2)
    OR EXISTS (SELECT FROM ticket_transfer WHERE id = d.transfer_id AND lower(email) = $2))`

const exportDevicesSQL = `
SELECT coalesce(json_agg(json_build_object('event', e.name, 'phone', d.device, 'since', d.registered_at) ORDER BY d.registered_at), '[]')
  FROM wallet_device d JOIN event e ON e.id = d.event_id WHERE ` + ofPerson

// Export returns the phones on which a person has passes of some events.
func Export(ctx context.Context, tx pgx.Tx, events []int64, email string) (list json.RawMessage, err error) {
	if err := tx.QueryRow(ctx, exportDevicesSQL, events, email).Scan(&list); err != nil {
		return nil, fmt.Errorf("wallets: export: %w", err)
	}
	return list, nil
}

const eraseDevicesSQL = `DELETE FROM wallet_device d WHERE ` + ofPerson

// Erase forgets the phones of a person in some events; of all persons for an empty email. Call it before names are erased.
func Erase(ctx context.Context, tx pgx.Tx, events []int64, email string) error {
	if _, err := tx.Exec(ctx, eraseDevicesSQL, events, email); err != nil {
		return fmt.Errorf("wallets: erase: %w", err)
	}
	return nil
}
