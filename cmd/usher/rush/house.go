package rush

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// house is an event as the box office describes it: what can be asked for, and what was free before the crowd came.
type house struct {
	slug       string
	claims     string // the address of claims
	seats      []place
	labels     map[string]int32
	categories []string // keys, in the order of the counts of a map
	areas      []string // names
	strangers  int      // seats that were not free before the crowd came
}

// place is one seat: what it is called and where it counts.
type place struct {
	label    string
	row      int32 // neighbours have the same
	category int16 // position in house.categories
	area     int16 // position in house.areas, -1 for a seat in a row
	free     bool  // before the crowd came
}

// seatLine is a line of GET /events/{slug}/seats.
type seatLine struct {
	Seat, Section, Row, Category, State string
	Idx                                 int
}

// eventAnswer is what GET /events/{slug} says, as far as a crowd wants to know.
type eventAnswer struct {
	Seats, Free, Held, Sold int
	Areas                   []struct{ Name string }
	Categories              []struct{ Key string }
}

// look reads an event. The address must be without a slash at the end.
func look(ctx context.Context, l *line, slug string) (*house, error) {
	e, err := readEvent(ctx, l, slug)
	if err != nil {
		return nil, err
	}
	h := &house{slug: slug, claims: "/events/" + slug + "/claims", labels: map[string]int32{}}
	for _, c := range e.Categories {
		h.categories = append(h.categories, c.Key)
	}
	for _, a := range e.Areas {
		h.areas = append(h.areas, a.Name)
	}
	if err := get(ctx, l, "/events/"+slug+"/seats"); err != nil {
		return nil, err
	}
	return h, h.readSeats(bytes.Clone(l.body))
}

func readEvent(ctx context.Context, l *line, slug string) (e eventAnswer, err error) {
	if slug != url.PathEscape(slug) || slug == "" {
		return e, fmt.Errorf("rush: %q is not the word of an event in addresses", slug)
	}
	if err := get(ctx, l, "/events/"+slug); err != nil {
		return e, err
	}
	if err := json.Unmarshal(l.body, &e); err != nil {
		return e, fmt.Errorf("rush: read event %q: %w", slug, err)
	}
	return e, nil
}

// get asks for an address that must be there.
func get(ctx context.Context, l *line, path string) error {
	status, _, err := l.ask(ctx, request{method: http.MethodGet, path: path})
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("rush: %s%s answered %d", l.url.Host, path, status)
	}
	return nil
}

func (h *house) readSeats(text []byte) error {
	rows := map[string]int32{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		var s seatLine
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return fmt.Errorf("rush: read the seats of %q: %w", h.slug, err)
		}
		if s.Idx != len(h.seats) {
			return fmt.Errorf("rush: seat %q of %q has idx %d and stands in place %d", s.Seat, h.slug, s.Idx, len(h.seats))
		}
		name := s.Section + "/" + s.Row
		if _, known := rows[name]; !known {
			rows[name] = int32(len(rows))
		}
		p := place{label: s.Seat, row: rows[name], category: position(h.categories, s.Category), area: -1, free: s.State == "free" || s.State == "lapsed"}
		if s.Row == "" {
			p.area = position(h.areas, s.Section)
		}
		if !p.free {
			h.strangers++
		}
		h.labels[s.Seat] = int32(len(h.seats))
		h.seats = append(h.seats, p)
	}
	return lines.Err()
}

func position(names []string, name string) int16 {
	for i, n := range names {
		if n == name {
			return int16(i)
		}
	}
	return -1
}

// scope is where a claim leaves the choice to the box office: one category, or one area; the other is -1.
type scope struct{ category, area int16 }

func (s scope) has(p *place) bool {
	return (s.category < 0 || s.category == p.category) && (s.area < 0 || s.area == p.area)
}

// names is what a person calls these seats.
func (h *house) names(seats []int32) string {
	var labels []string
	for _, idx := range seats {
		labels = append(labels, h.seats[idx].label)
	}
	return strings.Join(labels, ", ")
}
