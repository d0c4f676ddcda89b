package letters_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/letters"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestReminder_IsSentOnceThoughTwoNodesWriteAndOneDied(t *testing.T) {
	t.Parallel()
	h := open(t)
	const people = 30
	for range people {
		h.order(t, "ann@example.org")
	}
	h.exec(t, `UPDATE event SET starts_at = clock_timestamp() + interval '1 hour'`)
	h.exec(t, `INSERT INTO mail (order_id, kind) SELECT id, 'upcoming' FROM orders ORDER BY id LIMIT 7`) // of a node that died before it wrote the rest
	ctx, cancel := context.WithCancel(t.Context())
	var nodes sync.WaitGroup
	for range 2 {
		node := letters.New(h.db, organizers.New(h.db, func() {}))
		nodes.Go(func() { _ = jobs.NewRunner(h.db, slog.New(slog.DiscardHandler), node.Job()).Run(ctx) })
	}
	for end := time.Now().Add(30 * time.Second); h.count(t, "letter_run") == 0 && time.Now().Before(end); {
		<-time.After(5 * time.Millisecond)
	}
	cancel()
	nodes.Wait()
	if n := h.count(t, "(SELECT order_id FROM mail WHERE kind = 'upcoming' GROUP BY order_id HAVING count(*) = 1) one"); n != people {
		t.Errorf("%d of %d orders have one reminder", n, people)
	}
	if n := seatstest.Do(t.Context(), t, h.db, h.Job()); n != 0 {
		t.Errorf("%d letters are due after all were written", n)
	}
	if s, err := h.Sent(t.Context(), h.sale.Event.ID, letters.MailUpcoming); err != nil || s.Written != people || s.Ended == nil || s.Due != nil {
		t.Errorf("the desk says %+v, %v", s, err)
	}
}

func TestReminder_GoesToPaidOrdersThatHold(t *testing.T) {
	t.Parallel()
	h := open(t)
	holds, late, cancelled, erased, unpaid := h.order(t, "ann@example.org"), h.order(t, "late@example.org"), h.order(t, "bob@example.org"), h.order(t, "eve@example.org"), h.order(t, "joe@example.org")
	if err := h.orders.Revoke(t.Context(), h.sale, cancelled, false); err != nil {
		t.Fatal(err)
	}
	h.exec(t, `UPDATE orders SET created_at = clock_timestamp() WHERE id = $1`, late.ID)
	h.exec(t, `UPDATE orders SET name = '', email = '', born = NULL, answers = '{}', billing = '{}', network = '', language = '', keys = '{}', wish = '', post_to = NULL, erased_at = clock_timestamp() WHERE id = $1`, erased.ID)
	h.exec(t, `UPDATE orders SET due_at = clock_timestamp() + interval '1 hour' WHERE id = $1`, unpaid.ID)
	h.exec(t, `UPDATE event SET starts_at = clock_timestamp() + interval '1 hour'`)
	seatstest.Do(t.Context(), t, h.db, h.Job())
	if h.count(t, "mail WHERE kind = 'upcoming'") != 1 || h.count(t, "mail WHERE kind = 'upcoming' AND order_id = $1", holds.ID) != 1 {
		t.Error("not exactly the paid order got a reminder")
	}
}

func TestReminder_IsDueInTheDayAtTheVenue(t *testing.T) {
	t.Parallel()
	h := open(t)
	due := func() *time.Time {
		t.Helper()
		s, err := h.Sent(t.Context(), h.sale.Event.ID, letters.MailUpcoming)
		if err != nil {
			t.Fatal(err)
		}
		return s.Due
	}
	vienna, err := time.LoadLocation("Europe/Vienna")
	if err != nil {
		t.Fatal(err)
	}
	today := time.Now().In(vienna)
	_, offset := today.Zone()
	if _, later := today.AddDate(0, 0, 4).Zone(); later != offset { // a day of these would have 23 hours or 25
		today = today.AddDate(0, 0, 4)
	}
	for _, c := range []struct {
		starts string // days from that one, at a time in Vienna
		hours  int
		want   string // the same
	}{
		{"3 15:30", 24, "2 15:30"},
		{"3 20:00", 24, "2 18:00"},
		{"3 08:00", 24, "2 10:00"},
		{"3 20:00", 72, "0 18:00"},
		{"3 11:00", 2, "3 10:00"},
		{"3 09:30", 2, "2 18:00"},
		{"3 10:30", 2, "2 18:00"},
	} {
		h.save(t, letters.Settings{Remind: true, Hours: c.hours, Thanks: letters.ThanksOff})
		at := func(said string) string {
			day, clock, _ := strings.Cut(said, " ")
			return `(date '` + today.Format(time.DateOnly) + `' + ` + day + ` + time '` + clock + `') AT TIME ZONE 'Europe/Vienna'`
		}
		h.exec(t, `UPDATE event SET starts_at = `+at(c.starts))
		var want time.Time
		if err := h.db.QueryRow(t.Context(), `SELECT `+at(c.want)).Scan(&want); err != nil {
			t.Fatal(err)
		}
		if got := due(); got == nil || !got.Equal(want) {
			t.Errorf("%d hours before %s: %v, want %v", c.hours, c.starts, got, want)
		}
	}
	for name, sql := range map[string]string{
		"turned off": `UPDATE event_letters SET remind = false`,
		"cancelled":  `UPDATE event SET status = 'cancelled', reason = 'ill'`,
	} {
		h.exec(t, sql)
		if got := due(); got != nil {
			t.Errorf("%s: a reminder is due at %v", name, got)
		}
		h.exec(t, `UPDATE event_letters SET remind = true`)
	}
}

