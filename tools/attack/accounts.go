package main

import (
	"fmt"
	"net/http"
	"strings"
)

// stolenSession tries what would outlast a session that was taken from its owner some time after they signed in.
func stolenSession(f *field) (string, bool) {
	b := f.manager()
	if err := f.plain.sql(`UPDATE desk_session SET proved_at = proved_at - interval '11 minutes'`); err != nil {
		return err.Error(), false
	}
	bodies := map[string]string{
		"/desk/account/passkeys/options": `{}`, "/desk/account/passkeys": `{"key":"s1"}`, "/desk/account/codes": `{"key":"s2","code":"1"}`, "/desk/account/recovery": `{"key":"s3"}`,
		"/desk/keys":             `{"key":"s4","name":"stolen","scopes":["look"],"days":30}`,
		"/desk/hooks":            `{"key":"s5","url":"https://evil.example/","kinds":["order.confirmed"]}`,
		"/desk/team/invitations": `{"key":"s6","email":"evil@example.org","role":"owner"}`,
		"/desk/bank":             `{"key":"s7","holder":"Evil","iban":"DE75512108001245126199"}`,
		"/desk/privacy/exports":  `{"key":"s8","email":"f1@example.org"}`,
	}
	for path, body := range bodies {
		if status, said := b.post(path, body); status != http.StatusForbidden || !strings.Contains(said, `"proof"`) {
			return fmt.Sprintf("%s: %d %.80s", path, status, said), false
		}
	}
	return fmt.Sprintf("%d changes asked for proof", len(bodies)), true
}

// forgetting asks for what is known of a person, has it erased and looks for the rest.
func forgetting(f *field) (string, bool) {
	const name = "Forgetmenot"
	if problem := f.order(name); problem != "" {
		return problem, false
	}
	b, person := f.manager(), fmt.Sprintf("f%d@example.org", f.stamp)
	status, said := b.post("/desk/privacy/exports", `{"email":"`+person+`"}`)
	if status != http.StatusOK || !strings.Contains(said, name) {
		return fmt.Sprintf("the export: %d %.80s", status, said), false
	}
	if err := f.plain.sql(`UPDATE event SET starts_at = clock_timestamp() - interval '3 days'`); err != nil { // what is to come keeps its tickets
		return err.Error(), false
	}
	if status, said = b.post("/desk/privacy/erasures", `{"email":"`+person+`","key":"forget"}`); status >= 300 {
		return fmt.Sprintf("the erasure: %d %.120s", status, said), false
	}
	for _, path := range []string{"/desk/events/night/orders", "/desk/events/night/exports/orders.csv", "/desk/events/night/exports/attendees.csv"} {
		if status, said := b.get(path); status != http.StatusOK || strings.Contains(said, name) || strings.Contains(said, person) {
			return fmt.Sprintf("%s: %d, with the person: %t", path, status, strings.Contains(said, name)), false
		}
	}
	return "exported, erased, in no list", f.plain.sql(`UPDATE event SET starts_at = clock_timestamp() + interval '30 days'`) == nil
}
