package main

import (
	"flag"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Config is every setting of the program. What an organizer may change stands in the event's own row instead.
type Config struct {
	Addr        string // where to listen
	URL         string // how browsers reach it, when that is not Addr
	Data        string // folder of the private Postgres
	DatabaseURL string // a PostgreSQL of the operator's own; secret
	Demo        bool   // add demo events to an empty box office
	Log         string // "text" or "json"
}

// setting is one line of the help: a flag and the environment variable of the same name.
type setting struct {
	flag, env, about string
	bind             func(fs *flag.FlagSet, name, about string)
}

func (cfg *Config) databaseSettings() []setting {
	return []setting{
		{"database-url", "DATABASE_URL", "`address` of a PostgreSQL, such as postgres://usher:secret@db/usher; empty: a private one in the data folder", text(&cfg.DatabaseURL, "")},
		{"data", "USHER_DATA", "`folder` of the private Postgres", text(&cfg.Data, "./data")},
	}
}

func (cfg *Config) serveSettings() []setting {
	return append([]setting{
		{"addr", "USHER_ADDR", "`address` to listen on", text(&cfg.Addr, ":8080")},
		{"url", "USHER_URL", "public `address` of the box office, such as https://tickets.example.org; empty: as listened on", text(&cfg.URL, "")},
		{"demo", "USHER_DEMO", "add demo events when there are no events", truth(&cfg.Demo, true)},
		{"log", "USHER_LOG", "`form` of the log: text or json", text(&cfg.Log, "text")},
	}, cfg.databaseSettings()...)
}

func text(p *string, fallback string) func(*flag.FlagSet, string, string) {
	return func(fs *flag.FlagSet, name, about string) { fs.StringVar(p, name, fallback, about) }
}

func truth(p *bool, fallback bool) func(*flag.FlagSet, string, string) {
	return func(fs *flag.FlagSet, name, about string) { fs.BoolVar(p, name, fallback, about) }
}

// bind adds the settings to a flag set. The environment replaces the default; a flag, parsed later, replaces both.
func bind(fs *flag.FlagSet, settings []setting, getenv func(string) string) error {
	for _, s := range settings {
		s.bind(fs, s.flag, fmt.Sprintf("%s [%s]", s.about, s.env))
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
	if cfg.Log != "text" && cfg.Log != "json" {
		return usageError{fmt.Sprintf("--log is %q; it may be text or json", cfg.Log)}
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
