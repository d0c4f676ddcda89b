package main

import (
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
)

// checkDatabase refuses an address of a PostgreSQL on another machine that may be spoken to without TLS.
func (cfg *Config) checkDatabase() error {
	if cfg.DatabasePlain {
		return nil
	}
	for _, setting := range []struct{ env, url string }{{"DATABASE_URL", cfg.DatabaseURL}, {"DATABASE_DIRECT_URL", cfg.DirectURL}} {
		if setting.url == "" {
			continue
		}
		dsn, err := pgx.ParseConfig(setting.url)
		if err != nil {
			continue // whoever connects says so, without its password
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
				"On a network that nobody else can listen to, USHER_DATABASE_PLAINTEXT=true allows it as it is", setting.env, plain)}
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
