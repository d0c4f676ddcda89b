package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/mail"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/cmd/usher/rush"
	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats/arena"
	seatsdb "github.com/usherbox/usher/seats/database"
	post "github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/openid"
	"github.com/usherbox/usher/seats/publiclog"
	"github.com/usherbox/usher/seats/wallets"
)

// DatabaseSettings name the PostgreSQL of a command.
type DatabaseSettings struct {
	DatabaseURL   string `name:"database-url" setting:"DATABASE_URL" type:"secret" placeholder:"ADDRESS" help:"Address of a PostgreSQL, such as postgres://usher:secret@db/usher; empty: a private one in the data folder."`
	DirectURL     string `name:"database-direct-url" setting:"DATABASE_DIRECT_URL" type:"secret" placeholder:"ADDRESS" help:"Address of the same PostgreSQL past a pooler such as PgBouncer, for LISTEN and migrations; empty: there is no pooler."`
	House         string `name:"house" setting:"USHER_HOUSE" placeholder:"NAME" help:"Name of a box office (a tenant) among several in one database: it has the schema of that name, and sees no other; serve and migrate make it; empty: there is one."`
	DatabasePlain bool   `name:"database-plaintext" setting:"USHER_DATABASE_PLAINTEXT" help:"Reach a PostgreSQL on another machine without TLS: only for a network without other users."`
	SecretKey     string `name:"secret-key" setting:"USHER_SECRET_KEY" type:"secret" placeholder:"KEY" help:"Key that seals the secrets in the database, as \"usher secrets key\" prints one; while it changes, the new and the old one with a comma between; empty: DATA/secret.key of a private Postgres, else secrets are not sealed."`
	Data          string `name:"data" setting:"USHER_DATA" default:"./data" placeholder:"FOLDER" help:"Folder of the private Postgres."`

	SecretFile string `kong:"-"` // the file of SecretKey, if it came from one
	archive    string // of the private Postgres; empty: as it was
	makesHouse bool   // the command makes a house that is not there yet
	shadow     bool   // the database is that of a rehearsal
}

// AfterApply notes the file of the secret key: a node reads it again when the keys change. It also notes whether this is a rehearsal.
func (cfg *DatabaseSettings) AfterApply(sh *shell) error {
	cfg.shadow = sh.env(rush.Shadow) != ""
	if cfg.SecretKey != "" {
		cfg.SecretFile = sh.env("USHER_SECRET_KEY_FILE")
	}
	return nil
}

