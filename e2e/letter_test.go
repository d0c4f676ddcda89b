package e2e

import (
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// page returns the HTML of a letter, wherever it stands among its parts; empty if it has none.
func pageOf(t *testing.T, header map[string][]string, body io.Reader) string {
	t.Helper()
	kind, params, err := mime.ParseMediaType(mail.Header(header).Get("Content-Type"))
	check(t, err)
	if !strings.HasPrefix(kind, "multipart/") {
		if kind != "text/html" {
			return ""
		}
		switch mail.Header(header).Get("Content-Transfer-Encoding") {
		case "quoted-printable":
			body = quotedprintable.NewReader(body)
		case "base64":
			body = base64.NewDecoder(base64.StdEncoding, body)
		}
		text, err := io.ReadAll(body)
		check(t, err)
		return string(text)
	}
	for parts := multipart.NewReader(body, params["boundary"]); ; {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return ""
		}
		check(t, err)
		if page := pageOf(t, part.Header, part); page != "" {
			return page
		}
	}
}

func TestEveryLetterIsAccessibleInLightAndDark(t *testing.T) {
	t.Parallel()
	office := ownOffice(t)
	ann := someone(t, office, "ann", phone)
	ann.buysPlaces(office.named(t, "places", "conference", "--limit", "4"), 2)
	ann.press(ann.page.GetByText("Cancel tickets"))
	check(t, ann.page.GetByRole("checkbox").First().Check())
	ann.press(ann.button("Cancel selected tickets"))
	ann.hasTickets(1)
	ann.visit("/account")
	ann.asksForLink("ann@example.org")
	var letters []string
	eventually(t, 2*patience, "three letters", func() bool {
		var err error
		letters, err = filepath.Glob(filepath.Join(office.data, "mail", "*.eml"))
		check(t, err)
		return len(letters) >= 3
	})
	for _, file := range letters {
		whole, err := os.Open(file)
		check(t, err)
		letter, err := mail.ReadMessage(whole)
		check(t, err)
		html := pageOf(t, letter.Header, letter.Body)
		check(t, whole.Close())
		if html == "" {
			t.Errorf("the letter %q has no page", letter.Header.Get("Subject"))
			continue
		}
		subject, err := new(mime.WordDecoder).DecodeHeader(letter.Header.Get("Subject"))
		check(t, err)
		_, err = ann.page.Goto("about:blank")
		check(t, err)
		check(t, ann.page.SetContent(html))
		name := "letter-" + strings.ToLower(strings.Join(strings.FieldsFunc(subject, func(r rune) bool { return r < 'A' || r > 'z' }), "-"))
		ann.lit(playwright.ColorSchemeLight)
		ann.picture(name, "light")
		ann.isAccessible(name, checkup)
		ann.lit(playwright.ColorSchemeDark)
		ann.picture(name, "dark")
		ann.isAccessible(name+" in the dark", contrast)
	}
}
