package sales

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// Pick reads seats as organizers write them, separated by commas or lines: a seat ("Stalls/C/12"), some of a row
// ("Stalls/C/12-18"), a row ("Stalls/C"), a section or an area ("Stalls"). It returns each once, in the order of idx, or
// *ValidationError for what does not exist.
func Pick(s *seats.Sale, written string) ([]int, error) {
	var all []int
	for part := range strings.FieldsFuncSeq(written, func(r rune) bool { return r == ',' || r == ';' || r == '\n' || r == '\r' }) {
		if part = strings.TrimFunc(part, unicode.IsSpace); part == "" {
			continue
		}
		found := pickOne(s, part)
		if found == nil {
			return nil, &seats.ValidationError{Unknown: true, Message: text.Mark("This event has no seat, row or section “%s”. Nothing was changed."), Args: []any{part}}
		}
		all = append(all, found...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

func pickOne(s *seats.Sale, part string) (found []int) {
	if idx, ok := s.Seat(part); ok {
		return []int{idx}
	}
	if i := s.Plan.SectionNamed(part); i >= 0 {
		at := s.Plan.Sections[i]
		for idx := at.First; idx < at.First+at.Count; idx++ {
			found = append(found, idx)
		}
		return found
	}
	if found = pickRow(s, part); found != nil {
		return found
	}
	slash := strings.LastIndexByte(part, '/')
	if slash < 0 {
		return nil
	}
	from, to, isRange := strings.Cut(part[slash+1:], "-")
	if !isRange {
		return nil
	}
	first, ok := s.Seat(part[:slash+1] + strings.TrimSpace(from))
	last, ok2 := s.Seat(part[:slash+1] + strings.TrimSpace(to))
	if !ok || !ok2 {
		return nil
	}
	for idx := min(first, last); idx <= max(first, last); idx++ {
		found = append(found, idx)
	}
	return found
}

// pickRow returns the seats of a row: "Stalls/C".
func pickRow(s *seats.Sale, part string) (found []int) {
	slash := strings.LastIndexByte(part, '/')
	if slash < 0 {
		return nil
	}
	i := s.Plan.SectionNamed(part[:slash])
	if i < 0 {
		return nil
	}
	at := s.Plan.Sections[i]
	for idx := at.First; idx < at.First+at.Count; idx++ {
		if s.Plan.Seats[idx].Row == part[slash+1:] && part[slash+1:] != "" {
			found = append(found, idx)
		}
	}
	return found
}

// Moment is the state of a seat from one version of its event on.
type Moment struct {
	Version int64
	At      time.Time
	State   seats.State
	Holder  seats.ID // of a seat that is not free: the attendee, the order, or the block
	Reason  string   // of a block
}

// timelineVersions is how many versions one query for the past of a seat reads, which bounds its cost.
const timelineVersions = 20_000

// The versions of an event have no gap, so these are so many rows of one index.
const timelineSQL = `
SELECT c.version, c.at, c.state[c.place], c.holder[c.place], coalesce((SELECT reason FROM block WHERE id = c.holder[c.place]), '')
  FROM (SELECT version, at, state, holder, array_position(idx, $2) AS place FROM change
         WHERE event_id = $1 AND version < $3 AND version >= $3 - $4::bigint) c
 WHERE c.place IS NOT NULL
 ORDER BY c.version DESC`

// Timeline returns what happened to a seat before a version, the latest first; 0 stands for all versions. back is the
// version to continue from, 0 at the end.
func (s *Sales) Timeline(ctx context.Context, sale *seats.Sale, idx int, before int64) (list []Moment, back int64, err error) {
	if idx < 0 || idx >= len(sale.Plan.Seats) {
		return nil, 0, &seats.ValidationError{Unknown: true, Message: text.Mark("This event has no such seat.")}
	}
	if before <= 0 {
		before = sale.Version() + 1
	}
	rows, err := s.db.Query(ctx, timelineSQL, sale.Event.ID, int32(idx), before, timelineVersions)
	if err == nil {
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Moment])
	}
	if err != nil {
		return nil, 0, fmt.Errorf("sales: timeline of seat %d of event %d: %w", idx, sale.Event.ID, err)
	}
	return list, max(0, before-timelineVersions), nil
}

const blocksSQL = `
SELECT s.idx, coalesce(b.reason, '') FROM seat_state s LEFT JOIN block b ON b.id = s.holder WHERE s.event_id = $1 AND s.idx BETWEEN $2 AND $3 AND s.state = 5 /* blocked */`

// Blocked returns the reasons of the blocked seats from first to last, by idx.
func (s *Sales) Blocked(ctx context.Context, sale *seats.Sale, first, last int) (map[int]string, error) {
	rows, err := s.db.Query(ctx, blocksSQL, sale.Event.ID, first, last)
	if err != nil {
		return nil, fmt.Errorf("sales: blocked seats of event %d: %w", sale.Event.ID, err)
	}
	why := map[int]string{}
	var idx int
	var reason string
	if _, err := pgx.ForEachRow(rows, []any{&idx, &reason}, func() error { why[idx] = reason; return nil }); err != nil {
		return nil, fmt.Errorf("sales: blocked seats of event %d: %w", sale.Event.ID, err)
	}
	return why, nil
}
