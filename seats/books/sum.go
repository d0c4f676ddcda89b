package books

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/organizers"
)

// Report is what a member's team earned, by one of Groups: a report for each currency, in the order of their codes. It is the sum of Postings.
func (b *Books) Report(ctx context.Context, m organizers.Member, f Filter, by string) (list []Report, err error) {
	if !slices.Contains(Groups, by) {
		return nil, fmt.Errorf("books: report: there is no group %q", by)
	}
	s := &summing{most: b.most, team: m.Team, filter: f, by: by, groups: map[group]*Row{}, postings: map[group]int{}}
	if err = pgx.BeginTxFunc(ctx, b.db, snapshot, func(tx pgx.Tx) error { return s.sum(ctx, tx) }); err != nil {
		return nil, fmt.Errorf("books: report: %w", err)
	}
	if len(s.touched) > 0 {
		b.counting.Wake()
	}
	return s.reports(), nil
}

// group is one of a report, without its sums.
type group struct{ currency, key, line string }

// summing is a report while it is made.
type summing struct {
	team   int64
	filter Filter
	by     string
	most   int // as in Books

	touched  []touch          // that the report is about
	events   map[int64]*Event // those that the groups need
	groups   map[group]*Row
	postings map[group]int
}

// touch is an order that changed since it was counted.
type touch struct {
	Order seats.ID
	Event int64
}

// sum adds up what is counted, and by their postings orders that changed since, and what was retained of deposits. All of it is in one snapshot.
func (s *summing) sum(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, database.PlanManySQL+`; SET LOCAL plan_cache_mode TO force_custom_plan`); err != nil {
		return err
	}
	changed, err := s.readTouched(ctx, tx)
	if err != nil {
		return fmt.Errorf("find changes: %w", err)
	}
	sums, err := s.readSums(ctx, tx, changed)
	if err != nil {
		return fmt.Errorf("read sums: %w", err)
	}
	deposits, err := s.readRetained(ctx, tx)
	if err != nil {
		return err
	}
	var needed []int64
	for _, t := range s.touched {
		needed = append(needed, t.Event)
	}
	for _, d := range deposits {
		needed = append(needed, d.id)
	}
	for _, c := range sums {
		if c.event != 0 {
			needed = append(needed, c.event)
		}
	}
	slices.Sort(needed)
	if s.events, err = someEvents(ctx, tx, slices.Compact(needed)); err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	if s.by == ByCategory || s.by == ByType {
		if err := readNames(ctx, tx, s.events); err != nil {
			return fmt.Errorf("read names: %w", err)
		}
	}
	for _, c := range sums {
		s.add(c.currency, Row{Key: c.key, Line: c.line, Event: s.events[c.event]}, c.counted)
	}
	for _, d := range deposits {
		d.event = s.events[d.id]
		s.post(d.retained())
	}
	return s.addTouched(ctx, tx)
}

// add adds to a group. A series has the event of it that was made first.
func (s *summing) add(currency string, to Row, c counted) {
	g := group{currency, to.Key, to.Line}
	row := s.groups[g]
	if row == nil {
		row = &to
		s.groups[g] = row
	} else if to.Event != nil && to.Event.ID < row.Event.ID {
		row.Event = to.Event
	}
	sums := counted{Sums: row.Sums}
	sums.add(c, 1)
	row.Sums = sums.Sums
	s.postings[g] += c.postings
}

// post adds a posting.
func (s *summing) post(p Posting) {
	if !s.filter.has(p.Day()) {
		return
	}
	c := counted{postings: 1}
	c.Sums.add(p)
	s.add(p.Event.Currency, key(p.Event, cellOf(p), s.by), c)
}

// reports are the reports that were summed. A group is in one if it has postings.
func (s *summing) reports() (list []Report) {
	at := map[string]int{}
	for g, row := range s.groups {
		if s.postings[g] == 0 {
			continue
		}
		if _, known := at[g.currency]; !known {
			at[g.currency] = len(list)
			list = append(list, Report{Currency: g.currency})
		}
		r := &list[at[g.currency]]
		r.Rows = append(r.Rows, *row)
		total := counted{Sums: r.Total}
		total.add(counted{Sums: row.Sums}, 1)
		r.Total = total.Sums
	}
	for i := range list {
		slices.SortFunc(list[i].Rows, compare(s.by))
	}
	slices.SortFunc(list, func(a, b Report) int { return cmp.Compare(a.Currency, b.Currency) })
	return list
}

