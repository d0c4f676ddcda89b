package seatstest_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"

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
