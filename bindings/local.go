package bindings

import (
	"net"
	"net/netip"
)

// Locator is a Binding of a remote database that knows whether its server runs
// on this machine, where it shares CPUs with the generator.
type Locator interface {
	// Local is asked after Open.
	Local() bool
}

// IsLocal reports whether an address, "host" or "host:port", is of this
// machine. A name that can't be looked up is not.
func IsLocal(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	ips, err := net.LookupIP(host)
	if err != nil {
		return false
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		own = nil
	}
	for _, ip := range ips {
		if ip.IsLoopback() {
			return true
		}
		addr, ok := netip.AddrFromSlice(ip)
		if !ok {
			continue
		}
		for _, o := range own {
			if prefix, err := netip.ParsePrefix(o.String()); err == nil && prefix.Addr().Unmap() == addr.Unmap() {
				return true
			}
		}
	}
	return false
}
