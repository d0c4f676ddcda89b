package pages_test

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/seatstest"
)

func colour(t *testing.T, text string) pages.Colour {
	t.Helper()
	c, ok := pages.ParseColour(text)
	if !ok {
		t.Fatalf("%q is no colour", text)
	}
	return c
}

func TestContrast_IsThatOfWCAG(t *testing.T) {
	t.Parallel()
	for _, known := range []struct {
		a, b string
		want float64 // of checkers of contrast
	}{
		{"#000", "#fff", 21},
		{"#fff", "#fff", 1},
		{"#777777", "#ffffff", 4.48},
		{"#767676", "#ffffff", 4.54},
		{"#ff0000", "#ffffff", 4.00},
		{"#0000ff", "#ffffff", 8.59},
		{"#00ff00", "#ffffff", 1.37},
		{"#ffff00", "#000000", 19.56},
		{"#949494", "#ffffff", 3.03},
	} {
		for _, got := range []float64{pages.Contrast(colour(t, known.a), colour(t, known.b)), pages.Contrast(colour(t, known.b), colour(t, known.a))} {
			if math.Abs(got-known.want) > 0.006 {
				t.Errorf("%s on %s has %.3f, want %.2f", known.a, known.b, got, known.want)
			}
		}
	}
	for _, text := range []string{"", "#", "#12", "#12345", "#1234567", "red", "1b3a8c", "#1b3a8g", "#+12345", "url(x)"} {
		if c, ok := pages.ParseColour(text); ok {
			t.Errorf("%q is the colour %s", text, c)
		}
	}
}

func TestShades_EachColourCanBeReadOnEachGround(t *testing.T) {
	t.Parallel()
	for r := 0; r <= 255; r += 51 {
		for g := 0; g <= 255; g += 51 {
			for b := 0; b <= 255; b += 51 {
				asked := pages.Colour{R: uint8(r), G: uint8(g), B: uint8(b)}.String()
				for _, dark := range []bool{false, true} {
					button, accent := (&pages.Branding{Button: asked, Accent: asked}).Shades(dark)
					for need, s := range map[float64]*pages.Shade{pages.ControlContrast: button, pages.TextContrast: accent} {
						for _, ground := range pages.Grounds[dark] {
							if got := pages.Contrast(s.Shown, ground); got < need {
								t.Errorf("%s is shown as %s, which has %.2f on %s", asked, s.Shown, got, ground)
							}
						}
						if got := pages.Contrast(s.On, s.Shown); got < pages.TextContrast {
							t.Errorf("%s has text of %s on it, with %.2f", s.Shown, s.On, got)
						}
						if s.Corrected() != (s.Was < need) {
							t.Errorf("%s with %.2f is shown as %s", asked, s.Was, s.Shown)
						}
					}
				}
			}
		}
	}
}

func TestShades_GroundsAreThoseOfTheStyleSheet(t *testing.T) {
	t.Parallel()
	sheet, err := os.ReadFile("../../static/css/app.css")
	if err != nil {
		t.Fatal(err)
	}
	light, dark, found := strings.Cut(string(sheet), "@media (prefers-color-scheme: dark)")
	if !found {
		t.Fatal("the style sheet has no dark colours")
	}
	for isDark, css := range map[bool]string{false: light, true: dark} {
		for i, name := range []string{"bg", "panel", "raised", "wash"} {
			m := regexp.MustCompile(`--` + name + `: (#[0-9a-f]{6})`).FindStringSubmatch(css)
			if m == nil || colour(t, m[1]) != pages.Grounds[isDark][i] {
				t.Errorf("--%s (dark: %v) is %v, not %s", name, isDark, m, pages.Grounds[isDark][i])
			}
		}
	}
}

func TestSaveBranding_RefusesWhatIsNoLook(t *testing.T) {
	t.Parallel()
	link := func(path string) pages.Branding {
		return pages.Branding{Links: []pages.BrandLink{{Words: "Tickets", Path: path}}}
	}
	for field, list := range map[string][]pages.Branding{
		pages.FieldButton: {{Button: "red"}, {Button: "#fff;}body{display:none"}, {Button: "url(//evil.example)"}},
		pages.FieldAccent: {{Accent: "#12"}},
		pages.FieldFont:   {{Font: "comic"}},
		pages.FieldTheme:  {{Theme: "pink"}},
		pages.FieldSender: {{Sender: "Theatre\r\nBcc: all@example.org"}, {Sender: "Theatre\nX: y"}, {Sender: "Theatre\x00"}, {Sender: strings.Repeat("x", 101)}},
		"path-0":          {link("javascript:alert(1)"), link("data:text/html,x"), link("//evil.example"), link("/events"), link("mailto:a@example.org?bcc=b@example.org"), link("mailto:"), link("https://"), link("ftp://example.org/"), link("https://user:secret@example.org/"), link("")},
		"words-0":         {{Links: []pages.BrandLink{{Path: "https://example.org/"}}}},
	} {
		for _, b := range list {
			if wrong := b.Tidy(); wrong.About(t.Context(), field) == "" {
				t.Errorf("%+v is fine: %v", b, wrong)
			}
		}
	}
	for _, path := range []string{"https://example.org/", "http://example.org/a?b=c", "mailto:tickets@example.org"} {
		if b := link(path); len(b.Tidy()) > 0 {
			t.Errorf("%s is refused: %v", path, b.Tidy())
		}
	}
}

