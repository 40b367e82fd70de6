package bindings

import (
	"fmt"
	"os"
	"strings"
)

// maxSecretBytes bounds the file of a secret.
const maxSecretBytes = 64 << 10

// Secret returns a password: the value of a property, else the first line of
// the file that another property names, else the value of an environment
// variable, else "". A property that is no property of the driver is passed by
// as "". Its errors don't show the secret.
func (p Properties) Secret(name, file, variable string) (string, error) {
	if value := p[name]; value != "" {
		if p[file] != "" {
			return "", fmt.Errorf("properties %s and %s are both given", name, file)
		}
		return value, nil
	}
	if p[file] == "" {
		return os.Getenv(variable), nil
	}
	text, err := readSecret(p[file])
	if err != nil {
		return "", fmt.Errorf("property %s: %w", file, err)
	}
	line, _, _ := strings.Cut(text, "\n")
	line = strings.TrimSuffix(line, "\r")
	if line == "" {
		return "", fmt.Errorf("property %s: the first line of %q is empty", file, p[file])
	}
	return line, nil
}

func readSecret(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if info.Size() > maxSecretBytes {
		return "", fmt.Errorf("%q has %d bytes, more than a secret's %d", name, info.Size(), maxSecretBytes)
	}
	text, err := os.ReadFile(name)
	return string(text), err
}
