package pages

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/singleflight"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// PictureKind is where a picture stands.
type PictureKind string

// The kinds of pictures.
const (
	Header PictureKind = "header" // at the head of the page and in the programme; an event has one at most
	View   PictureKind = "view"   // what one sees from a section
)

// Picture is a picture of an event.
type Picture struct {
	ID            int64
	Kind          PictureKind
	Section       string // that a view is from
	Hash          string // of its files
	Widths        []int  // of its files, the smallest first
	Width, Height int    // of the largest file
	Alt           string // what it shows
}

// PictureFiles are the endings of the names of files with pictures.
const PictureFiles = ".jpg,.jpeg,.jfif,.png,.webp"

// MostPictures is how many pictures an event may have.
const MostPictures = 12

// Fields of the form of a picture that may be wrong.
const (
	FieldPicture     = "picture"
	FieldPictureKind = "kind"
	FieldAlt         = "alt"
	FieldSection     = "section"
)

// ErrNoPicture is the answer for a picture or a file that is not there.
var ErrNoPicture = errors.New("there is no such picture")

// Store keeps the files of pictures. A file never changes: its name has the hash of what is in it.
type Store interface {
	// Put keeps a file. It may be there already.
	Put(ctx context.Context, hash string, width int, content []byte) error
	// Get returns a file, or ErrNoPicture.
	Get(ctx context.Context, hash string, width int) ([]byte, error)
}

// Table is the store in the database.
type Table struct{ DB *pgxpool.Pool }

const putFileSQL = `
INSERT INTO picture_file (hash, width, content) VALUES ($1, $2, $3)
    ON CONFLICT (hash, width) DO UPDATE SET at = clock_timestamp() WHERE picture_file.at < clock_timestamp() - interval '1 hour'`

// Put is part of Store.
func (t Table) Put(ctx context.Context, hash string, width int, content []byte) error {
	if _, err := t.DB.Exec(ctx, putFileSQL, hash, width, content); err != nil {
		return fmt.Errorf("pages: keep a picture: %w", err)
	}
	return nil
}

const fileSQL = `SELECT content FROM picture_file WHERE hash = $1 AND width = $2`

// Get is part of Store.
func (t Table) Get(ctx context.Context, hash string, width int) (content []byte, err error) {
	err = t.DB.QueryRow(ctx, fileSQL, hash, width).Scan(&content)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNoPicture
	}
	if err != nil {
		return nil, fmt.Errorf("pages: read a picture: %w", err)
	}
	return content, nil
}

const purgeFilesSQL = `
DELETE FROM picture_file f WHERE at < clock_timestamp() - interval '1 day' AND NOT EXISTS (SELECT FROM event_picture p WHERE p.hash = f.hash)
   AND NOT EXISTS (SELECT FROM team_picture p WHERE p.hash = f.hash)`

// Purge deletes files that no picture has any more, and pictures of plans that no version has. Those of the last day stay: their rows may be on
// the way.
func (p *Pages) Purge(ctx context.Context) error {
	if _, err := p.db.Exec(ctx, purgeFilesSQL); err != nil {
		return fmt.Errorf("pages: delete files of pictures: %w", err)
	}
	if err := p.purgeUnsaved(ctx); err != nil {
		return fmt.Errorf("pages: delete pictures of plans: %w", err)
	}
	return nil
}

// Upload is a picture as it is to be added.
type Upload struct {
	Kind    PictureKind
	Section string // of a view
	Alt     string
	Content []byte
}

// Prepared is an upload with its files.
type Prepared struct {
	upload Upload
	file   *made
}

// Prepare checks an upload and makes its files. That may take seconds, so transactions begin later.
//
// Errors: organizers.Mistakes; *PictureError.
func (p *Pages) Prepare(ctx context.Context, u Upload) (made Prepared, err error) {
	if err := u.tidy(); err != nil {
		return made, err
	}
	made.upload = u
	made.file, err = p.make(ctx, u.Content, leastWidth)
	return made, err
}

