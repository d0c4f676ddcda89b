package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// tlsFront is a PostgreSQL that is reached over TCP, with TLS for clients that ask for it. Its address, 0.0.0.0, leads to this
// machine and is no loopback address.
type tlsFront struct {
	port          int
	root          string // file with its certificate
	plain, sealed atomic.Int32
}

// frontOf listens in front of a PostgreSQL that is reached by a socket.
func frontOf(t *testing.T, socket string) *tlsFront {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	self := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4zero}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, self, self, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	f := &tlsFront{root: filepath.Join(t.TempDir(), "root.pem")}
	if err := os.WriteFile(f.root, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	f.port = l.Addr().(*net.TCPAddr).Port
	config := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go f.serve(c, socket, config)
		}
	}()
	return f
}

func (f *tlsFront) serve(c net.Conn, socket string, config *tls.Config) {
	defer func() { _ = c.Close() }()
	asked := make([]byte, 8) // every exchange begins with one
	if _, err := io.ReadFull(c, asked); err != nil {
		return
	}
	var front net.Conn = c
	if bytes.Equal(asked, []byte{0, 0, 0, 8, 4, 210, 22, 47}) { // SSLRequest
		if _, err := c.Write([]byte("S")); err != nil {
			return
		}
		front, asked = tls.Server(c, config), nil
		f.sealed.Add(1)
	} else {
		f.plain.Add(1)
	}
	back, err := net.Dial("unix", socket)
	if err != nil {
		return
	}
	defer func() { _ = back.Close() }()
	if _, err := back.Write(asked); err != nil {
		return
	}
	go func() { _, _ = io.Copy(back, front); _ = back.Close() }()
	_, _ = io.Copy(front, back)
}

func TestDatabase_OnAnotherMachineIsSpokenToInTLS(t *testing.T) {
	t.Parallel()
	_, db := privateServer(t)
	front := frontOf(t, filepath.Join(db.Config().ConnConfig.Host, ".s.PGSQL.5432"))
	at := func(options string) string {
		return fmt.Sprintf("postgres://postgres@0.0.0.0:%d/usher?%s", front.port, options)
	}
	for _, mode := range []string{"", "sslmode=disable", "sslmode=allow", "sslmode=prefer"} {
		_, err := tryWith(t, map[string]string{"DATABASE_URL": at(mode)}, "event", "list")
		if !misused(err) || !strings.Contains(err.Error(), "USHER_DATABASE_PLAINTEXT") {
			t.Errorf("with %q: %v", mode, err)
		}
	}
	if n := front.plain.Load() + front.sealed.Load(); n != 0 {
		t.Errorf("%d connections were made by those that were refused", n)
	}
	strict := map[string]string{"DATABASE_URL": at("sslmode=verify-full&sslrootcert=" + front.root)}
	if out, err := tryWith(t, strict, "event", "list"); err != nil || !strings.Contains(out, "evening") {
		t.Errorf("with TLS: %v\n%s", err, out)
	}
	if front.plain.Load() != 0 || front.sealed.Load() == 0 {
		t.Errorf("with TLS %d connections were without it, and %d in it", front.plain.Load(), front.sealed.Load())
	}
	if _, err := tryWith(t, map[string]string{"DATABASE_URL": at("sslmode=verify-full")}, "event", "list"); err == nil {
		t.Error("a certificate of an unknown authority is accepted")
	}
	plain := map[string]string{"DATABASE_URL": at("sslmode=disable"), "USHER_DATABASE_PLAINTEXT": "true"}
	if out, err := tryWith(t, plain, "event", "list"); err != nil || !strings.Contains(out, "evening") || front.plain.Load() == 0 {
		t.Errorf("where it is allowed: %v\n%s", err, out)
	}
}
