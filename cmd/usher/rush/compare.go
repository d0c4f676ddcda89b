package rush

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/usherbox/usher/seats"
)

const (
	settleTries = 10
	settlePause = 300 * time.Millisecond
	announced   = 2 * time.Second // the end of a hold may be on the map only then
	visits      = 200             // holders who come back at the end to look at their seats
)

// moment is what the box office shows at the end, and between when and when it was asked, by its own clock.
type moment struct {
	from, to int64
	view     view
	event    eventAnswer
}

// compare puts the books beside what the box office shows once the crowd is gone: the map seat by seat, the counts, and
// what holders see who come back. The map may be behind for a moment; what is still wrong after some tries is untrue.
func (r *run) compare(ctx context.Context) error {
	l := newLine(r.url)
	defer l.close()
	var wrong []string
	for try := range settleTries {
		if try > 0 {
			if err := seats.Sleep(ctx, settlePause); err != nil {
				return err
			}
		}
		m, err := r.moment(ctx, l)
		if err != nil {
			return err
		}
		if wrong = r.differences(m); len(wrong) == 0 {
			break
		}
	}
	for _, w := range wrong {
		r.books.lie("%s", w)
	}
	return r.visit(ctx, l)
}

func (r *run) moment(ctx context.Context, l *line) (m moment, err error) {
	sent := wall()
	if err := get(ctx, l, "/events/"+r.house.slug+"/map.bin"); err != nil {
		return m, err
	}
	if m.view, err = readView(slices.Clone(l.body)); err != nil {
		return m, err
	}
	if m.view.n != len(r.house.seats) {
		return m, fmt.Errorf("rush: the map has %d seats and the event %d", m.view.n, len(r.house.seats))
	}
	m.event, err = readEvent(ctx, l, r.house.slug)
	m.from, m.to = sent+r.books.clock.least, wall()+r.books.clock.most
	return m, err
}

// differences lists what the box office shows and the books do not, and the other way round.
func (r *run) differences(m moment) (wrong []string) {
	b := r.books
	b.mu.Lock()
	defer b.mu.Unlock()
	surely, perhaps := make([]bool, m.view.n), make([]bool, m.view.n)
	for _, g := range b.grants {
		for _, idx := range g.seats {
			surely[idx] = surely[idx] || g.from < m.from && g.earliest() > m.to
			perhaps[idx] = perhaps[idx] || g.latest() > m.from || g.gone == 0 && g.until > m.from-int64(announced)
		}
	}
	least, most := 0, r.house.strangers
	for i := range b.ghosts {
		if _, until := b.lasts(&b.ghosts[i]); until > m.from-int64(announced) {
			most += b.ghosts[i].size
		}
	}
	for idx := range surely {
		name := r.house.seats[idx].label
		switch {
		case surely[idx] && m.view.isFree(idx):
			wrong = append(wrong, name+" is somebody's by the books, and the map shows it free")
		case !perhaps[idx] && !m.view.isFree(idx) && r.house.seats[idx].free && r.crowd.Own && !b.mayHave(r.house, int32(idx), m.from-int64(announced), m.to):
			wrong = append(wrong, name+" is nobody's by the books, and the map does not show it free")
		}
		if surely[idx] {
			least++
		}
		if perhaps[idx] {
			most++
		}
	}
	if n := m.event.Held + m.event.Sold; n < least || n > most && r.crowd.Own {
		wrong = append(wrong, fmt.Sprintf("the event counts %d seats as held or sold; by the books it is between %d and %d", n, least, most))
	}
	return wrong
}

// visit lets some of those who hold seats come back and look: they must find what they were told is theirs.
func (r *run) visit(ctx context.Context, l *line) error {
	step := max(1, len(r.books.grants)/visits)
	for i := 0; i < len(r.books.grants); i += step {
		g := r.books.grants[i]
		if err := r.visitOne(ctx, l, g); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) visitOne(ctx context.Context, l *line, g *grant) error {
	if g.order != "" {
		return r.visitOrder(ctx, l, g)
	}
	status, _, err := l.ask(ctx, request{method: http.MethodGet, path: "/events/" + r.house.slug + "/hold", cookie: r.people[g.who].cookie})
	if err != nil || g.earliest() < wall()+r.books.clock.most { // it ended, perhaps while we asked
		return err
	}
	var a answer
	if err := json.Unmarshal(l.body, &a); err != nil || status >= http.StatusInternalServerError {
		return &errAnswer{status, string(l.body)}
	}
	if a.Hold == nil || !slices.Equal(a.Hold.Idx, g.seats) {
		r.books.lie("person %d was granted %s until %s, came back and found %.200s", g.who, r.house.names(g.seats), clockTime(g.until), l.body)
	}
	return nil
}
