//go:build unix

package main

import (
	"os"
	"testing"

	"pianola/cmd/exit"
	"pianola/cmd/scripttest"
)

func TestExamplesWorkAsPrinted(t *testing.T) {
	t.Setenv("PATH", scripttest.Build(t, "../tracegen")+string(os.PathListSeparator)+os.Getenv("PATH"))
	helps := [][]string{{"replay"}}
	for _, c := range newApp().Commands {
		helps = append(helps, []string{"replay", c.Name})
	}
	scripttest.RunExamples(t, helps, exit.Invalid)
}
