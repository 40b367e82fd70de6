package servers

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

const postgresqlPrograms = "/usr/lib/postgresql/15/bin"

// postgresql lets the user postgres in without a password, postgresqlTLS over
// TLS alone. Both keep what a default installation does for durability.
var (
	postgresql = Recipe{
		Name: "postgresql", Packages: []string{"postgresql-15"}, Port: 5432,
		Command: func(dir string, port int) (*exec.Cmd, error) { return postgresqlCommand(dir, port) },
		Ready:   postgresqlReady,
		// SIGTERM would wait for the clients.
		Stop: syscall.SIGINT,
		Hint: func(string) string { return "its user is postgres, its database postgres" },
	}
	postgresqlTLS = Recipe{
		Name: "postgresql-tls", Packages: postgresql.Packages, Port: 5433,
		Command: func(dir string, port int) (*exec.Cmd, error) {
			if err := writeCertificates(dir); err != nil {
				return nil, err
			}
			access := filepath.Join(dir, "pg_hba.conf")
			if err := os.WriteFile(access, []byte("hostssl all all 127.0.0.1/32 trust\n"), 0o600); err != nil {
				return nil, err
			}
			return postgresqlCommand(dir, port, "-c", "ssl=on", "-c", "hba_file="+access,
				"-c", "ssl_cert_file="+filepath.Join(dir, certificateFile),
				"-c", "ssl_key_file="+filepath.Join(dir, keyFile))
		},
		Ready: postgresqlReady,
		Stop:  syscall.SIGINT,
		Hint:  trust,
	}
)

// postgresqlCommand makes the database cluster if there is none yet. The server
// refuses to run as root.
func postgresqlCommand(dir string, port int, more ...string) (*exec.Cmd, error) {
	data := filepath.Join(dir, "data")
	if _, err := os.Stat(data); errors.Is(err, os.ErrNotExist) {
		initdb := exec.Command(filepath.Join(postgresqlPrograms, "initdb"),
			"-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale", "C.UTF-8", "--no-sync")
		if err := own(initdb, "postgres", dir); err != nil {
			return nil, err
		}
		if out, err := initdb.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("initdb: %w: %s", err, lastLine(out))
		}
	}
	arguments := []string{"-D", data, "-p", strconv.Itoa(port), "-k", dir,
		"-c", "listen_addresses=127.0.0.1", "-c", "max_connections=300"}
	cmd := exec.Command(filepath.Join(postgresqlPrograms, "postgres"), append(arguments, more...)...)
	return cmd, own(cmd, "postgres", dir)
}

// postgresqlReady asks for a session. While the server starts or recovers it
// refuses with code 57P03; any other answer, also one that refuses the plain
// connection, means that it is up.
func postgresqlReady(ctx context.Context, address string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return err
		}
	} else if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	const body = "user\x00postgres\x00database\x00postgres\x00\x00"
	hello := binary.BigEndian.AppendUint32(nil, uint32(8+len(body)))
	hello = binary.BigEndian.AppendUint32(hello, 3<<16)
	if _, err := conn.Write(append(hello, body...)); err != nil {
		return err
	}
	head := make([]byte, 5)
	if _, err := io.ReadFull(conn, head); err != nil {
		return err
	}
	if head[0] != 'E' {
		return nil
	}
	const most = 1 << 16
	reason, err := io.ReadAll(io.LimitReader(conn, int64(min(binary.BigEndian.Uint32(head[1:]), most))-4))
	if err != nil {
		return err
	}
	if bytes.Contains(reason, []byte("C57P03\x00")) {
		return errors.New("it is starting")
	}
	return nil
}
