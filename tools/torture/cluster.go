package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/migrations"
	"github.com/usherbox/usher/seats"
)

// Addresses are of a network for documentation, so that they are none of this machine's neighbors. The files of contrib have the same.
const (
	bridge      = "usher-cluster"
	homeAddress = "198.51.100.254" // of the torture and the nodes of usher
	doorAddress = "198.51.100.10"  // of HAProxy and PgBouncer
	password    = "CHANGE-ME"      // of every role, as contrib has it
	members     = 3
)

// cluster is three servers with PostgreSQL, Patroni and etcd, and one with HAProxy and PgBouncer: each is a network namespace of its own.
type cluster struct {
	dir, contrib string
	members      []*host
	door         *host
	asynchronous bool // commits wait for no standby: a planted bug
	client       *http.Client
}

// StartCluster starts one with the files of a folder such as contrib. It needs root, for the namespaces.
func StartCluster(ctx context.Context, contrib string) (_ *Server, err error) {
	if os.Getuid() != 0 {
		return nil, errors.New("torture: network namespaces need root")
	}
	dir, err := os.MkdirTemp("", "usher-cluster-")
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir, contrib: contrib, client: &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}}
	s := &Server{dir: dir, missing: map[string]string{}, cluster: c}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()
	for _, step := range []func(context.Context) error{c.makeNetwork, c.startMembers, c.makeRole, c.startDoor} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// makeNetwork makes the namespaces. Those that an earlier torture left are ended: no other program has these names.
func (c *cluster) makeNetwork(ctx context.Context) error {
	for i := range members {
		c.members = append(c.members, newHost(fmt.Sprint("pg", i+1), fmt.Sprint("198.51.100.", i+1), c.dir))
	}
	c.door = newHost("door", doorAddress, c.dir)
	_ = c.removeNetwork() // mostly there is none
	if err := os.Chmod(c.dir, 0o755); err != nil {
		return err
	}
	err := errors.Join(command(ctx, "ip", "link", "add", bridge, "type", "bridge"), command(ctx, "ip", "addr", "add", homeAddress+"/24", "dev", bridge),
		command(ctx, "ip", "link", "set", bridge, "up"))
	for _, h := range c.hosts() {
		if err == nil {
			err = h.join(ctx)
		}
	}
	return err
}

func (c *cluster) hosts() []*host { return append(slices.Clone(c.members), c.door) }

func (c *cluster) removeNetwork() (err error) {
	for _, h := range c.hosts() {
		err = errors.Join(err, h.leave())
	}
	return errors.Join(err, command(context.Background(), "ip", "link", "del", bridge))
}

func (c *cluster) stop() error { return errors.Join(c.removeNetwork(), os.RemoveAll(c.dir)) }

func (c *cluster) startMembers(ctx context.Context) error {
	for _, h := range c.members {
		if err := errors.Join(c.configure(h), c.startEtcd(h), c.startPatroni(h)); err != nil {
			return err
		}
	}
	return c.becomesHealthy(ctx)
}

// configure writes a member's file of Patroni: that of contrib with its name, address and folders.
func (c *cluster) configure(h *host) error {
	text, err := os.ReadFile(filepath.Join(c.contrib, "patroni.yml"))
	if err != nil {
		return err
	}
	binaries, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(binaries) == 0 {
		return errors.Join(err, errors.New("torture: there is no /usr/lib/postgresql"))
	}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if !strings.Contains(line, "hosts:") {
			lines[i] = strings.NewReplacer("name: pg1", "name: "+h.name, "198.51.100.1:", h.address+":", "/var/lib/postgresql/usher", h.dir+"/data",
				"/var/run/postgresql", h.dir+"\n    log_line_prefix: '"+prefix+"'", "/usr/lib/postgresql/15/bin", binaries[len(binaries)-1]).Replace(line)
		}
	}
	return os.WriteFile(filepath.Join(h.dir, "patroni.yml"), []byte(strings.Join(lines, "\n")), 0o644) // the passwords are no secrets
}

