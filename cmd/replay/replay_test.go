package main

import (
	"testing"

	"pianola/cmd/scripttest"
)

func TestMain(m *testing.M) { scripttest.Main(m, "replay", main) }

func TestScripts(t *testing.T) { scripttest.Run(t, scripttest.Build(t, "../tracegen")) }
