package servers

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// hbaseVersion is that of hbase/pom.xml.
const hbaseVersion = "2.6.4-hadoop3"

var (
	//go:embed hbase/pom.xml
	hbasePOM []byte
	//go:embed hbase/hbase-site.xml
	hbaseSettings string
	//go:embed hbase/log4j2.xml
	hbaseLogging []byte
)

// hbase is everything in one process. hbaseTwo has a second region server, in a
// process of its own that can be killed: its number is in the file HBaseSecond
// of the server's directory. Both are addressed by their master, and have their
// settings in the directory HBaseSettings.
//
// They are killed to stop them: in good order they would take 12 s or more to
// write files that are removed then.
var (
	hbase = Recipe{
		Name: "hbase", Packages: []string{"openjdk-17-jre-headless", "maven"}, Port: 16000,
		Prepare: prepareHBase,
		Command: hbaseCommand,
		Ready:   hbaseAnswers,
		Stop:    syscall.SIGKILL,
		Hint: func(dir string) string {
			return "its settings, for hbase.conf, are in " + filepath.Join(dir, HBaseSettings)
		},
	}
	hbaseTwo = Recipe{
		Name: "hbase-two", Packages: hbase.Packages, Port: 16000,
		Prepare: prepareHBase,
		Command: hbaseTwoCommand,
		Ready:   hbaseAnswers,
		Stop:    syscall.SIGKILL,
		Hint:    hbase.Hint,
	}
)

const (
	// HBaseSettings is the directory with hbase-site.xml, within the server's.
	HBaseSettings = "conf"
	// HBaseSecond is the file with the number of the process that is the second
	// region server of hbase-two.
	HBaseSecond = "second.pid"
)

func hbaseJars(cache string) string { return filepath.Join(cache, "hbase-"+hbaseVersion) }

// HBaseJars returns java's class path for HBase's own classes, its client among
// them, which a server of this package has fetched.
func HBaseJars() (string, error) {
	cache, err := cacheDir()
	return filepath.Join(hbaseJars(cache), "*"), err
}

func prepareHBase(cache string) error {
	return fetchJars(cache, "hbase", hbaseJars(cache), hbasePOM, fmt.Sprintf("181 jars of version %s", hbaseVersion))
}

// hbaseOptions are for a small server. Reflection into the JDK is what Netty,
// Hadoop and HBase do.
var hbaseOptions = []string{
	// The process takes 0.4 GB, to 1.2 GB under load.
	"-Xms256m", "-Xmx768m", "-XX:+ExitOnOutOfMemoryError",
	// Nothing is written outside the directory of the server.
	"-XX:-UsePerfData",
	"-Djava.net.preferIPv4Stack=true",
	"-Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true", "--add-modules=jdk.unsupported",
	"--add-opens=java.base/java.io=ALL-UNNAMED", "--add-opens=java.base/java.nio=ALL-UNNAMED",
	"--add-opens=java.base/java.lang=ALL-UNNAMED", "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
	"--add-opens=java.base/java.util=ALL-UNNAMED", "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
	"--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
	"--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED", "--add-exports=java.base/sun.net.dns=ALL-UNNAMED",
	"--add-exports=java.base/sun.net.util=ALL-UNNAMED", "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
}

// hbaseCommand writes the settings, unless a former start has, and returns the
// command.
func hbaseCommand(dir string, port int) (*exec.Cmd, error) {
	java, err := hbaseJava(dir, port)
	if err != nil {
		return nil, err
	}
	return exec.Command("java", append(java, "org.apache.hadoop.hbase.master.HMaster", "start")...), nil
}

// hbaseTwoCommand starts the second region server from a shell that becomes the
// first process. ZooKeeper is inside that one, so the second waits for it.
func hbaseTwoCommand(dir string, port int) (*exec.Cmd, error) {
	java, err := hbaseJava(dir, port)
	if err != nil {
		return nil, err
	}
	script := fmt.Sprintf(`(
	until (exec 3<>/dev/tcp/127.0.0.1/%d) 2>/dev/null; do sleep 0.2; done
	sleep 1
	exec java "$@" org.apache.hadoop.hbase.regionserver.HRegionServer -D hbase.cluster.distributed=true -D hbase.regionserver.port=0 start
) & echo $! >%q
exec java "$@" org.apache.hadoop.hbase.master.HMaster start`, port, filepath.Join(dir, HBaseSecond))
	return exec.Command("bash", append([]string{"-c", script, "hbase"}, java...)...), nil
}

// hbaseJava returns java's arguments up to the main class.
func hbaseJava(dir string, port int) ([]string, error) {
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	settings := filepath.Join(dir, HBaseSettings)
	// At a restart the ports stay what they were.
	if _, err := os.Stat(settings); err != nil {
		if err := writeHBaseSettings(dir, settings, port); err != nil {
			return nil, err
		}
	}
	temporary := filepath.Join(dir, "tmp")
	if err := os.MkdirAll(temporary, 0o700); err != nil {
		return nil, err
	}
	return append(hbaseOptions[:len(hbaseOptions):len(hbaseOptions)], "-Djava.io.tmpdir="+temporary,
		"-cp", settings+":"+filepath.Join(hbaseJars(cache), "*")), nil
}

func writeHBaseSettings(dir, settings string, master int) error {
	var ports [2]string
	for i := range ports {
		port, err := freePort(0)
		if err != nil {
			return err
		}
		ports[i] = strconv.Itoa(port)
	}
	if err := os.MkdirAll(settings, 0o700); err != nil {
		return err
	}
	text := strings.NewReplacer("${hb.dir}", dir, "${hb.master}", strconv.Itoa(master),
		"${hb.zookeeper}", ports[0], "${hb.regionserver}", ports[1]).Replace(hbaseSettings)
	if err := os.WriteFile(filepath.Join(settings, "log4j2.xml"), hbaseLogging, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(settings, "hbase-site.xml"), []byte(text), 0o600)
}

// hbaseAnswers asks the master for the names of its tables, which it tells once
// it has assigned the system's regions: an open port is not enough. The words
// of the protocol are in the binding's package.
func hbaseAnswers(ctx context.Context, address string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(time.Second)
	}
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	const (
		user    = "\x0a\x06\x0a\x04test"
		service = "\x12\x0dMasterService"
		// Call 1, with an empty message.
		call = "\x08\x01\x1a\x0dGetTableNames\x20\x01"
	)
	hello := "HBas\x00\x50" + string(binary.BigEndian.AppendUint32(nil, uint32(len(user+service)))) + user + service
	request := string([]byte{0, 0, 0, byte(len(call) + 2), byte(len(call))}) + call + "\x00"
	if _, err := io.WriteString(conn, hello+request); err != nil {
		return err
	}
	// The length of all, that of the header, and the header: of call 1, and
	// nothing but that, or there is an exception.
	var answer [7]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return err
	}
	if string(answer[4:]) != "\x02\x08\x01" {
		return errors.New("the master is not ready")
	}
	return nil
}
