package servers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// mariadb lets root in without a password and has an empty database ycsb;
// mariadbTLS offers TLS as well. Both keep what a default installation does for
// durability.
var (
	mariadb = Recipe{
		Name: "mariadb", Serves: []string{"mysql"}, Packages: []string{"mariadb-server"}, Port: 3306,
		Command: func(dir string, port int) (*exec.Cmd, error) { return mariadbCommand(dir, port) },
		Ready:   mariadbReady,
		Hint:    func(string) string { return "its user is root, its database ycsb" },
	}
	mariadbTLS = Recipe{
		Name: "mariadb-tls", Packages: mariadb.Packages, Port: 3307,
		Command: func(dir string, port int) (*exec.Cmd, error) {
			if err := writeCertificates(dir); err != nil {
				return nil, err
			}
			return mariadbCommand(dir, port, "--require-secure-transport",
				"--ssl-ca="+filepath.Join(dir, AuthorityFile),
				"--ssl-cert="+filepath.Join(dir, certificateFile),
				"--ssl-key="+filepath.Join(dir, keyFile))
		},
		Ready: mariadbReady,
		Hint:  trust,
	}
)

// mariadbCommand makes the data directory if there is none yet.
func mariadbCommand(dir string, port int, more ...string) (*exec.Cmd, error) {
	data, start := filepath.Join(dir, "data"), filepath.Join(dir, "start.sql")
	if _, err := os.Stat(data); errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(start, []byte("CREATE DATABASE IF NOT EXISTS ycsb;\n"), 0o600); err != nil {
			return nil, err
		}
		initdb := exec.Command("mariadb-install-db", "--no-defaults", "--datadir="+data,
			"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")
		if err := own(initdb, "mysql", dir); err != nil {
			return nil, err
		}
		if out, err := initdb.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("mariadb-install-db: %w: %s", err, lastLine(out))
		}
	}
	arguments := []string{"--no-defaults", "--datadir=" + data, "--port=" + strconv.Itoa(port),
		"--socket=" + filepath.Join(dir, "socket"), "--pid-file=" + filepath.Join(dir, "pid"),
		"--bind-address=127.0.0.1", "--skip-name-resolve", "--max-connections=300", "--init-file=" + start}
	cmd := exec.Command("mariadbd", append(arguments, more...)...)
	return cmd, own(cmd, "mysql", dir)
}

// mariadbReady waits for the greeting of the server: protocol version 10.
func mariadbReady(ctx context.Context, address string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	head := make([]byte, 5)
	if _, err := io.ReadFull(conn, head); err != nil {
		return err
	}
	if head[4] != 10 {
		return fmt.Errorf("no greeting of protocol 10 but % x", head)
	}
	return nil
}
