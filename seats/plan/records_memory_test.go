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
