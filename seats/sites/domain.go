package sites

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/net/idna"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Domain is the domain of a team.
type Domain struct {
	Name     string // in ASCII; empty: the team has none
	Proof    string
	ProvenAt *time.Time // nil: it is not proven yet
}

// Record returns the TXT record that proves a domain: its name, and what it says.
func (d Domain) Record() (name, content string) { return "_usher." + d.Name, "usher-domain=" + d.Proof }

// FieldDomain is the field of a form with a domain.
const FieldDomain = "domain"

const savedDomainSQL = `SELECT domain, proof, proven_at FROM team_domain WHERE team_id = $1`

// Domain returns the domain of a member's team.
func (s *Sites) Domain(ctx context.Context, m organizers.Member) (d Domain, err error) {
	err = s.desk.As(ctx, m, func(tx pgx.Tx) error {
		d, err = readDomain(ctx, tx, m.Team)
		return err
	})
	return d, err
}

func readDomain(ctx context.Context, tx pgx.Tx, team int64) (d Domain, err error) {
	err = tx.QueryRow(ctx, savedDomainSQL, team).Scan(&d.Name, &d.Proof, &d.ProvenAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return Domain{}, nil
	}
	if err != nil {
		return d, fmt.Errorf("sites: read the domain of a team: %w", err)
	}
	return d, nil
}

const askDomainSQL = `
INSERT INTO team_domain (team_id, domain, proof) VALUES ($1, $2, $3)
    ON CONFLICT (team_id) DO UPDATE SET (domain, proof, proven_at) = ($2, $3, NULL) WHERE team_domain.domain <> $2`

// Ask gives a member's team a domain that it has to prove. The domain before it, if there is another, is its no more.
//
// Errors: organizers.Mistakes; those of idempotency.Key.Take; the database's.
func (s *Sites) Ask(ctx context.Context, m organizers.Member, typed, key string) error {
	domain, wrong := s.domain(typed)
	if wrong == "" {
		all, err := s.read(ctx)
		if err != nil {
			return err
		}
		if owner := all.domains[domain]; owner != 0 && owner != m.Team {
			wrong = taken
		}
	}
	if wrong != "" {
		return organizers.Mistakes{{Field: FieldDomain, Message: wrong, Args: []any{strings.TrimSpace(typed)}}}
	}
	err := s.desk.Change(ctx, m, key, []any{"domain", domain}, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, askDomainSQL, m.Team, domain, rand.Text())
		if err != nil {
			return fmt.Errorf("sites: ask for a domain: %w", err)
		}
		if tag.RowsAffected() == 0 { // it has this one
			return nil
		}
		if err := organizers.TellOwners(m, organizers.NoticeDomain, domain).Run(ctx, tx); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("asked for a domain"), "site", map[string]any{"domain": domain})
	})
	s.changed(ctx)
	return err
}

