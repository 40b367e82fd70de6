package servers

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// redis keeps its data in memory alone. redisTLS takes no plain connections;
// redisCluster is a cluster of one node, which has all the slots.
var (
	redis = Recipe{
		Name: "redis", Packages: []string{"redis-server"}, Port: 6379,
		Command: func(dir string, port int) (*exec.Cmd, error) { return redisCommand(dir, port) },
		Ready: func(ctx context.Context, address string) error {
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
			if err != nil {
				return err
			}
			return redisAnswers(ctx, conn, "+PONG", "PING")
		},
	}
	redisTLS = Recipe{
		Name: "redis-tls", Packages: redis.Packages, Port: 6380,
		Command: func(dir string, port int) (*exec.Cmd, error) {
			if err := writeCertificates(dir); err != nil {
				return nil, err
			}
			return redisCommand(dir, 0, "--tls-port", strconv.Itoa(port), "--tls-auth-clients", "no",
				"--tls-ca-cert-file", filepath.Join(dir, AuthorityFile),
				"--tls-cert-file", filepath.Join(dir, certificateFile),
				"--tls-key-file", filepath.Join(dir, keyFile))
		},
		Ready: func(ctx context.Context, address string) error {
			// Clients verify the certificate; whether the server is up does not
			// depend on it.
			dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
			conn, err := dialer.DialContext(ctx, "tcp", address)
			if err != nil {
				return err
			}
			return redisAnswers(ctx, conn, "+PONG", "PING")
		},
		Hint: trust,
	}
	redisCluster = Recipe{
		Name: "redis-cluster", Packages: redis.Packages, Port: 7000,
		Command: func(dir string, port int) (*exec.Cmd, error) {
			// The bus would be 10000 ports on, which may not be there.
			bus, err := freePort(0)
			if err != nil {
				return nil, err
			}
			return redisCommand(dir, port, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(bus))
		},
		Ready: func(ctx context.Context, address string) error {
			dial := func() (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", address) }
			conn, err := dial()
			if err != nil {
				return err
			}
			// All slots at once; refused where a node has them already.
			redisAnswers(ctx, conn, "+OK", "CLUSTER ADDSLOTSRANGE 0 16383")
			if conn, err = dial(); err != nil {
				return err
			}
			return redisAnswers(ctx, conn, "cluster_state:ok", "CLUSTER INFO")
		},
	}
)

func redisCommand(dir string, port int, more ...string) (*exec.Cmd, error) {
	arguments := []string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", dir,
		"--save", "", "--appendonly", "no", "--daemonize", "no"}
	return exec.Command("redis-server", append(arguments, more...)...), nil
}

// redisAnswers sends one command, looks for the answer in the first lines, and
// closes the connection.
func redisAnswers(ctx context.Context, conn net.Conn, answer, command string) error {
	defer conn.Close()
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(time.Second)
	}
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(conn, "%s\r\n", command); err != nil {
		return err
	}
	lines := bufio.NewReader(conn)
	got := ""
	for range 2 {
		line, err := lines.ReadString('\n')
		if err != nil {
			return err
		}
		if got = strings.TrimSpace(line); got == answer {
			return nil
		}
		if !strings.HasPrefix(got, "$") {
			break
		}
	}
	return fmt.Errorf("%s is answered by %q", command, got)
}
