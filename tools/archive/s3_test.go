package archive_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// store is an S3 with one bucket, by TLS, and returns the file with its certificate.
func store(t *testing.T, dir string) (objects *s3mem.Backend, endpoint, ca string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	ca = filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644); err != nil {
		t.Fatal(err)
	}
	objects = s3mem.New()
	if err := objects.CreateBucket("box"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(gofakes3.New(objects).Server())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	server.StartTLS()
	t.Cleanup(server.Close)
	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	return objects, "localhost:" + port, ca
}

// output is what a program printed so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) has(words string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Contains(o.text.String(), words)
}

const (
	writtenSQL  = `SELECT pg_walfile_name(pg_logical_emit_message(false, 'usher', 'all before this'))`
	archivedSQL = `SELECT coalesce(last_archived_wal >= $1, false) FROM pg_stat_archiver`
)

// reaches waits until the archive has everything that was committed, and returns how long that took.
func reaches(t *testing.T, socket string) time.Duration {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), "host="+socket+" user=postgres dbname=postgres")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	began, segment := time.Now(), ""
	if err := conn.QueryRow(t.Context(), writtenSQL).Scan(&segment); err != nil {
		t.Fatal(err)
	}
	for archived := false; !archived; time.Sleep(5 * time.Millisecond) {
		if err := conn.QueryRow(t.Context(), archivedSQL, segment).Scan(&archived); err != nil {
			t.Fatal(err)
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("%s is not in the archive after a minute", segment)
		}
	}
	return time.Since(began).Round(time.Millisecond)
}

// lose takes the data away while the program and its PostgreSQL run, and kills both.
func lose(t *testing.T, data string, serve *exec.Cmd) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(data, "postgres", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(line)
	if err == nil {
		err = os.Rename(data, data+"-lost")
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = serve.Process.Kill()
	_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended with the program
}

func TestArchive_InS3ComesBackAsOfASecondAndIsEncrypted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for up := dir; up != os.TempDir() && up != "/"; up = filepath.Dir(up) { // PostgreSQL may run as another user
		_ = os.Chmod(up, 0o755)
	}
	usher := filepath.Join(dir, "usher")
	build := exec.Command("go", "build", "-o", usher, "./cmd/usher")
	build.Dir, build.Env = "../..", append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	objects, endpoint, ca := store(t, dir)
	env := append(
		os.Environ(), "USHER_ARCHIVE=s3://box/house", "PGBACKREST_REPO1_S3_ENDPOINT="+endpoint, "PGBACKREST_REPO1_S3_REGION=here", "PGBACKREST_REPO1_S3_URI_STYLE=path",
		"PGBACKREST_REPO1_STORAGE_CA_FILE="+ca, "PGBACKREST_REPO1_S3_KEY=key", "PGBACKREST_REPO1_S3_KEY_SECRET=secret",
		"PGBACKREST_REPO1_CIPHER_TYPE=aes-256-cbc", "PGBACKREST_REPO1_CIPHER_PASS=a long passphrase",
	)
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(usher, args...)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	data := filepath.Join(dir, "data")
	serve := exec.Command(usher, "serve", "--addr", "127.0.0.1:0", "--data", data, "--demo=false")
	var said output
	serve.Env, serve.Stdout, serve.Stderr = env, &said, &said
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = serve.Wait(); close(ended) }()
	t.Cleanup(func() { _ = serve.Process.Kill(); <-ended })
	for deadline := time.Now().Add(time.Minute); !said.has("a backup was written into the archive"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no backup within a minute:\n%s", said.text.String())
		}
	}
	run("event", "create", "--plan", "conference", "--name", "Evening", "--data", data)
	first := time.Now()
	time.Sleep(time.Second) // what follows is another second
	run("event", "create", "--plan", "conference", "--name", "Matinee", "--data", data)
	t.Logf("S3 had an event after %s", reaches(t, filepath.Join(data, "postgres")))
	lose(t, data, serve)
	<-ended

	for _, c := range []struct {
		to   string
		want []string
		lost string
	}{
		{"latest", []string{"Evening", "Matinee"}, ""},
		{first.Format(time.RFC3339Nano), []string{"Evening"}, "Matinee"},
	} {
		back, began := filepath.Join(dir, "back "+c.to), time.Now()
		if out := run("restore", "--to", c.to, "--data", back); !strings.Contains(out, "every promise holds there") {
			t.Error(out)
		}
		t.Logf("restored to %s in %s", c.to, time.Since(began).Round(10*time.Millisecond))
		out := run("event", "list", "--data", back)
		for _, name := range c.want {
			if !strings.Contains(out, name) {
				t.Errorf("of %s, %q did not come back:\n%s", c.to, name, out)
			}
		}
		if c.lost != "" && strings.Contains(out, c.lost) {
			t.Errorf("of %s, %q came back, which was made later:\n%s", c.to, c.lost, out)
		}
	}
	all, err := objects.ListBucket("box", nil, gofakes3.ListBucketPage{})
	if err != nil || len(all.Contents) < 10 {
		t.Fatalf("%d objects: %v", len(all.Contents), err)
	}
	for _, one := range all.Contents {
		object, err := objects.GetObject("box", one.Key, nil)
		if err != nil {
			t.Fatal(err)
		}
		start := make([]byte, len("Salted__"))
		if _, err := io.ReadFull(object.Contents, start); err != nil || string(start) != "Salted__" {
			t.Errorf("%s is not encrypted: %q %v", one.Key, start, err)
		}
	}
}
