package servers

import (
	"context"
	"crypto/tls"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// No package holds MongoDB itself, so these are other servers that speak its
// protocol. The first three are SecantusDB, a Python program over WiredTiger,
// MongoDB's own storage engine; mongodbAuth lets in only the user pianola,
// mongodbTLS takes no plain connections. mongodbJava is mongo-java-server, which
// keeps its data in memory: it is quicker under load, knows fewer commands, and
// can answer a read with a record that is half old and half new. In all of them
// a sorted scan takes time in proportion to the table.
//
// They are run as processes of their own and never linked: SecantusDB is under
// the GPL.
var (
	mongodb = Recipe{
		Name: "mongodb", Packages: []string{"python3-venv"}, Port: 27017, Prepare: fetchSecantus,
		Command: func(dir string, port int) (*exec.Cmd, error) { return secantusCommand(dir, port) },
		Ready:   mongodbReady,
		Hint:    func(string) string { return "it is SecantusDB, which speaks MongoDB's protocol" },
	}
	mongodbAuth = Recipe{
		Name: "mongodb-auth", Packages: mongodb.Packages, Port: 27018, Prepare: fetchSecantus,
		Command: func(dir string, port int) (*exec.Cmd, error) {
			if err := secantusUser(dir, port); err != nil {
				return nil, err
			}
			return secantusCommand(dir, port, "--auth")
		},
		Ready: mongodbReady,
		Hint: func(string) string {
			return fmt.Sprintf("its user is %s, the password %q, known to the database admin", MongoDBUser, MongoDBPassword)
		},
	}
	mongodbTLS = Recipe{
		Name: "mongodb-tls", Packages: mongodb.Packages, Port: 27019, Prepare: fetchSecantus,
		Command: func(dir string, port int) (*exec.Cmd, error) {
			if err := writeCertificates(dir); err != nil {
				return nil, err
			}
			return secantusCommand(dir, port, "--tls-cert-file", filepath.Join(dir, certificateFile),
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
			return mongodbAnswers(ctx, conn)
		},
		Hint: trust,
	}
	mongodbJava = Recipe{
		Name: "mongodb-java", Packages: []string{"maven", "openjdk-17-jdk-headless"}, Port: 27020, Prepare: fetchMongoJava,
		Command: func(dir string, port int) (*exec.Cmd, error) {
			cache, err := cacheDir()
			if err != nil {
				return nil, err
			}
			built := filepath.Join(mongoJavaDir(cache), "target")
			return exec.Command("java", "-Xmx1g", "-cp", filepath.Join(built, "mongojava-1.jar")+":"+filepath.Join(built, "lib", "*"),
				"Main", strconv.Itoa(port)), nil
		},
		Ready: mongodbReady,
		Hint: func(string) string {
			return "it is mongo-java-server, which speaks MongoDB's protocol and keeps all in memory"
		},
	}
)

// The user of the server mongodb-auth; the characters need escaping in a URL.
const (
	MongoDBUser     = "pianola"
	MongoDBPassword = "a/b:c@d %+é"
)

// mongodbFiles are the requirements of SecantusDB and the source of a program
// around mongo-java-server.
//
//go:embed mongodb
var mongodbFiles embed.FS

// once makes dir by make, unless that was done before. What was left by an
// interrupted try is removed.
func once(dir string, make func() error) error {
	done := filepath.Join(dir, ".done")
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := make(); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	return os.WriteFile(done, nil, 0o644)
}

// fetching runs a command of an installation; its error holds the end of the
// output.
func fetching(what, name string, arguments ...string) error {
	fmt.Fprintf(os.Stderr, "fetching %s\n", what)
	if out, err := exec.Command(name, arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, lastLine(out))
	}
	return nil
}

// Directories carry the version of what is in them, so that another version is
// fetched afresh.
func secantusDir(cache string) string  { return filepath.Join(cache, "secantusdb-0.7.0b3") }
func mongoJavaDir(cache string) string { return filepath.Join(cache, "mongo-java-server-1.47.0") }

func fetchSecantus(cache string) error {
	dir := secantusDir(cache)
	return once(dir, func() error {
		if err := unpack(mongodbFiles, "mongodb/requirements.txt", dir); err != nil {
			return err
		}
		if err := fetching("a Python environment", "python3", "-m", "venv", dir); err != nil {
			return err
		}
		return fetching("SecantusDB", filepath.Join(dir, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check",
			"--no-cache-dir", "--requirement", filepath.Join(dir, "requirements.txt"))
	})
}

func fetchMongoJava(cache string) error {
	dir := mongoJavaDir(cache)
	return once(dir, func() error {
		if err := unpack(mongodbFiles, "mongodb/java", dir); err != nil {
			return err
		}
		return fetching("mongo-java-server", "mvn", "--quiet", "--batch-mode", "-Dstyle.color=never", "--file", filepath.Join(dir, "pom.xml"),
			"package", "dependency:copy-dependencies", "-DoutputDirectory=target/lib")
	})
}

// unpack copies an embedded file, or what is in an embedded directory, to dir.
func unpack(files embed.FS, name, dir string) error {
	return fs.WalkDir(files, name, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(filepath.FromSlash(name), filepath.FromSlash(path))
		if err != nil {
			return err
		}
		if below == "." {
			below = filepath.Base(path)
		}
		target := filepath.Join(dir, below)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o644)
	})
}