func (c *cluster) startPatroni(h *host) error {
	return h.run("patroni", "/usr/bin/patroni", filepath.Join(h.dir, "patroni.yml"))
}

func (c *cluster) startEtcd(h *host) error {
	var all []string
	for _, m := range c.members {
		all = append(all, fmt.Sprintf("%s=http://%s:2380", m.name, m.address))
	}
	peer, client := "http://"+h.address+":2380", "http://"+h.address+":2379"
	return h.run("etcd", "etcd", "--enable-v2", "--name", h.name, "--data-dir", filepath.Join(h.dir, "etcd"), "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
		"--listen-client-urls", client, "--advertise-client-urls", client, "--initial-cluster", strings.Join(all, ","), "--log-level", "warn")
}

// startDoor starts HAProxy and PgBouncer with the files of contrib, PgBouncer in transaction mode.
func (c *cluster) startDoor(context.Context) error {
	proxy, err := os.ReadFile(filepath.Join(c.contrib, "haproxy.cfg"))
	if err != nil {
		return err
	}
	bouncer, err := os.ReadFile(filepath.Join(c.contrib, "pgbouncer.ini"))
	if err != nil {
		return err
	}
	users := filepath.Join(c.door.dir, "userlist.txt")
	settings := strings.NewReplacer("host=127.0.0.1 port=5432", "host="+doorAddress+" port=5000", "listen_addr = 127.0.0.1", "listen_addr = "+doorAddress,
		"pool_mode = session", "pool_mode = transaction", "/etc/pgbouncer/userlist.txt", users).Replace(string(bouncer))
	return errors.Join(os.WriteFile(filepath.Join(c.door.dir, "haproxy.cfg"), proxy, 0o644), os.WriteFile(filepath.Join(c.door.dir, "pgbouncer.ini"), []byte(settings+"unix_socket_dir =\n"), 0o644),
		os.WriteFile(users, []byte(`"usher" "`+password+"\"\n"), 0o644), c.openDoor()) // the password is no secret
}

func (c *cluster) openDoor() error {
	return errors.Join(c.door.run("haproxy", "/usr/sbin/haproxy", "-db", "-f", filepath.Join(c.door.dir, "haproxy.cfg")),
		c.door.run("pgbouncer", "/usr/sbin/pgbouncer", filepath.Join(c.door.dir, "pgbouncer.ini")))
}

// addressOf is a database on a host, by its port.
func addressOf(role, host string, port int, database string) string {
	return fmt.Sprintf("host=%s port=%d user=%s password=%s dbname=%s sslmode=disable connect_timeout=2", host, port, role, password, database)
}

// What docs/operating.md says for transaction mode: the settings of a session are those of the role.
var roleSQL = []string{
	"CREATE ROLE usher LOGIN PASSWORD '" + password + "'", "CREATE ROLE usher_desk NOLOGIN", "GRANT usher_desk TO usher", "ALTER ROLE usher SET plan_cache_mode = force_generic_plan",
	"ALTER ROLE usher SET enable_hashjoin = off", "ALTER ROLE usher SET enable_mergejoin = off", "ALTER ROLE usher SET enable_seqscan = off",
	"ALTER ROLE usher SET enable_bitmapscan = off", "ALTER ROLE usher SET jit = off",
}

// makeRole makes the role of usher.
func (c *cluster) makeRole(ctx context.Context) error { return c.asOwner(ctx, roleSQL...) }

// asOwner runs statements on the leader, as the owner of all.
func (c *cluster) asOwner(ctx context.Context, statements ...string) error {
	return c.onLeader(ctx, "postgres", "postgres", func(conn *pgx.Conn) error {
		for _, sql := range statements {
			if _, err := conn.Exec(ctx, sql); err != nil {
				return fmt.Errorf("torture: %s: %w", sql, err)
			}
		}
		return nil
	})
}

