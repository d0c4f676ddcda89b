package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/usherbox/usher/cmd/usher/rush"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/plan"
)

// openHouse starts a server with an event for the crowd.
func (r *rushCall) openHouse(ctx context.Context) (_ *rush.Server, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "usher-plan-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	from, err := r.housePlan(filepath.Join(dir, "hall.json"))
	if err != nil {
		return nil, err
	}
	server, err := rush.StartServer(ctx, program, r.crowd.Watchers)
	if err != nil {
		return nil, err
	}
	event := []string{"--plan", from, "--name", "Rush", "--hold", r.hold.String(), "--extensions", "1000", "--paid-ahead=false"}
	if r.greedy > 0 {
		event = append(event, "--limit", strconv.Itoa(greedyLimit), "--confirm-email", "never") // they read no mail
	}
	if r.crowd.Buy { // for nothing: what is paid later waits for its email to be confirmed, and the crowd reads no mail
		categories := []seats.Category{{Key: "A"}}
		if p, named := plan.Named(r.plan); named {
			categories = p.Categories
		}
		for _, c := range categories {
			event = append(event, "--price", c.Key+"=0")
		}
	}
	if err := server.CreateEvent(ctx, event...); err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	if r.crowd.Scenario == rush.Room {
		if err := r.openRoom(ctx, server); err != nil {
			return nil, errors.Join(err, server.Stop())
		}
	}
	r.crowd.URL, r.crowd.Event = server.URL, "rush"
	if r.crowd.Desks > 0 {
		if r.crowd.Setup, err = server.SetupLink(ctx); err != nil {
			return nil, errors.Join(err, server.Stop())
		}
	}
	return server, nil
}

// openRoom puts a waiting room before the event, with times as much shorter as the crowd is faster.
func (r *rushCall) openRoom(ctx context.Context, server *rush.Server) error {
	p := &r.crowd
	p.Room, p.Open = "rush", func(ctx context.Context) error { return server.CloseLobby(ctx, p.Room) }
	return server.CreateRoom(ctx, "--name", "Rush", "--slug", p.Room, "--events", "rush", "--slots", strconv.Itoa(p.Slots),
		"--valid", r.faster(10*time.Minute).String(), "--idle", r.faster(5*time.Minute).String(), "--stay", r.faster(30*time.Minute).String())
}

// housePlan is a plan for "usher event create": what was asked for, or what goes with the scenario.
func (r *rushCall) housePlan(file string) (string, error) {
	if r.plan == "" && r.seats == 0 && r.places == 0 {
		switch r.crowd.Scenario {
		case rush.Stadium:
			r.plan = "stadium"
		case rush.Places:
			r.places = 200
		case rush.Replay:
			r.places = min(r.crowd.People, seats.MaxSeats)
		case rush.Room:
			r.seats = 50_000
		default:
			r.seats = 1000
		}
	}
	if r.plan != "" {
		return r.plan, nil
	}
	hall, err := rush.Hall(max(r.seats, r.places), r.places > 0)
	if err != nil {
		return "", err
	}
	f, err := os.Create(file)
	if err != nil {
		return "", err
	}
	return file, errors.Join(plan.Write(f, hall), f.Close())
}
