package series

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// What an event e with the counter row c says, as hashes. Numbers and versions of rows are not part of them: they differ from
// event to event. Rules without a tax are no rules.
const (
	textsHash = `md5(concat_ws('|',
       coalesce((SELECT (category, doors, running, intervals, age, street, postal_code, town, country, map_link, organizer, email, phone, website)::text FROM event_page WHERE event_id = e.id),
                ('', 0, 0, 0, 0, '', '', '', '', '', '', '', '', '')::text),
       (SELECT string_agg((language, subtitle, description, travel, access)::text, ',' ORDER BY language) FROM event_text WHERE event_id = e.id),
       (SELECT string_agg((kind, section, hash, alt)::text, ',' ORDER BY kind, section, hash, alt) FROM event_picture WHERE event_id = e.id)))`

	pricesHash = `md5(concat_ws('|', nullif(nullif(e.price_rules - 'offers' - 'last_offer', '{}'), '{"tax": {"rate": 0, "fee_rate": 0, "on_top": false, "by_total": false}}')::text,
       (SELECT string_agg((o - 'number')::text, ',') FROM jsonb_array_elements(e.price_rules -> 'offers') o),
       (SELECT string_agg((t.key, t.name, t.position, t.sold_to, t.least, t.most, t.proof, w.key, t.with_accessible, t.with_each)::text, ',' ORDER BY t.key)
          FROM ticket_type t LEFT JOIN ticket_type w ON w.event_id = t.event_id AND w.number = t.with_type WHERE t.event_id = e.id AND NOT t.retired),
       (SELECT string_agg((name, extract(epoch FROM begins_at), extract(epoch FROM ends_at), sells)::text, ',' ORDER BY number) FROM phase WHERE event_id = e.id AND NOT retired),
       (SELECT string_agg((f.name, t.key, k.key, p.amount)::text, ',' ORDER BY f.number, t.key, k.key)
          FROM price p JOIN ticket_type t ON t.event_id = p.event_id AND t.number = p.type JOIN category k ON k.event_id = p.event_id AND k.number = p.category
          LEFT JOIN phase f ON f.event_id = p.event_id AND f.number = p.phase
         WHERE p.event_id = e.id AND p.version = c.price_version AND NOT t.retired AND NOT coalesce(f.retired, false))))`

	settingsHash = `md5(concat_ws('|',
       (e.name, e.venue, e.time_zone, e.language, e.currency, e.hold_length, e.seats_per_holder, e.extensions, e.strict, e.no_lone_seats, e.asks_birth, e.pay_at_door,
        e.invoices, e.demo, e.payment_length, e.fee_ticket, e.fee_absorbed, e.fee_percent, e.fee_kept)::text,
       (e.cancel_until, e.cancel_fee, e.cancel_percent, e.pay_later, e.pay_before, e.confirm_email, e.online, e.join_link, e.join_early, e.confirmation)::text,
       CASE WHEN e.exchange_until IS NOT NULL THEN (e.exchange_until, e.exchange_fee)::text END,
       CASE WHEN e.resale_until IS NOT NULL THEN (e.resale_until, e.resale_fee)::text END,
       'types ' || e.types_until,
       CASE WHEN e.transfer_until IS DISTINCT FROM '0' THEN coalesce(e.transfer_until::text, 'never') END,
       CASE WHEN e.ticket_names <> 'none' THEN e.ticket_names END,
       CASE WHEN e.gates <> '[]' OR e.reentry THEN (e.gates, e.reentry)::text END,
       CASE WHEN e.rotating_codes THEN 'rotating codes' END,
       CASE WHEN e.promoter <> '' THEN 'promoter ' || e.promoter END,
       (SELECT string_agg((kind, label, required, choices)::text, ',' ORDER BY number) FROM question WHERE event_id = e.id)))`
)

const noteInheritedSQL = `
INSERT INTO performance (event_id, texts, prices, settings)
SELECT e.id, ` + textsHash + `, ` + pricesHash + `, ` + settingsHash + ` FROM event e JOIN counter c ON c.event_id = e.id WHERE e.id = ANY ($1::bigint[])`

// noteInherited writes down what new performances got of their production.
func noteInherited(ctx context.Context, tx pgx.Tx, ids []int64) error {
	if _, err := tx.Exec(ctx, noteInheritedSQL, ids); err != nil {
		return fmt.Errorf("series: note what performances are of: %w", err)
	}
	return nil
}

// A performance is as its production when a part was applied, whatever the part was before.
const renoteInheritedSQL = `
UPDATE performance p
   SET texts = CASE $2 WHEN 'texts' THEN ` + textsHash + ` ELSE texts END, prices = CASE $2 WHEN 'prices' THEN ` + pricesHash + ` ELSE prices END,
       settings = CASE $2 WHEN 'settings' THEN ` + settingsHash + ` ELSE settings END
  FROM event e JOIN counter c ON c.event_id = e.id WHERE p.event_id = e.id AND e.id = ANY ($1::bigint[])`

// renoteInherited writes down what performances got of their production in a part.
func renoteInherited(ctx context.Context, tx pgx.Tx, ids []int64, part Part) error {
	if _, err := tx.Exec(ctx, renoteInheritedSQL, ids, part); err != nil {
		return fmt.Errorf("series: note what performances got: %w", err)
	}
	return nil
}

// production is the leading performance as it is in a transaction.
type production struct {
	event  seats.Event
	plan   *seats.Plan
	prices *seats.Prices
}

func readProduction(ctx context.Context, tx pgx.Tx, slug string) (p production, err error) {
	if p.event, err = seats.EventBySlug(ctx, tx, slug); err != nil {
		return p, err
	}
	if p.plan, err = seats.LoadPlan(ctx, tx, p.event.ID); err != nil {
		return p, err
	}
	p.prices, err = seats.LoadPrices(ctx, tx, p.event.ID, p.plan)
	return p, err
}

// give gives an event a part of the production. The event is locked.
func (p production) give(ctx context.Context, tx pgx.Tx, e seats.Event, part Part) error {
	switch part {
	case Texts:
		return pages.ReplaceEvent(ctx, tx, p.event.ID, e.ID)
	case Prices:
		return p.givePrices(ctx, tx, e)
	}
	n := events.Of(p.event)
	n.StartsAt = e.StartsAt
	step, err := events.EditStep(n, nil)
	if err == nil {
		_, err = step(ctx, tx, e)
	}
	return err
}

func (p production) givePrices(ctx context.Context, tx pgx.Tx, e seats.Event) error {
	plan, err := seats.LoadPlan(ctx, tx, e.ID)
	if err != nil {
		return err
	}
	if !sameCategories(plan, p.plan) {
		return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("Its plan has other price categories than that of the production.")}
	}
	before, err := seats.LoadPrices(ctx, tx, e.ID, plan)
	if err != nil {
		return err
	}
	list, rules := pricing.Follow(before, e.Rules, p.prices, p.event.Rules)
	_, err = events.PriceStep(events.PriceEdit{List: list, Rules: &rules})(ctx, tx, e)
	return err
}

func sameCategories(p, other *seats.Plan) bool {
	if len(p.Categories) != len(other.Categories) {
		return false
	}
	for i := range p.Categories {
		if p.Categories[i].Key != other.Categories[i].Key {
			return false
		}
	}
	return true
}
