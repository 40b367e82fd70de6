package postgresql

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"pianola/bindings/bindingtest"
	"pianola/bindings/servers"
	"pianola/bindings/sqltable"
	"pianola/traces"
)

// BenchmarkOverhead compares the binding with the bare client, and with pgbench.
func BenchmarkOverhead(b *testing.B) {
	s := servers.Start(b, "postgresql")
	// Otherwise it is the disk that is measured.
	p := at(s.Address)
	p["db.url"] += "?synchronous_commit=off"
	db := opened(b, p)
	ctx := context.Background()
	pair := func(kind traces.Kind) func(int) bindingtest.Pair {
		return func(client int) bindingtest.Pair {
			session := sessionOf(b, db)
			key := fmt.Sprintf("user%v%d", kind, client)
			if err := session.Do(ctx, whole(traces.Insert, key)); err != nil {
				b.Fatal(err)
			}
			op := whole(kind, key)
			op.Write, op.Deadline = op.Write[5:6], time.Hour
			shape, values := sqltable.Shape{Kind: traces.Read}, [][]byte{op.Key}
			if kind == traces.Update {
				shape, values = db.table.Writing(kind, op.Write), [][]byte{op.Write[0].Value, op.Key}
			}
			name := session.prepared[shape]
			return bindingtest.Pair{
				Ours: func(int) error { return session.Do(ctx, op) },
				Bare: bindingtest.Timed(func(ctx context.Context) error {
					rows := session.conn.ExecPrepared(ctx, name, values, binaryFormat, binaryFormat)
					for rows.NextRow() {
						rows.Values()
					}
					_, err := rows.Close()
					return err
				}),
			}
		}
	}
	fields := "field0, field1, field2, field3, field4, field5, field6, field7, field8, field9"
	b.Run("read", func(b *testing.B) {
		bindingtest.Overhead(b, pair(traces.Read), func() float64 {
			return pgbench(b, s.Address, "SELECT "+fields+" FROM usertable WHERE ycsb_key = 'userREAD' || :client_id;")
		})
	})
	b.Run("update", func(b *testing.B) {
		bindingtest.Overhead(b, pair(traces.Update), func() float64 {
			return pgbench(b, s.Address, "UPDATE usertable SET field5 = repeat('x', 100) WHERE ycsb_key = 'userUPDATE' || :client_id;")
		})
	})
}

// pgbench returns the rate that pgbench reaches with a statement.
func pgbench(b *testing.B, address, statement string) float64 {
	programs, err := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if err != nil || len(programs) == 0 {
		b.Fatalf("pgbench is not where Debian puts it: %v", err)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		b.Fatal(err)
	}
	script := filepath.Join(b.TempDir(), "script.sql")
	if err := os.WriteFile(script, []byte(statement), 0o600); err != nil {
		b.Fatal(err)
	}
	clients := strconv.Itoa(bindingtest.Clients)
	cmd := exec.Command(programs[len(programs)-1], "-h", host, "-p", port, "-U", "postgres", "-n", "-M", "prepared", "-c", clients, "-j", "2", "-T", "3", "-f", script, "postgres")
	cmd.Env = append(os.Environ(), "PGOPTIONS=-c synchronous_commit=off")
	out, err := cmd.CombinedOutput()
	found := regexp.MustCompile(`tps = ([0-9.]+)`).FindSubmatch(out)
	if err != nil || found == nil {
		b.Fatalf("pgbench: %v: %s", err, out)
	}
	rate, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return rate
}
