package seatstest_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/seatstest"
)

func TestFolder_OfAKilledProcessIsRemovedByTheNext(t *testing.T) {
	if os.Getenv("USHER_TEST_FOLDER") != "" { // the process that is killed
		dir, err := seatstest.Folder()
		fmt.Println("folder", dir, err)
		select {}
	}
	t.Setenv("TMPDIR", t.TempDir())
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "USHER_TEST_FOLDER=1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	words := strings.Fields(line)
	if err != nil || len(words) != 3 || words[2] != "<nil>" {
		t.Fatalf("the process says %q, %v", line, err)
	}
	for _, killed := range []bool{false, true} {
		if killed {
			_, _ = cmd.Process.Kill(), cmd.Wait()
		}
		mine, err := seatstest.Folder()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(mine); err != nil {
			t.Errorf("my own folder: %v", err)
		}
		if _, err := os.Stat(words[1]); errors.Is(err, fs.ErrNotExist) != killed {
			t.Errorf("after its process was killed (%t) the folder is found with %v", killed, err)
		}
	}
}

func TestFurnish_MakesTheSchemaOnceADay(t *testing.T) {
	tmp, err := seatstest.Folder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	t.Setenv("TMPDIR", tmp)
	furnished := func(name string) string {
		t.Helper()
		dir := filepath.Join(tmp, name)
		if err := errors.Join(os.Mkdir(dir, 0o755), seatstest.Furnish(dir)); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, "postgres")
	}
	first := furnished("first")
	made, err := filepath.Glob(filepath.Join(tmp, "usher-schema-*", "postgres"))
	if err != nil || len(made) != 1 {
		t.Fatalf("made was %q, %v", made, err)
	}
	if err := os.WriteFile(filepath.Join(made[0], "mark"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{first + "/PG_VERSION": true, first + "/mark": false, furnished("second") + "/mark": true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %t", path, err, want)
		}
	}
	for _, age := range []time.Duration{23 * time.Hour, 25 * time.Hour} {
		then := time.Now().Add(-age)
		if err := os.Chtimes(filepath.Dir(made[0]), then, then); err != nil {
			t.Fatal(err)
		}
		if _, err := seatstest.Folder(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(made[0]); (err == nil) != (age < 24*time.Hour) {
			t.Errorf("after %v without use, what was made is found with %v", age, err)
		}
	}
}
