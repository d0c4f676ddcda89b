package series

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/text"
)

// Fields of the form of a change that may be wrong.
const (
	FieldPerformance = "performance"
	FieldClock       = "time"
)

// Change is what happens to chosen performances. What is empty stays as it is.
type Change struct {
	Performances []string       // their slugs
	Parts        []Part         // that they get of the production
	Own          bool           // those that are their own, too
	Clock        string         // when they begin on their day, such as 20:00
	Status       *events.Change // their next status

	// Cancelled returns what is committed with the cancelling of an event.
	Cancelled func(event int64) seats.TxHook `json:"-"`

	// Moved returns what is committed with another start, venue or doors of an event. May be nil.
	Moved func(event seats.Event, was Was) seats.TxHook `json:"-"`
}

// Was is what held before a change.
type Was struct {
	StartsAt time.Time
	Venue    string
	Doors    time.Duration // before the start; 0: not said
}

// Report is what a change does, or would do.
type Report struct {
	Lines  []Line
	Digest string // of the lines, and of what the production says
}

// Applies reports whether a change gives a performance a part of the production.
func (c Change) Applies(p Performance, part Part) bool {
	return slices.Contains(c.Parts, part) && !p.Leads && (c.Own || p.Parts[part] != Own)
}

// Line is what a change does to one performance.
type Line struct {
	Slug     string    `json:"slug"`
	StartsAt time.Time `json:"starts_at"` // before the change
	Steps    []Step    `json:"changes"`   // none: nothing changes
	Kept     []Part    `json:"kept"`      // parts that are its own, and stay
	Moved    bool      `json:"moved"`     // it has another start, venue or doors
}

