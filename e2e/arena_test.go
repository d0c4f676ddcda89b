package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/playwright-community/playwright-go"

	"github.com/usherbox/usher/seats/seatstest"
)

// projector is what the big screen of an arena is shown with.
var projector = device{width: 1920, height: 1080}

// openArena opens a house that anybody may attack, with a crowd in its first sale and some bugs of a twin to show.
func openArena(t *testing.T) *office {
	t.Helper()
	dir, err := seatstest.Folder()
	check(t, err)
	twin, err := json.Marshal([]map[string]any{
		{"bug": "a seat is sold twice", "referee": "verify", "seconds": 4.6, "words": "P1"},
		{"bug": "the past is altered, and the public log signed anew", "referee": "audit", "seconds": 5.4, "words": "The first 49 leaves are not those that were signed before"},
	})
	check(t, err)
	check(t, os.WriteFile(filepath.Join(dir, "twin.json"), twin, 0o600))
	o := newOffice(filepath.Join(dir, "arena"))
	o.command = []string{"arena", "--data", o.data, "--address", "127.0.0.1:0", "--seats", "200", "--people", "300", "--for", "5m", "--every", "1h", "--twin", filepath.Join(dir, "twin.json")}
	t.Cleanup(func() {
		if err := o.close(); err != nil {
			t.Errorf("the arena ended with %v\n%s", err, o.log)
		}
		_ = os.RemoveAll(dir)
	})
	check(t, o.open())
	return o
}

func TestArena_ScreenIsLiveAndIsTrueWithoutScripts(t *testing.T) {
	t.Parallel()
	o := openArena(t)
	for _, d := range walked(handheld) {
		t.Run(d.String(), func(t *testing.T) {
			ann := someone(t, o, "ann", d)
			ann.visit("/arena")
			ann.sees(ann.page.GetByText("Findings in all sales"))
			claims := ann.page.Locator("#arena .done dd b").First()
			first, err := claims.InnerText()
			check(t, err)
			eventually(t, patience, "the figures change by themselves", func() bool {
				now, err := claims.InnerText()
				return err == nil && now != first
			})
			eventually(t, patience, "both referees have looked", func() bool {
				n, err := ann.page.GetByText("No finding").Count()
				return err == nil && n >= 2
			})
			ann.press(ann.button("Pause updates"))
			ann.inBothLights("arena")
		})
	}
	plain := someone(t, o, "plain", device{width: projector.width, height: projector.height, noScript: true})
	plain.visit("/arena")
	plain.sees(plain.page.GetByText("Take a seat"))
	plain.sees(plain.page.GetByText("No broken promise was found so far."))
	plain.picture("arena", "light")
	plain.lit(playwright.ColorSchemeDark)
	plain.picture("arena", "dark")
}
