package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/usherbox/usher/seats/waitingroom"
)

// falseDraw is the error of a record that does not hold.
type falseDraw struct{ wrong []string }

func (e falseDraw) Error() string { return "the draw does not hold: " + strings.Join(e.wrong, " ") }

// drawVerify does the draw of a record again, with no network and no database: exit status 0 if it holds, 1 if not, 2 if
// the record could not be read.
func drawVerify(_ context.Context, c *call) error {
	var commitment string
	var people, index int
	flags := c.flags()
	flags.StringVar(&commitment, "commitment", "", "the commitment in `hex` that you noted before the draw")
	flags.IntVar(&people, "people", -1, "the `number` of people that you were shown when the lobby closed")
	flags.IntVar(&index, "index", 0, "your place in the lobby, to see its `number` in the line")
	if err := c.parse(flags, 1); err != nil {
		return err
	}
	r, err := readRecord(c.args[0])
	if err != nil {
		return blind{err}
	}
	wrong := waitingroom.Verify(&r)
	if commitment != "" && !strings.EqualFold(commitment, r.Commitment.String()) {
		wrong = append(wrong, fmt.Sprintf("The record is of the commitment %s, not of yours.", r.Commitment))
	}
	if people >= 0 && people != r.People {
		wrong = append(wrong, fmt.Sprintf("The record is of %s people, not of %s.", thousands(r.People), thousands(people)))
	}
	if wrong != nil {
		return falseDraw{wrong}
	}
	return printDraw(c.stdout, &r, index)
}

// readRecord reads a record strictly, from a file or, for "-", from standard input.
func readRecord(name string) (r waitingroom.Record, err error) {
	in := os.Stdin
	if name != "-" {
		if in, err = os.Open(name); err != nil {
			return r, err
		}
		defer in.Close()
	}
	d := json.NewDecoder(in)
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return r, fmt.Errorf("%s is not the record of a draw: %w", name, err)
	}
	return r, nil
}

func printDraw(w io.Writer, r *waitingroom.Record, index int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "The draw holds: room %d, epoch %d, %s.\n", r.Room, r.Epoch, thousands(r.People)+" people")
	switch r.Beacon.Kind {
	case waitingroom.BeaconNone:
		b.WriteString("There was no public random number in it: only the secret decided, which the box office chose before anybody joined.\n")
	case waitingroom.BeaconManual:
		fmt.Fprintf(&b, "The public random number was %q: see that it is what was published.\n", r.Beacon.Words)
	case waitingroom.BeaconDrand:
		fmt.Fprintf(&b, "The public random number was drand's round %d of %s: see that it is what drand says.\n", r.Beacon.Round, waitingroom.RoundTime(r.Beacon.Round).UTC().Format("2006-01-02 15:04:05 MST"))
	}
	fmt.Fprintf(&b, "The commitment was %s: see that it is the one you were shown before.\n", r.Commitment)
	if index != 0 {
		if index < 1 || index > r.People {
			return fmt.Errorf("there were %s people in the lobby, so none had place %d", thousands(r.People), index)
		}
		fmt.Fprintf(&b, "Place %s in the lobby has number %s.\n", thousands(index), thousands(int(r.Draw().Numbers()[index-1])))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
