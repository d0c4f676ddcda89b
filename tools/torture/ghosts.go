package main

import (
	"context"
	"encoding/json"
	"time"
)

// A newcomer without the first answer has no cookie to ask again with, so the same key then comes from a visitor the
// box office takes for another one. A claim that had won all the same keeps its seats until it expires. So does an earlier
// try that arrives when a later one was refused. The keys of claims stand with the holds, and the answers with them.
const ghostsSQL = `
SELECT h.id::text, a.answer
  FROM hold h CROSS JOIN LATERAL json_array_elements(h.answers::json) AS a(answer)
 WHERE a.answer->>'key' = ANY($1)`

type ghost struct {
	Key       string    `json:"key"`
	Hold      string    `json:"hold"`
	Seats     []int     `json:"seats"`
	ExpiresAt time.Time `json:"expires_at"`
}

// commitTime is the most that may pass between the decision of a claim and its commit.
const commitTime = int64(time.Minute)

// ghostNumbers are the numbers of ghosts: higher than any client's.
const ghostNumbers = 1_000_000

// ghosts are claims that won, with no answer delivered.
func (r *run) ghosts(ctx context.Context, operations []operation) (found []operation, err error) {
	asked := map[string]*operation{}
	var keys []string
	for i := range operations {
		if o := &operations[i]; o.newcomer || o.late() {
			asked[o.key] = o
			keys = append(keys, o.key)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	conn, err := r.server.connect(ctx, r.database)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(ctx) }() // it only read
	rows, err := conn.Query(ctx, ghostsSQL, keys)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var text []byte
		var g ghost
		if err := rows.Scan(&id, &text); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &g); err != nil {
			return nil, err
		}
		o := asked[g.Key]
		if g.Hold == o.hold && o.granted() {
			continue
		}
		decided := g.ExpiresAt.Add(-r.settings.Hold).UnixNano()
		who := o.holder
		if o.newcomer {
			who = "a ghost of " + who
		}
		found = append(found, operation{
			client: ghostNumbers + len(found), kind: kindClaim, holder: who, start: o.start, end: decided + commitTime,
			status: 201, got: g.Seats, until: g.ExpiresAt.UnixNano(), now: decided + slack,
		})
	}
	return found, rows.Err()
}
