package desk

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// What files that organizers send are named, by the first of what is in them. Text of any kind may be in a .txt file.
var extensions = []struct {
	begins func(content []byte) bool
	named  []string
}{
	{sniffed("image/jpeg"), []string{".jpg", ".jpeg", ".jfif"}},
	{sniffed("image/png"), []string{".png"}},
	{sniffed("image/webp"), []string{".webp"}},
	{func(content []byte) bool { return bytes.HasPrefix(content, []byte("<")) }, []string{".svg", ".xml", ".c53"}},
	{func(content []byte) bool {
		return bytes.HasPrefix(content, []byte("{")) || bytes.HasPrefix(content, []byte("["))
	}, []string{".json"}},
	{sniffed("text/plain; charset=utf-8"), []string{".csv", ".tsv", ".txt"}}, // of any character set: what has no control characters
}

func sniffed(kind string) func([]byte) bool {
	return func(content []byte) bool { return http.DetectContentType(content) == kind }
}

// misnamed returns an error if the name of a file ends as those of files with another content do. accept has what a form takes, as its field
// for the file says it; content that it does not take is not judged here, as who reads it knows better what to say.
func misnamed(name string, content []byte, accept string) *seats.ValidationError {
	content = bytes.TrimSpace(bytes.TrimPrefix(content, []byte("\ufeff")))
	ending, accepted := strings.ToLower(path.Ext(name)), strings.Split(accept, ",")
	if len(content) == 0 || ending == ".txt" && slices.Contains(accepted, ending) {
		return nil
	}
	for _, kind := range extensions {
		if !kind.begins(content) {
			continue
		}
		taken := slices.DeleteFunc(slices.Clone(kind.named), func(ending string) bool { return !slices.Contains(accepted, ending) })
		if len(taken) == 0 || slices.Contains(taken, ending) {
			return nil
		}
		return &seats.ValidationError{Message: text.Mark("The name of this file does not fit its content: it should end in %s. Rename it, or choose another file."), Args: []any{strings.Join(taken, ", ")}}
	}
	return nil
}

// shortened is the name of a file as we show it.
func shortened(name string) string {
	name = strings.ToValidUTF8(path.Base(strings.ReplaceAll(name, "\\", "/")), "")
	if len(name) > 100 {
		name = strings.ToValidUTF8(name[:100], "")
	}
	return name
}

// file is one that a form brought.
type file struct {
	name    string
	content []byte // nil: the form has none
}

// fileOf reads the file of a field of a form, which is as long as its route allows.
func fileOf(form *multipart.Form, field string) (f file, err error) {
	files := form.File[field]
	if len(files) == 0 || files[0].Size == 0 {
		return f, nil
	}
	in, err := files[0].Open()
	if err != nil {
		return f, err
	}
	f.name = files[0].Filename
	f.content, err = io.ReadAll(in)
	return f, errors.Join(err, in.Close())
}
