package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/usherbox/usher/cmd/usher/rush"
)

// recordHead is the head of the table that a run is added to.
const recordHead = "| day | seed | nodes, clients, time | operations | faults | snapshots | bugs caught | violations |"

// Record writes the run into the table of a file such as docs/torture-record.md, as its last line.
func (p *Report) Record(file string, day time.Time) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	at := strings.Index(string(text), recordHead)
	if at < 0 {
		return fmt.Errorf("torture: there is no table in %s that begins with %q", file, recordHead)
	}
	end := at + endOfTable(string(text[at:]))
	line := fmt.Sprintf("| %s | %d | %d, %d, %.0f s | %s | %s, %d kinds | %s | %s | %d |\n", day.Format(time.DateOnly), p.Seed, p.Nodes, p.Clients, p.Seconds,
		rush.Thousands(p.Operations), rush.Thousands(p.Faults), len(p.ByFault), rush.Thousands(int(p.Snapshots)), p.caught(), len(p.Violations))
	whole := string(text[:end]) + line + string(text[end:])
	next := file + ".next"
	return errors.Join(os.WriteFile(next, []byte(whole), 0o644), os.Rename(next, file)) // everybody may read it
}

// endOfTable is where the lines of the table end that the text begins with.
func endOfTable(text string) (end int) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		end += len(line)
	}
	return end
}

func (p *Report) caught() string {
	if len(p.Mutants) == 0 {
		return "–"
	}
	n := 0
	for _, m := range p.Mutants {
		if m.Caught {
			n++
		}
	}
	return fmt.Sprintf("%d of %d", n, len(p.Mutants))
}