func TestThanks_GoToWhoCameOnTheNextMorning(t *testing.T) {
	t.Parallel()
	h := open(t)
	came, away := h.order(t, "ann@example.org"), h.order(t, "bob@example.org")
	h.exec(t, `INSERT INTO scan (event_id, ticket_id, key, place, scanned_at, admitted) SELECT event_id, id, 'k', 'Online', clock_timestamp(), true FROM ticket WHERE order_id = $1`, came.ID)
	h.exec(t, `UPDATE event SET starts_at = clock_timestamp() - interval '3 days'`)
	if n := seatstest.Do(t.Context(), t, h.db, h.Job()); n != 0 || h.count(t, "mail WHERE kind = 'thanks'") != 0 {
		t.Error("thanks went out that were not turned on")
	}
	h.save(t, letters.Settings{Hours: 24, Thanks: letters.ThanksScanned, ThanksText: "It was a **good** night."})
	seatstest.Do(t.Context(), t, h.db, h.Job())
	if h.count(t, "mail WHERE kind = 'thanks'") != 1 || h.count(t, "mail WHERE kind = 'thanks' AND order_id = $1", came.ID) != 1 {
		t.Error("not exactly who came was thanked")
	}
	h.exec(t, `DELETE FROM letter_run`)
	h.save(t, letters.Settings{Hours: 24, Thanks: letters.ThanksAll, ThanksText: "Come again."})
	seatstest.Do(t.Context(), t, h.db, h.Job())
	if h.count(t, "mail WHERE kind = 'thanks'") != 2 || h.count(t, "mail WHERE kind = 'thanks' AND order_id = $1", away.ID) != 1 {
		t.Error("not all orders were thanked once")
	}
}

func TestSettings_AreRefusedWithAReasonAndKeptApart(t *testing.T) {
	t.Parallel()
	h := open(t)
	for field, bad := range map[string]letters.Settings{
		letters.FieldHours:      {Remind: true, Hours: 0, Thanks: letters.ThanksOff},
		letters.FieldNote:       {Hours: 1, Note: "a\x00b", Thanks: letters.ThanksOff},
		letters.FieldThanks:     {Hours: 1, Thanks: "some"},
		letters.FieldThanksText: {Hours: 1, Thanks: letters.ThanksAll},
	} {
		var wrong organizers.Mistakes
		if err := h.Save(t.Context(), h.ann, h.sale.Event.ID, "evening", bad, seats.NewID().String()); !errors.As(err, &wrong) || wrong.About(t.Context(), field) == "" {
			t.Errorf("%s: %v", field, err)
		}
	}
	good := letters.Settings{Version: 0, Remind: true, Hours: 48, Note: "Bring a coat.", Thanks: letters.ThanksOff}
	if err := h.Save(t.Context(), h.ann, h.sale.Event.ID, "evening", good, "k1"); err != nil {
		t.Fatal(err)
	}
	if err := h.Save(t.Context(), h.ann, h.sale.Event.ID, "evening", good, "k2"); !errors.Is(err, letters.ErrChanged) {
		t.Errorf("settings that were not read are covered by others: %v", err)
	}
	if got, err := h.Of(t.Context(), h.sale.Event.ID); err != nil || got.Hours != 48 || got.Note != "Bring a coat." || got.Version != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	foreign := organizers.Member{Team: 2, Organizer: 2, Name: "Eve", Role: organizers.Owner}
	if err := h.Save(t.Context(), foreign, h.sale.Event.ID, "evening", letters.Settings{Version: -1, Hours: 1, Thanks: letters.ThanksOff}, "k3"); err == nil {
		t.Error("another team saved the settings of the event")
	}
}

