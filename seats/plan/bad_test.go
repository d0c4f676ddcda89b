package plan

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
)

func TestBadFilesAreRefusedWithLineAndReason(t *testing.T) {
	t.Parallel()
	pretix := func(old, now string) string { return swap(t, smallPretix, old, now) }
	seatsio := func(old, now string) string { return swap(t, smallSeatsio, old, now) }
	own := func(old, now string) string { return swap(t, smallOwn, old, now) }
	for _, c := range []struct {
		name, file string
		line       int
		reason     string
	}{
		{"nothing", "", 1, "empty"},
		{"only space", " \n ", 1, "empty"},
		{"no JSON", "<svg/>", 1, "not JSON"},
		{"a list", "[]", 1, "found array where an object"},
		{"another object", `{"a":1}`, 1, "no plan Usher knows"},
		{"cut off", smallPretix[:len(smallPretix)/2], 13, "not JSON"},
		{"a comma too many", "{\n\"zones\": [],\n}", 3, "not JSON"},
		{"two documents", smallOwn + "\n{}", 29, "not JSON"},
		{"not UTF-8", "{\n\"name\": \"\xff\"}", 2, "UTF-8"},
		{"null in a list", "{\n\"zones\": [\nnull]}", 3, "null"},
		{"a plan of tomorrow", "{\n\"format\": \"usher-plan/9\"}", 2, "newer"},
		{"nothing for sale", `{"zones": []}`, 0, "no seats"},
		{"infinite", own(`"x": 10,`, `"x": 1e999,`), 13, "finite"},
		{"beyond the drawing", own(`"x": 10,`, `"x": 1e300,`), 13, "no place in a drawing"},
		{"an unknown key", own(`"flags": ["comp`, `"flag": ["comp`), 14, `"flag"`},
		{"an unknown flag", own(`["companion"]`, `["wheels"]`), 14, "no flag"},
		{"a point with three numbers", own(`[0, 300]`, `[0, 300, 1]`), 19, "[x, y]"},
		{"an unknown category", own(`"category": "B", "flags"`, `"category": "Z", "flags"`), 14, `"Z"`},
		{"a key twice", own(`{"key": "B"`, `{"key": "A"`), 7, "another category"},
		{"an area of minus one", own(`"capacity": 50`, `"capacity": -1`), 19, "at least 1"},
		{"an area of 10⁹", own(`"capacity": 50`, `"capacity": 1000000000`), 19, "100000 seats"},
		{"an area of half a person", own(`"capacity": 50`, `"capacity": 0.5`), 19, "whole number"},
		{"fewer places than its capacity", own(`"capacity": 2`, `"capacity": 3`), 20, "3"},
		{"an area with rows", own(`"area": {"capacity": 50}`, `"area": {"capacity": 50}, "rows": [{"row": "A", "seats": []}]`), 19, "not both"},
		{"a generator without end", own(`[-20, -2]`, `[-1e6, 1e6]`), 16, "too many"},
		{"a generator of crumbs", own(`"radius": 150`, `"radius": 150, "spacing": 0.001`), 16, "1 unit apart"},
		{"a shape of no kind", own(`"kind": "line"`, `"kind": "worm"`), 25, "no kind"},
		{"a number as a name", own(`"name": "Small house"`, `"name": 5`), 3, "text"},
		{"pretix: no such category", pretix(`"seat_number": "2", "category": "Front"`, `"seat_number": "2", "category": "Balcony"`), 10, "Balcony"},
		{"pretix: no position", pretix(`"Front", "position": {"x": 25, "y": 0}`, `"Front"`), 10, "no position"},
		{"pretix: far away", pretix(`{"x": 25, "y": 0}`, `{"x": 1e10, "y": 0}`), 10, "no place"},
		{"pretix: a text as coordinate", pretix(`{"x": 25, "y": 0}`, `{"x": "25", "y": 0}`), 10, "a number"},
		{"pretix: an object as label", pretix(`"row_number": "A"`, `"row_number": {}`), 8, "a text or a number"},
		{"pretix: one category twice", pretix(`"name": "Back"`, `"name": "Front"`), 4, "two categories"},
		{"seats.io: no such category", seatsio(`"categoryKey": 1, "companionSeat"`, `"categoryKey": 7, "companionSeat"`), 10, `"7"`},
		{"seats.io: no category at all", seatsio(`"categoryKey": 1, "restrictedView"`, `"restrictedView"`), 12, "no category"},
		{"seats.io: no capacity", seatsio(`"capacity": 20, `, ""), 15, "capacity"},
		{"seats.io: too many", seatsio(`"capacity": 20`, `"capacity": 99999`), 15, "too many"},
		{"seats.io: no form", seatsio(`"radius1": 40, "radius2": 30, `, ""), 15, "form"},
		{"seats.io: no position", seatsio(`{"x": 30, "y": 10, `, `{"y": 10, `), 10, "no position"},
		{"too wide", pretix(`{"x": 90, "y": 0}`, `{"x": 900000000, "y": 0}`), 0, "each side"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			res, err := Read(strings.NewReader(c.file))
			if err == nil || res != nil {
				t.Fatalf("it was read")
			}
			if !strings.HasPrefix(err.Error(), "plan: read: ") || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("it says %q, without %q", err, c.reason)
			}
			var told *Error
			if line := 0; c.line > 0 && (!errors.As(err, &told) || told.Line != c.line) {
				if told != nil {
					line = told.Line
				}
				t.Errorf("line %d instead of %d: %v", line, c.line, err)
			}
		})
	}
}

