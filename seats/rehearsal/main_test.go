package rehearsal

import (
	"context"
	"log/slog"
	"os/exec"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// house is an event that is well set up, and a member of its team.
type house struct {
	*Rehearsals
	db    *pgxpool.Pool
	event seats.Event
	ann   organizers.Member
}

const furnishSQL = `
INSERT INTO event_page (event_id, category, doors, running, intervals, age, street, postal_code, town, country, map_link, organizer, email, phone, website)
SELECT id, 'play', 30, 120, 1, 0, 'Main Street 1', '1010', 'Vienna', 'AT', '', '', 'office@example.org', '', '' FROM event;
INSERT INTO event_text (event_id, language, subtitle, description, travel, access) SELECT id, 'en', '', 'Four people by a lake.', '', '' FROM event;
INSERT INTO legal_text (team_id, kind, version, text, published, saved_by) SELECT team_id, 'accessibility', 1, 'Step-free.', true, 'Ann' FROM event`

// open makes a house whose program of rehearsals is a script of the shell, which gets the arguments of the real one.
func open(t *testing.T, script string) *house {
	t.Helper()
	h := &house{db: seatstest.DB(t)}
	theatre, ok := plan.Named("theatre")
	if !ok {
		t.Fatal("there is no plan theatre")
	}
	var err error
	if h.event, err = events.Create(t.Context(), h.db, events.Settings{
		Name: "Evening", StartsAt: time.Date(2040, 5, 1, 18, 0, 0, 0, time.UTC), TimeZone: "Europe/Vienna",
		Status: seats.OnSale, OpensAt: time.Date(2040, 2, 1, 9, 0, 0, 0, time.UTC), Rules: &seats.PriceRules{Tax: seats.Tax{Name: "VAT", Rate: 10000, FeeRate: 20000}},
	}, theatre); err != nil {
		t.Fatal(err)
	}
	if _, err := h.db.Exec(t.Context(), furnishSQL); err != nil {
		t.Fatal(err)
	}
	desk := organizers.New(h.db, func() {})
	if h.ann, err = desk.Operator(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	h.Rehearsals = New(h.db, desk, func(ctx context.Context, args ...string) *exec.Cmd {
		return exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", script, "usher"}, args...)...)
	}, slog.New(slog.DiscardHandler))
	h.Beat, h.Mail = 20*time.Millisecond, true
	return h
}
