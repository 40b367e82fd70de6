package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// fetchJars fetches the jars that a project's file for Maven lists into a
// directory, unless it is there. what tells people how much that is.
func fetchJars(cache, server, jars string, project []byte, what string) error {
	if _, err := os.Stat(jars); err == nil {
		return nil
	}
	fmt.Fprintf(os.Stderr, "fetching for the server %s: %s, by Maven\n", server, what)
	// A directory of its own first: what was interrupted must not look whole.
	work, err := os.MkdirTemp(cache, server+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	file := filepath.Join(work, "pom.xml")
	if err := os.WriteFile(file, project, 0o644); err != nil {
		return err
	}
	fetched := filepath.Join(work, "jars")
	cmd := exec.Command("mvn", "-q", "-B", "-f", file, "dependency:copy-dependencies",
		"-DincludeScope=runtime", "-DoutputDirectory="+fetched)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("mvn: %w: %s", err, lastLine(out))
	}
	return os.Rename(fetched, jars)
}
