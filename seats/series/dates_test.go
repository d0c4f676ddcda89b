package series_test

import (
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/series"
)

func TestStarts_AreOfTheRuleAndTheList(t *testing.T) {
	t.Parallel()
	vienna, err := time.LoadLocation("Europe/Vienna")
	if err != nil {
		t.Fatal(err)
	}
	evenings := []time.Weekday{time.Friday, time.Saturday}
	for _, c := range []struct {
		dates series.Dates
		want  string
	}{
		{series.Dates{Weekdays: evenings, Times: "19:30", From: "2026-12-01", Until: "2026-12-12"}, "4 19:30, 5 19:30, 11 19:30, 12 19:30"},
		{series.Dates{Weekdays: evenings, Times: "15:00, 19:30", From: "2026-12-01", Until: "2026-12-05", Except: "2026-12-04"}, "5 15:00, 5 19:30"},
		{series.Dates{Times: "20:00", List: "Wed 2 2026-12-02"}, "wrong"},
		{series.Dates{Times: "20:00", List: "Wed, 2026-12-02\n\n3.12.2026 15:00 19:30\r\n2026-12-04T21:00\n2026-12-02 20:00"}, "2 20:00, 3 15:00, 3 19:30, 4 21:00"},
		{series.Dates{Weekdays: evenings, Times: "19:30", From: "2026-12-04", Until: "2026-12-04", List: "2026-12-04 19:30"}, "4 19:30"},
		{series.Dates{}, "wrong"},
		{series.Dates{List: "2026-12-02"}, "wrong"},
		{series.Dates{List: "2026-13-02 19:30"}, "wrong"},
		{series.Dates{List: "2026-12-02 25:30"}, "wrong"},
		{series.Dates{List: "2027-03-28 02:30"}, "wrong"}, // the clock goes from 2 to 3
		{series.Dates{Weekdays: evenings, From: "2026-12-01", Until: "2026-12-12"}, "wrong"},
		{series.Dates{Weekdays: evenings, Times: "19:30", From: "2026-12-12", Until: "2026-12-01"}, "wrong"},
		{series.Dates{Weekdays: evenings, Times: "19:30", From: "2026-12-12"}, "wrong"},
		{series.Dates{Weekdays: evenings, Times: "half past", From: "2026-12-01", Until: "2026-12-12"}, "wrong"},
		{series.Dates{Weekdays: evenings, Times: "0:00 1:00 2:00 3:00 4:00", From: "2026-12-01", Until: "2028-12-12"}, "wrong"},
	} {
		starts, wrong := c.dates.Starts(vienna)
		var got []string
		for _, s := range starts {
			got = append(got, s.Format("2 15:04"))
		}
		said := strings.Join(got, ", ")
		if len(wrong) > 0 {
			said = "wrong"
		}
		if said != c.want {
			t.Errorf("%+v: %s, want %s (%v)", c.dates, said, c.want, wrong)
		}
	}
}
