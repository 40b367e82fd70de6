package bindings

import "runtime/debug"

// ModuleVersion returns the version of a module that this program was built
// with, for a fact in the result; "unknown" where the build doesn't tell.
func ModuleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path != path {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		if m.Version != "" {
			return m.Version
		}
	}
	return "unknown"
}
