package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestOutages_AreTheLongestTimeBetweenTwoOrders(t *testing.T) {
	t.Parallel()
	r := &run{history: newHistory()}
	order := func(at time.Duration, status int) {
		r.history.add(operation{kind: kindOrder, status: status, end: int64(at)})
	}
	for _, at := range []time.Duration{1, 2, 9, 10, 40, 41} {
		order(at*time.Second, 201)
	}
	order(5*time.Second, 409) // refused
	r.outages = []outage{{"switchover", int64(3 * time.Second), int64(10 * time.Second)}, {"leader killed", int64(10500 * time.Millisecond), int64(41 * time.Second)}}
	r.judgeOutages()
	list := r.figures.list()
	if len(list) != 2 || list[0].Name != "leader killed" || list[0].Worst != 30_000 || list[1].Worst != 7_000 {
		t.Errorf("the outages are %+v, want 30 s and 7 s", list)
	}
}

func TestRecordCluster_ReplacesTheRunBefore(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "record.md")
	if err := os.WriteFile(file, []byte("before\n"+clusterBegin+clusterEnd+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &Report{Confirmed: 123, Figures: []Figure{{Name: "switchover", Times: 2, Median: 3100, Worst: 4000}}}
	for range 2 {
		if err := p.RecordCluster(file, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(text); !strings.HasPrefix(s, "before\n") || !strings.HasSuffix(s, "after\n") || strings.Count(s, "| switchover | 2 | 3.1 s | 4.0 s |") != 1 {
		t.Errorf("the record is\n%s", s)
	}
}
