package main

import (
	"flag"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/handlers"
	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/waitingroom"
)

// Config is every setting of the program. What an organizer may change stands in the event's own row instead.
type Config struct {
	Addr          string        // where to listen
	URL           string        // how browsers reach it, when that is not Addr
	Data          string        // folder of the private Postgres
	DatabaseURL   string        // a PostgreSQL of the operator's own; secret
	DirectURL     string        // the same past a pooler, for what needs a session of its own; empty: there is none between; secret
	DatabasePlain bool          // a PostgreSQL on another machine may be reached without TLS
	SecretKey     string        // seals secrets in the database; secret
	SecretFile    string        // where it came from, if from a file
	Demo          bool          // add demo events to an empty box office
	Log           string        // "text" or "json"
	Sockets       int           // the most sockets of one address
	Claims        int           // the most claims of one visitor within a minute
	Joins         int           // the most people of one network that join a waiting room within a minute
	Looks         int           // how often in a second all pages of a waiting room together ask how it is
	Header        string        // in which a trusted proxy says whose request it is
	Proxies       string        // networks of those proxies; empty: this machine and private ones
	HooksInside   bool          // webhooks may go to this machine and the networks around it, and by http
	Metrics       string        // where to listen for Prometheus; empty: nowhere
	Requests      bool          // log every answer
	Drain         time.Duration // how long to go on after being told to end, as not ready

	Contact       string // whom to tell of a hole in the site
	StripeKey     string // of an account at Stripe; secret
	StripeWebhook string // secret of its webhook
	StripeURL     string // where Stripe is; empty: the real one
	SMTP          string // the server that takes mail; empty: files in the data folder; secret
	MailFrom      string // in whose name mail goes out

	transport mail.Transport // made of the last two by check
	proxies   []netip.Prefix // made of Proxies by check; nil: the usual ones
}

// setting is one line of the help: a flag and the environment variable of the same name. One with a secret in it (secret) has
// no flag.
type setting struct {
	flag, env, about string
	bind             func(fs *flag.FlagSet, name, about string)
}

func (cfg *Config) databaseSettings() []setting {
	return []setting{
		{"database-url", "DATABASE_URL", "`address` of a PostgreSQL, such as postgres://usher:secret@db/usher; empty: a private one in the data folder", secret(&cfg.DatabaseURL)},
		{"database-direct-url", "DATABASE_DIRECT_URL", "`address` of the same PostgreSQL past a pooler such as PgBouncer, for LISTEN and migrations; empty: there is no pooler", secret(&cfg.DirectURL)},
		{"database-plaintext", "USHER_DATABASE_PLAINTEXT", "reach a PostgreSQL on another machine without TLS: for a network that nobody else can listen to", truth(&cfg.DatabasePlain, false)},
		{"secret-key", "USHER_SECRET_KEY", "`key` that seals the secrets in the database, as \"usher secrets key\" prints one; while it changes, the new and the old one with a comma between; empty: DATA/secret.key of a private Postgres, else secrets are not sealed", secretOrFile(&cfg.SecretKey, &cfg.SecretFile)},
		{"data", "USHER_DATA", "`folder` of the private Postgres", text(&cfg.Data, "./data")},
	}
}

