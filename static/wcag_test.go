package static

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What WCAG 2.2 asks of the scripts and styles of attendees; docs/accessibility.md names these tests.

// ofAttendees are the scripts of the pages of attendees and what these load.
func ofAttendees() map[string]string {
	all := map[string]string{}
	for ahead := []string{"event.js", "buy.js", "checkout.js", "payment.js", "waiting.js", "room.js", "shut.js", "proof.js"}; len(ahead) > 0; ahead = ahead[1:] {
		name := ahead[0]
		content, err := os.ReadFile("js/" + name)
		if err != nil || all[name] != "" {
			continue
		}
		all[name] = string(content)
		for _, m := range regexp.MustCompile(`'usher/(\w+)'`).FindAllStringSubmatch(all[name], -1) {
			ahead = append(ahead, m[1]+".js")
		}
	}
	return all
}

// never fails where a pattern is found in what attendees get, or is not found in what is planted.
func never(t *testing.T, in map[string]string, pattern, what string, planted ...string) {
	t.Helper()
	re := regexp.MustCompile(pattern)
	for name, content := range in {
		if found := re.FindString(content); found != "" {
			t.Errorf("%s %s: %s", name, what, found)
		}
	}
	for _, p := range planted {
		if !re.MatchString(p) {
			t.Errorf("nothing was found in %s", p)
		}
	}
}

func stylesOfAttendees(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range []string{"app.css", "plain.css", "list.css", "order.css", "account.css", "room.css", "waitlist.css"} {
		content, err := os.ReadFile("css/" + name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(content)
	}
	return all
}

func TestNoScriptTakesACharacterForAShortcut(t *testing.T) {
	t.Parallel()
	scripts := ofAttendees()
	if len(scripts) < 14 {
		t.Fatalf("only %v were found", slices.Sorted(maps.Keys(scripts)))
	}
	never(t, scripts, `\.(key|code)\s*===?\s*'(.|Key.|Digit.)'`, "has a shortcut of one character", `if (event.key === 'h') hold()`, `e.code == 'KeyH'`)
	never(t, scripts, `case '.':\s*(return )?\w+\(`, "has a shortcut of one character", `case '+': zoom(1)`)
}

func TestNoPageWantsToBeTurnedShakenOrHeard(t *testing.T) {
	t.Parallel()
	never(t, ofAttendees(), `devicemotion|deviceorientation|orientation\.lock|lockOrientation|Accelerometer|Gyroscope`, "listens to how the device is held", `addEventListener('devicemotion', f)`, `screen.orientation.lock('portrait')`)
	never(t, ofAttendees(), `\bAudio\b|AudioContext|speechSynthesis|\.play\(`, "makes a sound", `new Audio('ping.mp3').play()`)
	never(t, stylesOfAttendees(t), `orientation\s*:`, "depends on how the device is held", `@media (orientation: portrait) { main { display: none } }`)
}

func TestScripts_DoNotPreventPasting(t *testing.T) {
	t.Parallel()
	never(t, ofAttendees(), `['.]on?paste|'paste'`, "meddles with pasting", `field.onpaste = no`, `addEventListener('paste', no)`)
}

// Nothing goes on moving by itself, and no seat is ringed three times in a second, however often it changes (2.2.2, 2.3.1).
func TestNothingFlashes(t *testing.T) {
	t.Parallel()
	never(t, stylesOfAttendees(t), `@keyframes|infinite`, "has something that goes on moving", `a { animation: blink 1s infinite }`)
	script := ofAttendees()["map.js"]
	m := regexp.MustCompile(`RING = (\d+)`).FindStringSubmatch(script)
	if m == nil {
		t.Fatal("the map has no RING any more")
	}
	if ms, err := strconv.Atoi(m[1]); err != nil || ms*3 <= 1000 {
		t.Errorf("a seat is ringed for %s ms: more than three times in a second", m[1])
	}
	if !regexp.MustCompile(`rings\.set\(idx, rings\.get\(idx\) \?\?`).MatchString(script) {
		t.Error("a ring that is there begins again when its seat changes again")
	}
}

// A selector that turns the focus outline off must be something that Tab never leads to.
func TestTheFocusIsSeenWhereverTabLeads(t *testing.T) {
	t.Parallel()
	for name, css := range stylesOfAttendees(t) {
		for _, line := range strings.Split(css, "\n") {
			if strings.Contains(line, "outline: none") && !strings.HasPrefix(strings.TrimSpace(line), ".stand:focus ") {
				t.Errorf("%s takes an outline away: %s", name, line)
			}
		}
	}
	if css := stylesOfAttendees(t)["app.css"]; !strings.Contains(css, ":focus-visible { outline: 3px solid var(--focus)") {
		t.Error("what has the focus has no outline")
	}
}
