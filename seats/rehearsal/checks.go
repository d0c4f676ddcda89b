package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Severity says how much a fault harms a sale.
type Severity string

// The severities, the worst first.
const (
	Stops Severity = "stops" // people cannot buy, or cannot get what they bought
	Harms Severity = "harms" // some people or some seats are concerned
	Look  Severity = "look"  // it may be meant so
)

// Severities are all of them, the worst first.
func Severities() []Severity { return []Severity{Stops, Harms, Look} }

// Fault is something in the settings of an event that is probably a mistake.
type Fault struct {
	Name     string
	Severity Severity
	Point    events.Point // of the checklist, which has words for it; empty: Wrong and Do have them
	Wrong    text.Message // what is wrong
	Do       text.Message // what to do about it
	To       string       // the page where that is done: below the event, or from / on below the desk
}

// Known is what the database of an event does not say.
type Known struct {
	events.Facts
	People int // who are expected; 0: it is not known
}

// check is a kind of fault. Details of the fault stand in place of the %s of wrong.
type check struct {
	name      string
	severity  Severity
	to        string
	wrong, do string
}

// checks are the kinds of faults besides the points of the checklist, in the order in which pages show them.
var checks = []check{
	{"begun", Stops, "settings", text.Mark("The event has begun."), text.Mark("Correct its date.")},
	{"opens-late", Stops, "settings", text.Mark("The sale starts after the event begins."), text.Mark("Let the sale start earlier, or correct the date of the event.")},
	{"zone", Look, "settings", text.Mark("Times are those of UTC."), text.Mark("Choose the time zone of the venue.")},
	{"mail-off", Stops, "", text.Mark("Mail does not leave this machine: there is no mail server."), text.Mark("Have a mail server set up. Until then, buyers get no confirmation, and the waiting list makes no offers.")},
	{"mail-stuck", Stops, "", text.Mark("Mail is not delivered: the mail server has taken none for an hour."), text.Mark("Look at the mail server, and at the log of Usher.")},
	{"types-none", Stops, "prices", text.Mark("No ticket type is sold to everyone."), text.Mark("Add one, or make sure that all buyers have a code.")},
	{"category-unsold", Stops, "prices", text.Mark("Seats of these categories can’t be bought without a code, as no ticket type for everyone has a price there: %s."), text.Mark("Set a price.")},
	{"category-free", Harms, "prices", text.Mark("Tickets of these categories cost nothing, and others have a price: %s."), text.Mark("Set a price, unless they are meant to be free.")},
	{"type-too-many", Harms, "prices", text.Mark("These ticket types can’t be bought, as an order needs more of them than one person may book: %s."), text.Mark("Lower their least number, or raise the limit per person.")},
	{"type-locked", Harms, "codes", text.Mark("These ticket types need a code, and no code unlocks them: %s."), text.Mark("Create a code for them.")},
	{"phase-never", Harms, "prices", text.Mark("These price phases are over before the sale starts, or begin after the event: %s."), text.Mark("Correct their times.")},
	{"fees", Harms, "settings", text.Mark("The fees are more than the cheapest ticket costs."), text.Mark("Lower the fee per ticket.")},
	{"tax", Look, "settings", text.Mark("No tax is set."), text.Mark("Set a rate, or say in the invoice settings why none applies.")},
	{"demo", Stops, "settings", text.Mark("The demo card is on. It moves no money."), text.Mark("Switch it off before the sale starts.")},
	{"bank", Harms, "/bank", text.Mark("Buyers may pay by bank transfer, and no bank account is entered."), text.Mark("Enter the account.")},
	{"pay-later", Harms, "settings", text.Mark("Buyers can’t pay later: their payment would be due before the sale starts."), text.Mark("Shorten how long before the start an order has to be paid.")},
	{"payment-short", Harms, "settings", text.Mark("A payment has less than 5 minutes."), text.Mark("Give it 10 minutes or more: some banks ask buyers to confirm on their phone.")},
	{"limit-capacity", Harms, "settings", text.Mark("One person may book more seats than are available."), text.Mark("Lower the limit per person.")},
	{"limit-network", Harms, "settings", text.Mark("People who share a network may claim fewer seats than one person may book."), text.Mark("Raise the limit per network.")},
	{"unprotected", Look, "settings", text.Mark("The protection against automated buyers is off."), text.Mark("Set it to automatic.")},
	{"hold-short", Harms, "settings", text.Mark("Seats are held for less than 2 minutes. Few people can pay within that time."), text.Mark("Hold them for 5 to 10 minutes.")},
	{"hold-long", Harms, "settings", text.Mark("Seats are held for more than 30 minutes. Seats that people give up come back late."), text.Mark("Hold them for 5 to 10 minutes.")},
	{"no-extension", Look, "settings", text.Mark("Buyers can’t extend their time. People with disabilities may need more of it."), text.Mark("Allow 10 extensions.")},
	{"all-blocked", Stops, "seats", text.Mark("No seat is available: all are blocked or sold."), text.Mark("Unblock seats.")},
	{"section-blocked", Look, "seats", text.Mark("No seat is available in these sections: %s."), text.Mark("Unblock seats there, unless they are meant to be blocked.")},
	{"wheelchair", Look, "plan", text.Mark("The plan has no wheelchair places."), text.Mark("Mark them in the plan.")},
	{"code-late", Harms, "codes", text.Mark("These codes end before the sale starts: %s."), text.Mark("Create codes that last longer.")},
	{"code-worth", Harms, "codes", text.Mark("These codes take off more than the most expensive ticket costs: %s."), text.Mark("Create codes for a smaller amount.")},
	{"code-all-free", Harms, "codes", text.Mark("These codes make any number of tickets free, for everyone who knows them: %s."), text.Mark("Limit how often they may be used.")},
	{"presale-late", Harms, "codes", text.Mark("The presale of these codes begins when everyone can buy already: %s."), text.Mark("Let it begin earlier, or let the sale start later.")},
	{"presale-long", Look, "codes", text.Mark("The presale of these codes goes on after everyone can buy: %s."), text.Mark("Let it end when the sale starts.")},
	{"room-none", Harms, "room", text.Mark("The event has no waiting room, and more than ten people are expected for each seat."), text.Mark("Give it a waiting room.")},
	{"room-uninvited", Stops, "room", text.Mark("The waiting room is for invited people, and no one was invited."), text.Mark("Invite people, or let everyone join.")},
	{"room-ended", Stops, "room", text.Mark("The waiting room has ended and lets no one in."), text.Mark("Make another one.")},
	{"room-paused", Stops, "room", text.Mark("The waiting room is paused and lets no one in."), text.Mark("Resume it before the sale starts.")},
	{"room-early", Harms, "room", text.Mark("The waiting room calls people before the sale starts. They can’t buy yet."), text.Mark("Let both start at the same time.")},
	{"room-late", Harms, "room", text.Mark("The waiting room opens after the sale starts. No one can buy before it opens."), text.Mark("Let both start at the same time.")},
	{"room-small", Harms, "room", text.Mark("The waiting room is too small: with so few people inside at once the sale takes about %s hours."), text.Mark("Let more people inside at once.")},
	{"room-slow", Harms, "room", text.Mark("The waiting room is too slow: at its rate the sale takes about %s hours."), text.Mark("Raise its rate, or remove the limit.")},
	{"room-hurry", Harms, "room", text.Mark("People who are called have less than 2 minutes to come."), text.Mark("Give them 5 minutes or more.")},
	{"waitlist-paused", Harms, "waitlist", text.Mark("The waiting list is paused. Seats that come back are not offered."), text.Mark("Resume it.")},
	{"hook", Harms, "/keys", text.Mark("A webhook of your team cannot be reached, or was switched off after failures."), text.Mark("Correct its address, or remove it.")},
	{"hook-untried", Look, "/hooks", text.Mark("A webhook of your team has not been answered within the last 30 days."), text.Mark("Send it a test before the sale starts.")},
	{"question", Look, "settings", text.Mark("These questions have only one answer to choose: %s."), text.Mark("Add answers, or remove the questions.")},
	{"address", Harms, "page", text.Mark("The event page has no address of the venue."), text.Mark("Enter street and town.")},
	{"contact", Look, "page", text.Mark("The event page has no email and no phone number for questions."), text.Mark("Enter one of them.")},
	{"doors", Harms, "page", text.Mark("Doors open more than 12 hours before the start."), text.Mark("Enter the minutes between doors and start.")},
	{"language", Look, "page", text.Mark("The description is missing in the language of the event."), text.Mark("Write it in that language, or correct the language of the event.")},
	{"join-link", Stops, "settings", text.Mark("The event is online, and has no link to join."), text.Mark("Enter the link.")},
	{"reminder", Look, "letters", text.Mark("The reminder would go out before the sale starts, so no buyer gets it."), text.Mark("Let it go out later.")},
	{"accessibility", Look, "/legal?kind=accessibility", text.Mark("No accessibility statement is published."), text.Mark("Publish one. Most shops in the EU need it.")},
}