// Step is one thing that changes.
type Step struct {
	What string `json:"what"` // a part, "time" or "status"
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// Changed is how many performances change.
func (r Report) Changed() (n int) {
	for _, l := range r.Lines {
		if len(l.Steps) > 0 {
			n++
		}
	}
	return n
}

// errPreview undoes a change that was only tried.
var errPreview = errors.New("this was a preview")

// Preview returns what a change would do to a series of the member's team. It does the change and takes it back, so it
// refuses what the change would refuse.
//
// Errors: organizers.Mistakes; *seats.Conflict and *seats.ValidationError, which name the performance; the database's.
func (a *All) Preview(ctx context.Context, m organizers.Member, s Series, c Change) (Report, error) {
	w, err := a.newWork(m, s, c)
	if err != nil {
		return Report{}, err
	}
	w.preview = true
	err = w.run(ctx, nil)
	if errors.Is(err, errPreview) {
		err = nil
	}
	return w.report, err
}

// Apply changes performances of a series of the member's team, all or none, if what happens is what the preview with this
// digest said.
//
// Errors: those of Preview; *seats.Conflict if it would be something else by now; those of organizers.Desk.WithAudit.
func (a *All) Apply(ctx context.Context, m organizers.Member, s Series, c Change, digest, key string) (Report, error) {
	w, err := a.newWork(m, s, c)
	if err != nil {
		return Report{}, err
	}
	w.digest = digest
	act := organizers.Action{
		Key: key, Form: []any{"change", s.Slug, c, digest}, What: text.Mark("changed performances"), Subject: "series/" + s.Slug,
		Detail: map[string]any{"performances": c.Performances, "parts": c.Parts, "time": c.Clock, "status": c.Status},
	}
	err = a.desk.WithAudit(ctx, m, act, func(also seats.TxHook) error { return w.run(ctx, also) })
	a.seen.forget()
	for _, id := range w.told {
		a.pages.Forget(id)
	}
	return w.report, err
}

// work is a change under way.
type work struct {
	*All
	member  organizers.Member
	series  Series
	change  Change
	clock   clock
	status  events.Step
	preview bool
	digest  string

	left   int // events to come
	lead   production
	states map[int64]map[Part]State
	hashes [3]string // of the production
	report Report
	hooks  []seats.TxHook
	told   []int64 // events with other texts
}

func (a *All) newWork(m organizers.Member, s Series, c Change) (*work, error) {
	w := &work{All: a, member: m, series: s, change: c}
	var wrong organizers.Mistakes
	if len(c.Performances) == 0 {
		wrong = append(wrong, organizers.Mistake{Field: FieldPerformance, Message: text.Mark("Choose at least one performance.")})
	}
	if len(c.Parts) == 0 && c.Clock == "" && c.Status == nil {
		wrong = append(wrong, organizers.Mistake{Field: "change", Message: text.Mark("Choose what changes.")})
	}
	if slices.ContainsFunc(c.Parts, func(p Part) bool { return !slices.Contains(Parts(), p) }) {
		wrong = append(wrong, organizers.Mistake{Field: "part", Message: text.Mark("A part is texts, prices or settings.")})
	}
	if c.Clock != "" {
		var err error
		if w.clock, err = readClock(c.Clock); err != nil {
			wrong = append(wrong, organizers.Mistake{Field: FieldClock, Message: text.Mark("Enter a time such as 19:30.")})
		}
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	if c.Status != nil {
		var err error
		if w.status, err = events.StatusStep(*c.Status); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// run changes the events in one transaction. The leading performance is locked, too: what the others get is one state of it.
func (w *work) run(ctx context.Context, also seats.TxHook) error {
	slugs := slices.Clone(w.change.Performances)
	slugs = append(slugs, w.series.LeadSlug)
	slices.Sort(slugs)
	slugs = slices.Compact(slugs)
	w.left, w.report, w.hooks = len(slugs), Report{}, nil
	hook := func(q *pgx.Batch) {
		if also != nil {
			also(q)
		}
		for _, hook := range w.hooks {
			if hook != nil {
				hook(q)
			}
		}
	}
	_, err := w.inventory.ChangeEvents(ctx, slugs, hook, func(tx pgx.Tx, e seats.Event) (changed bool, err error) {
		if w.states == nil {
			if err := w.begin(ctx, tx); err != nil {
				return false, err
			}
		}
		if slices.Contains(w.change.Performances, e.Slug) {
			line, err := w.one(ctx, tx, e)
			if err != nil {
				return false, at(e, err)
			}
			w.report.Lines = append(w.report.Lines, line)
			changed = len(line.Steps) > 0
		}
		if w.left--; w.left == 0 {
			return changed, w.end()
		}
		return changed, nil
	})
	return err
}

const hashesSQL = `SELECT ` + textsHash + `, ` + pricesHash + `, ` + settingsHash + ` FROM event e JOIN counter c ON c.event_id = e.id WHERE e.id = $1`

// begin reads the production and the states of its performances.
func (w *work) begin(ctx context.Context, tx pgx.Tx) (err error) {
	if w.lead, err = readProduction(ctx, tx, w.series.LeadSlug); err != nil {
		return err
	}
	list, err := performances(ctx, tx, w.series.ID)
	if err != nil {
		return err
	}
	w.states = map[int64]map[Part]State{}
	for _, p := range list {
		w.states[p.ID] = p.Parts
	}
	if err := tx.QueryRow(ctx, hashesSQL, w.series.Lead).Scan(&w.hashes[0], &w.hashes[1], &w.hashes[2]); err != nil {
		return fmt.Errorf("series: read the production: %w", err)
	}
	return nil
}

// one changes one performance.
func (w *work) one(ctx context.Context, tx pgx.Tx, e seats.Event) (line Line, err error) {
	line = Line{Slug: e.Slug, StartsAt: e.StartsAt, Steps: []Step{}, Kept: []Part{}}
	states, is := w.states[e.ID]
	if !is {
		return line, seats.ErrNoEvent
	}
	was, err := whatHolds(ctx, tx, e)
	if err != nil {
		return line, err
	}
	for _, part := range w.change.Parts {
		switch {
		case states[part] == Same:
			continue
		case states[part] == Own && !w.change.Own:
			line.Kept = append(line.Kept, part)
			continue
		}
		if err := w.lead.give(ctx, tx, e, part); err != nil {
			return line, err
		}
		if err := renoteInherited(ctx, tx, []int64{e.ID}, part); err != nil {
			return line, err
		}
		if part == Texts {
			w.told = append(w.told, e.ID)
		}
		line.Steps = append(line.Steps, Step{What: string(part)})
	}
	if len(line.Steps) > 0 {
		if e, err = seats.EventBySlug(ctx, tx, e.Slug); err != nil {
			return line, err
		}
	}
	if err := w.retime(ctx, tx, e, &line); err != nil {
		return line, err
	}
	if err := w.restate(ctx, tx, e, &line); err != nil {
		return line, err
	}
	if err := w.move(ctx, tx, e, was, &line); err != nil {
		return line, err
	}
	if len(line.Steps) == 0 || w.preview {
		return line, nil
	}
	return line, organizers.Note(ctx, tx, w.member, text.Mark("changed with its series"), "events/"+e.Slug, map[string]any{"series": w.series.Slug, "changes": line.Steps})
}

// retime moves a performance to another time of its day.
func (w *work) retime(ctx context.Context, tx pgx.Tx, e seats.Event, line *Line) error {
	if w.change.Clock == "" {
		return nil
	}
	before := e.Local(e.StartsAt)
	after := time.Date(before.Year(), before.Month(), before.Day(), w.clock.hour, w.clock.minute, 0, 0, before.Location())
	if after.Equal(before) {
		return nil
	}
	n := events.Of(e)
	n.StartsAt = after
	step, err := events.EditStep(n, nil)
	if err == nil {
		_, err = step(ctx, tx, e)
	}
	line.Steps = append(line.Steps, Step{"time", before.Format("15:04"), after.Format("15:04")})
	return err
}

// restate gives a performance another status.
func (w *work) restate(ctx context.Context, tx pgx.Tx, e seats.Event, line *Line) error {
	if w.status == nil {
		return nil
	}
	changed, err := w.status(ctx, tx, e)
	if err != nil || !changed {
		return err
	}
	line.Steps = append(line.Steps, Step{"status", string(e.Status), string(w.change.Status.Status)})
	if w.change.Status.Status == seats.Cancelled && w.change.Cancelled != nil {
		w.hooks = append(w.hooks, w.change.Cancelled(e.ID))
	}
	return nil
}

func whatHolds(ctx context.Context, tx pgx.Tx, e seats.Event) (Was, error) {
	doors, err := pages.Doors(ctx, tx, e.ID)
	return Was{e.StartsAt, e.Venue, doors}, err
}

// move notes whether a performance to come has another start, venue or doors by now.
func (w *work) move(ctx context.Context, tx pgx.Tx, e seats.Event, was Was, line *Line) error {
	if len(line.Steps) == 0 {
		return nil
	}
	e, err := seats.EventBySlug(ctx, tx, e.Slug)
	if err != nil {
		return err
	}
	is, err := whatHolds(ctx, tx, e)
	if err != nil {
		return err
	}
	line.Moved = e.Status != seats.Cancelled && (!is.StartsAt.Equal(was.StartsAt) || is.Venue != was.Venue || was.Doors > 0 && is.Doors != was.Doors)
	if line.Moved && w.change.Moved != nil {
		w.hooks = append(w.hooks, w.change.Moved(e, was))
	}
	return nil
}

// end decides whether the change is committed.
func (w *work) end() error {
	slices.SortFunc(w.report.Lines, func(a, b Line) int {
		if c := a.StartsAt.Compare(b.StartsAt); c != 0 {
			return c
		}
		return strings.Compare(a.Slug, b.Slug)
	})
	said, err := json.Marshal([]any{w.report.Lines, w.change, w.hashes})
	if err != nil {
		return fmt.Errorf("series: write a preview: %w", err)
	}
	sum := sha256.Sum256(said)
	w.report.Digest = hex.EncodeToString(sum[:16])
	switch {
	case w.preview:
		return errPreview
	case w.report.Digest != w.digest:
		return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("Something changed since the preview, so the change would do something else. Nothing was changed. Look at the new preview.")}
	case w.report.Changed() == 0:
		return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("The chosen performances are as you ask for already. Nothing was changed.")}
	}
	return nil
}

// at says at which performance a change was refused.
func at(e seats.Event, err error) error {
	message := text.Mark("%[1]s: %[2]s")
	var refusal *seats.Conflict
	var nonsense *seats.ValidationError
	switch {
	case errors.As(err, &refusal):
		return &seats.Conflict{Code: refusal.Code, Message: message, Args: []any{start{e}, refusal}}
	case errors.As(err, &nonsense):
		return &seats.ValidationError{Message: message, Args: []any{start{e}, nonsense}}
	}
	return err
}

// start is when an event begins, in the language of the reader.
type start struct{ seats.Event }

// In is part of text.Local.
func (s start) In(ctx context.Context) string {
	return text.Time(ctx, s.Local(s.StartsAt), "Mon 2 January 2006, 15:04")
}
