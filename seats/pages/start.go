package pages

import (
	"context"
	"embed"

	"github.com/usherbox/usher/seats/text"
)

//go:embed start
var starts embed.FS

// Start is the text that a team begins with, in the language of its reader.
func Start(ctx context.Context, k Kind) string {
	started, _ := starts.ReadFile("start/" + text.Tag(ctx) + "/" + string(k) + ".md") // an unknown kind begins empty
	return string(started)
}
