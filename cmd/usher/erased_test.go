package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	seatsdb "github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/privacy"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestRestore_ErasesAgainWhoWasErasedSinceTheBackup(t *testing.T) {
	t.Parallel()
	folder, db := privateServer(t)
	if out, err := try(t, "secrets", "key", "--rotate", "--data", folder); err != nil {
		t.Fatal(out, err)
	}
	box, err := seal.Open(filepath.Join(folder, "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	sale, err := seats.NewInventory(db, newLog(&strings.Builder{}, "text")).Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	var emails []string
	for range 3 {
		who := seats.NewID()
		if _, err := sale.Claim(t.Context(), who, "", seats.ClaimRequest{Best: 2, Category: "A"}); err != nil {
			t.Fatal(err)
		}
		if _, err := seatstest.Order(t.Context(), db, sale, who); err != nil {
			t.Fatal(err)
		}
		emails = append(emails, "ann-"+who.String()+"@example.org")
	}
	exec := func(sql string) {
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec(`UPDATE event SET starts_at = clock_timestamp() - interval '3 days'`)
	erases := func(email string) {
		if done, err := privacyOf(db, box).Erase(t.Context(), organizers.Member{Team: sale.Event.Team, Name: "Ann"}, email); err != nil || done.Orders != 1 {
			t.Fatal(done, err)
		}
	}
	erases(emails[0])
	dir := t.TempDir()
	file, list, foreign := filepath.Join(dir, "house.dump"), filepath.Join(dir, "erased.json"), filepath.Join(dir, "foreign.json")
	run := func(args ...string) string {
		out, err := try(t, append(args, "--data", folder)...)
		if err != nil {
			t.Fatal(out, err)
		}
		return out
	}
	run("backup", file)
	erases(emails[1])
	if out := run("backup", list, "--erased"); !strings.Contains(out, "2 erasures") {
		t.Error(out)
	}
	text, err := os.ReadFile(list)
	if err != nil || strings.Contains(string(text), "example.org") {
		t.Errorf("the list has an address: %s %v", text, err)
	}
	into := func(name string, args ...string) (out, dsn string, err error) {
		exec(`CREATE DATABASE ` + name)
		dsn = strings.Replace(db.Config().ConnString(), "dbname=usher", "dbname="+name, 1)
		out, err = tryWith(t, map[string]string{"DATABASE_URL": dsn, "USHER_SECRET_KEY_FILE": filepath.Join(folder, "secret.key")}, append([]string{"restore", file}, args...)...)
		return out, dsn, err
	}
	left := func(dsn string) (found []string) {
		conn, err := seatsdb.Connect(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.QueryRow(t.Context(), `SELECT array_agg(email ORDER BY created_at) FROM orders`).Scan(&found); err != nil {
			t.Fatal(err)
		}
		return found
	}
	out, dsn, err := into("again", "--erased", list)
	if got := left(dsn); err != nil || !strings.Contains(out, "1 person erased again, by a list of 2 erasures.") || strings.Join(got, " ") != "  "+emails[2] {
		t.Errorf("restored with the list: %v %q\n%s", err, got, out)
	}
	if out, dsn, err = into("without"); err != nil || left(dsn)[1] != emails[1] {
		t.Errorf("restored without the list: %v %s", err, out)
	}
	var past privacy.Past
	if err := json.Unmarshal(text, &past); err != nil {
		t.Fatal(err)
	}
	past.Key = []byte("the key of another house")
	text, _ = json.Marshal(past)
	if err := os.WriteFile(foreign, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err = into("other", "--erased", foreign); !errors.Is(err, privacy.ErrOtherDatabase) {
		t.Errorf("restored with a list of another database: %v", err)
	}
}
