package main

import (
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

func TestJudge_UsesTheClockOfTheDatabase(t *testing.T) {
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
		t.Error("an expired seat could not be taken")
	}
	if porcupine.CheckOperations(oneSeat, story(106)) {
		t.Error("a seat was taken before its hold expired, and that was not noticed")
	}
}

func TestUntilRead_IsPastTheSecondAfterTheTimeWasWritten(t *testing.T) {
	t.Parallel()
	second := time.Unix(1_800_000_000, 0)
	for at, want := range map[time.Duration]time.Duration{
		940 * time.Millisecond:  60*time.Millisecond + clockStep,  // as it should be: just before a second
		1020 * time.Millisecond: 980*time.Millisecond + clockStep, // late: those that read it at 1.000 have the old time until 2.000
	} {
		if got := untilRead(second.Add(at)); got != want {
			t.Errorf("written at %s it is read after %s, want %s", at, got, want)
		}
	}
}
