package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Error says why a file is not read as a plan, and where in the file that is.
type Error struct {
	Line   int    // counted from 1; 0 if the trouble is not on one line
	Where  string // the way to the value, as in zones[1].rows[3].seats[0]; may be empty
	Reason string
}

// Error is the line, the way and the reason.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("plan: read: ")
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", e.Line)
	}
	if e.Where != "" {
		b.WriteString(e.Where + ": ")
	}
	b.WriteString(e.Reason)
	return b.String()
}

// badValue is a value that is not what is expected. Its place in the file is found by its text.
type badValue struct {
	text []byte
	want string
}

func (b *badValue) Error() string {
	return fmt.Sprintf("found %.40s where %s is expected", b.text, b.want)
}

// mismatch says in words that a value is of the wrong kind.
func mismatch(e *json.UnmarshalTypeError) string {
	want := map[string]string{
		"string": "a text", "float64": "a number", "int": "a whole number", "int64": "a whole number",
		"bool": "true or false", "slice": "a list", "struct": "an object", "ptr": "an object", "map": "an object",
	}[e.Type.Kind().String()]
	if want == "" {
		want = "something else"
	}
	if strings.HasPrefix(e.Value, "number ") {
		return fmt.Sprintf("%s does not fit here; expected %s that is finite and not huge", e.Value, want)
	}
	return fmt.Sprintf("found %s where %s is expected", e.Value, want)
}

// spell writes a path as people do: zones[1].rows[3].
func spell(path []any) string {
	var b strings.Builder
	for _, step := range path {
		switch s := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s)
		}
	}
	return b.String()
}

// lineAt is the line, counted from 1, of a byte of the file.
func lineAt(data []byte, offset int64) int {
	offset = max(0, min(offset, int64(len(data))))
	return 1 + bytes.Count(data[:offset], []byte{'\n'})
}

// locate finds the line on which the value at a path stands, or, if it is missing, that of the nearest thing around it.
// It reads the file again: errors are rare, and a plan that remembers its lines would be large.
func locate(data []byte, path ...any) int {
	dec := json.NewDecoder(bytes.NewReader(data))
	line := 1
	for _, step := range path {
		if !descend(dec, step) {
			break
		}
		line = lineAt(data, valueStart(data, dec.InputOffset()))
	}
	return line
}

// descend moves to the value of a key or to an element of a list; false if there is none.
func descend(dec *json.Decoder, step any) bool {
	open, err := dec.Token()
	if err != nil {
		return false
	}
	for n := 0; dec.More(); n++ {
		if open == json.Delim('{') {
			key, err := dec.Token()
			if err != nil {
				return false
			}
			if key == step {
				return true
			}
		} else if n == step {
			return true
		}
		var skipped json.RawMessage
		if dec.Decode(&skipped) != nil {
			return false
		}
	}
	return false
}

// valueStart steps over what stands between a key and its value, or between two elements.
func valueStart(data []byte, offset int64) int64 {
	for offset < int64(len(data)) && bytes.IndexByte([]byte(" \t\r\n:,"), data[offset]) >= 0 {
		offset++
	}
	return offset
}
