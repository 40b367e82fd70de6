package mysql

import (
	"strings"

	"pianola/bindings/sqltable"
)

// keyColumn is YCSB's.
const keyColumn = "YCSB_KEY"

var dialect = sqltable.Dialect{Key: keyColumn, Quote: quoted, Place: sqltable.Question}

func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// create returns the statement that makes the table, its keys sorted bytewise.
func (b *binding) create() string {
	return b.table.Create("varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PRIMARY KEY", b.settings.columns, "DEFAULT CHARACTER SET utf8mb4")
}
