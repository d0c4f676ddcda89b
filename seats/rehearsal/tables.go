package rehearsal

import (
	"maps"
	"strings"
)

// table is how a table of the house comes into the shadow.
type table struct {
	name string
	rows string            // the condition on t for the rows of an event e
	as   map[string]string // what stands in place of columns, as SQL of t and e
}

// ofEvent and ofTeam are the usual conditions.
const (
	ofEvent = "t.event_id = e.id"
	ofTeam  = "t.team_id = e.team_id"
)

// opens is when the sale opens in the house, now if that was before.
const opens = "coalesce(greatest(e.opens_at, now()), now())"

// moved is a time of the sale in the shadow, where the sale opens now and time runs FASTER times as fast.
func moved(column string) string {
	return strings.ReplaceAll("CASE WHEN isfinite(t.COLUMN) THEN now() + (t.COLUMN - "+opens+") / FASTER ELSE t.COLUMN END", "COLUMN", column)
}

// shorter is a length of time in the shadow, of at least a second.
func shorter(column string) string {
	return strings.ReplaceAll("greatest(t.COLUMN / FASTER, interval '1 second')", "COLUMN", column)
}

// copied are the tables that come into the shadow, in the order of their references. What is not in as comes as it is.
var copied = []table{
	{"team", "t.id = e.team_id", map[string]string{"second_factor": "false"}},
	{"plan", "t.id = e.plan_id", nil},
	{"event", "t.id = e.id", map[string]string{
		"status": "'on sale'", "opens_at": "NULL", "starts_at": "greatest(t.starts_at, now() + interval '1 day')",
		"hold_length": shorter("hold_length"), "payment_length": shorter("payment_length"),
		"demo": "true", "pay_at_door": "false", "invoices": "false", "confirm_email": "'never'", // the crowd reads no mail
		"asks_birth": "false", "ticket_names": "'none'",
		"join_link": "''", "join_link_at": "NULL", "confirmation": "''", "promoter": "''", "reason": "''", // of guests and organizers
		"room_id": "NULL", "series_id": "NULL", "test_of": "NULL",
	}},
	{"section", ofEvent, nil},
	{"category", ofEvent, nil},
	{"seat", ofEvent, nil},
	{"ticket_type", ofEvent, map[string]string{"proof": "''"}},
	{"price", ofEvent, nil},
	{"tax_rate", ofTeam, nil},
	{"phase", ofEvent, map[string]string{"begins_at": moved("begins_at"), "ends_at": moved("ends_at")}},
	{"block", ofEvent + " AND t.ended_at IS NULL", map[string]string{"reason": "''", "owner": "''", "ends_at": "NULL", "kind": "''"}},
	{"code", ofEvent + " AND t.membership_id IS NULL", map[string]string{ // codes are secrets; those of members are theirs
		"code": "upper(md5(t.id::text))", "name": "'Code ' || left(t.id::text, 8)", "begins_at": moved("begins_at"), "ends_at": moved("ends_at"),
	}},
	{"allowance", ofEvent + " AND EXISTS (SELECT FROM code c WHERE c.event_id = e.id AND c.id = t.key AND c.membership_id IS NULL)", nil}, // other keys stand for persons
	{"question", ofEvent, map[string]string{"required": "false"}},                                                                         // the crowd answers none
	{"event_limit", ofEvent, map[string]string{"alarm_since": "NULL", "alarm_until": "NULL", "alarm_reason": "''", "alarm_everyone": "false"}},
	{"event_page", ofEvent, map[string]string{"organizer": "''", "email": "''", "phone": "''"}},
	{"event_text", ofEvent, nil},
	{"event_picture", ofEvent, nil},
	{"team_branding", ofTeam, map[string]string{"sender": "''", "links": "'[]'"}},
	{"team_picture", ofTeam, nil},
	{"picture_file", "EXISTS (SELECT FROM event_picture p WHERE p.event_id = e.id AND p.hash = t.hash) OR EXISTS (SELECT FROM team_picture p WHERE p.team_id = e.team_id AND p.hash = t.hash)", nil},
	{"wait_list", ofEvent, map[string]string{"note": "''", "room_since": "NULL"}},
}

// made are tables of which the shadow gets rows of its own, and why they are not copied.
var made = map[string]string{
	"seat_state": "a seat that cannot be bought in the house is blocked, without its holder; every other is available",
	"counter":    "counts what seat_state says",
	"terms":      "the first version of what the event says",
	"room":       "made from the settings of the room (Room), with a draw and secrets of its own",
	"slot":       "made with the room",
	"migration":  "the shadow runs the migrations",
	"ready":      "the same",
}

// Reasons why tables are left out.
const (
	persons  = "personal data of attendees"
	sale     = "belongs to orders, holds and payments of the house; the crowd makes its own"
	team     = "persons, keys and devices of organizers"
	secret   = "secrets of the house"
	outside  = "reaches people and machines outside"
	accounts = "money and records of the house"
	other    = "no page or step of the sale needs it"
)

// leftOut says of every other table why none of its rows comes into the shadow.
var leftOut = leaveOut(map[string]string{
	persons:  "account_passkey booking customer customer_address customer_note entrant entry email_change erasure gift_card guest idempotency_key link mandate membership seat_code session subscriber ticket_transfer turn_request typed unsubscribed wallet_device",
	sale:     "added admission called cancellation carried change confirmation consent control deposit deposit_payment demo_charge demo_news exchange hold inbox intention offer order_change order_touch orders payment payment_share presence purchase_key receipt refund refusal renewal renewal_seat resale resale_offer scan subscriber_order ticket wait_step",
	team:     "alert alert_choice alert_look api_key api_request attempt deed desk_device desk_session door invitation member openid organizer passkey password_link plan_import recovery_code security_event seen setup share totp",
	secret:   "credit_voucher erasure_key place_key public_log public_log_seat public_log_statement public_log_tile push_key team_site_key ticket_key",
	outside:  "errand errand_order event_letters hook hook_secret letter_run mail mail_text message notice team_domain team_site",
	accounts: "bank_account book_accounts book_day book_month book_order book_schedule book_touch credit_account credit_hold credit_transfer event_share fairness_report gift_card_offer history invoice invoice_due invoice_sender invoice_series payout payout_line payout_reading statement statement_entry tally till_entry till_session till_setting",
	other:    "legal_text membership_kind performance plan_picture plan_version rehearsal retention series subscription subscription_price team_change team_plan team_touch",
})

func leaveOut(reasons map[string]string) map[string]string {
	all := map[string]string{}
	for reason, names := range reasons {
		for _, name := range strings.Fields(names) {
			all[name] = reason
		}
	}
	return all
}

// dispositions says of each table what becomes of it: "copied", "made", or why it is left out.
func dispositions() map[string]string {
	all := maps.Clone(leftOut)
	for name := range made {
		all[name] = "made"
	}
	for _, t := range copied {
		all[t.name] = "copied"
	}
	return all
}