// All that changed, and the events of those that the report is about.
const changedSQL = `
SELECT DISTINCT t.order_id, coalesce(e.id, 0)
  FROM book_touch t LEFT JOIN orders o ON o.id = t.order_id LEFT JOIN payment p ON p.order_id = t.order_id
  LEFT JOIN event e ON e.id = coalesce(o.event_id, p.event_id) AND ` + ofTeam

// readTouched returns the orders that changed since they were counted: all, and those that the report is about.
func (s *summing) readTouched(ctx context.Context, tx pgx.Tx) (all []seats.ID, err error) {
	rows, _ := tx.Query(ctx, changedSQL, s.team, s.filter.Event, s.filter.Series) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[touch])
	for _, t := range list {
		all = append(all, t.Order)
		if t.Event != 0 {
			s.touched = append(s.touched, t)
		}
	}
	return all, err
}

// addTouched adds the postings of orders that changed. Of many, as when nothing is counted yet, only those are read to which something happened in
// the days.
func (s *summing) addTouched(ctx context.Context, tx pgx.Tx) error {
	ids, events := make([]seats.ID, len(s.touched)), map[int64]bool{}
	for i, t := range s.touched {
		ids[i], events[t.Event] = t.Order, true
	}
	if len(ids) > s.most {
		from, to := s.filter.bounds()
		rows, _ := tx.Query(ctx, touchedSQL, slices.Collect(maps.Keys(events)), from, to) // CollectRows returns its error
		list, err := pgx.CollectRows(rows, pgx.RowTo[seats.ID])
		if err != nil {
			return fmt.Errorf("find orders: %w", err)
		}
		inDays := make(map[seats.ID]bool, len(list))
		for _, id := range list {
			inDays[id] = true
		}
		ids = slices.DeleteFunc(ids, func(id seats.ID) bool { return !inDays[id] })
	}
	for some := range slices.Chunk(ids, atOnce) {
		list, err := readHistories(ctx, tx, some, s.events)
		if err != nil {
			return err
		}
		for _, h := range list {
			if h.counts {
				h.post(s.post)
			}
		}
	}
	return nil
}

// retained is a deposit that its group does not get back, of an event by its id.
type retained struct {
	deposit
	id int64
}

const retainedSQL = `
SELECT d.event_id, d.paid_at, d.method, d.ended_at, d.outcome, d.back, d.rates
  FROM deposit d JOIN event e ON e.id = d.event_id
 WHERE d.outcome = 'retained' AND d.ended_at >= $4 AND d.ended_at < $5 AND ` + ofTeam

func (s *summing) readRetained(ctx context.Context, tx pgx.Tx) (list []retained, err error) {
	from, to := s.filter.bounds()
	err = readDeposits(ctx, tx, func(event int64, d deposit) { list = append(list, retained{d, event}) }, retainedSQL, s.team, s.filter.Event, s.filter.Series, from, to)
	return list, err
}

// sumOf is the sum of a group, as the database has it.
type sumOf struct {
	event               int64 // the performance, or the first event of a series; 0 for other groups
	currency, key, line string
	counted
}

// grouping is how the database sums a group. All but byDay is SQL of b, the rows that are summed, and of join.
type grouping struct {
	byDay            bool // the sums of days have it, else those of an event's months
	key, line, event string
	join             string
}

const ofEvent = `JOIN event e ON e.id = b.event_id`

var groupings = map[string]grouping{
	ByDay:         {byDay: true, key: "to_char(b.day, 'YYYY-MM-DD')"},
	ByChannel:     {byDay: true, key: "b.channel"},
	ByMethod:      {byDay: true, key: "b.method"},
	ByRate:        {byDay: true, key: "b.rate::text"},
	ByReason:      {key: "b.reason"},
	ByPerformance: {key: "e.slug", event: "min(e.id)", join: ofEvent},
	BySeries:      {key: "coalesce(s.slug, '')", event: "min(e.id) FILTER (WHERE s.id IS NOT NULL)", join: ofEvent + ` LEFT JOIN series s ON s.id = e.series_id`},
	ByPromoter:    {key: "e.promoter", join: ofEvent},
	ByCategory:    {key: "CASE b.line WHEN '' THEN coalesce(n.name, '') ELSE '' END", line: "b.line", join: `LEFT JOIN category n ON n.event_id = b.event_id AND n.number = b.category`},
	ByType:        {key: "CASE b.line WHEN '' THEN coalesce(n.name, '') ELSE '' END", line: "b.line", join: `LEFT JOIN ticket_type n ON n.event_id = b.event_id AND n.number = b.type`},
}

