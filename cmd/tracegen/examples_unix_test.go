//go:build unix

package main

import (
	"testing"

	"pianola/cmd/scripttest"
)

func TestExamplesWorkAsPrinted(t *testing.T) {
	helps := [][]string{{"tracegen"}}
	for _, c := range newApp().Commands {
		helps = append(helps, []string{"tracegen", c.Name})
	}
	scripttest.RunExamples(t, helps)
}
