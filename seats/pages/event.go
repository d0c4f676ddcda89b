package pages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/singleflight"
	"golang.org/x/text/language"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// EventPage is what the page of an event says besides its name, its time and its seats.
type EventPage struct {
	Version  int // counts the saves
	Facts    Facts
	Texts    []EventText
	Pictures []Picture
}

// Facts are what holds in every language. Zero values say nothing.
type Facts struct {
	Category string        // a word of Categories, or another one
	Doors    time.Duration // before the start
	Running  time.Duration // from start to end, intervals included
	Breaks   int           // intervals
	Age      int           // years that attendees should have at least

	Street, PostalCode, Town string
	Country                  string // ISO 3166-1, two letters
	MapLink                  string

	Organizer, Email, Phone, Website string // for attendees with questions
}

// EventText is what the page says in one language.
type EventText struct {
	Language    string // a tag of BCP 47
	Subtitle    string
	Description string // Markdown, as the next two
	Travel      string
	Access      string

	HTML TextHTML // of the Markdown
}

// TextHTML is Markdown as pages show it.
type TextHTML struct{ Description, Travel, Access string }

// Categories are the usual ones. An event may have another one, in words of its organizer.
func Categories() []string {
	return []string{"play", "musical", "opera", "concert", "dance", "comedy", "reading", "talk", "film", "family", "festival", "sport", "conference", "party"}
}

// Header is the picture at the head of the page; nil if there is none.
func (e *EventPage) Header() *Picture {
	if i := slices.IndexFunc(e.Pictures, func(p Picture) bool { return p.Kind == Header }); i >= 0 {
		return &e.Pictures[i]
	}
	return nil
}

// Views are the pictures from sections.
func (e *EventPage) Views() (list []Picture) {
	for _, p := range e.Pictures {
		if p.Kind == View {
			list = append(list, p)
		}
	}
	return list
}

// Text is the text for a reader of a language: in that language, else in the event's, else any.
func (e *EventPage) Text(reader, event string) EventText {
	for _, want := range []string{reader, base(reader), event} {
		for _, t := range e.Texts {
			if want != "" && (t.Language == want || base(t.Language) == want) {
				return t
			}
		}
	}
	if len(e.Texts) > 0 {
		return e.Texts[0]
	}
	return EventText{Language: event}
}

// base is a language without its region.
func base(tag string) string {
	short, _, _ := strings.Cut(tag, "-")
	return short
}

func (e *EventPage) empty() bool { return e.Facts == Facts{} && len(e.Texts)+len(e.Pictures) == 0 }

// Fields of the form of an event page that may be wrong.
const (
	FieldCategory    = "category"
	FieldDoors       = "doors"
	FieldRunning     = "running"
	FieldBreaks      = "intervals"
	FieldAge         = "age"
	FieldStreet      = "street"
	FieldPostalCode  = "postal_code"
	FieldTown        = "town"
	FieldCountry     = "country"
	FieldMapLink     = "map_link"
	FieldOrganizer   = "organizer"
	FieldEmail       = "email"
	FieldPhone       = "phone"
	FieldWebsite     = "website"
	FieldLanguage    = "language"
	FieldSubtitle    = "subtitle"
	FieldDescription = "description"
	FieldTravel      = "travel"
	FieldAccess      = "access"
)

// MostMinutes is the longest time that a page says.
const MostMinutes = 31 * 24 * 60

// EventDraft is an event page as it is to be saved: its facts, and its text in one language.
type EventDraft struct {
	Facts
	Text EventText
	Base int // the version when the form was opened; negative: whatever it is
}

// tidy returns the draft as the database keeps it, and what is wrong with it.
func (d EventDraft) tidy() (EventDraft, organizers.Mistakes) {
	var wrong organizers.Mistakes
	line := func(field string, text *string, most int) {
		*text = strings.Join(strings.Fields(*text), " ")
		wrong = append(wrong, unprintable(field, *text, most)...)
	}
	line(FieldCategory, &d.Category, 40)
	line(FieldStreet, &d.Street, 200)
	line(FieldPostalCode, &d.PostalCode, 20)
	line(FieldTown, &d.Town, 100)
	line(FieldCountry, &d.Country, 2)
	line(FieldOrganizer, &d.Organizer, 200)
	line(FieldEmail, &d.Email, 254)
	line(FieldPhone, &d.Phone, 40)
	line(FieldMapLink, &d.MapLink, 500)
	line(FieldWebsite, &d.Website, 500)
	line(FieldSubtitle, &d.Text.Subtitle, 200)
	for _, t := range []struct {
		field string
		text  *string
		most  int
	}{{FieldDescription, &d.Text.Description, 20_000}, {FieldTravel, &d.Text.Travel, 5_000}, {FieldAccess, &d.Text.Access, 5_000}} {
		*t.text = strings.TrimSpace(strings.ReplaceAll(*t.text, "\r\n", "\n"))
		wrong = append(wrong, unprintable(t.field, *t.text, t.most)...)
	}
	if low := strings.ToLower(d.Category); slices.Contains(Categories(), low) {
		d.Category = low
	}
	d.Country = strings.ToUpper(d.Country)
	return d, append(wrong, d.check()...)
}

