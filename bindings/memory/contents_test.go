package memory_test

import (
	"testing"

	"pianola/bindings/memory"
	"pianola/replay/checktest"
)

// The contents of one run are those of the next.
func TestContents(t *testing.T) {
	checktest.Run(t, checktest.Database{Driver: &memory.Driver})
}
