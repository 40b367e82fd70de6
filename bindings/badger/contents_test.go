package badger

import (
	"testing"

	"pianola/bindings"
	"pianola/replay/checktest"
)

// One trace makes one contents, whatever database it is replayed on.
func TestContents(t *testing.T) {
	checktest.Run(t, checktest.Database{Driver: &Driver, Properties: bindings.Properties{"badger.dir": t.TempDir()}})
}