// check lists what is wrong with single fields.
func (d EventDraft) check() (wrong organizers.Mistakes) {
	say := func(is bool, field, message string) {
		if is {
			wrong = append(wrong, organizers.Mistake{Field: field, Message: message})
		}
	}
	minutes := text.Mark("Enter a number of minutes, up to 44640, which is a month.")
	say(d.Doors < 0 || d.Doors > MostMinutes*time.Minute, FieldDoors, minutes)
	say(d.Running < 0 || d.Running > MostMinutes*time.Minute, FieldRunning, minutes)
	say(d.Breaks < 0 || d.Breaks > 20, FieldBreaks, text.Mark("Enter a number of intervals, up to 20."))
	say(d.Age < 0 || d.Age > 99, FieldAge, text.Mark("Enter an age in years, up to 99."))
	region, err := language.ParseRegion(cmp.Or(d.Country, "AT"))
	say(err != nil || !region.IsCountry() || len(d.Country) == 1, FieldCountry, text.Mark("Choose a country."))
	say(!isWeb(d.MapLink), FieldMapLink, text.Mark("Enter a link that begins with https://."))
	say(!isWeb(d.Website), FieldWebsite, text.Mark("Enter a link that begins with https://."))
	say(d.Email != "" && !seats.IsEmail(d.Email), FieldEmail, text.Mark("Enter an email address in the format name@example.com."))
	say(strings.Trim(d.Phone, "0123456789+()/-. ") != "", FieldPhone, text.Mark("Enter a phone number such as +43 1 234567."))
	_, err = language.Parse(d.Text.Language)
	say(err != nil, FieldLanguage, text.Mark("A language is a tag such as en, de or pt-BR."))
	return wrong
}

// unprintable lists what is wrong with a text of any kind.
func unprintable(field, typed string, most int) organizers.Mistakes {
	switch {
	case !utf8.ValidString(typed) || strings.ContainsFunc(typed, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }):
		return organizers.Mistakes{{Field: field, Message: text.Mark("The text has characters that cannot be printed.")}}
	case utf8.RuneCountInString(typed) > most:
		return organizers.Mistakes{{Field: field, Message: text.Mark("The text is longer than %d characters."), Args: []any{most}}}
	}
	return nil
}

// isWeb reports whether a link may stand on a page. No link is one.
func isWeb(link string) bool {
	u, err := url.Parse(link)
	return link == "" || err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}

const savePageSQL = `
INSERT INTO event_page (event_id, category, doors, running, intervals, age, street, postal_code, town, country, map_link, organizer, email, phone, website)
VALUES ($1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
    ON CONFLICT (event_id) DO UPDATE
   SET (category, doors, running, intervals, age, street, postal_code, town, country, map_link, organizer, email, phone, website)
     = ($3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16), version = event_page.version + 1
 WHERE $2 < 0 OR event_page.version = $2
RETURNING version`

const saveEventTextSQL = `
INSERT INTO event_text (event_id, language, subtitle, description, travel, access) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (event_id, language) DO UPDATE SET (subtitle, description, travel, access) = ($3, $4, $5, $6)`

const dropEventTextSQL = `DELETE FROM event_text WHERE event_id = $1 AND language = $2`

// SaveEvent saves the page of an event of the member's team, and returns its version. A text without words leaves the page.
//
// Errors: organizers.Mistakes; ErrChanged; those of idempotency.Key.Take; the database's.
func (p *Pages) SaveEvent(ctx context.Context, m organizers.Member, e Subject, d EventDraft, key string) (version int, err error) {
	d, wrong := d.tidy()
	if len(wrong) > 0 {
		return 0, wrong
	}
	d.Text.HTML = TextHTML{}
	err = p.desk.Change(ctx, m, key, []any{"event page", e.Slug, d}, func(tx pgx.Tx) error {
		if version, err = savePage(ctx, tx, e.ID, d); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("changed the event page"), e.address(), map[string]any{"version": version, "language": d.Text.Language})
	})
	p.events.forget(e.ID)
	return version, err
}

// Subject is the event that a page or a picture is about.
type Subject struct {
	ID   int64
	Slug string
}

func (e Subject) address() string { return "events/" + e.Slug }

