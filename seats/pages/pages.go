package pages

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/semaphore"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Kind is what a text is about, and the end of its address.
type Kind string

// The kinds.
const (
	Imprint       Kind = "imprint"
	Terms         Kind = "terms"
	Privacy       Kind = "privacy"
	Accessibility Kind = "accessibility"
)

// Kinds are all of them, as pages list them.
func Kinds() []Kind { return []Kind{Imprint, Terms, Privacy, Accessibility} }

// Known reports whether there is such a text.
func (k Kind) Known() bool { return k == Imprint || k == Terms || k == Privacy || k == Accessibility }

// Fields that may be wrong in a form.
const (
	FieldKind = "kind"
	FieldText = "text"
)

const mostText = 100_000 // characters

// MaxBytes is the size of the largest form with a text: letters that are no ASCII take nine bytes in it.
const MaxBytes = 1 << 20

// Errors of this package.
var (
	ErrNoText  = errors.New("there is no such text")
	ErrChanged = errors.New("another member saved the text meanwhile")
)

// Version is a saved version of a text.
type Version struct {
	Kind      Kind
	Number    int
	Published bool
	SavedBy   string
	At        time.Time
}

// Text is a version with what it says.
type Text struct {
	Version
	Team     int64
	TeamName string
	Text     string // Markdown
	Newest   int    // the number of the version that attendees see; 0 for none
}

// Ref names a text that attendees see.
type Ref struct {
	Team     int64
	TeamName string
	Kind     Kind
	Version  int
}

// Pages are the texts of all teams, for one node. A nil one publishes none.
type Pages struct {
	db   *pgxpool.Pool
	desk *organizers.Desk

	published atomic.Pointer[published]
	reading   sync.Mutex // one request reads at a time

	events   eventPages
	files    files
	decoding *semaphore.Weighted // one picture at a time, so that memory has a bound
}

// New returns the texts and pictures of a database.
func New(db *pgxpool.Pool, desk *organizers.Desk) *Pages {
	return &Pages{db: db, desk: desk, files: files{store: Table{db}}, decoding: semaphore.NewWeighted(1)}
}

const versionsSQL = `SELECT kind, version, published, saved_by, at FROM legal_text WHERE team_id = $1 ORDER BY kind, version DESC`

// Versions lists all versions of the texts of a member's team, the newest of each kind first.
func (p *Pages) Versions(ctx context.Context, m organizers.Member) (list []Version, err error) {
	err = p.desk.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, versionsSQL, m.Team)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Version])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("pages: list versions: %w", err)
	}
	return list, nil
}

const textColumns = `
SELECT l.kind, l.version, l.published, l.saved_by, l.at, l.team_id, t.name, l.text,
       coalesce((SELECT CASE WHEN p.text = '' THEN 0 ELSE p.version END FROM legal_text p
                  WHERE p.team_id = l.team_id AND p.kind = l.kind AND p.published ORDER BY p.version DESC LIMIT 1), 0)
  FROM legal_text l JOIN team t ON t.id = l.team_id
 WHERE l.team_id = $1 AND l.kind = $2`

const savedTextSQL = textColumns + ` AND (l.version = $3 OR $3 = 0) ORDER BY l.version DESC LIMIT 1`

// Saved returns a version of a text of a member's team, drafts included; 0 is the newest one. ErrNoText if there is none.
func (p *Pages) Saved(ctx context.Context, m organizers.Member, kind Kind, version int) (t Text, err error) {
	err = p.desk.As(ctx, m, func(tx pgx.Tx) error {
		t, err = readText(tx.QueryRow(ctx, savedTextSQL, m.Team, kind, version))
		return err
	})
	return t, err
}

const publishedTextSQL = textColumns + ` AND l.published AND (l.version = $3 OR $3 = 0) ORDER BY l.version DESC LIMIT 1`

