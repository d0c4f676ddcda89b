package main

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/waitingroom"
)

func TestSecretSetting_HasNoFlag(t *testing.T) {
	t.Parallel()
	secrets := 0
	for _, flag := range settingsOf("serve") {
		env, is := flag.Tag.Get("setting"), flag.Tag.Type == "secret"
		if named := regexp.MustCompile(`(?i)secret|password|(^|-)key|token|database-.*url|smtp`).MatchString(flag.Name + " " + env); named && !is {
			t.Errorf("--%s looks like a secret and can be given as a flag", flag.Name)
		}
		if !is {
			continue
		}
		secrets++
		for _, args := range [][]string{{"serve", "--" + flag.Name + "=hunter2"}, {"serve", "--" + flag.Name, "hunter2"}} {
			_, err := try(t, args...)
			if !misused(err) || !strings.Contains(err.Error(), env+"_FILE") || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("usher %v: %v", args, err)
			}
		}
	}
	if secrets < 6 {
		t.Errorf("%d settings are secrets", secrets)
	}
}

func TestSecretSetting_ComesFromAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "stripe")
	if err := os.WriteFile(file, []byte("sk_test_7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(env map[string]string) (string, error) {
		var all commands
		_, err := newParser(&all, &shell{env: func(name string) string { return env[name] }}).Parse([]string{"serve"})
		return all.Serve.StripeKey, err
	}
	if key, err := read(map[string]string{"USHER_STRIPE_KEY_FILE": file}); err != nil || key != "sk_test_7" {
		t.Errorf("got %q, %v", key, err)
	}
	for _, env := range []map[string]string{
		{"USHER_STRIPE_KEY_FILE": file, "USHER_STRIPE_KEY": "sk_test_8"},
		{"USHER_STRIPE_KEY_FILE": file + ".none"},
	} {
		if _, err := read(env); err == nil || !strings.Contains(err.Error(), "USHER_STRIPE_KEY_FILE") {
			t.Errorf("%v: %v", env, err)
		}
	}
}

// sealing starts what serve starts of a database: it seals its secrets with the keys of a list.
func sealing(t *testing.T, pool *pgxpool.Pool, keys string) (db *database, log string, err error) {
	t.Helper()
	var out bytes.Buffer
	cfg := &DatabaseSettings{DatabaseURL: "postgres://here", SecretKey: keys}
	db = &database{pool: pool}
	if db.box, err = cfg.secretBox(); err != nil {
		t.Fatal(err)
	}
	err = db.sealSecrets(t.Context(), cfg, slog.New(slog.NewTextHandler(&out, nil)))
	return db, out.String(), err
}

const unsealedSQL = `
SELECT (SELECT count(*) FROM ticket_key WHERE octet_length(seed) = 32) + (SELECT count(*) FROM place_key WHERE octet_length(secret) = 32)
     + (SELECT count(*) FROM hook_secret WHERE octet_length(secret) = 32) + (SELECT count(*) FROM totp WHERE octet_length(secret) < 48)
     + (SELECT count(*) FROM erasure_key WHERE octet_length(secret) < 48)`