func savePage(ctx context.Context, tx pgx.Tx, event int64, d EventDraft) (version int, err error) {
	err = tx.QueryRow(ctx, savePageSQL, event, d.Base, d.Category, int(d.Doors/time.Minute), int(d.Running/time.Minute), d.Breaks, d.Age,
		d.Street, d.PostalCode, d.Town, d.Country, d.MapLink, d.Organizer, d.Email, d.Phone, d.Website).Scan(&version)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, ErrChanged
	}
	if err != nil {
		return 0, fmt.Errorf("pages: save an event page: %w", err)
	}
	t := d.Text
	if t.Subtitle+t.Description+t.Travel+t.Access == "" {
		_, err = tx.Exec(ctx, dropEventTextSQL, event, t.Language)
	} else {
		_, err = tx.Exec(ctx, saveEventTextSQL, event, t.Language, t.Subtitle, t.Description, t.Travel, t.Access)
	}
	if err != nil {
		return 0, fmt.Errorf("pages: save the text of an event page: %w", err)
	}
	return version, nil
}

// CreateEvent writes the page of an event in the transaction that makes it, for demo events and tests.
func CreateEvent(ctx context.Context, tx pgx.Tx, event int64, d EventDraft) error {
	d, wrong := d.tidy()
	if len(wrong) > 0 {
		return wrong
	}
	_, err := savePage(ctx, tx, event, d)
	return err
}

const (
	copyPageSQL = `
INSERT INTO event_page (event_id, category, doors, running, intervals, age, street, postal_code, town, country, map_link, organizer, email, phone, website)
SELECT $2, category, doors, running, intervals, age, street, postal_code, town, country, map_link, organizer, email, phone, website FROM event_page WHERE event_id = $1
    ON CONFLICT DO NOTHING`

	copyTextsSQL = `
INSERT INTO event_text (event_id, language, subtitle, description, travel, access)
SELECT $2, language, subtitle, description, travel, access FROM event_text WHERE event_id = $1
    ON CONFLICT DO NOTHING`

	copyPicturesSQL = `
INSERT INTO event_picture (event_id, kind, section, hash, widths, width, height, alt)
SELECT $2, kind, section, hash, widths, width, height, alt FROM event_picture WHERE event_id = $1 AND NOT EXISTS (SELECT FROM event_picture WHERE event_id = $2) ORDER BY id`
)

// CopyEvent gives a new event of the member's team the page of another one. Done twice, it changes nothing.
func (p *Pages) CopyEvent(ctx context.Context, m organizers.Member, from, to int64) error {
	err := p.desk.As(ctx, m, func(tx pgx.Tx) error { return run(ctx, tx, from, to, copyPageSQL, copyTextsSQL, copyPicturesSQL) })
	p.events.forget(to)
	if err != nil {
		return fmt.Errorf("pages: copy the page of an event: %w", err)
	}
	return nil
}

const (
	replacePageSQL = `
INSERT INTO event_page AS had (event_id, category, doors, running, intervals, age, street, postal_code, town, country, map_link, organizer, email, phone, website)
SELECT $2::bigint, coalesce(category, ''), coalesce(doors, 0), coalesce(running, 0), coalesce(intervals, 0), coalesce(age, 0), coalesce(street, ''), coalesce(postal_code, ''),
       coalesce(town, ''), coalesce(country, ''), coalesce(map_link, ''), coalesce(organizer, ''), coalesce(email, ''), coalesce(phone, ''), coalesce(website, '')
  FROM (SELECT) one LEFT JOIN event_page ON event_id = $1::bigint
    ON CONFLICT (event_id) DO UPDATE
   SET (category, doors, running, intervals, age, street, postal_code, town, country, map_link, organizer, email, phone, website)
     = (excluded.category, excluded.doors, excluded.running, excluded.intervals, excluded.age, excluded.street, excluded.postal_code, excluded.town, excluded.country,
        excluded.map_link, excluded.organizer, excluded.email, excluded.phone, excluded.website), version = had.version + 1`

	dropTextsSQL    = `DELETE FROM event_text WHERE event_id = $2 AND $1::bigint IS NOT NULL`
	dropPicturesSQL = `DELETE FROM event_picture WHERE event_id = $2 AND $1::bigint IS NOT NULL`
)

// ReplaceEvent gives an event the page of another one in place of its own, in the transaction of a change of it. Forget follows
// the commit.
func ReplaceEvent(ctx context.Context, tx pgx.Tx, from, to int64) error {
	if err := run(ctx, tx, from, to, replacePageSQL, dropTextsSQL, copyTextsSQL, dropPicturesSQL, copyPicturesSQL); err != nil {
		return fmt.Errorf("pages: replace the page of an event: %w", err)
	}
	return nil
}

