package pages_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
)

// desk is the pages of a database with two events of one team.
type desk struct {
	*pages.Pages
	ann         organizers.Member
	first, next pages.Subject
}

func newDesk(t *testing.T) desk {
	t.Helper()
	db := seatstest.DB(t)
	d := desk{Pages: pages.New(db, organizers.New(db, func() {})), ann: organizers.Member{Team: 1, Organizer: 1, Name: "Ann", Role: organizers.Owner}}
	d.first, d.next = newEvent(t, db, "first"), newEvent(t, db, "next")
	return d
}

func newEvent(t *testing.T, db events.Beginner, slug string) pages.Subject {
	t.Helper()
	p, _ := plan.Named("club")
	made, err := events.Create(t.Context(), db, events.Settings{Slug: slug, Name: slug, StartsAt: time.Now().Add(time.Hour)}, p)
	if err != nil {
		t.Fatal(err)
	}
	return pages.Subject{ID: made.ID, Slug: slug}
}

// blue is the file of a picture.
func blue(t *testing.T, width int, shade uint8) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, width, width*3/5))
	for i := range m.Pix {
		m.Pix[i] = 255 - shade*uint8((i%4+1)%4)%200
	}
	m.SetNRGBA(0, 0, color.NRGBA{shade, 0, 0, 255})
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSaveEvent_SaysWhatWasSavedAndWhatIsWrong(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if page, err := d.OfEvent(t.Context(), d.first.ID); page != nil || err != nil {
		t.Fatal(page, err)
	}
	draft := pages.EventDraft{
		Facts: pages.Facts{
			Category: "Play", Doors: 45 * time.Minute, Running: 160 * time.Minute, Breaks: 1, Age: 12, Street: " Lindengasse  42", PostalCode: "1070", Town: "Vienna", Country: "at",
			MapLink: "https://maps.example/x", Organizer: "Playhouse", Email: "hello@example.org", Phone: "+43 1 555", Website: "https://example.org",
		},
		Text: pages.EventText{Language: "en", Subtitle: "by Anton Chekhov", Description: "# A lake\r\n\nFour people.", Travel: "[U3](https://example.org)", Access: "Step-free."},
		Base: 0,
	}
	if v, err := d.SaveEvent(t.Context(), d.ann, d.first, draft, "k1"); v != 1 || err != nil {
		t.Fatal(v, err)
	}
	page, err := d.OfEvent(t.Context(), d.first.ID)
	if err != nil || page == nil {
		t.Fatal("what was saved on this node is not seen at once", err)
	}
	text := page.Text("en", "de")
	if page.Facts.Category != "play" || page.Facts.Street != "Lindengasse 42" || page.Facts.Country != "AT" || page.Facts.Doors != 45*time.Minute || text.HTML.Description != "<h3>A lake</h3>\n<p>Four people.</p>\n" {
		t.Errorf("%+v", page)
	}
	if _, err := d.SaveEvent(t.Context(), d.ann, d.first, draft, "k2"); !errors.Is(err, pages.ErrChanged) {
		t.Errorf("a page that was not read is covered by another: %v", err)
	}
	german := draft
	german.Base, german.Text = 1, pages.EventText{Language: "de", Subtitle: "von Anton Tschechow"}
	if v, err := d.SaveEvent(t.Context(), d.ann, d.first, german, "k3"); v != 2 || err != nil {
		t.Fatal(v, err)
	}
	page, _ = d.OfEvent(t.Context(), d.first.ID)
	for reader, want := range map[string]string{"de": "von Anton Tschechow", "de-AT": "von Anton Tschechow", "en": "by Anton Chekhov", "fr": "von Anton Tschechow"} {
		if got := page.Text(reader, "de"); got.Subtitle != want {
			t.Errorf("for %s: %q", reader, got.Subtitle)
		}
	}
	if v, err := d.SaveEvent(t.Context(), d.ann, d.first, pages.EventDraft{Text: pages.EventText{Language: "de"}, Base: -1}, "k4"); v != 3 || err != nil {
		t.Fatal(v, err)
	}
	if page, _ = d.OfEvent(t.Context(), d.first.ID); len(page.Texts) != 1 || page.Facts != (pages.Facts{}) {
		t.Errorf("empty fields stay: %+v", page)
	}
	for field, bad := range map[string]pages.EventDraft{
		pages.FieldDoors:       {Facts: pages.Facts{Doors: -time.Minute}},
		pages.FieldRunning:     {Facts: pages.Facts{Running: 1000 * time.Hour}},
		pages.FieldBreaks:      {Facts: pages.Facts{Breaks: 21}},
		pages.FieldAge:         {Facts: pages.Facts{Age: 100}},
		pages.FieldCountry:     {Facts: pages.Facts{Country: "QQ"}},
		pages.FieldMapLink:     {Facts: pages.Facts{MapLink: "javascript:alert(1)"}},
		pages.FieldWebsite:     {Facts: pages.Facts{Website: "https://user@evil.example"}},
		pages.FieldEmail:       {Facts: pages.Facts{Email: "Ann <ann@example.org>"}},
		pages.FieldPhone:       {Facts: pages.Facts{Phone: "call me"}},
		pages.FieldTown:        {Facts: pages.Facts{Town: strings.Repeat("x", 101)}},
		pages.FieldLanguage:    {Text: pages.EventText{Language: "?"}},
		pages.FieldSubtitle:    {Text: pages.EventText{Subtitle: "\x00"}},
		pages.FieldDescription: {Text: pages.EventText{Description: strings.Repeat("x", 20_001)}},
	} {
		if bad.Text.Language == "" {
			bad.Text.Language = "en"
		}
		var wrong organizers.Mistakes
		if _, err := d.SaveEvent(t.Context(), d.ann, d.first, bad, "bad"+field); !errors.As(err, &wrong) || len(wrong) != 1 || wrong.About(t.Context(), field) == "" {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestAddPicture_HasItsFilesUntilADayAfterTheLastUse(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ctx := t.Context()
	add := func(e pages.Subject, u pages.Upload, key string) (pages.Picture, error) {
		return d.AddPicture(ctx, d.ann, e, u, key)
	}
	pic, err := add(d.first, pages.Upload{Kind: pages.Header, Alt: " A  lake ", Content: blue(t, 1000, 3)}, "k1")
	if err != nil || pic.Alt != "A lake" || !slices.Equal(pic.Widths, []int{480, 960, 1000}) {
		t.Fatal(pic, err)
	}
	for _, width := range pic.Widths {
		content, err := d.File(ctx, pic.Hash, width)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := jpeg.DecodeConfig(bytes.NewReader(content)); err != nil || c.Width != width {
			t.Error(c.Width, err)
		}
	}
	if _, err := d.File(ctx, pic.Hash, 1600); !errors.Is(err, pages.ErrNoPicture) {
		t.Error(err)
	}
	if err := d.CopyEvent(ctx, d.ann, d.first.ID, d.next.ID); err != nil {
		t.Fatal(err)
	}
	second, err := add(d.first, pages.Upload{Kind: pages.Header, Alt: "A sea", Content: blue(t, 1000, 90)}, "k2")
	if err != nil || second.Hash == pic.Hash {
		t.Fatal(second, err)
	}
	page, err := d.OfEvent(ctx, d.first.ID)
	if err != nil || len(page.Pictures) != 1 || page.Header().Alt != "A sea" {
		t.Errorf("a second header: %+v %v", page, err)
	}
	if page, err := d.OfEvent(ctx, d.next.ID); err != nil || page.Header().Hash != pic.Hash {
		t.Errorf("the copy has no picture: %+v %v", page, err)
	}
	if err := d.RemovePicture(ctx, d.ann, d.first, second.ID, "k3"); err != nil {
		t.Fatal(err)
	}
	if err := d.RemovePicture(ctx, d.ann, d.next, second.ID, "k4"); !errors.Is(err, pages.ErrNoPicture) {
		t.Errorf("a picture of another event: %v", err)
	}
	for field, bad := range map[string]pages.Upload{
		pages.FieldAlt:         {Kind: pages.Header, Content: blue(t, 480, 1)},
		pages.FieldSection:     {Kind: pages.View, Alt: "x", Content: blue(t, 480, 1)},
		pages.FieldPictureKind: {Kind: "logo", Alt: "x", Content: blue(t, 480, 1)},
	} {
		var wrong organizers.Mistakes
		if _, err := add(d.first, bad, "bad"+field); !errors.As(err, &wrong) || wrong.About(t.Context(), field) == "" {
			t.Errorf("%s: %v", field, err)
		}
	}
	for i := range pages.MostPictures {
		if _, err := add(d.first, pages.Upload{Kind: pages.View, Section: "Balcony", Alt: "The stage", Content: blue(t, 480, 5)}, "v"+string(rune('a'+i))); err != nil {
			t.Fatal(err)
		}
	}
	var wrong organizers.Mistakes
	if _, err := add(d.first, pages.Upload{Kind: pages.View, Section: "Balcony", Alt: "The stage", Content: blue(t, 480, 5)}, "last"); !errors.As(err, &wrong) || wrong.About(t.Context(), pages.FieldPicture) == "" {
		t.Errorf("more pictures than there may be: %v", err)
	}
}

func TestPurge_TakesFilesThatNoPictureHas(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	p := pages.New(db, organizers.New(db, func() {}))
	ctx := t.Context()
	made := newEvent(t, db, "first").ID
	lake, err := p.Prepare(ctx, pages.Upload{Kind: pages.Header, Alt: "A lake", Content: blue(t, 1000, 7)})
	if err != nil {
		t.Fatal(err)
	}
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if err := pages.CreateEvent(ctx, tx, made, pages.EventDraft{Facts: pages.Facts{Town: "Vienna"}, Text: pages.EventText{Language: "en"}}); err != nil {
			return err
		}
		return pages.CreatePicture(ctx, tx, 1, made, lake)
	})
	if err != nil {
		t.Fatal(err)
	}
	count := func() (n int) {
		if err := db.QueryRow(ctx, `SELECT count(*) FROM picture_file`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	purge := func() {
		if err := p.Purge(ctx); err != nil {
			t.Fatal(err)
		}
	}
	store := pages.Table{DB: db}
	fresh := strings.Repeat("f", 32)
	if err := store.Put(ctx, fresh, 480, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(ctx, `UPDATE picture_file SET at = at - interval '2 days' WHERE hash <> $1`, fresh); err != nil {
		t.Fatal(err)
	}
	if purge(); count() != 4 {
		t.Errorf("files in use, or of today, are gone: %d are there", count())
	}
	if _, err := db.Exec(ctx, `DELETE FROM event_picture`); err != nil {
		t.Fatal(err)
	}
	if purge(); count() != 1 {
		t.Errorf("%d files are left", count())
	}
}
