package pages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Branding is what the pages, mails and papers of a team look like. Empty fields mean the standard look.
type Branding struct {
	Team     int64
	TeamName string
	Version  int // counts the saves; 0: never saved

	Button, Accent string // colours as they were asked for: #1b3a8c
	Font, Theme    string // one of Fonts, one of Themes
	Sender         string // name of the sender of mails
	Links          []BrandLink
	Pictures       []Picture // a logo and a header at most

	Layout      string // of tickets on paper: one of Layouts
	Paper       string // that buyers get their tickets on: A4 or A6
	OfficePaper string // that the box office prints tickets on: one of Papers
	Sponsor     string // line at the foot of tickets; may be empty
}

// BrandLink is a link at the foot of the pages of a team.
type BrandLink struct {
	Words string `json:"words"`
	Path  string `json:"path"`
}

// Logo is the kind of picture that stands at the top of pages, mails and papers.
const Logo PictureKind = "logo"

// Fonts are those that pages may have for titles and text. The first is the standard one.
func Fonts() []string { return []string{"poster", "plain", "serif", "system"} }

// Themes say whether pages are light or dark. The first leaves it to the reader's device.
func Themes() []string { return []string{"auto", "light", "dark"} }

// Layouts are those that tickets on paper may have. The first is the standard one.
func Layouts() []string { return []string{"classic", "poster", "plain"} }

// The papers that tickets are printed on. A roll is 80 mm wide, and cut after each ticket.
const (
	A4   = "a4"
	A6   = "a6"
	Roll = "roll"
)

// Papers are all papers; BuyerPapers those that people have at home. The first is the standard one.
func Papers() []string      { return []string{A4, A6, Roll} }
func BuyerPapers() []string { return Papers()[:2] }

// OfficeSize is the size that is asked for by the box office, whatever paper it has.
const OfficeSize = "office"

// LayoutOf is the layout of tickets, of the standard look, too.
func (f *Branding) LayoutOf() string {
	if f == nil {
		return Layouts()[0]
	}
	return cmp.Or(f.Layout, Layouts()[0])
}

// PaperFor is the paper for tickets that were asked for in a size; false if there is none. No size is that for buyers.
func (f *Branding) PaperFor(size string) (paper string, ok bool) {
	if f == nil {
		f = &Branding{}
	}
	switch size {
	case "":
		return cmp.Or(f.Paper, A4), true
	case OfficeSize:
		return cmp.Or(f.OfficePaper, A4), true
	}
	return size, slices.Contains(Papers(), size)
}

// MostLinks is how many links of its own the foot of a page has.
const MostLinks = 6

// Picture is the logo or the header of a team; nil if it has none.
func (f *Branding) Picture(kind PictureKind) *Picture {
	if f == nil {
		return nil
	}
	if i := slices.IndexFunc(f.Pictures, func(p Picture) bool { return p.Kind == kind }); i >= 0 {
		return &f.Pictures[i]
	}
	return nil
}

// SenderName is the name in mails of the team; empty for that of the operator.
func (f *Branding) SenderName() string {
	if f == nil {
		return ""
	}
	return f.Sender
}

// Shades are the colours of the buttons and of what stands out, as light or dark pages show them. A nil one is the
// standard colour. Text is written in the accent, so it has more contrast.
func (f *Branding) Shades(dark bool) (button, accent *Shade) {
	if f == nil {
		return nil, nil
	}
	if c, ok := ParseColour(f.Button); ok {
		s := shade(c, dark, ControlContrast)
		button = &s
	}
	if c, ok := ParseColour(f.Accent); ok {
		s := shade(c, dark, TextContrast)
		accent = &s
	}
	return button, accent
}

// Fields of the form of a branding that may be wrong. Those of links end in their number.
const (
	FieldButton      = "button"
	FieldAccent      = "accent"
	FieldFont        = "font"
	FieldTheme       = "theme"
	FieldSender      = "sender"
	FieldLayout      = "layout"
	FieldPaper       = "paper"
	FieldOfficePaper = "office_paper"
	FieldSponsor     = "sponsor"
	FieldWords       = "words-"
	FieldPath        = "path-"
)

