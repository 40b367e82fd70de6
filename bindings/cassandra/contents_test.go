package cassandra

import (
	"testing"

	"pianola/bindings"
	"pianola/bindings/servers"
	"pianola/replay/checktest"
)

// One trace makes one contents, whatever database it is replayed on.
func testContents(t *testing.T, s *servers.Server) {
	for _, layout := range []string{"ycsb", "clustered"} {
		t.Run(layout, func(t *testing.T) {
			checktest.Run(t, checktest.Database{Driver: &Driver, Properties: at(s.Address, bindings.Properties{"cassandra.layout": layout})})
		})
	}
}
