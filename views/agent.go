package views

import (
	"context"
	"strings"

	"github.com/usherbox/usher/seats/text"
)

// agents are browsers as sessions have them.
var agents = text.NewStored(
	// Translators: a browser and a system, such as "Firefox on Linux".
	text.Mark("%s on %s"))

// AgentName is the browser of a session as lists name it.
func AgentName(ctx context.Context, agent string) string {
	if agent == "" {
		return text.T(ctx, "Unknown browser")
	}
	said := []rune(agents.In(ctx, agent))
	return strings.ToUpper(string(said[:1])) + string(said[1:])
}