// Tidy makes a branding as the database keeps it, and lists what is wrong with it. Links without words and address go.
func (f *Branding) Tidy() (wrong organizers.Mistakes) {
	say := func(is bool, field, message string) {
		if is {
			wrong = append(wrong, organizers.Mistake{Field: field, Message: message})
		}
	}
	for field, colour := range map[string]*string{FieldButton: &f.Button, FieldAccent: &f.Accent} {
		if *colour = strings.TrimSpace(*colour); *colour == "" {
			continue
		}
		c, ok := ParseColour(*colour)
		if say(!ok, field, text.Mark("Enter a colour such as #1b3a8c.")); ok {
			*colour = c.String()
		}
	}
	f.Font, f.Theme = cmp.Or(f.Font, Fonts()[0]), cmp.Or(f.Theme, Themes()[0])
	say(!slices.Contains(Fonts(), f.Font), FieldFont, text.Mark("Choose one of the fonts."))
	say(!slices.Contains(Themes(), f.Theme), FieldTheme, text.Mark("Choose light, dark or automatic."))
	f.Sender = strings.Trim(f.Sender, " ")
	wrong = append(wrong, oneLine(FieldSender, f.Sender, 100)...)
	f.Layout, f.Paper, f.OfficePaper = cmp.Or(f.Layout, Layouts()[0]), cmp.Or(f.Paper, A4), cmp.Or(f.OfficePaper, A4)
	say(!slices.Contains(Layouts(), f.Layout), FieldLayout, text.Mark("Choose one of the layouts."))
	say(!slices.Contains(BuyerPapers(), f.Paper), FieldPaper, text.Mark("Choose one of the papers."))
	say(!slices.Contains(Papers(), f.OfficePaper), FieldOfficePaper, text.Mark("Choose one of the papers."))
	f.Sponsor = strings.TrimSpace(f.Sponsor)
	wrong = append(wrong, oneLine(FieldSponsor, f.Sponsor, 120)...)
	var links []BrandLink
	for i, l := range f.Links {
		l.Words, l.Path = strings.TrimSpace(l.Words), strings.TrimSpace(l.Path)
		if l.Words+l.Path == "" {
			continue
		}
		links = append(links, l)
		wrong = append(wrong, oneLine(fmt.Sprint(FieldWords, i), l.Words, 60)...)
		say(l.Words == "", fmt.Sprint(FieldWords, i), text.Mark("Enter the text of the link."))
		say(!isLink(l.Path), fmt.Sprint(FieldPath, i), text.Mark("Enter a link that begins with https://, or mailto: and an email address."))
	}
	say(len(links) > MostLinks, FieldWords+"0", text.Mark("Enter 6 links at most."))
	if len(wrong) == 0 {
		f.Links = links
	}
	return wrong
}

// oneLine lists what is wrong with a text that has to be one line, as headers of mails are.
func oneLine(field, words string, most int) organizers.Mistakes {
	if strings.ContainsAny(words, "\n\t") {
		return organizers.Mistakes{{Field: field, Message: text.Mark("Write it in one line.")}}
	}
	return unprintable(field, words, most)
}

// isLink reports whether a link may stand at the foot of a page: of the web, or to an email address.
func isLink(link string) bool {
	if address, is := strings.CutPrefix(link, "mailto:"); is {
		_, err := url.Parse(link)
		return err == nil && seats.IsEmail(address) && !strings.ContainsAny(address, "?&")
	}
	return link != "" && len(link) <= 500 && isWeb(link)
}

const saveBrandingSQL = `
INSERT INTO team_branding (team_id, button, accent, font, theme, sender, links, layout, paper, office_paper, sponsor)
VALUES ($1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    ON CONFLICT (team_id) DO UPDATE SET (button, accent, font, theme, sender, links, layout, paper, office_paper, sponsor) = ($3, $4, $5, $6, $7, $8, $9, $10, $11, $12),
       version = team_branding.version + 1
 WHERE $2 < 0 OR team_branding.version = $2
RETURNING version`