func (cfg *Config) serveSettings() []setting {
	return append([]setting{
		{"addr", "USHER_ADDR", "`address` to listen on", text(&cfg.Addr, ":8080")},
		{"url", "USHER_URL", "public `address` of the box office, such as https://tickets.example.org; empty: as listened on", text(&cfg.URL, "")},
		{"demo", "USHER_DEMO", "add demo events when there are no events", truth(&cfg.Demo, true)},
		{"log", "USHER_LOG", "`form` of the log: text or json", text(&cfg.Log, "text")},
		{"sockets-per-address", "USHER_SOCKETS_PER_ADDRESS", "most live `pages` of one address; more behind one proxy or in a test", number(&cfg.Sockets, realtime.SocketsPerAddress)},
		{"claims-per-visitor", "USHER_CLAIMS_PER_VISITOR", "most `claims` that one visitor sends within a minute, to this node; 0: no limit", number(&cfg.Claims, handlers.ClaimsPerVisitor)},
		{"joins-per-network", "USHER_JOINS_PER_NETWORK", "most `people` of one network (IPv4 /24, IPv6 /56) that join a waiting room within a minute; 0: no limit", number(&cfg.Joins, handlers.JoinsPerNetwork)},
		{"looks-per-second", "USHER_LOOKS_PER_SECOND", "how `often` in a second all pages of a waiting room without a socket may ask how it is, each from once in 3 s to once in 30 s; ten times as often while no seat is free; more with a cache in front", number(&cfg.Looks, waitingroom.LooksPerSecond)},
		{"address-header", "USHER_ADDRESS_HEADER", "`header` in which a proxy in front adds the address of the browser, such as X-Forwarded-For; empty: there is no proxy", text(&cfg.Header, "")},
		{"proxies", "USHER_PROXIES", "`networks` of proxies whose address header is believed, such as 192.0.2.0/28,2001:db8::/64; empty: this machine and private networks", text(&cfg.Proxies, "")},
		{"hooks-inside", "USHER_HOOKS_INSIDE", "let webhooks go to this machine and the networks around it, and by http: whoever owns a team can make such calls then", truth(&cfg.HooksInside, false)},
		{"metrics", "USHER_METRICS", "`address` where Prometheus may ask for /metrics, such as 127.0.0.1:9090; empty: nowhere", text(&cfg.Metrics, "")},
		{"log-requests", "USHER_LOG_REQUESTS", "log every answer: its route, status, time and request id", truth(&cfg.Requests, false)},
		{"drain", "USHER_DRAIN", "how `long` to go on after being told to end, with /readyz saying no, so that a proxy in front sends requests elsewhere", duration(&cfg.Drain, 0)},
		{"smtp", "USHER_SMTP", "`address` of the server that takes mail, such as smtp://user:secret@mail.example.org:587, or smtps://; TLS is required unless it is this machine or the address ends in ?tls=optional; empty: mail is kept in DATA/mail", secret(&cfg.SMTP)},
		{"mail-from", "USHER_MAIL_FROM", "`sender` of mail, such as \"Box office <tickets@example.org>\"", text(&cfg.MailFrom, "")},
		{"stripe-key", "USHER_STRIPE_KEY", "secret `key` of an account at Stripe, to be paid by card; empty: no cards", secret(&cfg.StripeKey)},
		{"stripe-webhook-secret", "USHER_STRIPE_WEBHOOK_SECRET", "`secret` of the webhook at Stripe that leads to /webhooks/stripe; two with a comma between while it changes", secret(&cfg.StripeWebhook)},
		{"security-contact", "USHER_SECURITY_CONTACT", "`address` for people who found a hole, such as mailto:security@example.org or an https page; shown at /.well-known/security.txt; empty: not shown", text(&cfg.Contact, "")},
		{"stripe-url", "USHER_STRIPE_URL", "`address` of a stand-in for Stripe, for tests; empty: Stripe", text(&cfg.StripeURL, "")},
	}, cfg.databaseSettings()...)
}

func text(p *string, fallback string) func(*flag.FlagSet, string, string) {
	return func(fs *flag.FlagSet, name, about string) { fs.StringVar(p, name, fallback, about) }
}

func truth(p *bool, fallback bool) func(*flag.FlagSet, string, string) {
	return func(fs *flag.FlagSet, name, about string) { fs.BoolVar(p, name, fallback, about) }
}

func duration(p *time.Duration, fallback time.Duration) func(*flag.FlagSet, string, string) {
	return func(fs *flag.FlagSet, name, about string) { fs.DurationVar(p, name, fallback, about) }
}

func number(p *int, fallback int) func(*flag.FlagSet, string, string) {
	return func(fs *flag.FlagSet, name, about string) { fs.IntVar(p, name, fallback, about) }
}

