package main

import (
	"slices"
	"strings"
	"testing"
)

// personal says what each table keeps of an attendee. docs/privacy.md says the same for people.
var personal = map[string]string{
	"erased on request and after the retention time": `
		customer customer_address customer_note guest booking orders payment refund mandate entry mail typed purchase_key gift_card unsubscribed ticket ticket_transfer email_change resale_offer wallet_device turn_request`,
	"erased on request; no event names when it is old": `
		account_passkey credit_account link membership session idempotency_key entrant`,
	"of the order or payment, and nothing of the person by itself": `
		allowance book_order book_touch cancellation carried confirmation consent exchange credit_hold credit_transfer hold intention inbox demo_charge demo_news errand_order offer order_change order_touch payment_share payout_line receipt renewal renewal_seat resale scan seat_code seat_state subscriber subscriber_order team_change team_touch`,
	"kept, because tax law asks for it": `
		invoice invoice_due statement statement_entry`,
	"of organizers, who are no attendees": `
		alert_choice book_schedule api_key attempt deed desk_device desk_session errand hook hook_secret invitation member message notice openid organizer passkey password_link plan_import recovery_code
		security_event setup share team till_entry till_session totp invoice_sender bank_account legal_text event_page event_letters event_share book_accounts mail_text team_branding`,
	"of visitors without a name, for the sale": `
		admission presence slot refusal`,
	"nothing of a person": `
		added alert alert_look api_request block book_day book_month called category change code control counter credit_voucher deposit deposit_payment door erasure erasure_key event event_limit event_picture event_text fairness_report gift_card_offer history invoice_series letter_run membership_kind payout payout_reading performance phase picture_file place_key plan plan_picture plan_version
		price push_key question ready rehearsal retention room seat section seen series subscription subscription_price tally tax_rate team_domain team_picture team_plan team_site team_site_key terms ticket_key ticket_type till_setting public_log public_log_statement public_log_seat public_log_tile wait_list wait_step`,
}

// unsaid lists what is wrong with the list of tables: one that is named not at all, twice, or not there.
func unsaid(tables []string, kept map[string]string) (problems []string) {
	named := map[string]int{}
	for _, names := range kept {
		for _, name := range strings.Fields(names) {
			named[name]++
		}
	}
	for _, name := range tables {
		if named[name] != 1 {
			problems = append(problems, name)
		}
		delete(named, name)
	}
	for name := range named {
		problems = append(problems, name)
	}
	slices.Sort(problems)
	return problems
}

func TestTable_SaysWhatItKeepsOfAPerson(t *testing.T) {
	t.Parallel()
	tables, _ := schema(t)
	for _, name := range unsaid(tables, personal) {
		t.Errorf("table %s: write down once what it keeps of a person, and erase that in seats/privacy", name)
	}
	if planted := unsaid(append(tables, "novelty"), personal); !slices.Contains(planted, "novelty") {
		t.Error("a new table without a line was not noticed")
	}
}