var (
	taken   = text.Mark("“%s” is the domain of another team here.")
	noName  = text.Mark("“%s” is not a domain such as tickets.example.org.")
	named   = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$`)
	special = []string{"localhost", "local", "internal", "test", "invalid", "example", "onion", "arpa"} // ends of names that cannot be registered
)

// domain reads what was typed; else what is wrong with it.
func (s *Sites) domain(typed string) (domain, wrong string) {
	typed = strings.TrimSpace(typed)
	if len(typed) > 253 {
		return "", text.Mark("“%s” is longer than a domain can be.")
	}
	domain, err := idna.Lookup.ToASCII(strings.TrimSuffix(typed, "."))
	if err != nil || len(domain) > 253 || !named.MatchString(domain) {
		return "", noName
	}
	if end := domain[strings.LastIndexByte(domain, '.')+1:]; slices.Contains(special, end) {
		return "", text.Mark("“%s” ends in a name that is not on the internet.")
	}
	if own, err := url.Parse(s.URL); err == nil && s.URL != "" && domain == hostOf(own.Host) {
		return "", text.Mark("“%s” is the address of this box office itself.")
	}
	return domain, ""
}

const proveDomainSQL = `UPDATE team_domain SET proven_at = clock_timestamp() WHERE team_id = $1 AND domain = $2 AND proven_at IS NULL`

const lookUp = 5 * time.Second // that a look-up of records may take

// Prove looks whether the domain of a member's team has its TXT record. A domain that is proven stays so.
//
// Errors: organizers.Mistakes if it has not, or is another team's by now; those of idempotency.Key.Take; the database's.
func (s *Sites) Prove(ctx context.Context, m organizers.Member, key string) error {
	d, err := s.Domain(ctx, m)
	if err != nil {
		return err
	}
	if d.Name == "" {
		return organizers.Mistakes{{Field: FieldDomain, Message: text.Mark("Enter a domain first.")}}
	}
	if d.ProvenAt == nil {
		if wrong := s.lookUp(ctx, d); wrong != nil {
			return wrong
		}
	}
	err = s.desk.Change(ctx, m, key, []any{"prove domain", d.Name, d.Proof}, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, proveDomainSQL, m.Team, d.Name)
		if err != nil {
			return fmt.Errorf("sites: prove a domain: %w", err)
		}
		if tag.RowsAffected() == 0 { // it was proven before, or the team has another one by now
			return nil
		}
		if err := organizers.TellOwners(m, organizers.NoticeDomainProven, d.Name).Run(ctx, tx); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("proved a domain"), "site", map[string]any{"domain": d.Name})
	})
	s.changed(ctx)
	if seats.IsConstraint(err, "team_domain_proven") {
		return organizers.Mistakes{{Field: FieldDomain, Message: taken, Args: []any{d.Name}}}
	}
	return err
}

// lookUp looks for the record of a domain. What cannot be asked is not there.
func (s *Sites) lookUp(ctx context.Context, d Domain) error {
	ctx, cancel := context.WithTimeout(ctx, lookUp)
	defer cancel()
	records := s.Records
	if records == nil {
		records = net.DefaultResolver.LookupTXT
	}
	name, content := d.Record()
	found, err := records(ctx, name)
	if err == nil && slices.Contains(found, content) {
		return nil
	}
	words := text.Mark("The TXT record of %s does not say %s. Records can take some hours until they are everywhere.")
	if len(found) == 0 {
		words = text.Mark("There is no TXT record %s that says %s. Records can take some hours until they are everywhere.")
	}
	return organizers.Mistakes{{Field: FieldDomain, Message: words, Args: []any{name, content}}}
}

const removeDomainSQL = `DELETE FROM team_domain WHERE team_id = $1 RETURNING domain`

// Remove takes the domain of a member's team away, if it has one.
func (s *Sites) Remove(ctx context.Context, m organizers.Member, key string) error {
	err := s.desk.Change(ctx, m, key, []any{"remove domain"}, func(tx pgx.Tx) error {
		domain := ""
		err := tx.QueryRow(ctx, removeDomainSQL, m.Team).Scan(&domain)
		if errors.Is(err, pgx.ErrNoRows) { // it is gone
			return nil
		}
		if err != nil {
			return fmt.Errorf("sites: remove a domain: %w", err)
		}
		if err := organizers.TellOwners(m, organizers.NoticeDomainRemoved, domain).Run(ctx, tx); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("removed a domain"), "site", map[string]any{"domain": domain})
	})
	s.changed(ctx)
	return err
}

// Team returns the team with the host of a request as its proven domain; 0 if there is none.
func (s *Sites) Team(ctx context.Context, hostport string) (int64, error) {
	if s == nil {
		return 0, nil
	}
	all, err := s.read(ctx)
	if err != nil || len(all.domains) == 0 {
		return 0, err
	}
	return all.domains[hostOf(hostport)], nil
}

// Home returns how browsers reach the events of a team: at its proven domain, or else at url.
func (s *Sites) Home(ctx context.Context, team int64, home string) (string, error) {
	if s == nil || team == 0 {
		return home, nil
	}
	all, err := s.read(ctx)
	if err != nil {
		return "", err
	}
	domain, scheme := all.of[team], "https"
	if domain == "" {
		return home, nil
	}
	if strings.HasPrefix(home, "http://") {
		scheme = "http"
	}
	return scheme + "://" + domain, nil
}