// run runs statements about two events.
func run(ctx context.Context, tx pgx.Tx, from, to int64, statements ...string) error {
	for _, sql := range statements {
		if _, err := tx.Exec(ctx, sql, from, to); err != nil {
			return err
		}
	}
	return nil
}

// Forget makes this node read the page of an event anew.
func (p *Pages) Forget(event int64) { p.events.forget(event) }

const eventPageSQL = `
SELECT version, category, doors, running, intervals, age, street, postal_code, town, country, map_link, organizer, email, phone, website
  FROM event_page WHERE event_id = $1`

const eventTextsSQL = `SELECT language, subtitle, description, travel, access FROM event_text WHERE event_id = $1 ORDER BY language`

const picturesSQL = `SELECT id, kind, section, hash, widths, width, height, alt FROM event_picture WHERE event_id = $1 ORDER BY id`

const doorsSQL = `SELECT coalesce((SELECT doors FROM event_page WHERE event_id = $1), 0)`

// Doors reads in a transaction how long before its start an event lets people in; 0: its page does not say.
func Doors(ctx context.Context, tx pgx.Tx, event int64) (time.Duration, error) {
	var minutes int
	if err := tx.QueryRow(ctx, doorsSQL, event).Scan(&minutes); err != nil {
		return 0, fmt.Errorf("pages: read when the doors open: %w", err)
	}
	return time.Duration(minutes) * time.Minute, nil
}

// Event reads what the page of an event says. An event without a page has an empty one.
func (p *Pages) Event(ctx context.Context, event int64) (*EventPage, error) {
	e, f := &EventPage{}, Facts{}
	var doors, running int
	err := p.db.QueryRow(ctx, eventPageSQL, event).Scan(&e.Version, &f.Category, &doors, &running, &f.Breaks, &f.Age, &f.Street, &f.PostalCode, &f.Town, &f.Country,
		&f.MapLink, &f.Organizer, &f.Email, &f.Phone, &f.Website)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("pages: read an event page: %w", err)
	}
	f.Doors, f.Running = time.Duration(doors)*time.Minute, time.Duration(running)*time.Minute
	e.Facts = f
	rows, err := p.db.Query(ctx, eventTextsSQL, event)
	if err == nil {
		e.Texts, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (t EventText, err error) {
			err = row.Scan(&t.Language, &t.Subtitle, &t.Description, &t.Travel, &t.Access)
			t.HTML = TextHTML{EventHTML(t.Description), EventHTML(t.Travel), EventHTML(t.Access)}
			return t, err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("pages: read the texts of an event: %w", err)
	}
	rows, err = p.db.Query(ctx, picturesSQL, event)
	if err == nil {
		e.Pictures, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Picture])
	}
	if err != nil {
		return nil, fmt.Errorf("pages: read the pictures of an event: %w", err)
	}
	return e, nil
}

// OfEvent is what attendees see of an event; nil if it has no page. It may be a few seconds old: a crowd does not wait for
// the database.
func (p *Pages) OfEvent(ctx context.Context, event int64) (*EventPage, error) {
	if p == nil {
		return nil, nil
	}
	seen, known := p.events.find(event)
	if known && time.Since(seen.at) <= fresh {
		return seen.page, nil
	}
	read := p.events.reads.DoChan(fmt.Sprint(event), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fresh)
		defer cancel()
		before := p.events.saved()
		page, err := p.Event(ctx, event)
		if err != nil {
			return nil, err
		}
		if page.empty() {
			page = nil
		}
		p.events.keep(event, page, before)
		return page, nil
	})
	if known { // a page that is a little old is better than one that waits
		return seen.page, nil
	}
	select {
	case r := <-read:
		page, _ := r.Val.(*EventPage)
		return page, r.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// mostKept is how many event pages a node keeps in memory.
const mostKept = 1000

// eventPages are pages as this node read them.
type eventPages struct {
	mu    sync.Mutex
	pages map[int64]keptPage
	saves int // of this node
	reads singleflight.Group
}

type keptPage struct {
	page *EventPage // nil: the event has none
	at   time.Time
}

func (c *eventPages) find(event int64) (keptPage, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, known := c.pages[event]
	return k, known
}

func (c *eventPages) saved() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.saves
}

// keep keeps a page unless one was saved since it was read.
func (c *eventPages) keep(event int64, page *EventPage, saves int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if saves != c.saves {
		return
	}
	if c.pages == nil || len(c.pages) >= mostKept {
		c.pages = map[int64]keptPage{}
	}
	c.pages[event] = keptPage{page, time.Now()}
}

// forget makes this node read a page anew.
func (c *eventPages) forget(event int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pages, event)
	c.saves++
	c.reads.Forget(fmt.Sprint(event))
}
