package migrations

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestAServerThatDoesNotHearYetIsToldToEndAgain(t *testing.T) {
	t.Parallel()
	out, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	server, err := run(exec.Command("sh", "-c", `trap "" INT; sleep 1; trap "exit 0" INT; while :; do sleep 0.1; done`), out)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		server.stop()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		_ = server.cmd.Process.Kill()
		t.Error("it was told once, before it could hear, and never again")
	}
}
