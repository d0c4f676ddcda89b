package main

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/tools/planted"
)

var mutant = sync.OnceValues(func() (string, error) {
	program := filepath.Join(folder, "usher")
	return program, planted.Build(testContext, "../..", program)
})

var checker = sync.OnceValues(func() (string, error) {
	program := filepath.Join(folder, "checker")
	return program, build(testContext, "../..", program, "tools/checker/main.go")
})

// short is a torture that fits between other tests.
func short(t *testing.T) (*Server, Settings) {
	t.Helper()
	program, err := mutant()
	if err != nil {
		t.Fatal(err)
	}
	check, err := checker()
	if err != nil {
		t.Fatal(err)
	}
	server, err := StartServer(t.Context())
	if err != nil {
		t.Fatalf("this test needs PostgreSQL: %v", err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server, Settings{Program: program, Checker: check, For: 1500 * time.Millisecond, Nodes: 2, Clients: 8, Watchers: 2, Seed: 1, Rest: 200 * time.Millisecond, Look: 100 * time.Millisecond}
}

func TestABoxOfficeBrokenOnPurposeKeepsItsPromises(t *testing.T) {
	t.Parallel()
	server, s := short(t)
	s.For, s.Think, s.Scenes = 8*time.Second, 20*time.Millisecond, Scenes()
	report, err := Run(t.Context(), server, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range report.Violations {
		t.Errorf("%s: %s", v.Judge, v.What)
	}
	if report.Operations == 0 || report.Faults == 0 || report.Snapshots == 0 || report.Roots == 0 {
		t.Errorf("%d operations, %d faults, %d snapshots and %d roots prove nothing", report.Operations, report.Faults, report.Snapshots, report.Roots)
	}
}

// withMutants are bugs that make mutants plants, one for each judge that finds most of them. make torture plants all.
var withMutants = []string{
	"check then update", "no idempotency key", "locks in no order", "counter after commit", "NOTIFY trusted", "granted in part", "limit ignored",
	"another leaf served", "no inbox", "old code lives", "slot without expiry",
}

func TestPlantedBugsAreCaught(t *testing.T) {
	t.Parallel()
	server, s := short(t)
	list := slices.DeleteFunc(slices.Clone(Mutants), func(m Mutant) bool { return !slices.Contains(withMutants, m.Bug) })
	if len(list) != len(withMutants) {
		t.Fatalf("%d of %d bugs are there", len(list), len(withMutants))
	}
	all, err := PlantAll(t.Context(), server, s, list, func(m MutantResult) { t.Log(m, m.By.What) })
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if !m.Caught {
			t.Error(m)
		}
	}
}

func TestProvocations_FindNothingInAGoodBuild(t *testing.T) {
	t.Parallel()
	server, s := short(t)
	s.none, s.provoke, s.Hold, s.Scenes = true, everyProvocation, time.Second, Scenes()
	report, err := Run(t.Context(), server, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range report.Violations {
		t.Errorf("%s: %s", v.Judge, v.What)
	}
	if report.Operations < 30 {
		t.Errorf("%d operations prove nothing", report.Operations)
	}
}
