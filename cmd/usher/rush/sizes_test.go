//go:build sizes

package rush

import "testing"

func TestS1_200000PeopleFor200PlacesGetTrueAnswers(t *testing.T) { // not parallel: each has the machine to itself
	if r := rushes(t, "--scenario", Places, "--people", "200000", "--places", "200", "--over", "5s"); r.Got+r.SoldOut != 200_000 || r.Got < 34 {
		t.Errorf("of 200,000 people %d got places and %d were told that there are none", r.Got, r.SoldOut)
	}
}

func TestS5_200000VisitorsFor5000SeatsGetTrueAnswers(t *testing.T) { // not parallel: each has the machine to itself
	r := rushes(t, "--scenario", Room, "--people", "200000", "--seats", "5000", "--slots", "2000", "--faster", "120", "--over", "4s")
	if r.Room == nil || r.Room.Lobby+r.Room.Line != 200_000 || r.Room.Doubles+r.Room.Gaps+r.Room.WrongNumbers+r.Room.Early > 0 || r.Orders == 0 {
		t.Errorf("%d orders; the waiting room: %+v", r.Orders, r.Room)
	}
}

func TestS5_2000000VisitorsOfAStadiumsRoomGetTrueAnswers(t *testing.T) { // not parallel: each has the machine to itself
	r := rushes(t, "--scenario", Room, "--plan", "stadium", "--people", "2000000")
	if r.Room == nil || r.Room.Lobby+r.Room.Line != 2_000_000 || r.Room.Doubles+r.Room.Gaps+r.Room.WrongNumbers+r.Room.Early > 0 || r.Orders == 0 {
		t.Errorf("%d orders; the waiting room: %+v", r.Orders, r.Room)
	}
}