// Config is every setting of a node. What an organizer may change stands in the event's own row instead.
type Config struct {
	Addr          string        `name:"addr" setting:"USHER_ADDR" default:":8080" placeholder:"ADDRESS" help:"Address to listen on."`
	URL           string        `name:"url" setting:"USHER_URL" placeholder:"ADDRESS" help:"Public address of the box office, such as https://tickets.example.org; empty: as listened on."`
	Demo          bool          `name:"demo" setting:"USHER_DEMO" default:"true" help:"Add demo events when there are no events (--demo=false: do not)."`
	Log           string        `name:"log" setting:"USHER_LOG" default:"text" placeholder:"FORM" help:"Form of the log: text or json."`
	Sockets       int           `name:"sockets-per-address" setting:"USHER_SOCKETS_PER_ADDRESS" default:"${sockets}" placeholder:"PAGES" help:"Most live pages of one address; more behind one proxy or in a test."`
	PerProgram    int           `name:"requests-per-program" setting:"USHER_REQUESTS_PER_PROGRAM" default:"${requests}" placeholder:"REQUESTS" help:"Most requests that a program sends with one API key within a minute, to this node; 0: no limit."`
	Claims        int           `name:"claims-per-visitor" setting:"USHER_CLAIMS_PER_VISITOR" default:"${claims}" placeholder:"CLAIMS" help:"Most claims that one visitor sends within a minute, to this node; 0: no limit."`
	Joins         int           `name:"joins-per-network" setting:"USHER_JOINS_PER_NETWORK" default:"${joins}" placeholder:"PEOPLE" help:"Most people of one network (IPv4 /24, IPv6 /56) that join a waiting room within a minute; 0: no limit."`
	Looks         int           `name:"looks-per-second" setting:"USHER_LOOKS_PER_SECOND" default:"${looks}" placeholder:"LOOKS" help:"How often in a second all pages of a waiting room without a socket may ask for its state, each from once in 3 s to once in 30 s; ten times as often while no seat is free; more with a cache in front."`
	Archive       string        `name:"archive" setting:"USHER_ARCHIVE" placeholder:"PLACE" help:"Archive of the private Postgres, from which restore --to brings it back as of any second: a folder outside the data folder, or s3://bucket/prefix (needs pgBackRest); none: end archiving; empty: as before."`
	Header        string        `name:"address-header" setting:"USHER_ADDRESS_HEADER" placeholder:"HEADER" help:"Header in which a proxy in front adds the address of the browser, such as X-Forwarded-For; empty: there is no proxy."`
	Proxies       string        `name:"proxies" setting:"USHER_PROXIES" placeholder:"NETWORKS" help:"Networks of proxies that may set the address header, such as 192.0.2.0/28,2001:db8::/64; empty: this machine and private networks."`
	HooksInside   bool          `name:"hooks-inside" setting:"USHER_HOOKS_INSIDE" help:"Let webhooks go to this machine and the networks around it, and by http. Every owner of a team can then make such calls."`
	Metrics       string        `name:"metrics" setting:"USHER_METRICS" placeholder:"ADDRESS" help:"Address where Prometheus may ask for /metrics, such as 127.0.0.1:9090; empty: nowhere."`
	Requests      string        `name:"log-requests" setting:"USHER_LOG_REQUESTS" default:"off" enum:"off,sampled,on" placeholder:"WHICH" help:"Which answers are logged, with route, status, time and request id: off, none; sampled, one of a hundred, and all that failed or took longer than a second; on, all."`
	Traces        string        `name:"traces" setting:"OTEL_EXPORTER_OTLP_ENDPOINT" placeholder:"ADDRESS" help:"Address of an OpenTelemetry collector that takes traces, such as http://127.0.0.1:4318 (OTLP over HTTP, at /v1/traces); empty: there are none."`
	TraceHeaders  string        `name:"traces-headers" setting:"OTEL_EXPORTER_OTLP_HEADERS" type:"secret" placeholder:"HEADERS" help:"Headers with which the collector is called, such as authorization=Bearer%20SECRET; several with a comma between."`
	TraceRatio    float64       `name:"traces-ratio" setting:"OTEL_TRACES_SAMPLER_ARG" default:"1" placeholder:"RATIO" help:"Which part of all traces is recorded, 0 to 1; a trace that a trusted proxy began is recorded if the proxy says so."`
	NATS          string        `name:"nats" setting:"USHER_NATS" type:"secret" placeholder:"ADDRESS" help:"Address of a NATS server by which nodes notify each other, such as tls://user:secret@nats.example.org:4222; several of a cluster with a comma between; TLS is required unless it is this machine or the address ends in ?tls=optional; empty: by PostgreSQL."`
	Drain         time.Duration `name:"drain" setting:"USHER_DRAIN" default:"0s" placeholder:"TIME" help:"How long to go on after the signal to end, with /readyz saying no, so that a proxy in front sends requests elsewhere."`
	SMTP          string        `name:"smtp" setting:"USHER_SMTP" type:"secret" placeholder:"ADDRESS" help:"Address of the mail server, such as smtp://user:secret@mail.example.org:587, or smtps://; TLS is required unless it is this machine or the address ends in ?tls=optional; empty: mail is kept in DATA/mail."`
	MailFrom      string        `name:"mail-from" setting:"USHER_MAIL_FROM" placeholder:"SENDER" help:"Sender of mail, such as \"Box office <tickets@example.org>\"."`
	StripeKey     string        `name:"stripe-key" setting:"USHER_STRIPE_KEY" type:"secret" placeholder:"KEY" help:"Secret key of an account at Stripe, to be paid by card; empty: no cards."`
	StripeWebhook string        `name:"stripe-webhook-secret" setting:"USHER_STRIPE_WEBHOOK_SECRET" type:"secret" placeholder:"SECRET" help:"Secret of the webhook at Stripe that leads to /webhooks/stripe; two with a comma between while it changes."`
	Contact       string        `name:"security-contact" setting:"USHER_SECURITY_CONTACT" placeholder:"ADDRESS" help:"Address for reports of security holes, such as mailto:security@example.org or an https page; shown at /.well-known/security.txt; empty: not shown."`
	Witnesses     string        `name:"witnesses" setting:"USHER_WITNESSES" placeholder:"LIST" help:"Witnesses that cosign the public logs of sales (C2SP tlog-witness): of each its key (vkey) and its address, with a comma between two; empty: none."`
	StripeURL     string        `name:"stripe-url" setting:"USHER_STRIPE_URL" placeholder:"ADDRESS" help:"Address of a stand-in for Stripe, for tests; empty: Stripe."`

	PassCertificate string `name:"apple-pass-certificate" setting:"USHER_APPLE_PASS_CERTIFICATE" type:"secret" placeholder:"PEM" help:"Certificate of a pass type id at Apple, in PEM, to make passes for Apple Wallet; empty: none."`
	PassKey         string `name:"apple-pass-key" setting:"USHER_APPLE_PASS_KEY" type:"secret" placeholder:"PEM" help:"Key of that certificate, in PEM, without a passphrase."`
	PassIssuer      string `name:"apple-wwdr-certificate" setting:"USHER_APPLE_WWDR_CERTIFICATE" type:"secret" placeholder:"PEM" help:"Certificate of Apple (WWDR) that issued it, in PEM."`
	GoogleKey       string `name:"google-wallet-key" setting:"USHER_GOOGLE_WALLET_KEY" type:"secret" placeholder:"JSON" help:"Key of a service account at Google, the JSON file, to save tickets in Google Wallet; empty: none."`
	GoogleIssuer    string `name:"google-wallet-issuer" setting:"USHER_GOOGLE_WALLET_ISSUER" placeholder:"NUMBER" help:"Number of the issuer at Google Wallet, such as 3388000000012345678."`

	VIES string `name:"vies" setting:"USHER_VIES" placeholder:"ADDRESS" help:"Look VAT IDs of companies up at this address, such as https://ec.europa.eu/taxation_customs/vies/rest-api; empty: only format and check digit count."`

	OIDCIssuer string `name:"oidc-issuer" setting:"USHER_OIDC_ISSUER" placeholder:"ADDRESS" help:"Address of a provider of OpenID Connect at which organizers may sign in, such as https://accounts.example.org; empty: none."`
	OIDCClient string `name:"oidc-client" setting:"USHER_OIDC_CLIENT" placeholder:"ID" help:"Id of this box office at that provider (client id). The redirect address to name there is USHER_URL/desk/session/openid/return."`
	OIDCSecret string `name:"oidc-secret" setting:"USHER_OIDC_SECRET" type:"secret" placeholder:"SECRET" help:"Client secret that belongs to it; empty: a public client."`
	OIDCName   string `name:"oidc-name" setting:"USHER_OIDC_NAME" placeholder:"NAME" help:"Name of the provider on the sign-in page; empty: its host."`
	DatabaseSettings

	transport post.Transport   // made of SMTP and MailFrom by check
	sender    string           // the address of MailFrom
	apple     *wallets.Apple   // made of the certificates by check; nil: none
	google    *wallets.Google  // made of the key by check; nil: none
	provider  *openid.Provider // made of the OIDC settings by check; nil: none
	headers   http.Header      // made of TraceHeaders by check

	nats      realtime.NATSAddress // made of NATS by check
	proxies   []netip.Prefix       // made of Proxies by check; nil: the usual ones
	arena     *arena.Arena         // of a house that anybody may attack; nil: this is none
	witnesses []publiclog.Witness  // made of Witnesses by check
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
	if u, err := url.Parse(cfg.VIES); cfg.VIES != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return usageError{fmt.Sprintf("--vies %q is not an address such as https://ec.europa.eu/taxation_customs/vies/rest-api", cfg.VIES)}
	}
	if cfg.Drain < 0 || cfg.Drain > time.Minute {
		return usageError{fmt.Sprintf("--drain is %s; it may be 0s to 1m", cfg.Drain)}
	}
	if cfg.Archive != "" && cfg.DatabaseURL != "" {
		return usageError{"--archive is for the private PostgreSQL; docs/operating.md says how to archive your own with pgBackRest"}
	}
	cfg.archive, cfg.makesHouse = cfg.Archive, true
	if cfg.DirectURL != "" && cfg.DatabaseURL == "" {
		return usageError{"DATABASE_DIRECT_URL is of no use without DATABASE_URL"}
	}
	if cfg.Looks < 1 {
		return usageError{fmt.Sprintf("--looks-per-second is %d; it is 1 or more", cfg.Looks)}
	}
	if cfg.PerProgram < 0 {
		return usageError{fmt.Sprintf("--requests-per-program is %d; 0 is no limit", cfg.PerProgram)}
	}
	if cfg.Claims < 0 {
		return usageError{fmt.Sprintf("--claims-per-visitor is %d; 0 is no limit", cfg.Claims)}
	}
	if cfg.Joins < 0 {
		return usageError{fmt.Sprintf("--joins-per-network is %d; 0 is no limit", cfg.Joins)}
	}
	witnesses, err := publiclog.ParseWitnesses(cfg.Witnesses)
	if err != nil {
		return usageError{"--witnesses: " + err.Error()}
	}
	cfg.witnesses = witnesses
	if err := cfg.checkProxies(); err != nil {
		return err
	}
	if err := cfg.checkMail(); err != nil {
		return err
	}
	if err := cfg.checkTraces(); err != nil {
		return err
	}
	if cfg.NATS != "" {
		var err error
		if cfg.nats, err = realtime.ParseNATS(cfg.NATS); err != nil {
			return usageError{fmt.Sprintf("USHER_NATS: %v", err)} // the address itself has a password in it
		}
	}
	if err := cfg.checkWallets(time.Now()); err != nil {
		return err
	}
	if err := cfg.checkProvider(); err != nil {
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

// checkWallets reads the certificates and keys for passes.
func (cfg *Config) checkWallets(now time.Time) (err error) {
	if apple := []string{cfg.PassCertificate, cfg.PassKey, cfg.PassIssuer}; strings.Join(apple, "") != "" {
		if slices.Contains(apple, "") {
			return usageError{"USHER_APPLE_PASS_CERTIFICATE, USHER_APPLE_PASS_KEY and USHER_APPLE_WWDR_CERTIFICATE are of use together alone"}
		}
		if cfg.apple, err = wallets.NewApple(cfg.PassCertificate, cfg.PassKey, cfg.PassIssuer, now); err != nil {
			return usageError{fmt.Sprintf("passes for Apple Wallet: %v", err)}
		}
	}
	if cfg.GoogleKey != "" || cfg.GoogleIssuer != "" {
		if cfg.GoogleKey == "" || cfg.GoogleIssuer == "" {
			return usageError{"USHER_GOOGLE_WALLET_KEY and --google-wallet-issuer are of use together alone"}
		}
		if cfg.google, err = wallets.NewGoogle(cfg.GoogleKey, cfg.GoogleIssuer); err != nil {
			return usageError{fmt.Sprintf("tickets in Google Wallet: %v", err)}
		}
	}
	return nil
}

// checkProvider reads which provider organizers may sign in at. It is not asked: it may be down.
func (cfg *Config) checkProvider() (err error) {
	if cfg.OIDCIssuer == "" {
		if cfg.OIDCClient+cfg.OIDCSecret+cfg.OIDCName != "" {
			return usageError{"--oidc-client, --oidc-name and USHER_OIDC_SECRET are of no use without --oidc-issuer"}
		}
		return nil
	}
	if cfg.provider, err = openid.New(openid.Settings{Issuer: cfg.OIDCIssuer, Client: cfg.OIDCClient, Secret: cfg.OIDCSecret, Name: cfg.OIDCName}); err != nil {
		return usageError{fmt.Sprintf("--oidc-issuer and --oidc-client: %v", err)}
	}
	return nil
}

// database names the database for messages, without its password.
func (cfg *DatabaseSettings) database() string {
	house := ""
	if cfg.House != "" {
		house = "house " + cfg.House + " of "
	}
	if cfg.DatabaseURL == "" {
		return house + "a private PostgreSQL in " + cfg.Data
	}
	dsn, err := pgx.ParseConfig(cfg.DatabaseURL)
	if err != nil {
		return house + "DATABASE_URL"
	}
	return house + fmt.Sprintf("PostgreSQL %s on %s", dsn.Database, dsn.Host)
}

// inHouse returns the address of a database for connections to the house of these settings.
func (cfg *DatabaseSettings) inHouse(dsn string) (string, error) {
	dsn, err := seatsdb.InHouse(dsn, cfg.House)
	if errors.Is(err, seatsdb.ErrHouse) {
		return "", usageError{fmt.Sprintf("--house %q: %v", cfg.House, err)}
	}
	return dsn, err
}

// checkDatabase refuses a name that no house can have, and an address of a PostgreSQL on another machine that may be spoken to without TLS.
func (cfg *DatabaseSettings) checkDatabase() error {
	if _, err := cfg.inHouse("host=localhost"); err != nil {
		return err
	}
	if cfg.DatabasePlain {
		return nil
	}
	for _, setting := range []struct{ env, url string }{{"DATABASE_URL", cfg.DatabaseURL}, {"DATABASE_DIRECT_URL", cfg.DirectURL}} {
		if setting.url == "" {
			continue
		}
		dsn, err := pgx.ParseConfig(setting.url)
		if err != nil {
			continue // the error of the connection says so, without its password
		}
		plain := ""
		if dsn.TLSConfig == nil && !isLocal(dsn.Host) {
			plain = dsn.Host
		}
		for _, other := range dsn.Fallbacks { // sslmode=prefer and allow try without TLS as well
			if other.TLSConfig == nil && !isLocal(other.Host) {
				plain = other.Host
			}
		}
		if plain != "" {
			return usageError{fmt.Sprintf("%s leads to %s and does not require TLS: add sslmode=verify-full (with sslrootcert=FILE for a certificate of your own), or sslmode=require. "+
				"On a network without other users, USHER_DATABASE_PLAINTEXT=true allows it as it is", setting.env, plain)}
		}
	}
	return nil
}

// isLocal reports whether a host is this machine: a Unix socket or a loopback address.
func isLocal(host string) bool {
	if host == "" || strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// checkMail sets how mail leaves: through the server of the settings, or into a folder.
func (cfg *Config) checkMail() error {
	if cfg.SMTP != "" && cfg.MailFrom == "" {
		return usageError{"USHER_SMTP needs --mail-from: the address that attendees see, such as tickets@example.org"}
	}
	from, err := mail.ParseAddress(cmp.Or(cfg.MailFrom, "tickets@localhost"))
	if err != nil {
		return usageError{fmt.Sprintf("--mail-from %q is not an address such as \"Box office <tickets@example.org>\"", cfg.MailFrom)}
	}
	sender := post.Sender{Name: from.Name, Email: from.Address}
	cfg.sender = from.Address
	if cfg.SMTP == "" {
		cfg.transport = post.Folder{Dir: filepath.Join(cfg.Data, "mail"), From: sender}
		return nil
	}
	if cfg.transport, err = post.NewSMTP(cfg.SMTP, sender, nil); err != nil {
		return usageError{fmt.Sprintf("USHER_SMTP: %v", err)} // the address itself has a password in it
	}
	return nil
}

// Resolve returns the value of a flag that the command line does not have: that of its environment variable, or of the file
// that the variable of the same name with _FILE names. It is part of kong.Resolver.
func (env environment) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	name := flag.Tag.Get("setting")
	if name == "" {
		return nil, nil
	}
	if flag.Tag.Type == "secret" {
		text, err := env.secret(name)
		if err != nil || text == "" {
			return nil, err
		}
		return secretText(text), nil
	}
	text := env(name)
	if text == "" {
		return nil, nil
	}
	trial := reflect.New(flag.Target.Type()).Elem()
	if err := flag.Parse(kong.Scan().PushTyped(text, kong.FlagValueToken), trial); err != nil {
		return nil, fmt.Errorf("the environment variable %s is %q: %w", name, text, err)
	}
	return text, nil
}

// Validate is part of kong.Resolver.
func (environment) Validate(*kong.Application) error { return nil }

// secret reads a secret from its variable, or from the file that the variable with _FILE names.
func (env environment) secret(name string) (string, error) {
	direct, file := env(name), env(name+"_FILE")
	switch {
	case direct != "" && file != "":
		return "", fmt.Errorf("%s and %s_FILE are both set; one is enough", name, name)
	case file == "":
		return direct, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%s_FILE cannot be read: %w", name, err)
	}
	if len(strings.TrimSpace(string(text))) == 0 {
		return "", fmt.Errorf("the file %s of %s_FILE is empty", file, name)
	}
	return strings.TrimSpace(string(text)), nil
}

// secretText is a secret from the environment. Only such a value passes secretMapper.
type secretText string

// secretMapper refuses secrets of the command line: every user of the machine can read it.
type secretMapper struct{}

// Decode is part of kong.Mapper.
func (secretMapper) Decode(c *kong.DecodeContext, target reflect.Value) error {
	text, is := c.Scan.Pop().Value.(secretText)
	if !is {
		env := c.Value.Tag.Get("setting")
		return fmt.Errorf("secrets are not taken from the command line, where every user of this machine can read them: set %s, or %s_FILE to a file that holds it", env, env)
	}
	target.SetString(string(text))
	return nil
}