// SaveBranding saves the branding of a member's team. Its version is the one that the form began with; negative: whatever it is.
//
// Errors: organizers.Mistakes; ErrChanged; those of idempotency.Key.Take; the database's.
func (p *Pages) SaveBranding(ctx context.Context, m organizers.Member, f Branding, key string) error {
	if wrong := f.Tidy(); len(wrong) > 0 {
		return wrong
	}
	asked := []any{"branding", f.Button, f.Accent, f.Font, f.Theme, f.Sender, f.Links, f.Layout, f.Paper, f.OfficePaper, f.Sponsor}
	err := p.desk.Change(ctx, m, key, asked, func(tx pgx.Tx) error {
		version := 0
		err := tx.QueryRow(ctx, saveBrandingSQL, m.Team, f.Version, f.Button, f.Accent, f.Font, f.Theme, f.Sender, append([]BrandLink{}, f.Links...),
			f.Layout, f.Paper, f.OfficePaper, f.Sponsor).Scan(&version)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrChanged
		}
		if err != nil {
			return fmt.Errorf("pages: save a branding: %w", err)
		}
		return organizers.Note(ctx, tx, m, text.Mark("changed the look of the pages"), "look", map[string]any{"version": version})
	})
	p.published.Store(nil) // this node shows it at once
	return err
}

const (
	addTeamPictureSQL = `
INSERT INTO team_picture (team_id, kind, hash, widths, width, height, alt) VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (team_id, kind) DO UPDATE SET (hash, widths, width, height, alt) = ($3, $4, $5, $6, $7)`

	removeTeamPictureSQL = `DELETE FROM team_picture WHERE team_id = $1 AND kind = $2`
)

// AddTeamPicture gives a member's team a logo or a header, in the place of the one before.
//
// Errors: organizers.Mistakes; *PictureError; those of idempotency.Key.Take; the database's.
func (p *Pages) AddTeamPicture(ctx context.Context, m organizers.Member, u Upload, key string) error {
	u.Alt = strings.Join(strings.Fields(u.Alt), " ")
	wrong := unprintable(FieldAlt, u.Alt, 300)
	if u.Alt == "" {
		wrong = append(wrong, organizers.Mistake{Field: FieldAlt, Message: text.Mark("Say what the picture shows, for people who do not see it.")})
	}
	least := leastWidth
	switch u.Kind {
	case Logo:
		least = leastLogo
	case Header:
	default:
		wrong = append(wrong, organizers.Mistake{Field: FieldPictureKind, Message: text.Mark("A picture is a logo or a header.")})
	}
	if len(wrong) > 0 {
		return wrong
	}
	file, err := p.make(ctx, u.Content, least)
	if err != nil {
		return err
	}
	for i, width := range file.widths { // first the files, then the row: a picture always has its files
		if err := p.files.store.Put(ctx, file.hash, width, file.files[i]); err != nil {
			return err
		}
	}
	err = p.desk.Change(ctx, m, key, []any{"team picture", u.Kind, u.Alt, file.hash}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, addTeamPictureSQL, m.Team, u.Kind, file.hash, file.widths, file.width, file.height, u.Alt); err != nil {
			return fmt.Errorf("pages: add a picture of a team: %w", err)
		}
		return organizers.Note(ctx, tx, m, text.Mark("added a picture"), "look", map[string]any{"kind": u.Kind, "alt": u.Alt, "hash": file.hash})
	})
	p.published.Store(nil)
	return err
}

// RemoveTeamPicture takes the logo or the header off the pages of a member's team, if it has one.
func (p *Pages) RemoveTeamPicture(ctx context.Context, m organizers.Member, kind PictureKind, key string) error {
	err := p.desk.Change(ctx, m, key, []any{"remove team picture", kind}, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, removeTeamPictureSQL, m.Team, kind)
		if err != nil {
			return fmt.Errorf("pages: remove a picture of a team: %w", err)
		}
		if tag.RowsAffected() == 0 { // it is gone
			return nil
		}
		return organizers.Note(ctx, tx, m, text.Mark("removed a picture"), "look", map[string]any{"kind": kind})
	})
	p.published.Store(nil)
	return err
}

