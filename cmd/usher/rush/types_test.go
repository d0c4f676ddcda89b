package rush

import (
	"testing"
	"time"
)

func TestTypes_ALimitedPhaseSellsExactlyItsSeats(t *testing.T) {
	t.Parallel()
	own, err := StartServer(t.Context(), program, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := own.Stop(); err != nil {
			t.Error(err)
		}
	})
	c := Types{URL: own.URL, People: 80, Early: 30, Over: 3 * time.Second, Connections: 16, Seed: 1}
	if c.Event, c.Setup, err = own.TypesEvent(t.Context(), c.People); err != nil {
		t.Fatal(err)
	}
	report, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if report.Failed() || report.Phases[""] == 0 {
		t.Errorf("the crowd got %+v\n%s", report, own.log)
	}
}