func TestServe_SealsSecretsAndDoesNotStartWithoutTheirKey(t *testing.T) {
	t.Parallel()
	pool := seatstest.DB(t)
	ctx := t.Context()
	if err := orders.New(pool).NewKey(ctx); err != nil {
		t.Fatal(err)
	}
	if err := (waitingroom.Control{DB: pool, Who: "test"}).NewKey(ctx, false); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(ctx, `
		WITH h AS (INSERT INTO hook (team_id, url, kinds) SELECT min(id), 'https://example.org/', '{order.paid}' FROM team RETURNING id)
		INSERT INTO hook_secret (hook_id, secret) SELECT id, sha256('x') FROM h`); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(ctx, `
		WITH o AS (INSERT INTO organizer (name, email, password) VALUES ('Ann', 'ann@example.org', 'x') RETURNING id)
		INSERT INTO totp (organizer_id, secret) SELECT id, substring(sha256('y') for 20) FROM o`); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(ctx, `INSERT INTO erasure_key (secret) VALUES (sha256('z'))`); err != nil {
		t.Fatal(err)
	}
	unsealed := func() (n int) {
		if err := pool.QueryRow(ctx, unsealedSQL).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	public := func(box *seal.Box) string {
		o := orders.New(pool)
		o.SealWith(box)
		keys, err := o.PublicKeys(ctx)
		if err != nil || len(keys) != 1 {
			t.Fatal(len(keys), err)
		}
		return string(keys[0].Key)
	}
	before := public(nil)
	if _, log, err := sealing(t, pool, ""); err != nil || !strings.Contains(log, "USHER_SECRET_KEY_FILE") || unsealed() != 5 {
		t.Errorf("without a key: %v, %d unsealed\n%s", err, unsealed(), log)
	}
	first, second := seal.NewKey(), seal.NewKey()
	db, _, err := sealing(t, pool, first)
	if err != nil || unsealed() != 0 || public(db.box) != before {
		t.Errorf("with its first key: %v, %d unsealed", err, unsealed())
	}
	for _, wrong := range []string{"", second} {
		if _, _, err := sealing(t, pool, wrong); err == nil || !strings.Contains(err.Error(), "USHER_SECRET_KEY") {
			t.Errorf("with %q it starts: %v", wrong, err)
		}
	}
	if db, _, err = sealing(t, pool, second+","+first); err != nil || public(db.box) != before {
		t.Errorf("the rotation: %v", err)
	}
	if db, _, err = sealing(t, pool, second); err != nil || public(db.box) != before {
		t.Errorf("after the rotation, without the key before: %v", err)
	}
}

func TestSecretsRotate_OfAPrivatePostgresKeepsTicketsGood(t *testing.T) {
	t.Parallel()
	folder, pool := privateServer(t)
	run := func(args ...string) string {
		out, err := try(t, append(args, "--data", folder)...)
		if err != nil {
			t.Fatalf("usher %v: %v", args, err)
		}
		return out
	}
	run("keys", "--new", "tickets")
	box, err := makeKey(filepath.Join(folder, "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	o := orders.New(pool)
	o.SealWith(box) // a node that runs meanwhile
	keys, err := o.PublicKeys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if out := run("secrets", "key", "--rotate"); !strings.Contains(out, "1 secrets are sealed with key") {
			t.Error(out)
		}
	}
	if info, err := os.Stat(filepath.Join(folder, "secret.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key can be read by others: %v %v", info, err)
	}
	again, err := o.PublicKeys(t.Context())
	for end := 0; err != nil && end < 3000; end++ { // it looks at the file once a second at most
		_ = seats.Sleep(t.Context(), reloadStep)
		again, err = o.PublicKeys(t.Context())
	}
	if err != nil || !bytes.Equal(again[0].Key, keys[0].Key) {
		t.Errorf("a running node after the rotation: %v", err)
	}
}

func TestBackup_EncryptedIsRestoredWithItsKeyOnly(t *testing.T) {
	t.Parallel()
	folder, db := privateServer(t)
	owner, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	identity := filepath.Join(t.TempDir(), "identity")
	if err := os.WriteFile(identity, []byte(owner.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "house.age")
	seen := watchModes(t, filepath.Dir(file))
	out, err := try(t, "backup", file, "--data", folder, "--recipient", owner.Recipient().String())
	if err != nil || !strings.Contains(out, "It is encrypted") {
		t.Fatal(out, err)
	}
	if modes := seen(); len(modes) > 1 || len(modes) == 1 && !modes["-rw-------"] {
		t.Errorf("while it was written it was %v", modes)
	}
	text, err := os.ReadFile(file)
	if err != nil || !bytes.HasPrefix(text, []byte("age-encryption.org/v1")) || bytes.Contains(text, []byte("PGDMP")) {
		t.Errorf("the file begins with %.30q, %v", text, err)
	}
	if _, err := db.Exec(t.Context(), `CREATE DATABASE copied`); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"DATABASE_URL": strings.Replace(db.Config().ConnString(), "dbname=usher", "dbname=copied", 1)}
	if _, err := tryWith(t, env, "restore", file); !misused(err) || !strings.Contains(err.Error(), "--identity") {
		t.Errorf("without its key: %v", err)
	}
	if err := os.WriteFile(file+".cut", text[:len(text)-100], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := tryWith(t, env, "restore", file+".cut", "--identity", identity); err == nil {
		t.Error("a backup that was cut off is restored")
	}
	if out, err := tryWith(t, env, "restore", file, "--identity", identity); err != nil || !strings.Contains(out, "every promise holds there") {
		t.Errorf("%v\n%s", err, out)
	}
}

// watchModes looks at the modes of all files in a folder, again and again, until the returned function is called.
func watchModes(t *testing.T, dir string) (end func() map[string]bool) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	modes, done := map[string]bool{}, make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			entries, _ := os.ReadDir(dir) // it is there
			for _, e := range entries {
				if info, err := e.Info(); err == nil {
					modes[info.Mode().String()] = true
				}
			}
			_ = seats.Sleep(ctx, reloadStep)
		}
	}()
	return func() map[string]bool { stop(); <-done; return modes }
}

const reloadStep = 1e6 // a millisecond

func TestWelcome_SaysTheSetUpLinkOnATerminalOnly(t *testing.T) {
	t.Parallel()
	pool := seatstest.DB(t)
	var journal strings.Builder
	if err := welcomeOwner(t.Context(), &journal, pool, "http://x"); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(journal.String(), "/desk/setup/") || !strings.Contains(journal.String(), "usher organizer link") {
		t.Errorf("a journal keeps %q", journal.String())
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if isTerminal(file) || isTerminal(&journal) {
		t.Error("a file is called a terminal")
	}
}

func TestServe_WarnsWithoutHTTPS(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		url   string
		ip    net.IP
		warns bool
	}{
		{"", net.IPv4zero, true},
		{"http://tickets.example.org", net.IPv4(192, 0, 2, 1), true},
		{"https://tickets.example.org", net.IPv4zero, false},
		{"", net.IPv4(127, 0, 0, 1), false},
	} {
		var log bytes.Buffer
		warnOfPlainHTTP(&Config{URL: test.url}, &net.TCPAddr{IP: test.ip, Port: 8080}, slog.New(slog.NewTextHandler(&log, nil)))
		if warned := strings.Contains(log.String(), "plain http"); warned != test.warns {
			t.Errorf("%q on %s: %s", test.url, test.ip, log.String())
		}
	}
}
