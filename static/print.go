package static

import (
	"bytes"
	"embed"
	"io"

	"github.com/andybalholm/brotli"
)

//go:embed print/*.br
var printed embed.FS

// Print is a font for paper, by its name. It panics if there is none.
func Print(name string) []byte {
	content, err := printed.ReadFile("print/" + name + ".br")
	if err != nil {
		panic("static: there is no font " + name)
	}
	if content, err = io.ReadAll(brotli.NewReader(bytes.NewReader(content))); err != nil {
		panic("static: " + err.Error()) // embedded files are what they are, and a test reads them
	}
	return content
}
