package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"pianola/replay/measure"
)

// writeJSON writes the result file: one JSON document, indented, whose numbers
// are all finite.
func writeJSON(w io.Writer, r *measure.Result) error {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(r); err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}
