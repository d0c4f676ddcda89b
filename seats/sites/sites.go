package sites

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/net/idna"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Sites are the sites and domains of all teams, for one node. A nil one knows none.
type Sites struct {
	db   *pgxpool.Pool
	desk *organizers.Desk

	URL     string                                                   // how browsers reach the box office; empty: as they say
	Records func(ctx context.Context, name string) ([]string, error) // looks up TXT records; nil: as this machine does

	known   atomic.Pointer[known]
	reading sync.Mutex // one request reads at a time
}

// New returns the sites of a database. url is how browsers reach the box office.
func New(db *pgxpool.Pool, desk *organizers.Desk, url string) *Sites {
	return &Sites{db: db, desk: desk, URL: url}
}

// FieldSites is the field of a form with sites.
const FieldSites = "sites"

const mostSites = 20 // of a team

// known is what this node read.
type known struct {
	sites   map[int64][]string // origins, by team
	domains map[string]int64   // teams, by proven domain
	of      map[int64]string   // proven domains, by team
	keys    map[string]int64   // teams, by site key in use
	ended   map[string]int64   // teams, by site key that ended
	origins map[string]bool    // sites of teams that made a key
	at      time.Time
}

func newKnown() *known {
	return &known{map[int64][]string{}, map[string]int64{}, map[int64]string{}, map[string]int64{}, map[string]int64{}, map[string]bool{}, time.Now()}
}

// lists reports whether a team lists an origin.
func (k *known) lists(team int64, origin string) bool { return slices.Contains(k.sites[team], origin) }

// fresh is how long a node believes what it read; other nodes change it, too.
const fresh = 5 * time.Second

const (
	allSitesSQL   = `SELECT team_id, origin FROM team_site ORDER BY team_id, origin`
	allDomainsSQL = `SELECT team_id, domain FROM team_domain WHERE proven_at IS NOT NULL`
	liveKeysSQL   = `SELECT team_id, key FROM team_site_key WHERE ended_at IS NULL`
	endedKeysSQL  = `SELECT team_id, key FROM team_site_key WHERE ended_at IS NOT NULL`
)

// read returns what this node knows, and has it read anew when it is old. A node that knows nothing yet asks. If that fails, it
// knows of no site for a while: every request passes here, and does not wait for a database that is away.
func (s *Sites) read(ctx context.Context) (*known, error) {
	all := s.known.Load()
	switch {
	case all == nil:
		s.reading.Lock()
		defer s.reading.Unlock()
		if all = s.known.Load(); all != nil {
			return all, nil
		}
		all, err := s.ask(ctx)
		if err != nil {
			s.known.Store(newKnown())
		}
		return all, err
	case time.Since(all.at) > fresh && s.reading.TryLock():
		go func() {
			defer s.reading.Unlock()
			_, _ = s.ask(context.WithoutCancel(ctx)) // what is a little old is better than nothing
		}()
	}
	return all, nil
}

func (s *Sites) ask(ctx context.Context) (*known, error) {
	ctx, cancel := context.WithTimeout(ctx, fresh)
	defer cancel()
	all := newKnown()
	var team int64
	var name string
	for sql, note := range map[string]func(){
		allSitesSQL:   func() { all.sites[team] = append(all.sites[team], name) },
		allDomainsSQL: func() { all.domains[name], all.of[team] = team, name },
		liveKeysSQL:   func() { all.keys[name] = team },
		endedKeysSQL:  func() { all.ended[name] = team },
	} {
		rows, err := s.db.Query(ctx, sql)
		if err == nil {
			_, err = pgx.ForEachRow(rows, []any{&team, &name}, func() error { note(); return nil })
		}
		if err != nil {
			return nil, fmt.Errorf("sites: read those of all teams: %w", err)
		}
	}
	for _, keys := range []map[string]int64{all.keys, all.ended} {
		for _, team := range keys {
			for _, origin := range all.sites[team] {
				all.origins[origin] = true
			}
		}
	}
	s.known.Store(all)
	return all, nil
}

