package postgresql

import (
	"fmt"
	"strings"

	"pianola/bindings/sqltable"
)

// keyColumn is YCSB's YCSB_KEY as the server understands it.
const keyColumn = "ycsb_key"

var dialect = sqltable.Dialect{
	Key:   keyColumn,
	Quote: quoted,
	Place: func(n int) string { return fmt.Sprintf("$%d", n) },
}

// quoted returns a name as the server understands it without quotes, in quotes.
func quoted(name string) string {
	return `"` + strings.ReplaceAll(strings.ToLower(name), `"`, `""`) + `"`
}

// copyStatement returns the COPY of whole records. The columns stand in the order
// of an INSERT's parameters.
func (b *binding) copyStatement() string {
	columns := ""
	for _, f := range b.table.Fields {
		columns += quoted(f) + ", "
	}
	return fmt.Sprintf("COPY %s (%s%s) FROM STDIN (FORMAT binary)", b.table.Name, columns, keyColumn)
}

// create returns the statement that makes the table, its keys sorted bytewise.
func (b *binding) create() string {
	return b.table.Create(`varchar(255) COLLATE "C" PRIMARY KEY`, b.settings.columns, "")
}
