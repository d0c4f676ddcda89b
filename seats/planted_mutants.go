//go:build mutants

package seats

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
)

// A program of the torture: it has the bug that USHER_MUTANT names. Bugs in SQL are planted on its way to the server.
func init() {
	bug := os.Getenv("USHER_MUTANT")
	hasBug = func(asked string) bool { return asked == bug }
	if bug == "counter after commit" {
		countLate = func(ctx context.Context, db *pgxpool.Pool, event int64) {
			_, _ = db.Exec(ctx, countLateSQL, event) // who plants a bug does not look
		}
	}
	atConnect = func(cfg *pgxpool.Config) {
		if bug == "synchronous_commit off" {
			cfg.ConnConfig.RuntimeParams["synchronous_commit"] = "off"
		}
		changes := plantedSQL[bug]
		if changes == nil {
			return
		}
		dial := cfg.ConnConfig.DialFunc
		cfg.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			if err != nil || bug == "locks in no order" && rand.IntN(2) == 0 { //nolint:gosec // G404: any half will do
				return conn, err
			}
			return forger{conn, changes}, nil
		}
	}
}

// By seats that are held (1) or paying (3), as it should have been before the commit.
const countLateSQL = `
UPDATE counter c
   SET held = ARRAY(SELECT (SELECT count(*) FROM seat_state t JOIN seat s USING (event_id, idx)
                             WHERE t.event_id = c.event_id AND s.category = k.n AND t.state IN (1, 3))::integer
                      FROM generate_series(0, cardinality(c.held) - 1) AS k(n) ORDER BY k.n)
 WHERE event_id = $1`

const (
	theGuard      = "AND (s.holder IS NULL OR s.expires_at <= clock_timestamp() OR s.holder = n.by)"
	theSwiftGuard = "AND (holder IS NULL OR state = 2 /* lapsed */ AND expires_at <= clock_timestamp())"
	theLook       = "(holder IS NULL OR expires_at <= clock_timestamp())"
	thePlace      = "s.ctid = n.at AND "
)

// plantedSQL is what becomes of a text on its way to the server; never longer than it was.
var plantedSQL = map[string][][2]string{
	"check then update":    {{theGuard, ""}, {theSwiftGuard, ""}, {thePlace, ""}, {"FOR NO KEY UPDATE) s", ") s"}},
	"hold trusted":         {{theGuard, ""}},
	"lapse by node clock":  {{theGuard, ""}, {theLook, "coalesce(expires_at<clock_timestamp()+'1s',true)"}},
	"locks in no order":    {{"        ORDER BY 1) AS n(idx)", "   ORDER BY 1 DESC) AS n(idx)"}},
	"counter after commit": {{"ARRAY(SELECT a + d FROM unnest(held, $8", "ARRAY(SELECT a+0*d FROM unnest(held, $8"}},
	"versions with gaps":   {{"version = version + 1,", "version = version + 2,"}},
	"slot without expiry":  {{"clock_timestamp() + here.idle", "clock_timestamp() + '9 days'"}},
}

// forger changes SQL in the messages that pass.
type forger struct {
	net.Conn
	changes [][2]string
}

// Write is part of net.Conn.
func (f forger) Write(b []byte) (int, error) {
	forged := b
	for _, c := range f.changes {
		forged = bytes.ReplaceAll(forged, []byte(c[0]), []byte(c[1]+strings.Repeat(" ", len(c[0])-len(c[1]))))
	}
	return f.Conn.Write(forged)
}
