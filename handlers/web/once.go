package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/sessions"
)

var (
	errOtherPost = NewProblem(409, "key", "This form was sent before with other content. What it said then was done.", "Nothing else was changed.", "Load the page again, then send it once more; programs take another key.")
	errStillAtIt = NewProblem(409, "under_way", "This form was sent a moment ago, and is still being done.", "Nothing was changed twice.", "Load the page again in a few seconds.")
)

// Once makes a handler of one that does something each time it is asked: with a key it does it once, and a repeat gets the
// first answer. A key belongs to a browser, or to a program, and to an address. What was refused used no key up.
// Without a key it is done as often as it is sent; every form of ours has one.
func (h *Server) Once(next Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		defer func() { RemoveFiles(r) }()
		key, wish, err := keyAndWish(r)
		if err != nil {
			return err
		}
		if key == "" {
			return next(w, r)
		}
		who := sha256.Sum256(fmt.Appendf(nil, "%q", []string{r.Method, r.URL.RequestURI(), h.sessionToken(r), r.Header.Get("Authorization")}))
		p := sessions.Posted{Who: who[:], Key: key, Wish: wish}
		for end := time.Now().Add(15 * time.Second); time.Now().Before(end); {
			first, answer, err := h.Store.Post(r.Context(), p)
			switch {
			case errors.Is(err, sessions.ErrOtherPost):
				return errOtherPost
			case err != nil:
				return err
			case first:
				return h.first(w, r, p, next)
			case answer != nil:
				return h.repeat(w, r, answer)
			}
			select { // the same form is being done at this moment
			case <-r.Context().Done():
				return r.Context().Err()
			case <-time.After(100 * time.Millisecond):
			}
		}
		return errStillAtIt
	}
}

// first does what a form says and stores the answer. The work goes on if the client disconnects. An answer is
// written last: what comes after it can go wrong and would be a second one.
func (h *Server) first(w http.ResponseWriter, r *http.Request, p sessions.Posted, next Handler) error {
	ctx := context.WithoutCancel(r.Context())
	held := &heldAnswer{ResponseWriter: w, status: http.StatusOK}
	if err := next(held, r.WithContext(ctx)); err != nil {
		return errors.Join(err, h.Store.Unpost(ctx, p))
	}
	if err := h.settle(ctx, p, held); err != nil {
		return err
	}
	w.WriteHeader(held.status)
	_, _ = w.Write(held.body.Bytes()) // a caller who is gone needs no answer
	return nil
}

// settle keeps an answer for its repeats, or forgets the key of one that refuses.
func (h *Server) settle(ctx context.Context, p sessions.Posted, held *heldAnswer) error {
	if held.status >= http.StatusBadRequest || held.undone {
		return h.Store.Unpost(ctx, p)
	}
	header := held.Header().Clone()
	header.Del("Set-Cookie")
	a := sessions.PostedAnswer{Status: held.status, Header: header, Body: held.body.Bytes(), Entered: held.entered}
	if err := h.Store.Answer(ctx, p, a); err != nil {
		return errors.Join(err, h.Store.Unpost(ctx, p))
	}
	return nil
}

// repeat answers as the first time. Who was let in by the first answer is let in by this one, too: it may have been lost.
func (h *Server) repeat(w http.ResponseWriter, r *http.Request, a *sessions.PostedAnswer) error {
	if a.Entered != "" {
		r, err := h.Visited(r)
		if err != nil {
			return err
		}
		h.Sessions.Put(r.Context(), DeskKey, a.Entered)
		if err := h.Keep(w, r); err != nil {
			return err
		}
	}
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // a caller who is gone needs no answer
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

// keyAndWish reads a request for its key and a hash of all else that it says, and leaves it to be read again.
func keyAndWish(r *http.Request) (key string, wish []byte, err error) {
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
		return "", nil, TooLargeOr(err, "The form cannot be read.")
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
