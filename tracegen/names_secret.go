package tracegen

import (
	"regexp"
	"strings"
)

// secretWords are what names of secrets are made of, in lower case and without
// the marks between words.
var secretWords = []string{
	"pass", "pwd", "secret", "token", "credential", "keyfile", "keytab", "keystore",
	"privatekey", "accesskey", "apikey", "authkey",
}

var (
	betweenWords = strings.NewReplacer("-", "", "_", "", ".", "")
	// credentialed is a URL or connection string with a user in front of the
	// host. What stands there may be a password or a token; both is a secret.
	credentialed = regexp.MustCompile(`(//|:)[^\s]*@`)
	assigned     = regexp.MustCompile(`([A-Za-z0-9_.-]+)\s*=`)
)

// isSecretName reports whether a property of this name holds a secret.
func isSecretName(name string) bool {
	name = betweenWords.Replace(strings.ToLower(name))
	for _, word := range secretWords {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// isSecret reports whether the property must appear in no output: by its name,
// or since its value is a URL with credentials or sets a secret parameter.
func isSecret(name, value string) bool {
	if name == "arrivals" {
		return false // 10s@1000 is a rate, and nobody's password
	}
	if isSecretName(name) || credentialed.MatchString(value) {
		return true
	}
	for _, m := range assigned.FindAllStringSubmatch(value, -1) {
		if isSecretName(m[1]) {
			return true
		}
	}
	return false
}