// picture is its row.
func (m Prepared) picture() Picture {
	return Picture{Kind: m.upload.Kind, Section: m.upload.Section, Hash: m.file.hash, Widths: m.file.widths, Width: m.file.width, Height: m.file.height, Alt: m.upload.Alt}
}

const (
	countPicturesSQL = `SELECT count(*) FROM event_picture WHERE event_id = $1 AND NOT (kind = 'header' AND $2 = 'header')`

	dropHeaderSQL = `DELETE FROM event_picture WHERE event_id = $1 AND kind = 'header' AND $2 = 'header'`

	addPictureSQL = `
INSERT INTO event_picture (event_id, kind, section, hash, widths, width, height, alt) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id`
)

// AddPicture adds a picture to an event of the member's team. A header takes the place of the one before.
//
// Errors: organizers.Mistakes; *PictureError; those of idempotency.Key.Take; the database's.
func (p *Pages) AddPicture(ctx context.Context, m organizers.Member, e Subject, u Upload, key string) (pic Picture, err error) {
	made, err := p.Prepare(ctx, u)
	if err != nil {
		return pic, err
	}
	u, file := made.upload, made.file
	for i, width := range file.widths { // first the files, then the row: a picture always has its files
		if err := p.files.store.Put(ctx, file.hash, width, file.files[i]); err != nil {
			return pic, err
		}
	}
	pic = made.picture()
	err = p.desk.Change(ctx, m, key, []any{"picture", e.Slug, u.Kind, u.Section, u.Alt, file.hash}, func(tx pgx.Tx) error {
		if pic.ID, err = addPicture(ctx, tx, m.Team, e.ID, pic); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("added a picture"), e.address(), map[string]any{"kind": u.Kind, "section": u.Section, "alt": u.Alt, "hash": file.hash})
	})
	p.events.forget(e.ID)
	return pic, err
}

// tidy trims what a form says of a picture, and finds what is wrong with it.
func (u *Upload) tidy() error {
	u.Alt, u.Section = strings.Join(strings.Fields(u.Alt), " "), strings.TrimSpace(u.Section)
	wrong := append(unprintable(FieldAlt, u.Alt, 300), unprintable(FieldSection, u.Section, 100)...)
	if u.Alt == "" {
		wrong = append(wrong, organizers.Mistake{Field: FieldAlt, Message: text.Mark("Say what the picture shows, for people who do not see it.")})
	}
	switch {
	case u.Kind == Header:
		u.Section = ""
	case u.Kind != View:
		wrong = append(wrong, organizers.Mistake{Field: FieldPictureKind, Message: text.Mark("A picture is a header or a view.")})
	case u.Section == "":
		wrong = append(wrong, organizers.Mistake{Field: FieldSection, Message: text.Mark("Say which section the view is from.")})
	}
	if len(wrong) > 0 {
		return wrong
	}
	return nil
}

// addPicture writes the row of a picture. Members of a team take turns.
func addPicture(ctx context.Context, tx pgx.Tx, team, event int64, pic Picture) (id int64, err error) {
	count := 0
	if _, err = tx.Exec(ctx, lockTeamSQL, team); err == nil {
		err = tx.QueryRow(ctx, countPicturesSQL, event, pic.Kind).Scan(&count)
	}
	if err == nil && count >= MostPictures {
		return 0, organizers.Mistakes{{Field: FieldPicture, Message: text.Mark("The event has %d pictures, which is the most. Remove one first."), Args: []any{count}}}
	}
	if err == nil {
		_, err = tx.Exec(ctx, dropHeaderSQL, event, pic.Kind)
	}
	if err == nil {
		err = tx.QueryRow(ctx, addPictureSQL, event, pic.Kind, pic.Section, pic.Hash, pic.Widths, pic.Width, pic.Height, pic.Alt).Scan(&id)
	}
	if err != nil {
		return 0, fmt.Errorf("pages: add a picture: %w", err)
	}
	return id, nil
}

