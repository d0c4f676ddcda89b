package waitlist_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitlist"
)

// judge says what is wrong with a list after its rounds; nothing if all is well.
func (m *machine) judge(t failer) string {
	n := m.h.nodes[0]
	left := append(n.sale.FreeSeats(), n.sale.Waitlisted()...)
	entries := m.read(t)
	for _, e := range entries {
		if e.state == waitlist.Waiting && fits(n.sale.Plan, e.wanted, left) {
			return fmt.Sprintf("entry %d waits for %+v, and %v are not offered to it", e.id, e.wanted, left)
		}
	}
	if waitlisted := n.sale.Waitlisted(); len(waitlisted) > 0 {
		return fmt.Sprintf("%v are held for the waitlist and not offered", waitlisted)
	}
	seen, reasons := m.seen(t), m.reasons(t)
	for _, o := range m.made(t) {
		for _, e := range entries {
			if e.state != waitlist.Waiting || e.id == o.entry || e.rank > o.rank || !seen[[2]string{o.id, fmt.Sprint(e.id)}] {
				continue
			}
			if e.passedAt == nil || e.passedAt.After(o.at) {
				return fmt.Sprintf("entry %d was passed over without a reason for offer %s", e.id, o.id)
			}
			if reasons.at(e.id, o.at) != waitlist.PassedMissed && !m.told[o.id] && fits(n.sale.Plan, e.wanted, o.seats) {
				return fmt.Sprintf("entry %d would take %v, which entry %d behind it was offered", e.id, o.seats, o.entry)
			}
		}
	}
	for _, o := range m.made(t) {
		m.told[o.id] = true
	}
	for _, e := range entries {
		was, known := m.ranks[e.id]
		if known && e.rank != was[0] && e.misses/2 == was[1]/2 {
			return fmt.Sprintf("entry %d had rank %d and has %d, and nothing took it away", e.id, was[0], e.rank)
		}
		m.ranks[e.id] = [2]int64{e.rank, e.misses}
	}
	if n := m.h.count(t, `SELECT count(*) FROM (SELECT email FROM entry n JOIN event e ON e.id = n.event_id WHERE e.slug = $1 AND n.state = 'served' GROUP BY email HAVING count(*) > 1) x`, m.h.slug); n > 0 {
		return "an entry was served twice"
	}
	return ""
}

type readEntry struct {
	id, rank int64
	misses   int64
	wanted   waitlist.Wanted
	state    string
	passedAt *time.Time
}

func (m *machine) read(t failer) []readEntry {
	rows, err := m.h.db.Query(m.h.ctx, `
		SELECT n.id, n.rank, n.quantity, n.sections, n.categories, n.together, n.fewer, n.state, n.passed_at, n.misses
		  FROM entry n JOIN event e ON e.id = n.event_id WHERE e.slug = $1 AND n.waits_since IS NOT NULL`, m.h.slug)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e readEntry, err error) {
		return e, row.Scan(&e.id, &e.rank, &e.wanted.Quantity, &e.wanted.Sections, &e.wanted.Categories, &e.wanted.Together, &e.wanted.Fewer, &e.state, &e.passedAt, &e.misses)
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// seen are the offers, each with the entries that waited when its round read the list.
func (m *machine) seen(t failer) map[[2]string]bool {
	rows, err := m.h.db.Query(m.h.ctx, `
		SELECT o.id::text, n.id::text FROM offer o JOIN entry n ON n.event_id = o.event_id AND pg_visible_in_snapshot(n.waits_in, o.saw) JOIN event e ON e.id = o.event_id WHERE e.slug = $1`, m.h.slug)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[[2]string]bool{}
	var pair [2]string
	if _, err := pgx.ForEachRow(rows, []any{&pair[0], &pair[1]}, func() error { seen[pair] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	return seen
}

// reasons are why entries were passed over, by entry, the oldest first.
type reasons map[int64][]reason

type reason struct {
	at   time.Time
	word string
}

// at is the one that was noted last at a time. An entry that is passed over again may have another one.
func (r reasons) at(entry int64, at time.Time) (word string) {
	for _, noted := range r[entry] {
		if !noted.at.After(at) {
			word = noted.word
		}
	}
	return word
}

func (m *machine) reasons(t failer) reasons {
	rows, err := m.h.db.Query(m.h.ctx, `
		SELECT w.entry_id, w.at, split_part(w.detail, ':', 1) FROM wait_step w JOIN event e ON e.id = w.event_id WHERE e.slug = $1 AND w.what = 'passed over' ORDER BY w.id`, m.h.slug)
	if err != nil {
		t.Fatal(err)
	}
	list := reasons{}
	var entry int64
	var r reason
	if _, err := pgx.ForEachRow(rows, []any{&entry, &r.at, &r.word}, func() error { list[entry] = append(list[entry], r); return nil }); err != nil {
		t.Fatal(err)
	}
	return list
}

type readOffer struct {
	id          string
	entry, rank int64
	seats       []int
	at          time.Time
}

func (m *machine) made(t failer) []readOffer {
	rows, err := m.h.db.Query(m.h.ctx, `
		SELECT o.id::text, o.entry_id, o.rank, o.seats, o.at FROM offer o JOIN event e ON e.id = o.event_id WHERE e.slug = $1`, m.h.slug)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (o readOffer, err error) {
		return o, row.Scan(&o.id, &o.entry, &o.rank, &o.seats, &o.at)
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// fits reports whether a request can be met from these seats, by trying all of them.
func fits(p *seats.Plan, w waitlist.Wanted, from []int) bool {
	least := w.Quantity
	if w.Fewer {
		least = 1
	}
	has := map[int]bool{}
	for _, idx := range from {
		s := p.Seats[idx]
		if len(w.Sections)+len(w.Categories) == 0 || slices.Contains(w.Sections, s.Section) || slices.Contains(w.Categories, s.Category) {
			has[idx] = true
		}
	}
	if !w.Together || w.Quantity == 1 {
		return len(has) >= least
	}
	places := map[[2]int]int{} // of one area, of one category
	for idx := range has {
		s := p.Seats[idx]
		if p.Sections[s.Section].Area {
			if places[[2]int{s.Section, s.Category}]++; places[[2]int{s.Section, s.Category}] >= least {
				return true
			}
			continue
		}
		run := 0
		for i := idx; has[i] && p.Seats[i].Row == s.Row && p.Seats[i].Category == s.Category && p.Seats[i].Section == s.Section; i++ {
			run++
		}
		if run >= least {
			return true
		}
	}
	return false
}