func TestBranding_BelongsToItsTeam(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	desk := organizers.New(db, func() {})
	p, ctx := pages.New(db, desk), t.Context()
	m := organizers.Member{Team: 1, Organizer: 1, Name: "Ann", Role: organizers.Owner}
	var logo bytes.Buffer
	if err := png.Encode(&logo, image.NewNRGBA(image.Rect(0, 0, 200, 100))); err != nil {
		t.Fatal(err)
	}
	if b, err := p.BrandingOf(ctx, 1); b != nil || err != nil {
		t.Fatal(b, err)
	}
	if err := p.SaveBranding(ctx, m, pages.Branding{Button: " #18C ", Sender: "Theatre", Links: []pages.BrandLink{{}, {Words: "Home", Path: "https://example.org/"}}}, "k1"); err != nil {
		t.Fatal(err)
	}
	if err := p.SaveBranding(ctx, m, pages.Branding{Version: 7}, "k2"); !errors.Is(err, pages.ErrChanged) {
		t.Errorf("a version that was not read is covered by another: %v", err)
	}
	if err := p.AddTeamPicture(ctx, m, pages.Upload{Kind: pages.Logo, Alt: "Theatre", Content: logo.Bytes()}, "k3"); err != nil {
		t.Fatal(err)
	}
	var refused *pages.PictureError
	for _, content := range []string{"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", "GIF89a<script>alert(1)</script>", "", "%PDF-1.7"} {
		if err := p.AddTeamPicture(ctx, m, pages.Upload{Kind: pages.Logo, Alt: "x", Content: []byte(content)}, ""); !errors.As(err, &refused) {
			t.Errorf("%q is a logo: %v", content, err)
		}
	}
	if err := p.AddTeamPicture(ctx, m, pages.Upload{Kind: pages.Header, Alt: "x", Content: logo.Bytes()}, ""); !errors.As(err, &refused) {
		t.Errorf("a header may be 200 pixels wide: %v", err)
	}
	for _, team := range []int64{1, 0} { // pages about no team show that of the only one
		b, err := p.BrandingOf(ctx, team)
		if err != nil || b == nil || b.Button != "#1188cc" || b.Sender != "Theatre" || len(b.Links) != 1 || b.Picture(pages.Logo) == nil {
			t.Fatalf("the branding of %d is %+v, %v", team, b, err)
		}
		if file, err := p.LogoFile(ctx, b); err != nil || !bytes.HasPrefix(file, []byte("\xff\xd8\xff")) {
			t.Errorf("the logo has %d bytes, %v", len(file), err)
		}
	}

	var other int64
	if err := db.QueryRow(ctx, `INSERT INTO team (name) VALUES ('Others') RETURNING id`).Scan(&other); err != nil {
		t.Fatal(err)
	}
	theirs := organizers.Member{Team: other, Organizer: 1, Name: "Bob", Role: organizers.Owner}
	if b, err := p.SavedBranding(ctx, theirs); err != nil || b.Version != 0 || len(b.Pictures) != 0 {
		t.Errorf("another team has %+v, %v", b, err)
	}
	if err := p.RemoveTeamPicture(ctx, theirs, pages.Logo, "k4"); err != nil {
		t.Fatal(err)
	}
	if err := desk.As(ctx, theirs, func(tx pgx.Tx) error {
		for _, sql := range []string{`UPDATE team_branding SET sender = 'x'`, `DELETE FROM team_picture`} {
			if tag, err := tx.Exec(ctx, sql); err != nil || tag.RowsAffected() != 0 {
				t.Errorf("%s changes %d rows of another team, %v", sql, tag.RowsAffected(), err)
			}
		}
		_, err := tx.Exec(ctx, `INSERT INTO team_picture (team_id, kind, hash, widths, width, height, alt) SELECT 1, 'header', repeat('a', 32), '{480}', 480, 300, 'x'`)
		return err
	}); err == nil {
		t.Error("a picture is given to another team")
	}
	if b, err := p.SavedBranding(ctx, m); err != nil || b.Picture(pages.Logo) == nil {
		t.Errorf("the logo is gone: %+v, %v", b, err)
	}
	if err := p.RemoveTeamPicture(ctx, m, pages.Logo, "k5"); err != nil {
		t.Fatal(err)
	}
	if b, err := p.SavedBranding(ctx, m); err != nil || b.Picture(pages.Logo) != nil {
		t.Errorf("the logo stays: %+v, %v", b, err)
	}
}
