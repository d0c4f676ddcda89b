package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"
)

// fullDisk lets the database keep nothing, as a full disk does, and asks a node whether it is ready.
func fullDisk(f *field) (string, bool) {
	keeps := func(option string) error {
		return f.plain.sql(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I `+option+`', current_database()); END $$`,
			`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	}
	ready := func(want int) (status int) {
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			if status, _ = f.plain.browser("").get("/readyz"); status == want {
				break
			}
		}
		return status
	}
	if err := keeps("SET default_transaction_read_only = on"); err != nil {
		return err.Error(), false
	}
	full := ready(http.StatusServiceUnavailable)
	time.Sleep(3 * time.Second) // it does not come back by itself
	still, _ := f.plain.browser("").get("/readyz")
	if err := keeps("RESET default_transaction_read_only"); err != nil {
		return err.Error(), false
	}
	again := ready(http.StatusOK)
	return fmt.Sprintf("ready: %d, then %d; with room again %d", full, still, again), full == http.StatusServiceUnavailable && still == full && again == http.StatusOK
}

// plainText has a node reach a database and a mail server on another machine that speak no TLS.
func plainText(f *field) (string, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, mode := range []string{"", "?sslmode=prefer", "?sslmode=allow", "?sslmode=disable"} {
		cmd := exec.CommandContext(ctx, f.plain.program, "verify")
		cmd.Env = append(os.Environ(), "DATABASE_URL=postgres://box:secret@db.invalid/usher"+mode)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "does not require TLS") {
			return fmt.Sprintf("PostgreSQL with %q: %.120s", mode, out), false
		}
	}
	address, got, err := plainMail(ctx)
	if err != nil {
		return err.Error(), false
	}
	n, err := start(ctx, f.plain.program, []string{"USHER_SMTP=smtp://box:secret@" + address, "USHER_MAIL_FROM=box@example.org"})
	if err != nil {
		return err.Error(), false
	}
	defer func() { _ = n.end() }()
	if status, said := n.browser("").post("/account/links", `{"email":"ann@example.org"}`); status != http.StatusAccepted {
		return fmt.Sprintf("no mail: %d %.80s", status, said), false
	}
	for end := time.Now().Add(30 * time.Second); got.calls.Load() == 0 && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(time.Second)
	return fmt.Sprintf("PostgreSQL refused 4 of 4; the mail server at %s was called %d times and got %d mails or passwords", address, got.calls.Load(), got.mails.Load()), got.calls.Load() > 0 && got.mails.Load() == 0
}

// plainly is what a mail server without TLS was told.
type plainly struct{ calls, mails atomic.Int64 }

// plainMail is a mail server without TLS at an address of this machine that a program takes for another one.
func plainMail(ctx context.Context) (address string, got *plainly, err error) {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return "", nil, err
	}
	for _, a := range list {
		ip, is := a.(*net.IPNet)
		if !is || ip.IP.IsLoopback() || ip.IP.To4() == nil {
			continue
		}
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(ip.IP.String(), "0"))
		if err != nil {
			return "", nil, err
		}
		context.AfterFunc(ctx, func() { _ = l.Close() })
		got = &plainly{}
		go func() {
			for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
				go got.serve(conn)
			}
		}()
		return l.Addr().String(), got, nil
	}
	return "", nil, fmt.Errorf("this machine has no address but its own: no mail server can be elsewhere")
}

// serve speaks as much SMTP as it takes to get a mail.
func (g *plainly) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	g.calls.Add(1)
	fmt.Fprint(conn, "220 plain.example ESMTP\r\n")
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		switch word, _, _ := strings.Cut(strings.ToUpper(lines.Text()), " "); word {
		case "EHLO":
			fmt.Fprint(conn, "250-plain.example\r\n250 AUTH PLAIN LOGIN\r\n")
		case "AUTH", "MAIL":
			g.mails.Add(1)
			fmt.Fprint(conn, "554 no\r\n")
		case "QUIT":
			fmt.Fprint(conn, "221 bye\r\n")
			return
		default:
			fmt.Fprint(conn, "250 ok\r\n")
		}
	}
}