func secantusCommand(dir string, port int, more ...string) (*exec.Cmd, error) {
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	arguments := []string{"--standalone", "--host", "127.0.0.1", "--port", strconv.Itoa(port),
		"--storage-path", filepath.Join(dir, "data"), "--cache-size", "256M", "--log-level", "WARNING"}
	return exec.Command(filepath.Join(secantusDir(cache), "bin", "secantusd-py"), append(arguments, more...)...), nil
}

// createUser is a program in Python for the client that comes with the server.
const createUser = `import pymongo, sys
port, user, password = sys.argv[1:]
client = pymongo.MongoClient("127.0.0.1", int(port), serverSelectionTimeoutMS=30000)
client.admin.command("createUser", user, pwd=password, roles=["root"])
`

// secantusUser runs the server without access control for as long as it takes
// to make the user, unless there is data already.
func secantusUser(dir string, port int) error {
	if _, err := os.Stat(filepath.Join(dir, "data")); err == nil {
		return nil
	}
	server, err := secantusCommand(dir, port)
	if err != nil {
		return err
	}
	p, err := startProcess(server)
	if err != nil {
		return err
	}
	python := filepath.Join(filepath.Dir(server.Path), "python")
	out, err := exec.Command(python, "-c", createUser, strconv.Itoa(port), MongoDBUser, MongoDBPassword).CombinedOutput()
	(&Server{recipe: &Recipe{}}).end(p)
	if err != nil {
		return fmt.Errorf("create a user: %w: %s", err, lastLine(out))
	}
	return nil
}

func mongodbReady(ctx context.Context, address string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return mongodbAnswers(ctx, conn)
}

// mongodbPing is the body of an OP_MSG: no flags, a section of kind 0 with the
// document {ping: 1, $db: "admin"}.
const mongodbPing = "\x00\x00\x00\x00\x00" +
	"\x1e\x00\x00\x00\x10ping\x00\x01\x00\x00\x00\x02$db\x00\x06\x00\x00\x00admin\x00\x00"

// mongodbAnswers sends a ping, waits for the head of an answer to it, and closes
// the connection. That the server demands a login is an answer too.
func mongodbAnswers(ctx context.Context, conn net.Conn) error {
	defer conn.Close()
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(time.Second)
	}
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	const opMsg = 2013
	head := make([]byte, 16)
	binary.LittleEndian.PutUint32(head, uint32(len(head)+len(mongodbPing)))
	head[4] = 1 // the number of the request
	binary.LittleEndian.PutUint32(head[12:], opMsg)
	if _, err := conn.Write(append(head, mongodbPing...)); err != nil {
		return err
	}
	if _, err := io.ReadFull(conn, head); err != nil {
		return err
	}
	if head[8] != 1 || binary.LittleEndian.Uint32(head[12:]) != opMsg {
		return fmt.Errorf("a ping is answered by % x", head)
	}
	return nil
}