// Of returns the sites that may show the events of a team in a frame. They may be a few seconds old.
func (s *Sites) Of(ctx context.Context, team int64) ([]string, error) {
	if s == nil {
		return nil, nil
	}
	all, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	return all.sites[team], nil
}

const savedSitesSQL = `SELECT origin FROM team_site WHERE team_id = $1 ORDER BY origin`

// Saved returns the sites of a member's team, as they were saved last.
func (s *Sites) Saved(ctx context.Context, m organizers.Member) (origins []string, err error) {
	err = s.desk.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, savedSitesSQL, m.Team)
		if err == nil {
			origins, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("sites: read those of a team: %w", err)
	}
	return origins, nil
}

const (
	removeSitesSQL = `DELETE FROM team_site WHERE team_id = $1 AND origin <> ALL ($2)`
	addSitesSQL    = `INSERT INTO team_site (team_id, origin) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING`
)

// Save replaces the sites of a member's team.
//
// Errors: organizers.Mistakes; those of idempotency.Key.Take; the database's.
func (s *Sites) Save(ctx context.Context, m organizers.Member, typed []string, key string) error {
	origins, wrong := s.origins(typed)
	if len(wrong) > 0 {
		return wrong
	}
	err := s.desk.Change(ctx, m, key, []any{"sites", origins}, func(tx pgx.Tx) error {
		removed, err := tx.Exec(ctx, removeSitesSQL, m.Team, origins)
		if err != nil {
			return fmt.Errorf("sites: remove those of a team: %w", err)
		}
		added, err := tx.Exec(ctx, addSitesSQL, m.Team, origins)
		if err != nil {
			return fmt.Errorf("sites: add those of a team: %w", err)
		}
		if removed.RowsAffected()+added.RowsAffected() == 0 {
			return nil
		}
		if err := organizers.TellOwners(m, organizers.NoticeSites).Run(ctx, tx); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("changed the sites that show events"), "site", map[string]any{"sites": origins})
	})
	s.changed(ctx)
	return err
}

// changed lets this node know a change at once.
func (s *Sites) changed(ctx context.Context) {
	s.reading.Lock()
	defer s.reading.Unlock()
	_, _ = s.ask(context.WithoutCancel(ctx)) // it knows it a little later
}

// origins reads what was typed: addresses of sites, of which only the origin counts.
func (s *Sites) origins(typed []string) (origins []string, wrong organizers.Mistakes) {
	origins = []string{}
	for _, line := range typed {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		origin, message := s.origin(line)
		if message != "" {
			wrong = append(wrong, organizers.Mistake{Field: FieldSites, Message: message, Args: []any{line}})
			continue
		}
		origins = append(origins, origin)
	}
	slices.Sort(origins)
	if origins = slices.Compact(origins); len(origins) > mostSites {
		wrong = append(wrong, organizers.Mistake{Field: FieldSites, Message: text.Mark("Enter %d sites at most."), Args: []any{mostSites}})
	}
	return origins, wrong
}

var (
	noSite = text.Mark("“%s” is not the address of a site such as https://www.example.org.")
	hosted = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$`) // what follows the scheme of an origin
)

// origin is that of an address, as browsers write it; else what is wrong with the address.
func (s *Sites) origin(address string) (origin, wrong string) {
	u, err := url.Parse(address)
	if err != nil || u.User != nil || len(address) > 300 {
		return "", noSite
	}
	host, err := idna.Lookup.ToASCII(u.Hostname())
	if err != nil {
		return "", noSite
	}
	at := host
	if port := u.Port(); port != "" && (u.Scheme != "https" || port != "443") {
		at += ":" + port
	}
	if len(host) > 253 || !hosted.MatchString(at) {
		return "", noSite
	}
	origin = u.Scheme + "://" + at
	switch {
	case u.Scheme == "https":
		return origin, ""
	case u.Scheme == "http" && (host == "localhost" || host == "127.0.0.1") && !strings.HasPrefix(s.URL, "https://"):
		return origin, ""
	}
	return "", text.Mark("“%s” does not begin with https://. Browsers show tickets only on secure sites.")
}

// hostOf is the name in a Host header, in lower case and without a port.
func hostOf(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