// CreatePicture adds a picture in the transaction that makes an event, for demo events.
func CreatePicture(ctx context.Context, tx pgx.Tx, team, event int64, made Prepared) error {
	for i, width := range made.file.widths {
		if _, err := tx.Exec(ctx, putFileSQL, made.file.hash, width, made.file.files[i]); err != nil {
			return fmt.Errorf("pages: keep a picture: %w", err)
		}
	}
	_, err := addPicture(ctx, tx, team, event, made.picture())
	return err
}

const (
	removePictureSQL = `DELETE FROM event_picture WHERE event_id = $1 AND id = $2`
	describeSQL      = `UPDATE event_picture SET alt = $3 WHERE event_id = $1 AND id = $2`
)

// RemovePicture takes a picture off the page of an event. Its files go a day later. ErrNoPicture if it is not there.
func (p *Pages) RemovePicture(ctx context.Context, m organizers.Member, e Subject, id int64, key string) error {
	err := p.desk.Change(ctx, m, key, []any{"remove picture", e.Slug, id}, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, removePictureSQL, e.ID, id)
		return p.changedPicture(ctx, tx, m, e, text.Mark("removed a picture"), map[string]any{"picture": id}, tag.RowsAffected(), err)
	})
	p.events.forget(e.ID)
	return err
}

// DescribePicture says anew what a picture shows. ErrNoPicture if it is not there.
func (p *Pages) DescribePicture(ctx context.Context, m organizers.Member, e Subject, id int64, alt, key string) error {
	u := Upload{Kind: Header, Alt: alt}
	if err := u.tidy(); err != nil {
		return err
	}
	err := p.desk.Change(ctx, m, key, []any{"describe picture", e.Slug, id, u.Alt}, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, describeSQL, e.ID, id, u.Alt)
		return p.changedPicture(ctx, tx, m, e, text.Mark("changed the text of a picture"), map[string]any{"picture": id, "alt": u.Alt}, tag.RowsAffected(), err)
	})
	p.events.forget(e.ID)
	return err
}

func (p *Pages) changedPicture(ctx context.Context, tx pgx.Tx, m organizers.Member, e Subject, what string, detail map[string]any, rows int64, err error) error {
	if err != nil {
		return fmt.Errorf("pages: change a picture: %w", err)
	}
	if rows == 0 {
		return ErrNoPicture
	}
	return organizers.Note(ctx, tx, m, what, e.address(), detail)
}

// mostFiles is how many bytes of files a node keeps in memory: those of the events that a crowd looks at.
const mostFiles = 24 << 20

// files reads a store through memory. Requests for one file read it once.
type files struct {
	store Store
	mu    sync.Mutex
	kept  map[string][]byte
	size  int
	reads singleflight.Group
}

// File returns a file of a picture, or ErrNoPicture.
func (p *Pages) File(ctx context.Context, hash string, width int) ([]byte, error) {
	f, name := &p.files, fmt.Sprintf("%s-%d", hash, width)
	f.mu.Lock()
	content := f.kept[name]
	f.mu.Unlock()
	if content != nil {
		return content, nil
	}
	read := f.reads.DoChan(name, func() (any, error) {
		content, err := f.store.Get(context.WithoutCancel(ctx), hash, width)
		if err == nil {
			f.keep(name, content)
		}
		return content, err
	})
	select {
	case r := <-read:
		content, _ := r.Val.([]byte)
		return content, r.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// keep keeps a file in memory. When there is no room, others make it, whichever they are.
func (f *files) keep(name string, content []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kept == nil {
		f.kept = map[string][]byte{}
	}
	for other, had := range f.kept {
		if other == name || f.size+len(content) > mostFiles {
			delete(f.kept, other)
			f.size -= len(had)
		}
	}
	f.kept[name], f.size = content, f.size+len(content)
}
