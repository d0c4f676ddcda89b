package rehearsal

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"
)

// States of a rehearsal.
const (
	Running = "running"
	Done    = "done"
	Failed  = "failed"
)

// Seconds is a time that JSON has as a number of seconds.
type Seconds float64

// SecondsOf returns a duration in seconds, exact to a millisecond.
func SecondsOf(d time.Duration) Seconds { return Seconds(d.Round(time.Millisecond).Seconds()) }

// Duration returns s as a duration.
func (s Seconds) Duration() time.Duration { return time.Duration(float64(s) * float64(time.Second)) }

// Report is what a rehearsal found. While it runs, State is Running and Progress grows.
type Report struct {
	State    string    `json:"state"`
	Event    string    `json:"event"`            // slug
	Preset   string    `json:"preset,omitempty"` // empty: the figures are the organizer's own
	People   int       `json:"people"`           // who come
	Over     Seconds   `json:"over"`             // within which they come
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended,omitzero"` // zero while it runs
	Progress Progress  `json:"progress"`
	Live     *Live     `json:"live,omitempty"` // while it runs: the sale as the desk shows it; nil until the first look

	Faults   []Mistake `json:"faults,omitempty"` // in the settings, the worst first
	Sections []SoldOut `json:"sections"`         // in the order of the plan
	Prices   []SoldOut `json:"prices"`           // by category, in the order of the plan
	Waits    *Waits    `json:"waits"`            // nil: the event has no waiting room
	Claims   Claims    `json:"claims"`
	Money    int64     `json:"money"` // of all orders, minor units
	Currency string    `json:"currency"`
	Machine  Machine   `json:"machine"`
	Late     Seconds   `json:"late"`            // the most that a person came too late, as the machine was busy: by the clock, whatever the speed
	Stood    Seconds   `json:"stood"`           // the people stood still, while the box office sold: by the clock, whatever the speed
	Still    bool      `json:"still,omitempty"` // they do now
	Busy     bool      `json:"busy,omitempty"`  // the rehearsal was ended, as it stood still most of the time
	Broken   []Broken  `json:"broken"`          // what failed; empty: nothing
	Details  []string  `json:"details"`         // the same in words for developers, with examples
	Error    string    `json:"error,omitempty"` // why the rehearsal itself failed
}

// Progress is where the people are.
type Progress struct {
	Arrived int `json:"arrived"`
	Waiting int `json:"waiting"` // in the waiting room
	Holding int `json:"holding"` // hold seats, and have not ordered them
	Bought  int `json:"bought"`
	Left    int `json:"left"` // without tickets
}

// Mistake is a fault in the settings, in English.
type Mistake struct {
	Name     string   `json:"name"`
	Severity Severity `json:"severity"`
	Wrong    string   `json:"wrong"`
	Do       string   `json:"do"`
}

// SoldOut says how well a part of the venue sold.
type SoldOut struct {
	Name  string   `json:"name"`
	Seats int      `json:"seats"` // that were available
	Sold  int      `json:"sold"`
	After *Seconds `json:"after"` // from the first person until the last seat was sold; nil: it does not sell out
}

// Waits are times in the waiting room, from the arrival to the admission.
type Waits struct {
	P50      Seconds `json:"p50"`
	P95      Seconds `json:"p95"`
	Max      Seconds `json:"max"`
	Promised int     `json:"promised"` // people who were told a range
	Kept     int     `json:"kept"`     // people who were called within the first range that they were told

	Arrivals []WaitRange `json:"arrivals"` // by arrival, in fifths of the time within which people come
}

// WaitRange is how long people waited who came in a part of the sale.
type WaitRange struct {
	From  Seconds `json:"from"` // from the first person
	To    Seconds `json:"to"`
	Came  int     `json:"came"`  // people
	In    int     `json:"in"`    // of them, those let in
	Least Seconds `json:"least"` // 95 % of those let in waited from Least to Most: both are 0 if none was
	Most  Seconds `json:"most"`
}

// Claims are requests for seats.
type Claims struct {
	Count   int     `json:"count"`
	P50     float64 `json:"p50_ms"` // from the moment a person is ready to send it until the answer
	P99     float64 `json:"p99_ms"`
	Refused int     `json:"refused"` // because other people were faster
}

// Machine is what the sale needs of a machine.
type Machine struct {
	CPUSeconds float64 `json:"cpu_seconds"` // of the box office and its PostgreSQL
	PeakMemory int64   `json:"peak_memory"` // bytes, of both together
	Busy       float64 `json:"busy"`        // cores at work on average, at the pace at which people came
	Cores      int     `json:"cores"`       // to have: twice as many, for peaks
}

// MachineOf returns what a sale needs that took so many seconds of processors, and so many bytes of memory at most, within a time.
func MachineOf(cpu float64, memory int64, within time.Duration) Machine {
	busy := cpu / max(within.Seconds(), 1)
	return Machine{CPUSeconds: math.Round(cpu*100) / 100, PeakMemory: memory, Busy: math.Round(busy*1000) / 1000, Cores: int(math.Ceil(2 * busy))}
}

// Broken is something that failed, and how often.
type Broken struct {
	What  string `json:"what"`
	Count int    `json:"count"`
}

// What fails in a rehearsal.
const (
	SoldTwice  = "sold_twice" // seats
	Untrue     = "untrue"     // answers
	Unanswered = "unanswered" // requests without a proper answer
)

// Slow reports whether the machine did not keep up: people came so late that the times of the report are longer than those of the sale.
func (r *Report) Slow() bool { return r.Late > 2 }

// MostStood is for how long a rehearsal may stand still in all, also if that is most of its time.
const MostStood = 3 * time.Minute

// Write puts the report into a file, whole: a reader sees the report before or this one.
func (r *Report) Write(file string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".report-")
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // after the rename it is not there
	_, err = f.Write(append(text, '\n'))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// Read reads the report in a file.
func Read(file string) (*Report, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the report: %w", err)
	}
	r := &Report{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("read the report: %w", err)
	}
	return r, nil
}
