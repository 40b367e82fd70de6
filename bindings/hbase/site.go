package hbase

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// site is what an hbase-site.xml says, by the names of the properties.
type site map[string]string

// maxSite bounds the file in bytes.
const maxSite = 4 << 20

// readSite reads the file hbase-site.xml of a directory.
func readSite(dir string) (site, error) {
	name := filepath.Join(dir, "hbase-site.xml")
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxSite+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxSite:
		return nil, fmt.Errorf("%q has more than %d bytes", name, maxSite)
	}
	s, err := parseSite(text)
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", name, err)
	}
	return s, nil
}

// parseSite reads a file of Hadoop's form: of properties with one name the last
// counts.
func parseSite(text []byte) (site, error) {
	var file struct {
		XMLName    xml.Name `xml:"configuration"`
		Properties []struct {
			Name  string `xml:"name"`
			Value string `xml:"value"`
		} `xml:"property"`
	}
	if err := xml.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	s := site{}
	for _, p := range file.Properties {
		s[strings.TrimSpace(p.Name)] = strings.TrimSpace(p.Value)
	}
	for _, name := range siteNames {
		if strings.Contains(s[name], "${") {
			return nil, fmt.Errorf("%s is %q, with a name in it that only Java knows\ngive the property itself", name, s[name])
		}
	}
	return s, nil
}

// siteNames are the properties that are looked at.
var siteNames = []string{
	"hbase.zookeeper.quorum", "hbase.zookeeper.property.clientPort", "zookeeper.znode.parent", "hbase.client.registry.impl",
	"hbase.masters", "hbase.client.bootstrap.servers", "hbase.master.port", "hbase.security.authentication", "hbase.rpc.protection",
	"hbase.client.netty.tls.enabled",
}

// place returns the servers to ask, or ZooKeeper's. As HBase 2 does, it takes
// ZooKeeper's unless another registry is named.
func (s site) place() (hosts, quorum string) {
	registry := s["hbase.client.registry.impl"]
	if strings.HasSuffix(registry, "RpcConnectionRegistry") || strings.HasSuffix(registry, "MasterRegistry") {
		if hosts = s["hbase.client.bootstrap.servers"]; hosts == "" {
			hosts = s["hbase.masters"]
		}
		return hosts, ""
	}
	return "", s["hbase.zookeeper.quorum"]
}

// refuse says what of the cluster this client does not speak.
func (s site) refuse() error {
	if strings.EqualFold(s["hbase.security.authentication"], "kerberos") {
		return errors.New("the cluster wants Kerberos, which this client does not speak: hbase.security.authentication is \"kerberos\"")
	}
	if strings.EqualFold(s["hbase.client.netty.tls.enabled"], "true") {
		return errors.New("the cluster wants TLS, which this client does not speak: hbase.client.netty.tls.enabled is \"true\"")
	}
	return nil
}
