package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// install makes sure that everything is there that a recipe needs. Programs
// that install at the same time wait for each other.
func install(r *Recipe) error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("start %s: servers are started on Linux alone\nset %s to the address of one that runs", r.Name, Variable(r.Name))
	}
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	return exclusive(filepath.Join(cache, "install.lock"), func() error {
		if err := installPackages(r); err != nil {
			return err
		}
		if r.Prepare == nil {
			return nil
		}
		if err := r.Prepare(cache); err != nil {
			return fmt.Errorf("fetch what %s needs into %q: %w", r.Name, cache, err)
		}
		return nil
	})
}

// cacheDir returns the directory for what is fetched, and makes it.
func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		// A machine without a home directory still has a temporary one.
		base = os.TempDir()
	}
	dir := filepath.Join(base, "pianola")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the directory for servers: %w", err)
	}
	return dir, nil
}

func installPackages(r *Recipe) error {
	missing := missingPackages(r.Packages)
	if len(missing) == 0 {
		return nil
	}
	list := strings.Join(missing, " ")
	by := fmt.Sprintf("apt-get install --no-install-recommends %s\nor set %s to the address of a server that runs", list, Variable(r.Name))
	if os.Getuid() != 0 {
		return fmt.Errorf("start %s: not installed: %s\nas root: %s", r.Name, list, by)
	}
	fmt.Fprintf(os.Stderr, "installing for the server %s: %s\n", r.Name, list)
	arguments := append([]string{"install", "-y", "-q", "--no-install-recommends"}, missing...)
	if aptGet(arguments...) == nil {
		return nil
	}
	// The lists of packages may be missing or old.
	if err := aptGet("update", "-q"); err != nil {
		return fmt.Errorf("start %s: %w\ninstall it: %s", r.Name, err, by)
	}
	if err := aptGet(arguments...); err != nil {
		return fmt.Errorf("start %s: %w\ninstall it: %s", r.Name, err, by)
	}
	return nil
}

func missingPackages(packages []string) []string {
	var missing []string
	for _, name := range packages {
		state, err := exec.Command("dpkg-query", "-W", "-f", "${db:Status-Status}", name).Output()
		if err != nil || string(state) != "installed" {
			missing = append(missing, name)
		}
	}
	return missing
}

// aptGet runs apt-get without questions; its error holds the end of the output.
func aptGet(arguments ...string) error {
	cmd := exec.Command("apt-get", append([]string{"-o", "DPkg::Lock::Timeout=300"}, arguments...)...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get %s: %w: %s", arguments[0], err, lastLine(out))
	}
	return nil
}

func lastLine(text []byte) string {
	s := strings.TrimSpace(string(text))
	return s[strings.LastIndexByte(s, '\n')+1:]
}
