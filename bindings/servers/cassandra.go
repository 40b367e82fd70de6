package servers

import (
	"context"
	"crypto/tls"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// cassandraVersion is that of cassandra/pom.xml.
const cassandraVersion = "5.0.8"

var (
	//go:embed cassandra/pom.xml
	cassandraPOM []byte
	//go:embed cassandra/cassandra.yaml
	cassandraSettings string
	//go:embed cassandra/logback.xml
	cassandraLogging []byte
)

// cassandra lets everybody in. cassandraTLS takes no plain connections and asks
// for the default role's password.
var (
	cassandra = Recipe{
		Name: "cassandra", Packages: []string{"openjdk-17-jre-headless", "maven"}, Port: 9042,
		Prepare: prepareCassandra,
		Command: func(dir string, port int) (*exec.Cmd, error) { return cassandraCommand(dir, port, "") },
		Ready: func(ctx context.Context, address string) error {
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
			if err != nil {
				return err
			}
			return cassandraAnswers(ctx, conn)
		},
	}
	cassandraTLS = Recipe{
		Name: "cassandra-tls", Packages: cassandra.Packages, Port: 9142,
		Prepare: prepareCassandra,
		Command: cassandraTLSCommand,
		Ready: func(ctx context.Context, address string) error {
			// Clients verify the certificate; whether the server is up does not
			// depend on it.
			dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
			conn, err := dialer.DialContext(ctx, "tcp", address)
			if err != nil {
				return err
			}
			return cassandraAnswers(ctx, conn)
		},
		Hint: func(dir string) string { return "its user and password are cassandra; " + trust(dir) },
	}
)

func cassandraJars(cache string) string {
	return filepath.Join(cache, "cassandra-"+cassandraVersion)
}

func prepareCassandra(cache string) error {
	return fetchJars(cache, "cassandra", cassandraJars(cache), cassandraPOM, fmt.Sprintf("100 jars of version %s", cassandraVersion))
}

// cassandraOptions are for a small node that starts fast. What they do was
// found by leaving each out.
var cassandraOptions = []string{
	// The process takes 0.5 GB, to 1 GB under load.
	"-Xms128m", "-Xmx1g",
	// The fast compiler only: most of the start is compiling.
	"-XX:TieredStopAtLevel=1",
	// Nothing is written outside the directory of the node.
	"-XX:-UsePerfData",
	// Direct buffers and file descriptors are handled through internals of the
	// JDK. Without any of these it dies at once.
	"--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
	"--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
	"--add-opens=java.base/java.io=ALL-UNNAMED",
	// Keeps stdout open: the log would end before the node is ready.
	"-Dcassandra-foreground=yes",
	// No waiting for other nodes at start, for them to make the default role, or
	// for them to hear of the stop.
	"-Dcassandra.skip_wait_for_gossip_to_settle=0",
	"-Dcassandra.superuser_setup_delay_ms=0",
	"-Dcassandra.shutdown_announce_in_ms=0",
	// The figure that it finds itself, instead of measuring a row in memory at
	// each start.
	"-Dcassandra.memtable.row_overhead_size=180",
}

// cassandraCommand writes the node's settings, with more of them behind, and
// returns its command.
func cassandraCommand(dir string, port int, more string) (*exec.Cmd, error) {
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	// Nodes would talk to each other here; there is only one.
	peers, err := freePort(0)
	if err != nil {
		return nil, err
	}
	settings := filepath.Join(dir, "cassandra.yaml")
	text := fmt.Sprintf(`%s
native_transport_port: %d
storage_port: %d
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      - seeds: "127.0.0.1:%d"
%s`, cassandraSettings, port, peers, peers, more)
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		return nil, err
	}
	logging := filepath.Join(dir, "logback.xml")
	if err := os.WriteFile(logging, cassandraLogging, 0o600); err != nil {
		return nil, err
	}
	temporary := filepath.Join(dir, "tmp")
	if err := os.MkdirAll(temporary, 0o700); err != nil {
		return nil, err
	}
	arguments := append(cassandraOptions[:len(cassandraOptions):len(cassandraOptions)],
		"-Djava.io.tmpdir="+temporary,
		"-Dcassandra.config=file://"+settings,
		"-Dlogback.configurationFile=file://"+logging,
		"-Dcassandra.storagedir="+filepath.Join(dir, "data"),
		"-cp", filepath.Join(cassandraJars(cache), "*"), "org.apache.cassandra.service.CassandraDaemon")
	return exec.Command("java", arguments...), nil
}

func cassandraTLSCommand(dir string, port int) (*exec.Cmd, error) {
	if err := writeCertificates(dir); err != nil {
		return nil, err
	}
	// The node wants key and certificate in one file.
	var both []byte
	for _, name := range []string{keyFile, certificateFile} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		both = append(both, text...)
	}
	store := filepath.Join(dir, "node.pem")
	if err := os.WriteFile(store, both, 0o600); err != nil {
		return nil, err
	}
	return cassandraCommand(dir, port, fmt.Sprintf(`
authenticator: PasswordAuthenticator
authorizer: CassandraAuthorizer
client_encryption_options:
  enabled: true
  optional: false
  keystore: %q
  ssl_context_factory:
    class_name: org.apache.cassandra.security.PEMBasedSslContextFactory
`, store))
}

// Opcodes of CQL's native protocol, version 4: what cassandraAnswers needs.
const (
	cqlStartup      = 0x01
	cqlReady        = 0x02
	cqlAuthenticate = 0x03
	cqlQuery        = 0x07
	cqlResult       = 0x08
	cqlAuthResponse = 0x0f
	cqlAuthSuccess  = 0x10
)

// cassandraAnswers asks for a session, as the default role if there are roles,
// and whether a statement can be run: an open port is not enough. It closes the
// connection.
func cassandraAnswers(ctx context.Context, conn net.Conn) error {
	defer conn.Close()
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(time.Second)
	}
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	opcode, err := cqlAsk(conn, cqlStartup, "\x00\x01\x00\x0bCQL_VERSION\x00\x053.0.0")
	if err == nil && opcode == cqlAuthenticate {
		opcode, err = cqlAsk(conn, cqlAuthResponse, "\x00\x00\x00\x14\x00cassandra\x00cassandra")
	}
	if err == nil && opcode != cqlReady && opcode != cqlAuthSuccess {
		err = errors.New("it refuses a session")
	}
	if err != nil {
		return err
	}
	// At consistency ONE.
	opcode, err = cqlAsk(conn, cqlQuery, "\x00\x00\x00\x28SELECT release_version FROM system.local\x00\x01\x00")
	if err == nil && opcode != cqlResult {
		err = errors.New("it refuses a statement")
	}
	return err
}

// cqlAsk sends a frame and returns the opcode of the one that answers it.
func cqlAsk(conn net.Conn, opcode byte, body string) (byte, error) {
	frame := binary.BigEndian.AppendUint32([]byte{4, 0, 0, 0, opcode}, uint32(len(body)))
	if _, err := conn.Write(append(frame, body...)); err != nil {
		return 0, err
	}
	var head [9]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return 0, err
	}
	_, err := io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(head[5:])))
	return head[4], err
}
