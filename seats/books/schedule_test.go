package books_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/books"
	"github.com/usherbox/usher/seats/organizers"
)

// withReader opens a house with a member who has an address.
func withReader(t *testing.T) *house {
	t.Helper()
	h := openHouse(t)
	h.member.Name, h.member.Email, h.member.Role = "ann", "ann@example.org", organizers.Manager
	if err := h.db.QueryRow(t.Context(), `WITH o AS (INSERT INTO organizer (email, name) VALUES ($1, $2) RETURNING id)
		INSERT INTO member (team_id, organizer_id, role) SELECT $3, id, $4 FROM o RETURNING organizer_id`, h.member.Email, h.member.Name, h.member.Team, h.member.Role).Scan(&h.member.Organizer); err != nil {
		t.Fatal(err)
	}
	return h
}

func scheduleOf(m organizers.Member) string { return fmt.Sprintf("%d:%d", m.Team, m.Organizer) }

// mails are the days and the files of the mails with books, in the order in which they were written.
func (h *house) mails(t *testing.T) (list []string) {
	t.Helper()
	rows, err := h.db.Query(t.Context(), `SELECT about FROM mail WHERE kind = 'books' ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var about string
		if err := rows.Scan(&about); err != nil {
			t.Fatal(err)
		}
		_, f, files, err := h.books.About(t.Context(), h.member.Email, about)
		if err != nil {
			t.Fatal(err)
		}
		one := f.From + " " + f.To
		for _, name := range files {
			one += " " + name
		}
		list = append(list, one)
	}
	return list
}

func TestSchedule_EachDayIsInOneMailOnAllNodes(t *testing.T) {
	t.Parallel()
	h := withReader(t)
	set := func(s books.Schedule) {
		t.Helper()
		if err := h.books.SetSchedule(t.Context(), h.member, s, seats.NewID().String()); err != nil {
			t.Fatal(err)
		}
	}
	looks := func() {
		t.Helper()
		var nodes sync.WaitGroup
		for range 3 {
			nodes.Go(func() {
				if _, err := h.books.Jobs()[0].Do(t.Context(), scheduleOf(h.member)); err != nil {
					t.Error(err)
				}
			})
		}
		nodes.Wait()
	}
	set(books.Schedule{Every: books.Monthly, Files: []string{books.FileReport, books.FileDatev, books.FileReport}})
	looks()
	s, err := h.books.Schedule(t.Context(), h.member)
	if err != nil || s.Next == nil || s.Next.UTC().Day() != 1 || s.Next.UTC().Hour() != 12 || !s.Next.After(time.Now()) || len(h.mails(t)) != 0 {
		t.Fatalf("%+v %v, mailed %q", s, err, h.mails(t))
	}

	// A box office that was away for months catches up, a mail for each of them, however many nodes look.
	var want []string
	ago := func(months int, files string) {
		t.Helper()
		h.exec(t, `UPDATE book_schedule SET mailed_to = (date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC' - interval '12 hours') - make_interval(months => $1))::date - 1`, months)
		rows, err := h.db.Query(t.Context(), `SELECT format('%s %s', m::date, (m + interval '1 month')::date - 1) FROM (SELECT date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC' - interval '12 hours') - make_interval(months => n) AS m FROM generate_series($1, 1, -1) n) months`, months)
		if err != nil {
			t.Fatal(err)
		}
		due, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		for _, days := range due {
			want = append(want, days+files)
		}
		for range months {
			looks()
		}
	}
	ago(5, " datev report")
	set(books.Schedule{Every: books.Monthly}) // other files, the same days
	looks()
	ago(1, "")
	if got := h.mails(t); !slices.Equal(got, want) {
		t.Errorf("mailed %q, want %q", got, want)
	}
	set(books.Schedule{Every: books.Weekly})
	if s, err = h.books.Schedule(t.Context(), h.member); err != nil || s.Next.UTC().Weekday() != time.Monday {
		t.Errorf("the next one comes %v, %v", s.Next, err)
	}
	set(books.Schedule{})
	looks()
	if s, err = h.books.Schedule(t.Context(), h.member); err != nil || s.Every != "" || len(h.mails(t)) != len(want) {
		t.Errorf("%+v, %v, mailed %q", s, err, h.mails(t))
	}
	for _, wrong := range []books.Schedule{{Every: "day"}, {Every: books.Weekly, Files: []string{"secrets"}}} {
		var refused *seats.ValidationError
		if err := h.books.SetSchedule(t.Context(), h.member, wrong, "wrong"); !errors.As(err, &refused) {
			t.Errorf("%+v is answered %v", wrong, err)
		}
	}
}

func TestSchedule_OnlyThoseWhoMayReadTheBooksGetThem(t *testing.T) {
	t.Parallel()
	h := withReader(t)
	about := scheduleOf(h.member) + ":2026-01-01:2026-01-31:report"
	if _, _, _, err := h.books.About(t.Context(), h.member.Email, about); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := h.books.About(t.Context(), "earlier@example.org", about); !errors.Is(err, books.ErrNotTheirs) {
		t.Errorf("an address that the member had before gets them: %v", err)
	}
	h.exec(t, `UPDATE member SET role = $2 WHERE organizer_id = $1`, h.member.Organizer, organizers.Viewer)
	if _, _, _, err := h.books.About(t.Context(), h.member.Email, about); !errors.Is(err, books.ErrNotTheirs) {
		t.Errorf("a viewer gets them: %v", err)
	}
}