// The pace of a waiting room: an order has two tickets, and a buyer is inside for the length of a hold.
const faultsSQL = `
WITH e AS MATERIALIZED (
    SELECT e.*, greatest(coalesce(e.opens_at, clock_timestamp()), clock_timestamp()) AS opens, coalesce(e.status = 'draft' OR e.opens_at > clock_timestamp(), false) AS ahead, c.price_version,
           (SELECT sum(n) FROM unnest(c.free) n) + (SELECT sum(n) FROM unnest(c.held) n) AS available
      FROM event e JOIN counter c ON c.event_id = e.id WHERE e.id = $1
), prices AS MATERIALIZED (
    SELECT b.category, b.amount, t.sold_to FROM e JOIN price b ON b.event_id = e.id AND b.version = e.price_version AND b.phase = 0
      JOIN ticket_type t ON t.event_id = e.id AND t.number = b.type AND NOT t.retired
), codes AS MATERIALIZED (
    SELECT c.*, coalesce(nullif(c.name, ''), c.code) AS called FROM code c WHERE c.event_id = $1 AND c.retired_at IS NULL
), faults (name, detail) AS (
    SELECT f.* FROM e LEFT JOIN room r ON r.id = e.room_id LEFT JOIN event_page p ON p.event_id = e.id LEFT JOIN event_limit l ON l.event_id = e.id
      LEFT JOIN event_letters w ON w.event_id = e.id,
      LATERAL (VALUES
        ('begun',           CASE WHEN e.starts_at <= clock_timestamp() THEN '' END),
        ('opens-late',      CASE WHEN e.starts_at > clock_timestamp() AND e.opens_at >= e.starts_at THEN '' END),
        ('zone',            CASE WHEN e.time_zone = 'UTC' THEN '' END),
        ('types-none',      CASE WHEN NOT EXISTS (SELECT FROM prices WHERE sold_to = 'everyone') THEN '' END),
        ('fees',            CASE WHEN e.fee_ticket > (SELECT min(amount) FROM prices WHERE amount > 0) THEN '' END),
        ('tax',             CASE WHEN coalesce((e.price_rules->'tax'->>'rate')::integer, 0) = 0 AND EXISTS (SELECT FROM prices WHERE amount > 0)
                                  AND NOT EXISTS (SELECT FROM invoice_sender s WHERE s.team_id = e.team_id AND s.exemption <> '') THEN '' END),
        ('demo',            CASE WHEN e.demo AND e.test_of IS NULL THEN '' END),
        ('bank',            CASE WHEN e.invoices AND NOT EXISTS (SELECT FROM bank_account b WHERE b.team_id = e.team_id) THEN '' END),
        ('pay-later',       CASE WHEN e.ahead AND (e.pay_at_door OR e.invoices) AND e.starts_at - e.pay_before <= e.opens AND e.opens < e.starts_at THEN '' END),
        ('payment-short',   CASE WHEN e.payment_length < '5 minutes' THEN '' END),
        ('limit-capacity',  CASE WHEN e.available > 0 AND e.seats_per_holder > e.available THEN '' END),
        ('limit-network',   CASE WHEN l.challenge <> 'off' AND l.seats_per_network < e.seats_per_holder THEN '' END),
        ('unprotected',     CASE WHEN l.challenge = 'off' THEN '' END),
        ('hold-short',      CASE WHEN e.hold_length < '2 minutes' THEN '' END),
        ('hold-long',       CASE WHEN e.hold_length > '30 minutes' THEN '' END),
        ('no-extension',    CASE WHEN e.extensions = 0 THEN '' END),
        ('all-blocked',     CASE WHEN e.available = 0 THEN '' END),
        ('wheelchair',      CASE WHEN NOT e.wheelchair AND NOT e.online THEN '' END),
        ('room-none',       CASE WHEN e.room_id IS NULL AND $2 > 10 * e.seats THEN '' END),
        ('room-uninvited',  CASE WHEN r.entry = 'email' AND NOT EXISTS (SELECT FROM control c WHERE c.room_id = r.id AND c.what = 'invite' AND c.detail <> '0 addresses') THEN '' END),
        ('room-ended',      CASE WHEN r.phase = 'ended' THEN '' END),
        ('room-paused',     CASE WHEN r.phase = 'paused' THEN '' END),
        ('room-early',      CASE WHEN r.mode = 'scheduled' AND r.opens_at < e.opens_at THEN '' END),
        ('room-late',       CASE WHEN r.mode = 'scheduled' AND r.opens_at > e.opens_at THEN '' END),
        ('room-small',      CASE WHEN e.available / 2.0 * extract(epoch FROM e.hold_length) / r.slots > 3 * 3600
                                 THEN round(e.available / 2.0 * extract(epoch FROM e.hold_length) / r.slots / 3600)::text END),
        ('room-slow',       CASE WHEN e.available / 2.0 / r.rate > 3 * 3600 THEN round((e.available / 2.0 / r.rate / 3600)::numeric)::text END),
        ('room-hurry',      CASE WHEN r.valid < '2 minutes' THEN '' END),
        ('waitlist-paused', CASE WHEN EXISTS (SELECT FROM wait_list v WHERE v.event_id = e.id AND v.paused_at IS NOT NULL) THEN '' END),
        ('hook',            CASE WHEN EXISTS (SELECT FROM hook h WHERE h.team_id = e.team_id AND h.removed_at IS NULL
                                                AND (h.failures > 0 AND h.off_at IS NULL OR h.off_at IS NOT NULL AND h.off_why <> '')) THEN '' END),
        ('hook-untried',    CASE WHEN EXISTS (SELECT FROM hook h WHERE h.team_id = e.team_id AND h.removed_at IS NULL AND h.off_at IS NULL AND h.failures = 0
                                                AND NOT EXISTS (SELECT FROM notice n WHERE n.hook_id = h.id AND n.sent_at IS NOT NULL)) THEN '' END),
        ('address',         CASE WHEN NOT e.online AND (coalesce(p.street, '') = '' OR p.town = '') THEN '' END),
        ('contact',         CASE WHEN coalesce(p.email, '') = '' AND coalesce(p.phone, '') = '' THEN '' END),
        ('doors',           CASE WHEN p.doors > 12 * 60 THEN '' END),
        ('language',        CASE WHEN EXISTS (SELECT FROM event_text t WHERE t.event_id = e.id AND t.description <> '')
                                  AND NOT EXISTS (SELECT FROM event_text t WHERE t.event_id = e.id AND t.description <> '' AND t.language = e.language) THEN '' END),
        ('join-link',       CASE WHEN e.online AND e.join_link = '' THEN '' END),
        ('reminder',        CASE WHEN e.ahead AND coalesce(w.remind, true) AND e.opens < e.starts_at AND e.starts_at - make_interval(hours => coalesce(w.hours, 24)) <= e.opens THEN '' END),
        ('accessibility',   CASE WHEN NOT EXISTS (SELECT FROM legal_text t WHERE t.team_id = e.team_id AND t.kind = 'accessibility' AND t.published) THEN '' END)
      ) f(name, detail)
    UNION ALL
    SELECT 'category-unsold', string_agg(g.name, chr(31) ORDER BY g.number) FROM category g
     WHERE g.event_id = $1 AND EXISTS (SELECT FROM seat s WHERE s.event_id = $1 AND s.category = g.number) AND EXISTS (SELECT FROM prices WHERE sold_to = 'everyone')
       AND NOT EXISTS (SELECT FROM prices x WHERE x.category = g.number AND x.sold_to = 'everyone')
    UNION ALL
    SELECT 'category-free', string_agg(g.name, chr(31) ORDER BY g.number) FROM category g
     WHERE g.event_id = $1 AND EXISTS (SELECT FROM prices WHERE amount > 0) AND (SELECT max(amount) FROM prices x WHERE x.category = g.number) = 0
    UNION ALL
    SELECT 'type-too-many', string_agg(t.name, chr(31) ORDER BY t.number) FROM e JOIN ticket_type t ON t.event_id = e.id AND NOT t.retired AND t.sold_to <> 'desk' AND t.least > e.seats_per_holder
    UNION ALL
    SELECT 'type-locked', string_agg(t.name, chr(31) ORDER BY t.number) FROM ticket_type t
     WHERE t.event_id = $1 AND NOT t.retired AND t.sold_to = 'code' AND NOT EXISTS (SELECT FROM codes c WHERE t.number = ANY (c.unlocks_types))
    UNION ALL
    SELECT 'phase-never', string_agg(f.name, chr(31) ORDER BY f.number) FROM e JOIN phase f ON f.event_id = e.id AND NOT f.retired AND (e.ahead AND f.ends_at <= e.opens OR f.begins_at >= e.starts_at)
    UNION ALL
    SELECT 'section-blocked', string_agg(s.name, chr(31) ORDER BY s.number) FROM e JOIN section s ON s.event_id = e.id
     WHERE e.available > 0 AND NOT EXISTS (SELECT FROM seat_state x WHERE x.event_id = e.id AND x.idx >= s.first AND x.idx < s.first + s.count AND x.state < 4)
    UNION ALL
    SELECT n.name, string_agg(DISTINCT c.called, chr(31)) FROM e JOIN codes c ON true, LATERAL (VALUES
        ('code-late',     e.ahead AND (NOT c.presale AND c.ends_at <= e.opens OR c.ends_at <= clock_timestamp())),
        ('code-worth',    c.amount > 0 AND NOT c.per_order AND c.amount > (SELECT max(amount) FROM prices)),
        ('code-all-free', c.percent = 10000 AND c.most = 0 AND c.per_person = 0 AND c.membership_id IS NULL),
        ('presale-late',  c.presale AND (e.opens_at IS NULL OR c.begins_at >= e.opens_at)),
        ('presale-long',  c.presale AND e.opens_at > clock_timestamp() AND c.ends_at > e.opens_at)
      ) n(name, found) WHERE n.found GROUP BY n.name
    UNION ALL
    SELECT 'question', string_agg(q.label, chr(31) ORDER BY q.number) FROM question q WHERE q.event_id = $1 AND q.kind = 'choice' AND cardinality(q.choices) < 2
)
SELECT name, detail FROM faults WHERE detail IS NOT NULL`

