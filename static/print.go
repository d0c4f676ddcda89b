package static

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
)

//go:embed print/*.gz
var printed embed.FS

// Print is a font for paper, by its name. It panics if there is none.
func Print(name string) []byte {
	content, err := printed.ReadFile("print/" + name + ".gz")
	if err != nil {
		panic("static: there is no font " + name)
	}
	r, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		panic("static: " + err.Error()) // embedded files are what they are, and a test reads them
	}
	content, err = io.ReadAll(r)
	if err != nil {
		panic("static: " + err.Error())
	}
	return content
}
