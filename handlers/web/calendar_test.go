package web

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestCalendar_FoldsLongLinesAndEscapesText(t *testing.T) {
	t.Parallel()
	name := "A;B,C\\D\nE" + strings.Repeat("é李🎭", 60) + "\r\nEND:VEVENT"
	text := Calendar{ID: "1@usher", Summary: name, Made: time.Unix(2e9, 0), Starts: time.Unix(2e9, 0), Alarm: "Soon"}.Text()
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\r\n"), "\r\n") {
		if len(line) > 75 || !utf8.ValidString(line) || strings.ContainsAny(line, "\r\n") {
			t.Errorf("%d bytes: %q", len(line), line)
		}
	}
	whole := strings.ReplaceAll(text, "\r\n ", "")
	if !strings.Contains(whole, `SUMMARY:A\;B\,C\\D\nE`) || strings.Count(whole, "\r\nEND:VEVENT\r\n") != 1 {
		t.Errorf("the entry is %q", whole)
	}
	for _, want := range []string{"DTSTART:20330518T033320Z\r\n", "TRIGGER:-PT15M\r\n", "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n"} {
		if !strings.Contains(whole, want) {
			t.Errorf("no %q in %q", want, whole)
		}
	}
	if strings.Contains(whole, "LOCATION") {
		t.Error("an empty place is written")
	}
}
