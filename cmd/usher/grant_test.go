package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	seatsdb "github.com/usherbox/usher/seats/database"
)

func TestServe_SellsAndCancelsUnderARoleThatOwnsNothing(t *testing.T) {
	t.Parallel()
	_, owner := privateServer(t)
	exec := func(sql string) {
		t.Helper()
		if _, err := owner.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	asOwner := map[string]string{"DATABASE_URL": owner.Config().ConnString()}
	if _, err := tryWith(t, asOwner, "migrate", "--grant-to", "box"); err == nil || !strings.Contains(err.Error(), "CREATE ROLE box LOGIN") {
		t.Errorf("to a role that there is not: %v", err)
	}
	if _, err := tryWith(t, asOwner, "migrate", "--grant-to", owner.Config().ConnConfig.User); err == nil || !strings.Contains(err.Error(), "owns the tables") {
		t.Errorf("to the owner: %v", err)
	}
	exec(`CREATE ROLE box LOGIN`)
	dsn := regexp.MustCompile(`user=\w+`).ReplaceAllString(owner.Config().ConnString(), "user=box")
	asBox := map[string]string{"DATABASE_URL": dsn}
	if _, err := tryWith(t, asBox, "event", "list"); err == nil {
		t.Error("a role without rights lists events")
	}
	for range 2 { // once more changes nothing
		if out, err := tryWith(t, asOwner, "migrate", "--grant-to", "box"); err != nil || !strings.Contains(out, "box may run") {
			t.Fatal(out, err)
		}
	}
	if out, err := tryWith(t, asBox, "event", "create", "--plan", "conference", "--name", "Another", "--confirm-email", "never"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	node := runNode(t, &Config{DatabaseSettings: DatabaseSettings{DatabaseURL: dsn}, Log: "text"})
	ann := newBrowser(t, node.url)
	ann.becomesOwner(t, asBox)
	if status, said := ann.send(t, "POST", "/desk/events/evening/limits", `{"key":"k","challenge":"off"}`); status >= 300 {
		t.Errorf("the protection against bots: %d %s", status, said)
	}
	sells(t, newBrowser(t, node.url))
	if out, err := tryWith(t, asBox, "verify"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}

	box, err := seatsdb.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(box.Close)
	for _, sql := range []string{
		`ALTER TABLE event ADD COLUMN more integer`, `DROP TABLE scan`, `CREATE TABLE more (id integer)`, `TRUNCATE deed`, `CREATE ROLE more`, `SET ROLE ` + owner.Config().ConnConfig.User,
		`UPDATE deed SET what = 'x'`, `DELETE FROM deed`, `ALTER TABLE deed DISABLE TRIGGER ALL`, `SET session_replication_role = replica`, `CREATE OR REPLACE FUNCTION deed_stands() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
		`UPDATE credit_transfer SET amount = 1`, `UPDATE change SET version = 1`, `DELETE FROM scan`, `DELETE FROM orders`, `INSERT INTO migration VALUES (999, 'x', 'x')`, `DROP POLICY "what the team may see" ON deed`,
	} {
		_, err := box.Exec(t.Context(), sql)
		if pg, ok := errors.AsType[*pgconn.PgError](err); !ok || pg.Code != "42501" {
			t.Errorf("%s: %v", sql, err)
		}
	}
	var entries int
	if err := box.QueryRow(t.Context(), `SELECT count(*) FROM deed`).Scan(&entries); err != nil || entries < 2 {
		t.Errorf("%d audit entries are kept, %v", entries, err)
	}

	exec(`DELETE FROM migration WHERE number = (SELECT max(number) FROM migration)`)
	if _, err := tryWith(t, asBox, "event", "list"); err == nil || !strings.Contains(err.Error(), `run "usher migrate"`) {
		t.Errorf("on a schema that is older than the program: %v", err)
	}
}

// sells claims a seat, orders it free of charge and cancels it.
func sells(t *testing.T, b *browser) {
	t.Helper()
	status, said := b.send(t, "POST", "/events/another/claims", `{"area":"Places","quantity":2}`)
	var claimed struct {
		Hold struct {
			ID    string
			Seats []string
		}
	}
	if err := json.Unmarshal([]byte(said), &claimed); err != nil || status != http.StatusCreated {
		t.Fatal(status, said, err)
	}
	chosen, _ := json.Marshal(claimed.Hold.Seats) // strings
	status, said = b.send(t, "POST", "/events/another/orders", fmt.Sprintf(`{"hold":%q,"seats":%s,"name":"Eve","email":"eve@example.org","method":"free"}`, claimed.Hold.ID, chosen))
	var placed struct {
		Order struct {
			Code, State string
			Tickets     []struct{ ID string }
		}
	}
	if err := json.Unmarshal([]byte(said), &placed); err != nil || status != http.StatusCreated || len(placed.Order.Tickets) != 2 {
		t.Fatal(status, said, err)
	}
	path := "/orders/" + placed.Order.Code
	status, said = b.send(t, "POST", path+"/cancellations", fmt.Sprintf(`{"key":"k","tickets":[%q,%q]}`, placed.Order.Tickets[0].ID, placed.Order.Tickets[1].ID))
	if err := json.Unmarshal([]byte(said), &placed); err != nil || status != http.StatusCreated || placed.Order.State != "cancelled" {
		t.Error(status, said, err)
	}
}