// newDatabase makes the database of usher anew, and brings it up to date.
func (c *cluster) newDatabase(ctx context.Context) (name string, err error) {
	if err := c.asOwner(ctx, "DROP DATABASE IF EXISTS usher WITH (FORCE)", "CREATE DATABASE usher OWNER usher"); err != nil {
		return "", err
	}
	return "usher", c.onLeader(ctx, "usher", "usher", func(conn *pgx.Conn) error {
		_, err := migrations.Up(ctx, conn)
		return err
	})
}

// onLeader opens a connection to the leader itself.
func (c *cluster) onLeader(ctx context.Context, role, database string, do func(*pgx.Conn) error) error {
	leader, _, err := c.roles(ctx)
	if err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, addressOf(role, leader.address, 5432, database))
	if err != nil {
		return err
	}
	return errors.Join(do(conn), conn.Close(ctx))
}

// memberAnswer is what Patroni says of one member.
type memberAnswer struct {
	Name  string `json:"name"`
	Role  string `json:"role"`
	State string `json:"state"`
	Lag   any    `json:"lag"` // bytes; "unknown" while it does not follow
}

// patroni is what a member that answers says of all.
func (c *cluster) patroni(ctx context.Context) (list []memberAnswer, err error) {
	for _, h := range c.members {
		status, body, e := get(ctx, c.client, "http://"+h.address+":8008/cluster")
		if err = e; err != nil || status != http.StatusOK {
			continue
		}
		var all struct {
			Members []memberAnswer `json:"members"`
		}
		if err = json.Unmarshal(body, &all); err == nil && len(all.Members) > 0 {
			return all.Members, nil
		}
	}
	return nil, errors.Join(err, errors.New("torture: no Patroni answers"))
}

// roles are the leader and the synchronous standby.
func (c *cluster) roles(ctx context.Context) (leader, standby *host, err error) {
	list, err := c.patroni(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range list {
		i := slices.IndexFunc(c.members, func(h *host) bool { return h.name == m.Name })
		switch {
		case i >= 0 && m.Role == "leader" && m.State == "running":
			leader = c.members[i]
		case i >= 0 && m.Role == "sync_standby":
			standby = c.members[i]
		}
	}
	if leader == nil {
		return nil, nil, fmt.Errorf("torture: there is no leader: %v", list)
	}
	return leader, standby, nil
}

// healthyTime is how long a cluster may take until all of it is there. A member may have to copy the data anew.
const healthyTime = 4 * time.Minute

// becomesHealthy waits until there is a leader that two others follow.
func (c *cluster) becomesHealthy(ctx context.Context) error {
	var list []memberAnswer
	var err error
	for deadline := time.Now().Add(healthyTime); time.Now().Before(deadline); {
		if list, err = c.patroni(ctx); err == nil && c.healthy(list) {
			return nil
		}
		if err := seats.Sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	said := ""
	for _, h := range c.members {
		said += fmt.Sprintf("\n%s: %s", h.name, lastOf(filepath.Join(h.dir, "patroni.log")))
	}
	return fmt.Errorf("torture: the cluster is not whole after %s: %v %w%s", healthyTime, list, errors.Join(err), said)
}

func (c *cluster) healthy(list []memberAnswer) bool {
	leaders, follow, standbys := 0, 0, 0
	for _, m := range list {
		lag, known := m.Lag.(float64)
		switch {
		case m.Role == "leader" && m.State == "running":
			leaders++
		case (m.State == "running" || m.State == "streaming") && known && lag < 1<<20:
			if follow++; m.Role == "sync_standby" {
				standbys++
			}
		}
	}
	return leaders == 1 && follow == members-1 && (standbys > 0 || c.asynchronous)
}

// tell asks Patroni on a host for something.
func (c *cluster) tell(ctx context.Context, h *host, method, path string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, method, "http://"+h.address+":8008"+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	if a.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("torture: Patroni on %s: %s %s: %s", h.name, method, path, a.Status)
	}
	return nil
}
