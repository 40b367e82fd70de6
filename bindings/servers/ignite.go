package servers

import (
	"context"
	"crypto/tls"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// igniteVersion is that of ignite/pom.xml. Of 2.18.0 the module for SQL can't be
// had.
const igniteVersion = "2.17.0"

// igniteFiles are the source of a program around a node, with the classes that
// clients have it run: an entry processor and compute tasks.
//
//go:embed ignite
var igniteFiles embed.FS

// ignite lets everybody in. igniteTLS takes no plain connections. igniteAuth
// asks for a password, which takes a node that keeps its data on disk.
var (
	ignite = Recipe{
		Name: "ignite", Packages: []string{"openjdk-17-jdk-headless", "maven"}, Port: 10800,
		Prepare: buildIgnite,
		Command: func(dir string, port int) (*exec.Cmd, error) {
			discovery, err := freePort(0)
			if err != nil {
				return nil, err
			}
			return igniteCommand(dir, port, discovery)
		},
		Ready:   igniteReady,
		Started: igniteStarted,
		Cluster: igniteCluster,
		Joined: func(log string, n int) bool {
			return strings.Contains(log, fmt.Sprintf("READY servers=%d\n", n))
		},
	}
	igniteTLS = Recipe{
		Name: "ignite-tls", Packages: append([]string{"openssl"}, ignite.Packages...), Port: 10801, Prepare: buildIgnite,
		Command: igniteTLSCommand,
		Ready: func(ctx context.Context, address string) error {
			// Clients verify the certificate; whether the server is up does not
			// depend on it.
			dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
			conn, err := dialer.DialContext(ctx, "tcp", address)
			if err != nil {
				return err
			}
			return igniteAnswers(ctx, conn)
		},
		Started: igniteStarted,
		Hint:    trust,
	}
	igniteAuth = Recipe{
		Name: "ignite-auth", Packages: ignite.Packages, Port: 10802, Prepare: buildIgnite,
		Command: func(dir string, port int) (*exec.Cmd, error) {
			discovery, err := freePort(0)
			if err != nil {
				return nil, err
			}
			return igniteCommand(dir, port, discovery, "persist=true", "auth=true")
		},
		Ready:   igniteReady,
		Started: igniteStarted,
		Hint:    func(string) string { return "its user and password are ignite; it keeps its data on disk" },
	}
)

func igniteDir(cache string) string {
	// The second number is that of the program around the node.
	return filepath.Join(cache, "ignite-"+igniteVersion+"-1")
}

func buildIgnite(cache string) error {
	dir := igniteDir(cache)
	return once(dir, func() error {
		if err := unpack(igniteFiles, "ignite", dir); err != nil {
			return err
		}
		return fetching("Ignite "+igniteVersion, "mvn", "--quiet", "--batch-mode", "-Dstyle.color=never",
			"--file", filepath.Join(dir, "pom.xml"), "package")
	})
}

// IgniteClasses returns Java's class path of what the server ignite is made of,
// which holds Ignite's own client too. It is there once the server was started.
func IgniteClasses() (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	return igniteClasses(cache), nil
}

func igniteClasses(cache string) string {
	built := filepath.Join(igniteDir(cache), "target")
	return filepath.Join(built, "ignite-node.jar") + ":" + filepath.Join(built, "libs", "*")
}

// igniteOptions are for a small node. What they open of the JDK was found by
// leaving each out.
var igniteOptions = []string{
	// The process takes 0.3 GB, to 1 GB under load.
	"-Xms128m", "-Xmx512m",
	"-XX:-UsePerfData",
	// Looked into at the start; java.lang.invoke when a job goes to another node;
	// the last two with persistence.
	"--add-opens=java.base/java.nio=ALL-UNNAMED",
	"--add-opens=java.base/java.util=ALL-UNNAMED",
	"--add-opens=java.base/java.lang=ALL-UNNAMED",
	"--add-opens=java.base/java.lang.invoke=ALL-UNNAMED",
	"--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
	"--add-opens=java.base/java.io=ALL-UNNAMED",
	"-Djava.net.preferIPv4Stack=true",
	// It asks nobody for newer versions.
	"-DIGNITE_UPDATE_NOTIFIER=false",
	"-DIGNITE_NO_ASCII=true",
	"-DIGNITE_PERFORMANCE_SUGGESTIONS_DISABLED=true",
}

// igniteCommand returns the command of a node that listens for other nodes on
// the port discovery.
func igniteCommand(dir string, port, discovery int, settings ...string) (*exec.Cmd, error) {
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	messages, err := freePort(0)
	if err != nil {
		return nil, err
	}
	arguments := slices.Concat(igniteOptions, []string{"-cp", igniteClasses(cache), "pianola.ignite.Node",
		fmt.Sprint("port=", port), fmt.Sprint("discovery=", discovery), fmt.Sprint("comm=", messages),
		"work=" + filepath.Join(dir, "work")}, settings)
	return exec.Command("java", arguments...), nil
}

// igniteCluster returns n nodes that know each other's ports.
func igniteCluster(node Recipe, n int) ([]Recipe, error) {
	ports := make([]int, n)
	peers := make([]string, n)
	for i := range ports {
		var err error
		if ports[i], err = freePort(0); err != nil {
			return nil, err
		}
		peers[i] = fmt.Sprint("127.0.0.1:", ports[i])
	}
	nodes := make([]Recipe, n)
	for i := range nodes {
		nodes[i] = node
		nodes[i].Command = func(dir string, port int) (*exec.Cmd, error) {
			return igniteCommand(dir, port, ports[i], "peers="+strings.Join(peers, ","))
		}
	}
	return nodes, nil
}

func igniteTLSCommand(dir string, port int) (*exec.Cmd, error) {
	if err := writeCertificates(dir); err != nil {
		return nil, err
	}
	const password = "changeit"
	store := filepath.Join(dir, "node.p12")
	if out, err := exec.Command("openssl", "pkcs12", "-export", "-out", store, "-passout", "pass:"+password,
		"-in", filepath.Join(dir, certificateFile), "-inkey", filepath.Join(dir, keyFile)).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("openssl: %w: %s", err, lastLine(out))
	}
	discovery, err := freePort(0)
	if err != nil {
		return nil, err
	}
	return igniteCommand(dir, port, discovery, "keystore="+store, "storepass="+password)
}

