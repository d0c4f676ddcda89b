package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

func TestARunIsWrittenDownAtTheEndOfItsTable(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "record.md")
	before := "# Record\n\n" + recordHead + "\n|---|---|---|---|---|---|---|---|\n| before |\n"
	if err := os.WriteFile(file, []byte(before+"\nAfter.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &Report{Seed: 7, Seconds: 600.4, Nodes: 4, Clients: 64, Operations: 1234567, Faults: 300, ByFault: map[string]int{"a": 1}, Snapshots: 12, Mutants: []MutantResult{{Caught: true}, {}}}
	if err := p.Record(file, time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := before + "| 2030-01-02 | 7 | 4, 64, 600 s | 1,234,567 | 300, 1 kinds | 12 | 1 of 2 | 0 |\n\nAfter.\n"
	if string(text) != want {
		t.Errorf("it is\n%s\nwant\n%s", text, want)
	}
	if err := os.WriteFile(file, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.Record(file, time.Time{}); err == nil || !strings.Contains(err.Error(), "no table") {
		t.Errorf("a file without the table: %v", err)
	}
}

func TestTheRecordOfThisProgramHasItsTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/torture-record.md")
	if err != nil || !strings.Contains(string(text), recordHead) {
		t.Errorf("the command could not write into it: %v", err)
	}
}

func TestASeatIsJudgedByTheClockOfTheDatabase(t *testing.T) {
	t.Parallel()
	second := int64(time.Second)
	now := int64(100) * second
	var s skew
	if least, most := s.between(0, now); least != 0 || most != 0 {
		t.Errorf("a clock that never jumped was %d to %d ahead", least, most)
	}
	at := func() int64 { return now }
	if err := s.to(at, 5*time.Second, func() error { now += second; return nil }); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, least, most int64 }{
		{90, 99, 0, 0}, {99, 102, 0, 5}, {102, 110, 5, 5},
	} {
		if least, most := s.between(c.from*second, c.to*second); least != c.least*second || most != c.most*second {
			t.Errorf("from %d to %d it was %d to %d ahead, want %d to %d", c.from, c.to, least, most, c.least, c.most)
		}
	}
	// Taken for two seconds of a clock that is five ahead: free for others at 107 of that clock, 102 of ours.
	story := func(at int64) []porcupine.Operation {
		return []porcupine.Operation{
			{ClientId: 1, Input: effect{what: takes, by: "a", until: 107 * second, at: 105 * second}, Call: 1, Return: 2},
			{ClientId: 2, Input: effect{what: takes, by: "b", until: 120 * second, at: at * second}, Call: 3, Return: 4},
		}
	}
	if !porcupine.CheckOperations(oneSeat, story(108)) {
		t.Error("a seat whose time was up could not be taken")
	}
	if porcupine.CheckOperations(oneSeat, story(106)) {
		t.Error("a seat was taken from somebody whose time was not up, and nobody noticed")
	}
}
