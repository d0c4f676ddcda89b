package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestThePageOfAReportSaysWhatTheReportSays(t *testing.T) {
	t.Parallel()
	p := &Report{
		Operations: 1234567, Clients: 64, Nodes: 4, Faults: 300, ByFault: map[string]int{"node killed": 7}, Captured: 100, News: 3,
		Seconds: 600, Undone: []string{"standby promoted: the server was gone"},
		Figures:    []Figure{{Name: afterKill, Times: 9, Median: 40.2, Worst: 1300.7, Bar: 250, Missed: 1}},
		Violations: []Violation{{"books", "<b>P1</b>"}}, Rolling: &Rolling{Nodes: 3, People: 6000},
		Mutants: []MutantResult{{Bug: "no inbox", Caught: true, By: Violation{Judge: "money"}}, {Bug: "hold trusted"}}, Command: "usher torture --seed 1",
	}
	var b bytes.Buffer
	if err := p.HTML(&b); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{
		"did not keep", "1,234,567", "7<td><strong>node killed", "1,301 ms", "40 ms in the middle; 250 ms allowed", "&lt;b&gt;P1", "3 nodes restarted", "no inbox: money",
		"not caught<td>hold trusted", "the server was gone", "2,058<td>operations in a second", "usher torture --seed 1",
	} {
		if !strings.Contains(b.String(), words) {
			t.Errorf("it does not say %q:\n%s", words, b.String())
		}
	}
}