func TestUnsubscribe_HoldsForTheAddressInTheTeamOnAllNodes(t *testing.T) {
	t.Parallel()
	h := open(t)
	ann, again, bob := h.order(t, "ann@example.org"), h.order(t, "Ann@Example.org"), h.order(t, "bob@example.org")
	if _, err := h.Unsubscribe(t.Context(), seats.NewID(), false); !errors.Is(err, letters.ErrNoLink) {
		t.Errorf("a link of no order got %v", err)
	}
	for range 2 {
		if s, err := h.Unsubscribe(t.Context(), ann.ID, false); err != nil || !s.Unsubscribed || s.Email != "ann@example.org" {
			t.Fatal(s, err)
		}
	}
	node := letters.New(h.db, organizers.New(h.db, func() {}))
	if s, err := node.Subscription(t.Context(), again.ID); err != nil || !s.Unsubscribed {
		t.Errorf("another order of the address on another node: %+v, %v", s, err)
	}
	h.exec(t, `UPDATE event SET starts_at = clock_timestamp() - interval '3 days'`)
	h.save(t, letters.Settings{Hours: 24, Thanks: letters.ThanksAll, ThanksText: "Come again."})
	seatstest.Do(t.Context(), t, h.db, node.Job())
	if h.count(t, "mail WHERE kind = 'thanks'") != 1 || h.count(t, "mail WHERE kind = 'thanks' AND order_id = $1", bob.ID) != 1 {
		t.Error("who unsubscribed was thanked, or others were not")
	}
	if n, err := h.Unsubscribed(t.Context(), h.ann); n != 1 || err != nil {
		t.Errorf("the desk counts %d, %v", n, err)
	}
	if n, err := h.Unsubscribed(t.Context(), organizers.Member{Team: 2}); n != 0 || err != nil {
		t.Errorf("another team counts %d, %v", n, err)
	}
	if s, err := h.Unsubscribe(t.Context(), again.ID, true); err != nil || s.Unsubscribed {
		t.Errorf("the way back: %+v, %v", s, err)
	}
}

func TestText_KnowsItsVariablesAndRefusesOthers(t *testing.T) {
	t.Parallel()
	h := open(t)
	words := letters.Text{Kind: letters.TextUpcoming, Language: "DE", Subject: "Morgen: {event}", Opening: "Liebe {name},\r\nbis {date}.", Closing: "Ihr {team}"}
	if err := h.SaveText(t.Context(), h.ann, words, "k1"); err != nil {
		t.Fatal(err)
	}
	for tag, want := range map[string]string{"de": "Morgen: {event}", "de-AT": "Morgen: {event}", "en": "", "fr": ""} {
		if got, _, err := h.Text(t.Context(), 1, letters.TextUpcoming, tag); err != nil || got.Subject != want {
			t.Errorf("for %s: %+v, %v", tag, got, err)
		}
	}
	got, team, err := h.Text(t.Context(), 1, letters.TextUpcoming, "de")
	if err != nil || team == "" {
		t.Fatal(team, err)
	}
	filled := got.Fill(map[string]string{"event": "Lulu\nBcc: all@example.org", "name": "{team} Ann", "date": "1. März", "team": "Haus"})
	if filled.Subject != "Morgen: Lulu Bcc: all@example.org" || filled.Opening != "Liebe {team} Ann,\nbis 1. März." || filled.Closing != "Ihr Haus" {
		t.Errorf("filled: %+v", filled)
	}
	for field, bad := range map[string]letters.Text{
		letters.FieldKind:     {Kind: "bill", Language: "de", Opening: "x"},
		letters.FieldLanguage: {Kind: letters.TextThanks, Language: "!", Opening: "x"},
		letters.FieldSubject:  {Kind: letters.TextThanks, Language: "de", Subject: "a\nBcc: all@example.org"},
		letters.FieldOpening:  {Kind: letters.TextThanks, Language: "de", Opening: "Dear {surname}"},
		letters.FieldClosing:  {Kind: letters.TextOffer, Language: "de", Closing: "Order {order}"},
	} {
		var wrong organizers.Mistakes
		if err := h.SaveText(t.Context(), h.ann, bad, seats.NewID().String()); !errors.As(err, &wrong) || wrong.About(t.Context(), field) == "" {
			t.Errorf("%s: %v", field, err)
		}
	}
	if list, err := h.Texts(t.Context(), organizers.Member{Team: 2}); len(list) != 0 || err != nil {
		t.Errorf("another team reads %v, %v", list, err)
	}
	if err := h.SaveText(t.Context(), h.ann, letters.Text{Kind: letters.TextUpcoming, Language: "de"}, "k2"); err != nil {
		t.Fatal(err)
	}
	if list, err := h.Texts(t.Context(), h.ann); len(list) != 0 || err != nil {
		t.Errorf("after a reset there are %v, %v", list, err)
	}
}
