package plan

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// mostParts is the most objects and lists, and the most elements of lists, a file may have. A plan of 100,000 seats in
// any of the formats has far fewer; a file with more is made to fill the memory.
const mostParts = 1_000_000

// examine refuses what is too large, not text, or would cost much more memory than its size lets expect.
func examine(data []byte) ([]byte, error) {
	if len(data) > MaxBytes {
		return nil, &Error{Reason: fmt.Sprintf("the file is larger than %d MiB", MaxBytes>>20)}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, &Error{Line: 1, Reason: "the file is empty"}
	}
	for i := 0; i < len(data); {
		if data[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return nil, &Error{Line: lineAt(data, int64(i)), Reason: "this is not UTF-8 text"}
		}
		i += size
	}
	return data, weigh(data)
}

// weigh counts what a file is made of, outside of texts, and refuses null as an element: five bytes in the file would
// be a whole empty seat in memory.
func weigh(data []byte) error {
	var open []byte // the brackets around this place
	parts, elements, before := 0, 0, byte(0)
	for i := 0; i < len(data); i++ {
		switch c := data[i]; c {
		case ' ', '\t', '\r', '\n':
			continue
		case '"':
			i = textEnd(data, i)
		case '{', '[':
			open = append(open, c)
			parts++
		case '}', ']':
			open = open[:max(0, len(open)-1)]
		case ',':
			if len(open) > 0 && open[len(open)-1] == '[' {
				elements++
			}
		case 'n':
			if before == '[' || before == ',' {
				return &Error{Line: lineAt(data, int64(i)), Reason: "null stands in a list, where an element is expected"}
			}
		}
		if max(parts, elements) > mostParts {
			return &Error{Line: lineAt(data, int64(i)), Reason: fmt.Sprintf("more than %d parts: too many for a plan", mostParts)}
		}
		if i < len(data) {
			before = data[i]
		}
	}
	return nil
}

// textEnd is the position of the quote that ends the text which begins at i.
func textEnd(data []byte, i int) int {
	for i++; i < len(data) && data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i
}