// Mail of all teams goes through one server. An hour is long: a server that takes nothing for so long does not rest.
const mailStuckSQL = `
SELECT EXISTS (SELECT FROM mail WHERE sent_at IS NULL AND refused_at IS NULL AND tries > 1 AND created_at < clock_timestamp() - interval '1 hour')
   AND NOT EXISTS (SELECT FROM mail WHERE sent_at > clock_timestamp() - interval '1 hour')`

// Check looks for faults in the settings of an event of the member's team. It returns the worst first.
func (rs *Rehearsals) Check(ctx context.Context, m organizers.Member, k Known) ([]Fault, error) {
	found := map[string]string{}
	if !rs.Mail {
		found["mail-off"] = ""
	}
	var stuck bool
	if err := rs.db.QueryRow(ctx, mailStuckSQL).Scan(&stuck); err != nil {
		return nil, fmt.Errorf("rehearsal: look at the mail: %w", err)
	}
	if stuck && rs.Mail {
		found["mail-stuck"] = ""
	}
	err := rs.desk.As(ctx, m, func(tx pgx.Tx) error { return readFaults(ctx, tx, k.Event.ID, k.People, found) })
	if err != nil {
		return nil, err
	}
	return sorted(points(k.Facts), found)
}

// CheckSettings is Check without what the database of a house does not say: whether mail is delivered, and the points of the checklist.
func CheckSettings(ctx context.Context, house *pgx.Conn, slug string, people int) ([]Fault, error) {
	var event int64
	if err := house.QueryRow(ctx, eventSQL, slug).Scan(&event); err != nil {
		return nil, fmt.Errorf("rehearsal: find event %q: %w", slug, err)
	}
	found := map[string]string{}
	if err := readFaults(ctx, house, event, people, found); err != nil {
		return nil, err
	}
	return sorted(nil, found)
}

