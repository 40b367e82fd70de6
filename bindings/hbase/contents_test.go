package hbase

import (
	"testing"

	"pianola/bindings/servers"
	"pianola/replay/checktest"
)

// One trace makes one contents, whatever database it is replayed on.
func testContents(t *testing.T, s *servers.Server) {
	checktest.Run(t, checktest.Database{Driver: &Driver, Properties: at(s, nil)})
}
