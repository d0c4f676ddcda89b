package postgres

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnyPathWillDo(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"my data", "it's", "a,b", strings.Repeat("long", 30)} {
		t.Run(name[:3], func(t *testing.T) {
			t.Parallel()
			p, err := Start(t.Context(), place(t, name), silent(), "fsync=off", "shared_buffers=16MB")
			if err != nil {
				t.Fatal(err)
			}
			stopped(t, p)
			if _, err := os.Stat(p.socket); p.socket != p.dir && err == nil {
				t.Errorf("%s was left behind", p.socket)
			}
		})
	}
}

func TestAClosedFolderDoesNotKeepTheServerOut(t *testing.T) {
	t.Parallel()
	dir := place(t, "home")
	if err := os.Mkdir(dir, 0o700); err != nil { // as root's home is
		t.Fatal(err)
	}
	for range 2 { // the second start finds the data of the first
		p, err := Start(t.Context(), filepath.Join(dir, "usher"), silent(), "fsync=off", "shared_buffers=16MB")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(p.dir) })
		stopped(t, p)
		if err := os.Chmod(dir, 0o755); err != nil { // a folder that is opened later changes nothing
			t.Fatal(err)
		}
	}
	data := filepath.Join(dir, "usher", "postgres")
	if resolved, err := filepath.EvalSymlinks(data); err != nil {
		t.Error(err)
	} else if _, err := os.Stat(filepath.Join(resolved, "PG_VERSION")); err != nil {
		t.Error(err)
	}
}

func TestFolder_OfAnotherUserIsRefused(t *testing.T) {
	t.Parallel()
	who := &user{uid: uint32(os.Getuid()), gid: uint32(os.Getgid())}
	dir := place(t, "trap")
	if err := os.Symlink("/etc", dir); err != nil {
		t.Fatal(err)
	}
	if err := who.makeFolder(dir); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
		t.Errorf("a link to /etc: %v", err)
	}
	mine := place(t, "mine")
	if err := who.makeFolder(mine); err != nil {
		t.Fatal(err)
	}
	stranger := &user{uid: who.uid + 4711, gid: who.gid}
	if err := stranger.makeFolder(mine); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
		t.Errorf("a folder of another user: %v", err)
	}
}

func TestTheFolderThatKeepsTheServerOutIsNamed(t *testing.T) {
	t.Parallel()
	dir := place(t, "closed")
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "data"), 0o755), os.Chmod(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	stranger := &user{other: true, uid: 4711, gid: 4711}
	err := stranger.reach(filepath.Join(dir, "data"))
	if err == nil || !strings.Contains(err.Error(), "may not enter "+dir+" ") {
		t.Errorf("got %v", err)
	}
}

func TestDataThatIsNotOursIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := place(t, "data")
	if err := os.MkdirAll(filepath.Join(dir, "postgres"), 0o755); err != nil {
		t.Fatal(err)
	}
	letter := filepath.Join(dir, "postgres", "letter.txt")
	if err := os.WriteFile(letter, []byte("dear"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), dir, silent()); err == nil || !strings.Contains(err.Error(), "no PostgreSQL data") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(letter); err != nil {
		t.Error(err)
	}
}
