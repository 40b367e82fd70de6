package all

import (
	"bytes"
	"errors"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"pianola/bindings"
)

const composeFile = "../../docs/compose.yaml"

// compose is what is held of the file; anything else in it is refused.
type compose struct {
	Name     string
	Services map[string]service
}

type service struct {
	Image       string
	Command     []string
	Hostname    string
	Environment map[string]string
	Ports       []string
	Replay      struct {
		DB         string
		Properties bindings.Properties
	} `yaml:"x-replay"`
}

func readCompose(t *testing.T) compose {
	t.Helper()
	text, err := os.ReadFile(composeFile)
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	var c compose
	if err := decoder.Decode(&c); err != nil {
		t.Fatalf("%s: %v", composeFile, err)
	}
	return c
}

// defaultAddress returns where a binding goes with these properties: host and
// port, of which one may be unknown. It goes by the forms that properties have.
func defaultAddress(t *testing.T, p bindings.Properties) (host, port string) {
	t.Helper()
	for name, value := range p {
		switch {
		case strings.HasSuffix(name, ".url"):
			u, err := url.Parse(value)
			if err != nil {
				t.Fatal(err)
			}
			return u.Hostname(), u.Port()
		case name == "hosts" || name == "redis.host":
			if h, p, err := net.SplitHostPort(value); err == nil {
				return h, p
			}
			host = value
		case name == "port" || name == "redis.port":
			port = value
		}
	}
	return host, port
}

// TestComposeIsWhatBindingsExpect: each service is for this machine alone, has
// an image whose version is said, and is where the database is looked for.
func TestComposeIsWhatBindingsExpect(t *testing.T) {
	c := readCompose(t)
	taken := map[string]string{}
	for name, s := range c.Services {
		if image, tag, _ := strings.Cut(s.Image, ":"); image == "" || tag == "" || tag == "latest" {
			t.Errorf("%s: the image %q has no version", name, s.Image)
		}
		var outer []string
		for _, p := range s.Ports {
			parts := strings.Split(p, ":")
			if len(parts) != 3 || parts[0] != "127.0.0.1" {
				t.Errorf("%s: port %q is not on 127.0.0.1", name, p)
				continue
			}
			if other := taken[parts[1]]; other != "" {
				t.Errorf("%s and %s share port %s", name, other, parts[1])
			}
			taken[parts[1]] = name
			outer = append(outer, parts[1])
		}
		host, port, err := addressed(t, s)
		if errors.Is(err, errElsewhere) {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if host != "127.0.0.1" || !slices.Contains(outer, port) {
			t.Errorf("%s: the binding goes to %s:%s, the service is at %q", name, host, port, outer)
		}
	}
}

// errElsewhere: the address is not in the properties' defaults.
var errElsewhere = errors.New("the binding finds its servers by other means")

// usualPorts are those of bindings that leave out a host's port.
var usualPorts = map[string]string{"ignite": "10800"}

// addressed returns where the binding of a service goes.
func addressed(t *testing.T, s service) (host, port string, err error) {
	drivers := Drivers()
	// ZooKeeper tells where the servers are.
	if s.Replay.Properties["hbase.zookeeper.quorum"] != "" {
		return "", "", errElsewhere
	}
	d, err := bindings.Resolve(drivers, s.Replay.DB)
	if err != nil {
		return "", "", err
	}
	p, err := d.Configure(s.Replay.Properties, drivers)
	if err != nil {
		return "", "", err
	}
	if _, err := d.New(p); err != nil {
		return "", "", err
	}
	if host, port = defaultAddress(t, p); port == "" {
		port = usualPorts[d.Name]
	}
	return host, port, nil
}

// TestComposeHasEveryServer: there is a service for each database behind one.
func TestComposeHasEveryServer(t *testing.T) {
	served := map[string]bool{}
	for _, s := range readCompose(t).Services {
		served[s.Replay.DB] = true
	}
	for _, d := range Drivers() {
		if d.Place == bindings.Remote && !served[d.Name] {
			t.Errorf("no service is for %s", d.Name)
		}
	}
}