const brandingsSQL = `
SELECT t.id, t.name, coalesce(f.version, 0), coalesce(f.button, ''), coalesce(f.accent, ''), coalesce(f.font, 'poster'), coalesce(f.theme, 'auto'), coalesce(f.sender, ''),
       coalesce(f.links, '[]'), coalesce(f.layout, 'classic'), coalesce(f.paper, 'a4'), coalesce(f.office_paper, 'a4'), coalesce(f.sponsor, '')
  FROM team t LEFT JOIN team_branding f ON f.team_id = t.id
 WHERE t.id = $1 OR $1 = 0 AND (f.team_id IS NOT NULL OR EXISTS (SELECT FROM team_picture p WHERE p.team_id = t.id))`

const teamPicturesSQL = `SELECT team_id, kind, hash, widths, width, height, alt FROM team_picture WHERE team_id = $1 OR $1 = 0 ORDER BY team_id, kind`

// query is what reads: the database, or a transaction behind the wall of the desk.
type query interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// readBrandings reads the branding of a team, or those of all teams that have one for team 0.
func readBrandings(ctx context.Context, db query, team int64) (map[int64]*Branding, error) {
	brandings := map[int64]*Branding{}
	rows, err := db.Query(ctx, brandingsSQL, team)
	if err == nil {
		var list []*Branding
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (*Branding, error) {
			f := &Branding{}
			return f, row.Scan(&f.Team, &f.TeamName, &f.Version, &f.Button, &f.Accent, &f.Font, &f.Theme, &f.Sender, &f.Links, &f.Layout, &f.Paper, &f.OfficePaper, &f.Sponsor)
		})
		for _, f := range list {
			brandings[f.Team] = f
		}
	}
	if err == nil {
		rows, err = db.Query(ctx, teamPicturesSQL, team)
	}
	if err == nil {
		var of int64
		pic := Picture{}
		_, err = pgx.ForEachRow(rows, []any{&of, &pic.Kind, &pic.Hash, &pic.Widths, &pic.Width, &pic.Height, &pic.Alt}, func() error {
			if f := brandings[of]; f != nil {
				pic.Widths = slices.Clone(pic.Widths)
				f.Pictures = append(f.Pictures, pic)
			}
			return nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("pages: read brandings: %w", err)
	}
	return brandings, nil
}

// SavedBranding is the branding of a member's team, as it was saved last.
func (p *Pages) SavedBranding(ctx context.Context, m organizers.Member) (f *Branding, err error) {
	err = p.desk.As(ctx, m, func(tx pgx.Tx) error {
		brandings, err := readBrandings(ctx, tx, m.Team)
		f = brandings[m.Team]
		return err
	})
	if err == nil && f == nil {
		err = errors.New("pages: the team of a member is not there")
	}
	return f, err
}

// BrandingOf is what attendees see of a team; nil for the standard look. Pages about no team show that of the only team, for
// team 0. It may be a few seconds old, as Published.
func (p *Pages) BrandingOf(ctx context.Context, team int64) (*Branding, error) {
	if p == nil {
		return nil, nil
	}
	all, err := p.read(ctx)
	if err != nil {
		return nil, err
	}
	if team == 0 {
		team = all.only
	}
	return all.brandings[team], nil
}

// LogoFile is the logo of a team as a JPEG, for mails and papers; nil if it has none.
func (p *Pages) LogoFile(ctx context.Context, f *Branding) ([]byte, error) {
	logo := f.Picture(Logo)
	if logo == nil {
		return nil, nil
	}
	return p.File(ctx, logo.Hash, logo.Widths[0])
}

// TicketPicture is the picture of an event, or the header of its team, as a JPEG for a ticket; nil without one, or if the layout
// has none. about may be nil.
func (p *Pages) TicketPicture(ctx context.Context, about *EventPage, f *Branding) ([]byte, error) {
	pic := f.Picture(Header)
	if about != nil && about.Header() != nil {
		pic = about.Header()
	}
	if pic == nil || f.LayoutOf() == "plain" {
		return nil, nil
	}
	return p.File(ctx, pic.Hash, pic.Widths[min(1, len(pic.Widths)-1)])
}
