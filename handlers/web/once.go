package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"

	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

var (
	errOtherPost = NewProblem(409, "key", text.Mark("This form was sent before with other content. What it said then was done."), text.Mark("Nothing else was changed."), text.Mark("Load the page again, then send it once more; programs take another key."))
	errStillAtIt = NewProblem(409, "under_way", text.Mark("This form was sent a moment ago, and is still being done."), text.Mark("Nothing was changed twice."), text.Mark("Load the page again in a few seconds."))
)

// formAnswer is what a form was answered, as its repeats get it.
type formAnswer struct {
	Status  int
	Header  http.Header
	Body    []byte
	Entered string // the organizer's session that the form began; empty if it began none
}

// errNotKept ends a form whose answer refuses it: its key may be sent again.
var errNotKept = errors.New("the answer is not kept")

// Once makes a handler do a form with a key once. A repeat gets the first answer. A key belongs to a browser, or to a
// program, and to an address. A refused form uses no key up. A form without a key is done as often as it is sent.
func (h *Server) Once(next Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		defer func() { RemoveFiles(r) }()
		name, request, err := keyAndHash(r)
		if err != nil {
			return err
		}
		if name == "" {
			return next(w, r)
		}
		sender := sha256.Sum256(fmt.Appendf(nil, "%q", []string{r.Method, r.URL.RequestURI(), h.SessionToken(r), r.Header.Get("Authorization")}))
		key, err := idempotency.New("form/"+base64.RawURLEncoding.EncodeToString(sender[:]), name, request)
		if err != nil {
			return err
		}
		held := &heldAnswer{ResponseWriter: w, status: http.StatusOK}
		answer, repeat, err := h.Organizers.Requests.Once(r.Context(), key, func(ctx context.Context) ([]byte, error) {
			return held.keep(next(held, r.WithContext(ctx)))
		})
		switch {
		case errors.Is(err, idempotency.ErrOtherKey):
			return errOtherPost
		case err == nil && repeat:
			return h.repeat(w, r, answer)
		case err != nil && !errors.Is(err, errNotKept):
			return err
		}
		w.WriteHeader(held.status)
		_, _ = w.Write(held.body.Bytes()) // a lost connection needs no answer
		return nil
	}
}

// keep returns the answer for repeats. errNotKept if it refuses the form.
func (a *heldAnswer) keep(err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	if a.status >= http.StatusBadRequest || a.undone {
		return nil, errNotKept
	}
	header := a.Header().Clone()
	header.Del("Set-Cookie")
	return json.Marshal(formAnswer{a.status, header, a.body.Bytes(), a.entered})
}

// repeat answers as the first time. A repeat of a form that began an organizer's session is let into it, too: the first
// answer may have been lost.
func (h *Server) repeat(w http.ResponseWriter, r *http.Request, answer []byte) error {
	var a formAnswer
	if err := json.Unmarshal(answer, &a); err != nil {
		return err
	}
	if a.Entered != "" {
		r, err := h.Visited(r)
		if err != nil {
			return err
		}
		h.Sessions.Put(r.Context(), DeskKey, a.Entered)
		if err := h.RenewToken(w, r); err != nil {
			return err
		}
	}
	maps.Copy(w.Header(), a.Header)
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // a lost connection needs no answer
	return nil
}

// heldAnswer holds an answer back until it is kept.
type heldAnswer struct {
	http.ResponseWriter
	status  int
	body    bytes.Buffer
	entered string // see enterDesk
	undone  bool   // see undone
}

// Undone marks an answer that leads elsewhere because the form was not done yet: sent again, it is.
func Undone(w http.ResponseWriter) {
	if held, ok := w.(*heldAnswer); ok {
		held.undone = true
	}
}

func (a *heldAnswer) WriteHeader(status int) { a.status = status }

func (a *heldAnswer) Write(b []byte) (int, error) { return a.body.Write(b) }

// Enters notes who a session was let in as, for repeats.
func Enters(w http.ResponseWriter, s organizers.Session, text string) {
	if held, ok := w.(*heldAnswer); ok && s.Organizer != 0 {
		held.entered = text
	}
}

// keyAndHash reads a request for its key and a hash of all else that it says, and leaves it to be read again.
func keyAndHash(r *http.Request) (key string, hash []byte, err error) {
	var said any
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		key, said, err = saidInParts(r)
	} else {
		key, said, err = saidInBody(r)
	}
	if err != nil {
		return "", nil, err
	}
	if name := r.Header.Get("Idempotency-Key"); name != "" {
		key = name
	}
	text, err := json.Marshal(said)
	if err != nil {
		return "", nil, err
	}
	sum := sha256.Sum256(text)
	return key, sum[:], WrongKey(key)
}

// RemoveFiles removes what a form with files left in the folder for temporary files.
func RemoveFiles(r *http.Request) {
	if r.MultipartForm != nil {
		_ = r.MultipartForm.RemoveAll() // the system empties that folder, too
	}
}

// saidInParts is the key of a form with files, and all else that it says.
func saidInParts(r *http.Request) (key string, said any, err error) {
	if err := r.ParseMultipartForm(BodyLimit); err != nil {
		return "", nil, TooLargeOr(err, text.Mark("The form cannot be read."))
	}
	files, err := hashFiles(r.MultipartForm)
	return first(r.MultipartForm.Value["key"]), []any{keyless(r.MultipartForm.Value), files}, err
}

// saidInBody is the key of a form or of a JSON object, and all else that it says.
func saidInBody(r *http.Request) (key string, said any, err error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return "", nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if IsForm(r) {
		if err := ParseForm(r); err != nil {
			return "", nil, err
		}
		return first(r.PostForm["key"]), keyless(r.PostForm), nil
	}
	object := map[string]any{}
	if json.Unmarshal(body, &object) != nil {
		return "", string(body), nil
	}
	key, _ = object["key"].(string)
	delete(object, "key")
	return key, object, nil
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// keyless is a form without its key.
func keyless(form map[string][]string) map[string][]string {
	rest := map[string][]string{}
	for name, values := range form {
		if name != "key" {
			rest[name] = values
		}
	}
	return rest
}

func TooLargeOr(err error, words string) error {
	var large *http.MaxBytesError
	var known *Problem
	if errors.As(err, &large) || errors.As(err, &known) {
		return err
	}
	return Invalid(words)
}

// hashFiles names the content of the files of a form.
func hashFiles(form *multipart.Form) (list []string, err error) {
	for name, headers := range form.File {
		for _, header := range headers {
			file, err := header.Open()
			if err != nil {
				return nil, err
			}
			sum := sha256.New()
			_, err = io.Copy(sum, file)
			if err = errors.Join(err, file.Close()); err != nil {
				return nil, err
			}
			list = append(list, fmt.Sprintf("%s %q %x", name, header.Filename, sum.Sum(nil)))
		}
	}
	slices.Sort(list)
	return list, nil
}
