package rush

import "testing"

func TestGreedy_VisitorsGetTheLimitAndNoMore(t *testing.T) {
	t.Parallel()
	const people, limit, connections = 60, 2, 16
	slug := hallFor(t, people*limit+2*limit*connections, "--limit", "2", "--price", "A=0", "--confirm-email", "never")
	g := Greed{URL: server.URL, Event: slug, People: people, Limit: limit, Tries: 5, Connections: connections, Seed: 1}
	report, err := g.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if report.Failed() || report.Tries != people*5 || report.Refused != people*4 {
		t.Errorf("the greedy got %+v", report)
	}
}
