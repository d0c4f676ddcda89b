package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/usherbox/usher/seats/text"
)

// DecodeBody reads JSON; another kind of body is refused.
func DecodeBody(r *http.Request, to any) error {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return ErrMedia
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	return DecodeJSON(body, to)
}

// KeyOf is what a repeat is known by: of programs a header, of forms a field; empty if there is none.
func KeyOf(r *http.Request) (string, error) {
	key := r.Header.Get("Idempotency-Key")
	if key == "" && IsForm(r) {
		if r.PostForm == nil {
			if err := ParseForm(r); err != nil {
				return "", err
			}
		}
		key = r.PostForm.Get("key")
	}
	return key, WrongKey(key)
}

func WrongKey(key string) error {
	if len(key) > 200 || strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' }) {
		return errKey
	}
	return nil
}

// DecodeJSON reads one JSON value strictly: what is not understood is refused.
func DecodeJSON(body []byte, to any) error {
	if !utf8.Valid(body) {
		return Invalid(text.Mark("The request is not valid UTF-8."))
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return NotUnderstood(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Invalid(text.Mark("Something follows it."))
	}
	return nil
}

// NotUnderstood says what is wrong with the JSON of a request, without the words of encoding/json.
func NotUnderstood(err error) *Problem {
	said := text.Say("It is not JSON.")
	var kind *json.UnmarshalTypeError
	var broken *json.SyntaxError
	unknown, foreign := strings.CutPrefix(err.Error(), "json: unknown field ")
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		said = text.Say("The field “%s” has a value of another kind than it takes.", kind.Field)
	case errors.As(err, &kind):
		said = text.Say("It is no JSON object.")
	case errors.As(err, &broken) && broken.Offset > 0:
		said = text.Say("It is not JSON from character %d on.", broken.Offset)
	case foreign:
		said = text.Say("There is no field “%s” here.", strings.Trim(unknown, `"`))
	}
	return NewProblem(422, "invalid", text.Mark("The request cannot be read. %s"), NothingChanged, text.Mark("Change the request and send it again.")).Filled(said)
}

// WholeNumber is what a field of a form says; 0 if it says nothing.
func WholeNumber(form url.Values, field string) (int, error) {
	typed := form.Get(field)
	if typed == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(typed)
	if err != nil {
		return 0, Invalid(text.Mark("How many you want is not a whole number."))
	}
	return n, nil
}

// readForm is what ParseForm does, only quicker for the usual form: a crowd sends one each.
func readForm(r *http.Request) error {
	usual := r.Method == http.MethodPost && r.Header.Get("Content-Type") == "application/x-www-form-urlencoded" && r.URL.RawQuery == "" && 0 <= r.ContentLength && r.ContentLength <= BodyLimit
	if r.PostForm != nil || !usual {
		return r.ParseForm()
	}
	text := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, text)
	if err != nil {
		return err
	}
	r.PostForm, err = url.ParseQuery(string(text))
	r.Form = r.PostForm
	return err
}

// ParseForm reads a form and refuses values that are no text.
func ParseForm(r *http.Request) error {
	if err := readForm(r); err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return err
		}
		return Invalid(text.Mark("The form cannot be read."))
	}
	for _, values := range r.PostForm {
		for _, v := range values {
			if !utf8.ValidString(v) {
				return Invalid(text.Mark("The form is not valid UTF-8."))
			}
		}
	}
	return nil
}
