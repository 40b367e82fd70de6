package keyvalue

import "pianola/traces"

// Names holds the names of a trace's fields by themselves, so that a name that
// is read need not be allocated.
func Names(h *traces.Header) map[string]string {
	names := make(map[string]string, h.Fields.Count)
	for i := range h.Fields.Count {
		name := h.Fields.Name(i)
		names[name] = name
	}
	return names
}