// Find returns a published version of a text; 0 is the one that attendees see. ErrNoText if there is none, or if it was
// taken off the site and is asked for without a number.
func (p *Pages) Find(ctx context.Context, team int64, kind Kind, version int) (Text, error) {
	t, err := readText(p.db.QueryRow(ctx, publishedTextSQL, team, kind, version))
	if err == nil && t.Text == "" {
		return Text{}, ErrNoText
	}
	return t, err
}

func readText(row pgx.Row) (t Text, err error) {
	err = row.Scan(&t.Kind, &t.Number, &t.Published, &t.SavedBy, &t.At, &t.Team, &t.TeamName, &t.Text, &t.Newest)
	if errors.Is(err, pgx.ErrNoRows) {
		return t, ErrNoText
	}
	if err != nil {
		return t, fmt.Errorf("pages: read a text: %w", err)
	}
	return t, nil
}

// Draft is a text as it is to be saved.
type Draft struct {
	Kind    Kind
	Text    string
	Base    int  // the newest version when the editor was opened; negative: whatever it is
	Publish bool // otherwise only the team sees it
}

// tidy returns the draft with the ends of lines as the database keeps them, and what is wrong with it.
func (d Draft) tidy() (Draft, error) {
	d.Text = strings.TrimSpace(strings.ReplaceAll(d.Text, "\r\n", "\n"))
	var wrong organizers.Mistakes
	if !d.Kind.Known() {
		wrong = append(wrong, organizers.Mistake{Field: FieldKind, Message: text.Mark("A text is one of imprint, terms, privacy and accessibility.")})
	}
	switch {
	case !utf8.ValidString(d.Text) || strings.ContainsRune(d.Text, 0):
		wrong = append(wrong, organizers.Mistake{Field: FieldText, Message: text.Mark("The text has characters that cannot be printed.")})
	case utf8.RuneCountInString(d.Text) > mostText:
		wrong = append(wrong, organizers.Mistake{Field: FieldText, Message: text.Mark("The text is longer than %d characters."), Args: []any{mostText}})
	case d.Publish && len(Blanks(d.Text)) > 0:
		wrong = append(wrong, organizers.Mistake{Field: FieldText, Message: text.Mark("Fill in these blanks before you publish: %s."), Args: []any{strings.Join(Blanks(d.Text), ", ")}})
	}
	if len(wrong) > 0 {
		return d, wrong
	}
	return d, nil
}

// The lock makes two organizers who save at once take turns.
const lockTeamSQL = `SELECT FROM team WHERE id = $1 FOR NO KEY UPDATE`

const newestSQL = `
SELECT version, text, published FROM legal_text WHERE team_id = $1 AND kind = $2 ORDER BY version DESC LIMIT 1`

const saveSQL = `
INSERT INTO legal_text (team_id, kind, version, text, published, saved_by) VALUES ($1, $2, $3, $4, $5, $6)`

// Save writes a new version of a text, and returns its number. A text that is the newest already is not saved again.
//
// Errors: organizers.Mistakes; ErrChanged; those of idempotency.Key.Take; the database's.
func (p *Pages) Save(ctx context.Context, m organizers.Member, d Draft, key string) (version int, err error) {
	d, err = d.tidy()
	if err != nil {
		return 0, err
	}
	err = p.desk.Change(ctx, m, key, []any{"legal", d.Kind, d.Text, d.Publish}, func(tx pgx.Tx) error {
		var before Draft
		if _, err := tx.Exec(ctx, lockTeamSQL, m.Team); err != nil {
			return fmt.Errorf("pages: lock the team: %w", err)
		}
		err := tx.QueryRow(ctx, newestSQL, m.Team, d.Kind).Scan(&version, &before.Text, &before.Publish)
		switch {
		case err != nil && !errors.Is(err, pgx.ErrNoRows):
			return fmt.Errorf("pages: look for the newest version: %w", err)
		case d.Base >= 0 && d.Base != version:
			return ErrChanged
		case version > 0 && before.Text == d.Text && before.Publish == d.Publish:
			return nil
		}
		version++
		if _, err := tx.Exec(ctx, saveSQL, m.Team, d.Kind, version, d.Text, d.Publish, m.Name); err != nil {
			return fmt.Errorf("pages: save a text: %w", err)
		}
		what := text.Mark("saved a draft of a legal text")
		if d.Publish {
			what = text.Mark("published a legal text")
		}
		return organizers.Note(ctx, tx, m, what, "legal", map[string]any{"text": d.Kind, "version": version})
	})
	if err == nil {
		p.published.Store(nil) // this node shows it at once
	}
	return version, err
}

