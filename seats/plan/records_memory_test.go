package plan

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
)

// Not parallel: it counts what the whole process allocates.
func TestSurvey_TakesLittleMoreThanTheFile(t *testing.T) {
	lines := func(n int, line string) []byte {
		return append([]byte("section,row,number,x,y"+strings.Repeat(",c", 15)+"\n"), bytes.Repeat([]byte(line+"\n"), n)...)
	}
	for name, data := range map[string][]byte{
		"100,000 seats of 450 bytes":  lines(100_000, "Stalls,A,12,1.5,2.5"+strings.Repeat(","+strings.Repeat("x", 28), 15)),
		"45 MB of cells without text": lines(2_300_000, strings.Repeat(",", 19)),
		"one line of 45 MB":           lines(1, strings.Repeat(",", 45<<20)),
		"one text of 45 MB":           lines(1, `"`+strings.Repeat("x", 45<<20)),
		"10,000 points again":         []byte(`<svg><defs><g id="c">` + strings.Repeat(`<path d="M0 0`+strings.Repeat("h1", 4_990)+`"/>`, 2) + `</g>` + strings.Repeat(`<use href="#c"/>`, 6_000) + `</defs><circle r="3"/></svg>`),
		"a text of 1 MB in parts":     []byte(`<svg><circle r="3"/><text>` + strings.Repeat("<tspan>", 900) + strings.Repeat("x", 1<<20) + strings.Repeat("</tspan>", 900) + `</text></svg>`),
		"groups with an id each":      []byte(`<svg>` + strings.Repeat(strings.Repeat(`<g id="a">`, 900)+strings.Repeat(`<line x2="9"/>`, 200)+strings.Repeat(`</g>`, 900), 10) + `<circle r="3"/></svg>`),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Survey(data)
		runtime.ReadMemStats(&after)
		took := (after.TotalAlloc - before.TotalAlloc) >> 20
		t.Logf("%s: %d MB of file, %d MB allocated, %v", name, len(data)>>20, took, err)
		if took > 200 {
			t.Errorf("%s: %d MB", name, took)
		}
	}
}
