package main

import (
	"os"
	"strings"
	"testing"
)

// atDesk is where the desk does what a command does to an event: its address in the API, and in openapi.yaml.
var atDesk = map[string]string{
	"event create": "/desk/events", "room create": "/desk/events/{slug}/room", "room set": "/desk/events/{slug}/room", "room invite": "/desk/events/{slug}/room", "room export": "/desk/events/{slug}/exports/{file}",
}

// ofOperator is why a command is for the operator of a box office alone.
var ofOperator = map[string]string{
	"serve": "it is the box office", "event list": "it lists the events of all teams", "plan import": "it reads a file, and changes nothing",
	"attention": "it lists what failed in all teams", "voucher create": "credit is spent at all teams", "keys": "they sign the tickets of all teams", "secrets key": "it is outside the database",
	"organizer link": "it makes the first owner", "organizer list": "it lists all teams", "organizer password": "it is for who cannot sign in", "organizer signout": "it is for who lost an account",
	"verify": "it reads all teams", "draw verify": "it reads a file", "rush": "it sends a crowd", "backup": "it has all teams", "restore": "it has all teams", "migrate": "it changes the schema", "healthcheck": "it asks one node",
}

func TestCommand_ThatChangesAnEventHasItsPlaceAtTheDesk(t *testing.T) {
	t.Parallel()
	described, err := os.ReadFile("../../handlers/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	for _, list := range []map[string]string{atDesk, ofOperator} {
		for name := range list {
			left[name] = true
		}
	}
	for _, node := range newParser(&commands{}, &shell{}).Model.Leaves(true) {
		name := strings.TrimPrefix(node.FullPath(), "usher ")
		delete(left, name)
		address, there := atDesk[name]
		switch {
		case there && ofOperator[name] != "":
			t.Errorf("%q is in both lists", name)
		case !there && ofOperator[name] == "":
			t.Errorf("say where the desk does what %q does, or why it does not", name)
		case there && !strings.Contains(string(described), "\n  "+address+":\n"):
			t.Errorf("%q is done at %s, which openapi.yaml does not have", name, address)
		}
	}
	for name := range left {
		t.Errorf("there is no command %q", name)
	}
}
