package report

import _ "embed"

//go:embed result.schema.json
var schema string

// Schema returns the JSON Schema (draft 2020-12) of the result file, as the
// form "json" writes it. Read checks more than a schema can say: that counts add
// up and that histograms hold what stands beside them.
func Schema() string { return schema }
