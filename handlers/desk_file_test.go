package handlers

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
)

// gif is a picture of a kind that is not taken.
const gif = "GIF89a\x01\x00\x01\x00\x00\x00\x00;"

func TestFile_NameThatDoesNotFitItsContentIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	const (
		table    = "Date,Amount\n2030-03-01,10.00\n"
		camt     = `<?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"></Document>`
		misnamed = "The name of this file does not fit its content: it should end in "
	)
	for _, c := range []struct{ at, field, name, content, says string }{
		{"/desk/imports", "file", "house.exe", smallTable, misnamed + ".csv, .txt."},
		{"/desk/imports", "file", "house.json", smallTable, misnamed + ".csv, .txt."},
		{"/desk/imports", "file", "house", smallTable, misnamed + ".csv, .txt."},
		{"/desk/imports", "file", "house.csv", `{"format":"usher-plan/1"}`, misnamed + ".json."},
		{"/desk/imports", "file", "house.csv", "\ufeff\n<svg xmlns='http://www.w3.org/2000/svg'/>", misnamed + ".svg."},
		{"/desk/events", "file", "house.svg", smallTable, misnamed + ".csv, .txt."},
		{"/desk/bank/statements", "file", "march.xml", table, misnamed + ".csv, .txt."},
		{"/desk/bank/statements", "file", "march.csv", camt, misnamed + ".xml, .c53."},
		{"/desk/bank/statements", "file", "march.pdf", "%PDF-1.7", "This is a PDF."},
		{"/desk/customers/imports", "file", "list.json", "email\nann@example.org\n", misnamed + ".csv, .tsv, .txt."},
		{"/desk/customers/imports", "file", "list.csv", `{"email":"ann@example.org"}`, "Line 1: Its quotation marks do not match."},
		{"/desk/branding/pictures", "picture", "poster.jpg", aPicture(800, 600), misnamed + ".png."},
		{"/desk/events/evening/pictures", "picture", "poster.webp", aPicture(800, 600), misnamed + ".png."},
		{"/desk/events/evening/pictures", "picture", "poster.gif", gif, "GIF pictures may move"},
		{"/desk/events/evening/pictures", "picture", "poster.jpg", gif, "GIF pictures may move"},
	} {
		for _, accept := range []string{asPage, "application/json"} {
			var body bytes.Buffer
			form := multipart.NewWriter(&body)
			for name, value := range map[string]string{"key": c.name, "kind": "header", "alt": "A lake", "name": "Gala", "starts": "2033-05-18T20:00", "zone": "Europe/Vienna"} {
				_ = form.WriteField(name, value) // to memory, as the rest
			}
			file, _ := form.CreateFormFile(c.field, c.name)
			_, _ = file.Write([]byte(c.content))
			_ = form.Close()
			a, said := send(t, ann, "POST", s.url+c.at, body.String(), "Accept", accept, "Content-Type", form.FormDataContentType(), "Idempotency-Key", c.name)
			if a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(said, c.says) {
				t.Errorf("%s of %q as %s: %d, without %q: %.300s", c.at, c.name, accept, a.StatusCode, c.says, words(said))
			}
		}
	}
	for name, content := range map[string]string{"House.CSV": smallTable, "house.txt": smallTable} {
		if a, said := s.upload(t, ann, name, content); a.StatusCode != http.StatusSeeOther {
			t.Errorf("%s: %d %.300s", name, a.StatusCode, words(said))
		}
	}
}