// readFaults adds the faults that the database knows of, by name, with their details.
func readFaults(ctx context.Context, db seats.DB, event int64, people int, found map[string]string) error {
	rows, _ := db.Query(ctx, faultsSQL, event, people) // ForEachRow returns its error
	var name, detail string
	if _, err := pgx.ForEachRow(rows, []any{&name, &detail}, func() error { found[name] = detail; return nil }); err != nil {
		return fmt.Errorf("rehearsal: check event %d: %w", event, err)
	}
	return nil
}

// points are the faults that are points of the checklist.
func points(facts events.Facts) (list []Fault) {
	for _, c := range events.Readiness(facts) {
		if c.State != events.CheckMissing || c.Point == events.PointSale || c.Point == events.PointTest {
			continue
		}
		f := Fault{Name: string(c.Point), Point: c.Point, Severity: Look}
		if c.Asks || c.Point == events.PointPlan {
			f.Severity = Stops
		}
		list = append(list, f)
	}
	return list
}

// sorted adds the faults that were found to a list, and puts the worst first.
func sorted(list []Fault, found map[string]string) ([]Fault, error) {
	for _, c := range checks {
		detail, is := found[c.name]
		if !is {
			continue
		}
		delete(found, c.name)
		f := Fault{Name: c.name, Severity: c.severity, To: c.to, Wrong: text.Say(c.wrong), Do: text.Say(c.do)}
		if detail != "" {
			f.Wrong = text.Say(c.wrong, names(strings.Split(detail, "\x1f")))
		}
		list = append(list, f)
	}
	if len(found) > 0 {
		return nil, errors.Join(errUnknown, fmt.Errorf("%v", found))
	}
	slices.SortStableFunc(list, func(a, b Fault) int {
		return slices.Index(Severities(), a.Severity) - slices.Index(Severities(), b.Severity)
	})
	return list, nil
}

// names are what organizers call the things that a fault is about.
type names []string

// mostNames is how many things a page names.
const mostNames = 8

// In says them: "A, B and C".
func (n names) In(ctx context.Context) string {
	var list []string
	for _, name := range n[:min(len(n), mostNames)] {
		list = append(list, text.Isolate(ctx, name))
	}
	if len(n) > mostNames {
		list = append(list, "…")
	}
	return text.List(ctx, list)
}

var errUnknown = errors.New("rehearsal: a fault without words")
