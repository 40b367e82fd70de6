package ignite

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/bindings/bindingtest"
	"pianola/bindings/servers"
	"pianola/traces"
	"pianola/traces/payload"
)

// wallClock counts real time.
type wallClock struct{ start time.Time }

func (c wallClock) Now() time.Duration          { return time.Since(c.start) }
func (c wallClock) SleepUntil(at time.Duration) { time.Sleep(at - c.Now()) }

func testConfig() bindings.Config {
	return bindings.Config{
		Header: &traces.Header{Table: "usertable", Fields: payload.Fields{Count: 10, Prefix: "field", Length: payload.Length{Constant: 100}}},
		Clock:  wallClock{time.Now()},
		Slots:  64,
	}
}

// at returns the properties of a node and others in pairs of name and value.
func at(hosts string, others ...string) bindings.Properties {
	p := bindings.Properties{"hosts": hosts}
	for i := 0; i < len(others); i += 2 {
		p[others[i]] = others[i+1]
	}
	return p
}

func configured(t testing.TB, given bindings.Properties) *binding {
	t.Helper()
	p, err := Driver.Configure(given, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Driver.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return b.(*binding)
}

// opened returns an open binding with its cache, closed behind the test.
func opened(t testing.TB, given bindings.Properties) *binding {
	t.Helper()
	b := configured(t, given)
	if err := b.Open(context.Background(), testConfig()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	if err := b.CreateSchema(context.Background()); err != nil {
		t.Fatal(err)
	}
	return b
}

// emptied destroys the cache of a table.
func emptied(t testing.TB, p bindings.Properties) {
	t.Helper()
	b := configured(t, p)
	if err := b.Open(context.Background(), testConfig()); err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.cache.Destroy(context.Background()); err != nil && class(err) != bindings.Invalid {
		t.Fatal(err)
	}
}

// TestSuite runs on a node for each type of the fields, since a cluster that has
// known one takes no other.
func TestSuite(t *testing.T) {
	for _, values := range []string{"string", "bytes"} {
		s := servers.Start(t, "ignite")
		for _, c := range []struct {
			name   string
			limits bindingtest.Limits
			p      bindings.Properties
		}{
			{"getput", bindingtest.Limits{WholeUpdates: true}, at(s.Address, "ignite.connections", "2")},
			{"invoke", bindingtest.Limits{}, at(s.Address, "ignite.update", "invoke")},
			{"sql", bindingtest.Limits{Conflicts: true}, at(s.Address, "ignite.update", "sql")},
			{"transactional", bindingtest.Limits{WholeUpdates: true}, at(s.Address, "ignite.atomicity", "transactional", "ignite.onheap", "true")},
		} {
			if values == "bytes" && c.name == "transactional" {
				continue // the type of the fields makes no difference to it
			}
			c.p["ignite.values"] = values
			c.limits.BlindInsert, c.limits.TextOnly = true, values == "string"
			t.Run(fmt.Sprint(values, "/", c.name), func(t *testing.T) {
				bindingtest.Run(t, func(t *testing.T) bindings.Binding {
					emptied(t, c.p)
					return configured(t, c.p)
				}, c.limits)
			})
		}
	}
}
