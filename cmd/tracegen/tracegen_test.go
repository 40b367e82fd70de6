package main

import (
	"testing"

	"pianola/cmd/scripttest"
)

func TestMain(m *testing.M) { scripttest.Main(m, "tracegen", main) }

func TestScripts(t *testing.T) { scripttest.Run(t) }