// igniteStarted looks for the last line of a start. A node answers some 100 ms
// before that, and dies of a cache that is created then.
func igniteStarted(log string) bool { return strings.Contains(log, "READY servers=") }

func igniteReady(ctx context.Context, address string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return igniteAnswers(ctx, conn)
}

// igniteAnswers shakes hands as the user ignite, asks whether the cluster is
// active, and closes the connection. A port is open long before anything is
// answered on it, and a node that keeps its data on disk is not active at first.
func igniteAnswers(ctx context.Context, conn net.Conn) error {
	defer conn.Close()
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(time.Second)
	}
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	// Version 1.7.0 of the protocol, a thin client, cluster states, user, password.
	answer, err := igniteAsk(conn, "\x01\x01\x00\x07\x00\x00\x00\x02\x0c\x01\x00\x00\x00\x04"+
		"\x09\x06\x00\x00\x00ignite\x09\x06\x00\x00\x00ignite")
	if err != nil {
		return err
	}
	if answer[0] != 1 {
		return fmt.Errorf("the handshake is answered by % x", answer)
	}
	// Request 1 of operation 5000; the state is the last byte.
	if answer, err = igniteAsk(conn, "\x88\x13\x01\x00\x00\x00\x00\x00\x00\x00"); err != nil {
		return err
	}
	if answer[len(answer)-1] != 1 {
		return errors.New("the cluster is not active")
	}
	return nil
}

// igniteAsk sends a message and returns the one that answers it, which is not
// empty.
func igniteAsk(conn net.Conn, message string) ([]byte, error) {
	if _, err := conn.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(message))), message...)); err != nil {
		return nil, err
	}
	var length [4]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n == 0 || n > 1<<16 {
		return nil, fmt.Errorf("an answer of %d bytes", n)
	}
	answer := make([]byte, n)
	_, err := io.ReadFull(conn, answer)
	return answer, err
}
