package main

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitlist"
)

func TestAWaitListIsSteeredFromTheShellAndEveryActIsWrittenDown(t *testing.T) {
	t.Parallel()
	folder, db := privateHouse(t)
	log := newLog(t.Output(), "text")
	office := seats.NewOffice(db, log)
	s, err := office.Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(t.Context(), `UPDATE event SET seats_per_holder = 100`); err != nil {
		t.Fatal(err)
	}
	lists := waitlist.New(db, office, log)
	if _, err := s.Block(t.Context(), seats.Keeping{Seats: s.FreeSeats(), Reason: "sold elsewhere"}); err != nil {
		t.Fatal(err)
	}
	for _, email := range []string{"ann@example.org", "bob@example.org", "cleo@example.org"} {
		if _, err := lists.Join(t.Context(), s, waitlist.NewEntry{Email: email, Wanted: seats.Wanted{Quantity: 1}}, waitlist.Joining{Verified: email}); err != nil {
			t.Fatal(err)
		}
	}
	label := s.Plan.Label(0)
	for _, step := range []struct{ args, want string }{
		{"waitlist|list|evening", "bob@example.org"},
		{"waitlist|list|morning", `no event "morning"`},
		{"waitlist|pause|evening", "needs a reason"},
		{"waitlist|pause|evening|--reason|We count.", "The wait list of evening is paused"},
		{"waitlist|list|evening", "everybody reads: We count."},
		{"waitlist|resume|evening", "goes on"},
		{"waitlist|priority|evening|bob@example.org", "needs a reason"},
		{"waitlist|priority|evening|bob@example.org|--reason|He plays.", "bob@example.org is first"},
		{"waitlist|list|evening|--email|bob@example.org", "put first"},
		{"waitlist|offer|evening|dan@example.org|--reason|x", "dan@example.org is not on the wait list"},
		{"waitlist|offer|evening|ann@example.org|--reason|x", "No seats that fit"},
		{"waitlist|offer|evening|ann@example.org|--reason|x|--seats|Moon", `no seat, row or section "Moon"`},
		{"waitlist|offer|evening|ann@example.org|--reason|She helped.|--seats|" + label, label + " of evening are offered to ann@example.org"},
		{"waitlist|remove|evening|ann@example.org|--reason|x", "is offered seats at this moment"},
		{"waitlist|remove|evening|cleo@example.org|--reason|She asked.", "does not wait for evening any more"},
		{"waitlist|list|evening", "offered"},
		{"verify", "W5"},
	} {
		out, err := try(t, append(strings.Split(step.args, "|"), "--data", folder)...)
		if err != nil {
			out += err.Error()
		}
		if !strings.Contains(out, step.want) {
			t.Errorf("usher %s said %q, not %q", strings.ReplaceAll(step.args, "|", " "), out, step.want)
		}
	}
	var acts int
	if err := db.QueryRow(t.Context(), `SELECT count(*) FROM wait_step WHERE who LIKE 'shell%'`).Scan(&acts); err != nil || acts != 5 {
		t.Errorf("%d of 5 acts were written down, %v", acts, err)
	}
}