// published is what attendees see, as this node read it.
type published struct {
	refs      []Ref
	brandings map[int64]*Branding // of the teams that have one
	only      int64               // the only team; 0 if there are several
	at        time.Time
}

// fresh is how long a node shows what it read; other nodes publish, too.
const fresh = 5 * time.Second

const publishedSQL = `
SELECT team_id, name, kind, version
  FROM (SELECT DISTINCT ON (l.team_id, l.kind) l.team_id, t.name, l.kind, l.version, l.text = '' AS gone
          FROM legal_text l JOIN team t ON t.id = l.team_id
         WHERE l.published ORDER BY l.team_id, l.kind, l.version DESC) newest
 WHERE NOT gone
 ORDER BY team_id, array_position('{imprint,terms,privacy,accessibility}', kind)`

// Published lists what attendees see of a team, or of all teams for team 0. It may be a few seconds old: no page waits for
// the database but the first.
func (p *Pages) Published(ctx context.Context, team int64) ([]Ref, error) {
	if p == nil {
		return nil, nil
	}
	all, err := p.read(ctx)
	if err != nil {
		return nil, err
	}
	if team == 0 {
		return all.refs, nil
	}
	var list []Ref
	for _, r := range all.refs {
		if r.Team == team {
			list = append(list, r)
		}
	}
	return list, nil
}

// read returns what this node read before, and has it read anew when it is old.
func (p *Pages) read(ctx context.Context) (all *published, err error) {
	all = p.published.Load()
	switch {
	case all == nil:
		p.reading.Lock()
		defer p.reading.Unlock()
		return p.ask(ctx)
	case time.Since(all.at) > fresh && p.reading.TryLock():
		go func() {
			defer p.reading.Unlock()
			_, _ = p.ask(context.WithoutCancel(ctx)) // links that are a little old are better than none
		}()
	}
	return all, nil
}

const onlyTeamSQL = `SELECT CASE WHEN count(*) = 1 THEN min(id) ELSE 0 END FROM team`

// ask asks the database.
func (p *Pages) ask(ctx context.Context) (*published, error) {
	ctx, cancel := context.WithTimeout(ctx, fresh)
	defer cancel()
	all := &published{at: time.Now()}
	rows, err := p.db.Query(ctx, publishedSQL)
	if err == nil {
		all.refs, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Ref])
	}
	if err != nil {
		return nil, fmt.Errorf("pages: list published texts: %w", err)
	}
	if all.brandings, err = readBrandings(ctx, p.db, 0); err != nil {
		return nil, err
	}
	if err := p.db.QueryRow(ctx, onlyTeamSQL).Scan(&all.only); err != nil {
		return nil, fmt.Errorf("pages: look for the only team: %w", err)
	}
	p.published.Store(all)
	return all, nil
}

// TermsOf returns the version of the terms that a team shows, or 0 if it has none. It may be a few seconds old.
func (p *Pages) TermsOf(ctx context.Context, team int64) (version int, err error) {
	list, err := p.Published(ctx, team)
	for _, r := range list {
		if r.Kind == Terms {
			version = r.Version
		}
	}
	return version, err
}

//go:embed start
var starts embed.FS

// Start is the text that a team begins with, in the language of its reader.
func Start(ctx context.Context, k Kind) string {
	started, _ := starts.ReadFile("start/" + text.Tag(ctx) + "/" + string(k) + ".md") // an unknown kind begins empty
	return string(started)
}