// What is counted of changed orders ($4) is taken off. It is found by their ids: the planner does not know how many changed.
const (
	columnsOfDays   = `currency, day, channel, method, rate, `
	columnsOfMonths = `currency, event_id, line, category, type, reason, `
	columnsOfSums   = `postings, tickets, gross, exchanged, refunds, fees, tax`
	takenOff        = `-postings, -tickets, -gross, -exchanged, -refunds, -fees, -tax FROM book_order WHERE order_id = ANY($4) AND day BETWEEN $2 AND $3`

	daysSQL = `
SELECT ` + columnsOfDays + columnsOfSums + ` FROM book_day WHERE team_id = $1 AND day BETWEEN $2 AND $3
 UNION ALL
SELECT ` + columnsOfDays + takenOff + ` AND team_id = $1`
	monthsSQL = `
SELECT ` + columnsOfMonths + columnsOfSums + ` FROM book_month WHERE team_id = $1 AND month >= $5 AND month < $6
 UNION ALL
SELECT ` + columnsOfMonths + `sign * postings, sign * tickets, sign * gross, sign * exchanged, sign * refunds, sign * fees, sign * tax
  FROM unnest($7::integer[], $8::date[], $9::date[]) AS edge (sign, first_day, end_day) JOIN book_order ON team_id = $1 AND day >= first_day AND day < end_day
 UNION ALL
SELECT ` + columnsOfMonths + takenOff + ` AND team_id = $1`
	someSQL = `
SELECT event_id, line, category, type, reason, ` + columnsOfDays + columnsOfSums + ` FROM book_order WHERE event_id = ANY($1) AND day BETWEEN $2 AND $3
 UNION ALL
SELECT event_id, line, category, type, reason, ` + columnsOfDays + takenOff + ` AND event_id = ANY($1)`
	filterSQL = `SELECT e.id FROM event e WHERE ` + ofTeam
)

// sql sums rows.
func (g grouping) sql(rows string) string {
	return `SELECT ` + cmp.Or(g.event, "NULL::bigint") + `, b.currency, ` + g.key + `, ` + cmp.Or(g.line, "''") + `,
       sum(postings)::bigint, sum(tickets)::bigint, sum(gross)::bigint, sum(exchanged)::bigint, sum(refunds)::bigint, sum(fees)::bigint, sum(tax)::bigint
  FROM (` + rows + `) b ` + g.join + `
 GROUP BY 2, 3, 4`
}

// readSums sums up what is counted, without what changed.
func (s *summing) readSums(ctx context.Context, tx pgx.Tx, changed []seats.ID) ([]sumOf, error) {
	from, to := s.filter.days()
	args := []any{s.team, from, to, changed}
	sql := daysSQL
	switch {
	case s.filter.Event != "" || s.filter.Series != "":
		rows, _ := tx.Query(ctx, filterSQL, s.team, s.filter.Event, s.filter.Series) // CollectRows returns its error
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return nil, err
		}
		sql, args[0] = someSQL, ids
	case !groupings[s.by].byDay:
		sql = monthsSQL
		args = append(args, monthsOf(from, to)...)
	}
	rows, _ := tx.Query(ctx, groupings[s.by].sql(sql), args...)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (c sumOf, err error) {
		var event *int64
		err = row.Scan(&event, &c.currency, &c.key, &c.line, &c.postings, &c.Tickets, &c.Gross, &c.Exchanged, &c.Refunds, &c.Fees, &c.Tax)
		if event != nil {
			c.event = *event
		}
		return c, err
	})
}

// days are the first and the last day of a filter.
func (f Filter) days() (from, to time.Time) {
	from, to = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	if day, err := time.Parse(time.DateOnly, f.From); err == nil {
		from = day
	}
	if day, err := time.Parse(time.DateOnly, f.To); err == nil {
		to = day
	}
	return from, to
}

// monthsOf are the arguments of monthsSQL for days: whole months from one to before another, and as edges the days that are to be added to
// these or taken off them, whichever are fewer. It is the sum of all days before the second edge without that of all before the first.
func monthsOf(from, to time.Time) []any {
	var signs []int
	var first, end []time.Time
	month := func(day time.Time, sign int) time.Time { // the nearest beginning of a month
		m := time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.UTC)
		if day.Day() > 15 {
			m = m.AddDate(0, 1, 0)
		}
		switch {
		case day.After(m):
			signs, first, end = append(signs, sign), append(first, m), append(end, day)
		case day.Before(m):
			signs, first, end = append(signs, -sign), append(first, day), append(end, m)
		}
		return m
	}
	next := to.AddDate(0, 0, 1)
	if next.Before(from) {
		next = from // there is no such day
	}
	begin, before := month(from, -1), month(next, 1)
	return []any{begin, before, signs, first, end}
}