// bind adds the settings to a flag set. The environment replaces the default; a flag, parsed later, replaces both.
func bind(fs *flag.FlagSet, settings []setting, getenv func(string) string) error {
	for _, s := range settings {
		s.bind(fs, s.flag, fmt.Sprintf("%s [%s]", s.about, s.env))
		if v, is := fs.Lookup(s.flag).Value.(*secretValue); is {
			if err := v.read(s.env, getenv); err != nil {
				return err
			}
			continue
		}
		if value := getenv(s.env); value != "" {
			if err := fs.Set(s.flag, value); err != nil {
				return usageError{fmt.Sprintf("the environment variable %s is %q: %v", s.env, value, err)}
			}
		}
	}
	return nil
}

// check refuses settings that could only fail later and less clearly.
func (cfg *Config) check() error {
	if _, _, err := net.SplitHostPort(cfg.Addr); err != nil {
		return usageError{fmt.Sprintf("--addr %q is not host:port (try \":8080\" or \"127.0.0.1:8080\")", cfg.Addr)}
	}
	if _, _, err := net.SplitHostPort(cfg.Metrics); err != nil && cfg.Metrics != "" {
		return usageError{fmt.Sprintf("--metrics %q is not host:port (try \"127.0.0.1:9090\")", cfg.Metrics)}
	}
	if cfg.Log != "text" && cfg.Log != "json" {
		return usageError{fmt.Sprintf("--log is %q; it may be text or json", cfg.Log)}
	}
	if cfg.StripeWebhook != "" && cfg.StripeKey == "" {
		return usageError{"USHER_STRIPE_WEBHOOK_SECRET is of no use without USHER_STRIPE_KEY"}
	}
	if cfg.Sockets < 1 {
		return usageError{fmt.Sprintf("--sockets-per-address is %d; one is the least", cfg.Sockets)}
	}
	if u, err := url.Parse(cfg.Contact); cfg.Contact != "" && (err != nil || u.Scheme != "mailto" && u.Scheme != "https" || strings.ContainsAny(cfg.Contact, "\r\n ")) {
		return usageError{fmt.Sprintf("--security-contact %q is not an address such as mailto:security@example.org", cfg.Contact)}
	}
	if cfg.Drain < 0 || cfg.Drain > time.Minute {
		return usageError{fmt.Sprintf("--drain is %s; it may be 0s to 1m", cfg.Drain)}
	}
	if cfg.DirectURL != "" && cfg.DatabaseURL == "" {
		return usageError{"DATABASE_DIRECT_URL is of no use without DATABASE_URL"}
	}
	if cfg.Looks < 1 {
		return usageError{fmt.Sprintf("--looks-per-second is %d; it is 1 or more", cfg.Looks)}
	}
	if cfg.Claims < 0 {
		return usageError{fmt.Sprintf("--claims-per-visitor is %d; 0 is no limit", cfg.Claims)}
	}
	if cfg.Joins < 0 {
		return usageError{fmt.Sprintf("--joins-per-network is %d; 0 is no limit", cfg.Joins)}
	}
	if err := cfg.checkProxies(); err != nil {
		return err
	}
	if err := cfg.checkMail(); err != nil {
		return err
	}
	if cfg.URL == "" {
		return nil
	}
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" {
		return usageError{fmt.Sprintf("--url %q is not an address such as https://tickets.example.org", cfg.URL)}
	}
	cfg.URL = strings.TrimRight(cfg.URL, "/")
	return nil
}

// checkProxies reads the networks of proxies.
func (cfg *Config) checkProxies() error {
	for _, text := range strings.FieldsFunc(cfg.Proxies, func(c rune) bool { return c == ',' || c == ' ' }) {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return usageError{fmt.Sprintf("--proxies: %q is not a network such as 192.0.2.0/28", text)}
		}
		cfg.proxies = append(cfg.proxies, network.Masked())
	}
	if cfg.Proxies != "" && cfg.Header == "" {
		return usageError{"--proxies is of no use without --address-header"}
	}
	return nil
}

// database names the database for people, without its password.
func (cfg *Config) database() string {
	if cfg.DatabaseURL == "" {
		return "a private PostgreSQL in " + cfg.Data
	}
	dsn, err := pgx.ParseConfig(cfg.DatabaseURL)
	if err != nil {
		return "DATABASE_URL"
	}
	return fmt.Sprintf("PostgreSQL %s on %s", dsn.Database, dsn.Host)
}
