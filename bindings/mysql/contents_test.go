package mysql

import (
	"testing"

	"pianola/bindings/servers"
	"pianola/replay/checktest"
)

// One trace makes one contents, whatever database it is replayed on.
func TestContents(t *testing.T) {
	checktest.Run(t, checktest.Database{Driver: &Driver, Properties: at(servers.Start(t, "mariadb").Address)})
}
