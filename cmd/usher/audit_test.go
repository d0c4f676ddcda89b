package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestAudit_OfAnOpenBoxOfficeFollowsItAndFindsAnAlteredRow(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	theatre, _ := plan.Named("theatre")
	if _, err := events.Create(t.Context(), db, events.Settings{Name: "Evening", StartsAt: time.Unix(2e9, 0)}, theatre); err != nil {
		t.Fatal(err)
	}
	node := runNode(t, &Config{DatabaseSettings: DatabaseSettings{DatabaseURL: db.Config().ConnString()}, Log: "text"})
	log := node.url + "/events/evening/log"
	audited := func(says string, more ...string) (out string) {
		t.Helper()
		eventually(t, "the audit says "+says, func() bool {
			var code int
			code, out = status(t, append([]string{"audit", log}, more...)...)
			return code == 0 && strings.Contains(out, says)
		})
		return out
	}
	newBuyer(t, node).send("POST", "/events/evening/claims", asJSON, `{"best":2}`)
	kept := audited("986 free, 2 held, 0 sold")
	file := filepath.Join(t.TempDir(), "before")
	if err := os.WriteFile(file, []byte(kept), 0o600); err != nil {
		t.Fatal(err)
	}
	newBuyer(t, node).send("POST", "/events/evening/claims", asJSON, `{"best":3}`)
	if out := audited("983 free, 5 held, 0 sold", "--since", file); !strings.Contains(out, "Continues  the log of 2 leaves") || !strings.Contains(out, "Shown      compared at version 2") {
		t.Errorf("the audit says %s", out)
	}
	if _, err := db.Exec(t.Context(), `UPDATE change SET holder[1] = gen_random_uuid() WHERE version = 1`); err != nil {
		t.Fatal(err)
	}
	if code, out := status(t, "audit", log); code != 1 || !strings.Contains(out, "WRONG") {
		t.Errorf("of an altered row the audit says %d %s", code, out)
	}
	if code, _ := status(t, "audit", node.url+"/events/none/log"); code != 2 {
		t.Errorf("without a log the exit status is %d", code)
	}
}
