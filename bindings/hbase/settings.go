package hbase

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	"pianola/bindings"
	"pianola/bindings/hbase/cluster"
	"pianola/bindings/hbase/rpc"
	"pianola/bindings/hbase/wire"
)

var properties = []bindings.Property{
	{Name: "hosts", Help: `Masters or region servers to ask where the cluster is, separated by commas,
each with :port behind it or not; HBase 2.3 and later. The default is 127.0.0.1,
where neither hbase.zookeeper.quorum nor hbase.conf is given.`},
	{Name: "port", Default: "16000", Help: "Port of the hosts that don't say: the master's; region servers have 16020."},
	{Name: "hbase.zookeeper.quorum", Help: `ZooKeeper's servers to ask instead, likewise; for clusters before 2.3 the only
way.`},
	{Name: "hbase.zookeeper.property.clientPort", Default: "2181", Help: "Port of ZooKeeper's servers that don't say."},
	{Name: "zookeeper.znode.parent", Default: "/hbase", Help: "Node of the cluster in ZooKeeper; some distributions have /hbase-unsecure."},
	{Name: "hbase.conf", Help: `Directory with the cluster's hbase-site.xml, which then says what of the above is
not given.`},
	{Name: "columnfamily", Default: "family", Help: "Family of the columns."},
	{Name: "durability", Default: "USE_DEFAULT", Help: `What a write waits for: USE_DEFAULT, which is what the table says; SKIP_WAL,
ASYNC_WAL, SYNC_WAL, which is the usual one, or FSYNC_WAL.`},
	{Name: "hbase.checkinserts", Default: "false", Help: `true: an INSERT of a record that is there is a duplicate. It is then a call with
a condition, which costs the server more.`},
	{Name: "hbase.splits", Default: "auto", Help: `Regions that the load makes a missing table of; auto is ten for each region
server.`},
	{Name: "hbase.autosplit", Default: "false", Help: `true: the server may split regions of a table that the load makes as it does
by default, in the middle of a run too.`},
	{Name: "hbase.user", Help: `User to be for the server, which believes it. The default is HADOOP_USER_NAME in
the environment, else the one who runs this.`},
	{Name: "hbase.client.ipc.pool.size", Default: "1", Help: "Connections to each region server; slots share them."},
	{Name: "hbase.ipc.client.socket.timeout.connect", Default: "5000", Help: "Longest time in ms to connect."},
	{Name: "hbase.client.scanner.max.result.size", Default: "2MiB", Help: "Bytes after which the server ends an answer to a scan."},
	{Name: "hbase.usepagefilter", Default: "true", Help: `YCSB's, without effect: every call for a scan says how many rows it wants, which
is what the filter is for.`},
	{Name: "clientbuffering", Default: "false", Help: `YCSB's; true is refused: a write would be answered before it is sent.`},
	{Name: "writebuffersize", Help: "YCSB's, without effect: it is for clientbuffering."},
	{Name: "principal", Help: "YCSB's, for Kerberos, which this client does not speak: refused."},
	{Name: "keytab", Help: "Likewise."},
	{Name: "debug", Default: "false", Help: "YCSB's, without effect."},
}

// settings are the properties, read.
type settings struct {
	// addresses are of servers, or of ZooKeeper's if zookeeper is set.
	addresses      []string
	zookeeper      bool
	parent         string
	family         string
	durability     wire.Durability
	checkInserts   bool
	splits         int // 0 for so many for each server
	autoSplit      bool
	user           string
	connections    int
	connectTimeout time.Duration
	maxResult      uint64
}

// durabilities are the words of HBase's enumeration, in its order.
var durabilities = []string{"USE_DEFAULT", "SKIP_WAL", "ASYNC_WAL", "SYNC_WAL", "FSYNC_WAL"}

func parseSettings(p bindings.Properties) (settings, error) {
	s := settings{family: p["columnfamily"], user: p["hbase.user"]}
	for _, read := range []func(bindings.Properties) error{
		s.refuse, s.parsePlace, s.parseWrites, s.parseSplits, s.parseConnections, s.parseUser,
	} {
		if err := read(p); err != nil {
			return settings{}, err
		}
	}
	if s.family == "" || strings.ContainsAny(s.family, ":/") || len(s.family) > 127 {
		return settings{}, p.Unfit("columnfamily", "a name of up to 127 bytes without colon and slash")
	}
	return s, nil
}

// refuse looks at what YCSB's binding can and this one can't.
func (s *settings) refuse(p bindings.Properties) error {
	buffering, err := p.Bool("clientbuffering")
	if err != nil {
		return err
	}
	if buffering {
		return fmt.Errorf("property clientbuffering is %q: writes would be answered before they are sent, and their failures lost\nleave it out", p["clientbuffering"])
	}
	if _, err := p.Bool("hbase.usepagefilter"); err != nil {
		return err
	}
	if p["principal"]+p["keytab"] != "" {
		return fmt.Errorf("properties principal and keytab are for Kerberos, which this client does not speak\nonly clusters with simple authentication can be driven")
	}
	return nil
}

