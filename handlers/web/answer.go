package web

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// WantsJSON tells which of the two shapes of an answer the caller asks for.
func WantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	if strings.Contains(accept, "text/html") {
		return false
	}
	return strings.Contains(accept, "json") || strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") ||
		r.Method == http.MethodDelete || (r.Method == http.MethodPost && !IsForm(r))
}

func IsForm(r *http.Request) bool {
	kind := r.Header.Get("Content-Type")
	return strings.HasPrefix(kind, "application/x-www-form-urlencoded") || strings.HasPrefix(kind, "multipart/form-data")
}

// UTC is a moment that may be missing, in UTC.
func UTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	at := t.UTC()
	return &at
}

// WriteJSON answers a program.
func WriteJSON(w http.ResponseWriter, status int, answer any) error {
	w.Header()["Content-Type"] = TypeJSON
	return writeJSON(w, status, answer)
}

func writeJSON(w http.ResponseWriter, status int, answer any) error {
	body, _ := buffers.Get().(*bytes.Buffer)
	body.Reset()
	if quick, is := answer.(jsonAppender); is {
		_, _ = body.Write(quick.AppendJSON(body.AvailableBuffer())) // a buffer takes all
	} else if err := json.NewEncoder(body).Encode(answer); err != nil {
		return err
	}
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // a caller who is gone needs no answer
	if body.Cap() <= 1<<16 {
		buffers.Put(body)
	}
	return nil
}

// jsonAppender is an answer that a crowd gets: it writes itself, without reflection.
type jsonAppender interface {
	AppendJSON(to []byte) []byte
}

// AppendText writes a word as JSON: it seldom needs more than quotes around it.
func AppendText(to []byte, word string) []byte {
	for i := range len(word) {
		if c := word[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(word) // words always marshal
			return append(to, quoted...)
		}
	}
	return append(append(append(to, '"'), word...), '"')
}

// AppendTexts writes a list of words as JSON.
func AppendTexts(to []byte, words []string) []byte {
	to = append(to, '[')
	for i, word := range words {
		if i > 0 {
			to = append(to, ',')
		}
		to = AppendText(to, word)
	}
	return append(to, ']')
}

// buffers are for short answers.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// WritePage renders to a buffer first, so that a failed page is not sent half.
func WritePage(w http.ResponseWriter, r *http.Request, status int, page templ.Component) error {
	var buffer bytes.Buffer
	ctx := views.WithLanguages(context.WithoutCancel(r.Context()), r.URL.RawQuery)
	if frameOf(r) != nil {
		ctx = views.InFrame(ctx)
	}
	if err := page.Render(ctx, &buffer); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(buffer.Bytes()) // a reader who is gone needs no page
	return nil
}

// WritePDF answers with a PDF to be read in the browser.
func WritePDF(w http.ResponseWriter, name string, file []byte) {
	w.Header().Set("Content-Type", "application/pdf")
	w.Header().Set("Content-Disposition", `inline; filename="`+name+`.pdf"`)
	_, _ = w.Write(file) // a reader who is gone needs none
}

// WritePerson answers with what is known of a person as a file: as JSON, or as a PDF with a title.
func WritePerson(w http.ResponseWriter, title, as string, text []byte) (err error) {
	if as != "pdf" {
		as = "json"
	} else {
		text = shop.Typescript(title, string(text), time.Now())
	}
	w.Header().Set("Content-Type", "application/"+as)
	w.Header().Set("Content-Disposition", `attachment; filename="person.`+as+`"`)
	_, _ = w.Write(text) // a caller who is gone needs no file
	return nil
}
