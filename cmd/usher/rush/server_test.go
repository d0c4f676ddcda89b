package rush

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestSweep_RemovesFoldersOfKilledProgramsOnly(t *testing.T) {
	t.Parallel()
	in, elsewhere := t.TempDir(), t.TempDir()
	folder := func(name string, age time.Duration) string {
		t.Helper()
		dir := filepath.Join(in, name)
		if err := os.MkdirAll(filepath.Join(dir, "data"), 0o755); err != nil {
			t.Fatal(err)
		}
		owner, err := os.Create(filepath.Join(dir, "data", "owner"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = owner.Close() })
		if name == folders+"runs" {
			if err := syscall.Flock(int(owner.Fd()), syscall.LOCK_EX); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(elsewhere, filepath.Join(dir, "data", "postgres")); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(dir, then, then); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	stays := []string{folder(folders+"runs", time.Hour), folder(folders+"begins", time.Second), folder("other", time.Hour)}
	if os.Geteuid() == 0 { // only root may give a folder to another user
		foreign := folder(folders+"foreign", time.Hour)
		if err := os.Chown(foreign, 1, -1); err != nil {
			t.Fatal(err)
		}
		stays = append(stays, foreign)
	}
	sweep(in)
	if _, err := os.Stat(elsewhere); err != nil {
		t.Error("the data of a running server were removed")
	}
	killed := folder(folders+"killed", time.Hour)
	sweep(in)
	for _, dir := range stays {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("%s was removed", filepath.Base(dir))
		}
	}
	for _, dir := range []string{killed, elsewhere} {
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", dir, err)
		}
	}
}
