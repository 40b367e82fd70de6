package redis

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"pianola/bindings"
	"pianola/bindings/bindingtest"
	"pianola/bindings/servers"
	"pianola/traces"
)

// BenchmarkOverhead compares the binding with the bare client, and with
// redis-benchmark.
func BenchmarkOverhead(b *testing.B) {
	s := servers.Start(b, "redis")
	// One connection, as the bare client has.
	db := opened(b, at(s.Address, "redis.connections", "1"))
	bare, err := rueidis.NewClient(db.options(bindingtest.Clients))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(bare.Close)
	ctx := context.Background()
	pair := func(kind traces.Kind, command func(key string, op *bindings.Op) rueidis.Completed) func(int) bindingtest.Pair {
		return func(client int) bindingtest.Pair {
			session := sessionOf(b, db)
			key := fmt.Sprint("user", client)
			if err := session.Do(ctx, whole(traces.Insert, key)); err != nil {
				b.Fatal(err)
			}
			op := whole(kind, key)
			op.Write, op.Deadline = op.Write[5:6], time.Hour
			return bindingtest.Pair{
				Ours: func(int) error { return session.Do(ctx, op) },
				Bare: bindingtest.Timed(func(ctx context.Context) error { return bare.Do(ctx, command(key, op)).Error() }),
			}
		}
	}
	b.Run("read", func(b *testing.B) {
		bindingtest.Overhead(b, pair(traces.Read, func(key string, _ *bindings.Op) rueidis.Completed {
			return bare.B().Hgetall().Key(key).Build()
		}), func() float64 { return redisBenchmark(b, s.Address, "HGETALL", "user1") })
	})
	b.Run("update", func(b *testing.B) {
		bindingtest.Overhead(b, pair(traces.Update, func(key string, op *bindings.Op) rueidis.Completed {
			return bare.B().Hset().Key(key).FieldValue().FieldValue(op.Write[0].Name, rueidis.BinaryString(op.Write[0].Value)).Build()
		}), func() float64 {
			return redisBenchmark(b, s.Address, "HSET", "user1", "field5", string(whole(traces.Update, "").Write[5].Value))
		})
	})
}

// redisBenchmark returns the rate that redis-benchmark reaches with a command.
func redisBenchmark(b *testing.B, address string, command ...string) float64 {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		b.Fatal(err)
	}
	arguments := append([]string{"-h", host, "-p", port, "-c", strconv.Itoa(bindingtest.Clients), "-n", "60000", "-q"}, command...)
	out, err := exec.Command("redis-benchmark", arguments...).CombinedOutput()
	found := regexp.MustCompile(`([0-9.]+) requests per second`).FindAllSubmatch(out, -1)
	if err != nil || len(found) == 0 {
		b.Fatalf("redis-benchmark: %v: %s", err, out)
	}
	rate, err := strconv.ParseFloat(string(found[len(found)-1][1]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return rate
}