// swap changes one place of a sample, and makes sure it is there.
func swap(t *testing.T, sample, old, now string) string {
	t.Helper()
	if !strings.Contains(sample, old) {
		t.Fatalf("the sample has no %s", old)
	}
	return strings.Replace(sample, old, now, 1)
}

func TestHugeFilesAreRefusedBeforeTheyFillTheMemory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, reason string }{
		"65 MiB":            {strings.Repeat(" ", MaxBytes+1), "64 MiB"},
		"millions of seats": {`{"zones":[{"rows":[{"seats":[` + strings.Repeat("{},", mostParts) + `{}]}]}]}`, "too many for a plan"},
		"millions of words": {`{"zones":[` + strings.Repeat(`"",`, mostParts+1) + `""]}`, "too many for a plan"},
		"a deep hole":       {strings.Repeat(`[`, 100_000), "stand in each other"},
		"100,001 seats":     {`{"zones":[{"rows":[{"seats":[` + strings.Repeat("{},", seats.MaxSeats) + `{}]}]}]}`, "too many for one plan"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := Read(strings.NewReader(c.file)); err == nil || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Not parallel: it counts what the whole process allocates.
func TestEntitiesAndArchivesUnfoldToNothing(t *testing.T) {
	const marker = "what the entity names"
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(marker), 0o600); err != nil {
		t.Fatal(err)
	}
	laughs := `<!ENTITY a0 "` + marker + `">`
	for i := range 9 {
		laughs += fmt.Sprintf(`<!ENTITY a%d "%s">`, i+1, strings.Repeat(fmt.Sprintf("&a%d;", i), 10))
	}
	drawing := func(entities, use string) []byte {
		return []byte(`<!DOCTYPE svg [` + entities + `]><svg><circle r="3" id="` + use + `"/><text>` + use + `</text></svg>`)
	}
	zeros := make([]byte, 32<<20)
	var packed, archive bytes.Buffer
	g, z := gzip.NewWriter(&packed), zip.NewWriter(&archive)
	f, err := z.Create("plan.json")
	for _, w := range []io.Writer{g, f} {
		_, wrong := w.Write(zeros)
		err = errors.Join(err, wrong)
	}
	if err := errors.Join(err, g.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string][]byte{
		"entities in each other": drawing(laughs, "&a9;"),
		"a file":                 drawing(`<!ENTITY x SYSTEM "file://`+secret+`">`, "&x;"),
		"a file of parameters":   drawing(`<!ENTITY % x SYSTEM "file://`+secret+`"> %x;`, "y"),
		"gzip":                   packed.Bytes(),
		"zip":                    archive.Bytes(),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		records, err := Survey(file)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 {
			t.Errorf("%s: %d bytes are %d in memory", name, len(file), took)
		}
		if err == nil && strings.Contains(fmt.Sprint(*records), marker) {
			t.Errorf("%s: it was read", name)
		}
	}
}
