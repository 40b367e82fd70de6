package bindings_test

import (
	"net"
	"testing"

	"pianola/bindings"
)

func TestIsLocal(t *testing.T) {
	cases := map[string]bool{
		"127.0.0.1:6379": true, "127.8.9.1": true, "localhost:9042": true, "[::1]:5432": true, "::1": true,
		"192.0.2.1:80": false, "192.0.2.1": false, "no such host.invalid:1": false, "": false,
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range own {
		if ipNet, ok := o.(*net.IPNet); ok && ipNet.IP.To4() != nil {
			cases[ipNet.IP.String()+":1"] = true
		}
	}
	for address, want := range cases {
		if got := bindings.IsLocal(address); got != want {
			t.Errorf("IsLocal(%q) = %v", address, got)
		}
	}
}