// parsePlace reads where the cluster is.
func (s *settings) parsePlace(p bindings.Properties) error {
	hosts, quorum, clientPort, parent := p["hosts"], p["hbase.zookeeper.quorum"], "hbase.zookeeper.property.clientPort", p["zookeeper.znode.parent"]
	if hosts != "" && quorum != "" {
		return fmt.Errorf("properties hosts and hbase.zookeeper.quorum are both given, %q and %q", hosts, quorum)
	}
	ports := bindings.Properties{"port": p["port"], clientPort: p[clientPort]}
	if p["hbase.conf"] != "" {
		site, err := readSite(p["hbase.conf"])
		if err != nil {
			return fmt.Errorf("property hbase.conf: %w", err)
		}
		if err := site.refuse(); err != nil {
			return fmt.Errorf("property hbase.conf: %w", err)
		}
		if hosts == "" && quorum == "" {
			hosts, quorum = site.place()
		}
		// A default is no choice of the user's.
		for name, usual := range map[string]string{clientPort: "2181", "port": "16000"} {
			if own := site[map[string]string{clientPort: clientPort, "port": "hbase.master.port"}[name]]; p[name] == usual && own != "" {
				ports[name] = own
			}
		}
		if parent == "/hbase" {
			parent = cmp.Or(site["zookeeper.znode.parent"], parent)
		}
	}
	s.zookeeper, s.parent = quorum != "", strings.TrimSuffix(parent, "/")
	list, name, port := cmp.Or(hosts, "127.0.0.1"), "hosts", "port"
	if s.zookeeper {
		list, name, port = quorum, "hbase.zookeeper.quorum", clientPort
	}
	if !strings.HasPrefix(parent, "/") {
		return p.Unfit("zookeeper.znode.parent", "a path that begins with /")
	}
	number, err := ports.Int(port, 1, 65535)
	if err != nil {
		return err
	}
	s.addresses, err = addresses(list, number)
	if err != nil {
		return fmt.Errorf("property %s is %q: %w", name, list, err)
	}
	return nil
}

// addresses reads a list of hosts, each with a port or not.
func addresses(list string, port int64) ([]string, error) {
	var all []string
	for host := range strings.SplitSeq(list, ",") {
		host = strings.TrimSpace(host)
		if host == "" {
			return nil, fmt.Errorf("an empty name in a list of hosts")
		}
		if _, own, err := net.SplitHostPort(host); err == nil {
			if n, err := strconv.ParseUint(own, 10, 16); err != nil || n == 0 {
				return nil, fmt.Errorf("port %q is not from 1 to 65535", own)
			}
		} else {
			host = net.JoinHostPort(strings.Trim(host, "[]"), strconv.FormatInt(port, 10))
		}
		all = append(all, host)
	}
	return all, nil
}

func (s *settings) parseWrites(p bindings.Properties) error {
	word := strings.ToUpper(p["durability"])
	for i, d := range durabilities {
		if word == d {
			s.durability = wire.Durability(i)
			var err error
			s.checkInserts, err = p.Bool("hbase.checkinserts")
			return err
		}
	}
	return p.Unfit("durability", "one of "+strings.Join(durabilities, ", "))
}

// maxRegions bounds the regions of a table that is made: the master is asked
// for all at once.
const maxRegions = 10_000

func (s *settings) parseSplits(p bindings.Properties) (err error) {
	if s.autoSplit, err = p.Bool("hbase.autosplit"); err != nil || p["hbase.splits"] == "auto" {
		return err
	}
	n, err := p.Int("hbase.splits", 1, maxRegions)
	if err != nil {
		return p.Unfit("hbase.splits", fmt.Sprintf("auto or a whole number from 1 to %d", maxRegions))
	}
	s.splits = int(n)
	return nil
}

func (s *settings) parseConnections(p bindings.Properties) error {
	n, err := p.Int("hbase.client.ipc.pool.size", 1, 1024)
	if err != nil {
		return err
	}
	ms, err := p.Int("hbase.ipc.client.socket.timeout.connect", 1, 3_600_000)
	if err != nil {
		return err
	}
	size, err := p.Bytes("hbase.client.scanner.max.result.size", 1, wire.MaxFrame/2)
	if err != nil {
		return err
	}
	s.connections, s.connectTimeout, s.maxResult = int(n), time.Duration(ms)*time.Millisecond, uint64(size)
	return nil
}

func (s *settings) parseUser(bindings.Properties) error {
	if s.user == "" {
		s.user = os.Getenv("HADOOP_USER_NAME")
	}
	if s.user == "" {
		s.user = "pianola"
		if u, err := user.Current(); err == nil && u.Username != "" {
			s.user = u.Username
		}
	}
	return nil
}

// address returns where the cluster is as people know it.
func (s *settings) address() string {
	list := strings.Join(s.addresses, ",")
	if s.zookeeper {
		return "zookeeper " + list + s.parent
	}
	return list
}

// cluster returns how the client of a binding is to reach the cluster.
func (s *settings) cluster(b *binding) cluster.Config {
	connect := rpc.Settings{User: s.user, Clock: b.clock, Traffic: &b.traffic, Timeout: s.connectTimeout}
	config := cluster.Config{Table: b.table, Settings: connect, Connections: s.connections}
	if s.zookeeper {
		config.Registry = &cluster.ZooKeeper{Addresses: s.addresses, Parent: s.parent, Timeout: s.connectTimeout}
	} else {
		config.Registry = &cluster.Servers{Addresses: s.addresses, Settings: &connect}
	}
	return config
}
