package mongodb

import (
	"context"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"pianola/bindings"
)

// unknown stands for what the server does not tell, or not to this user.
const unknown = "not told"

// serverFacts are what a server says about itself.
type serverFacts struct {
	version, engine, writeConcern string
}

// ask asks the server. That it does not answer to one of these commands is no
// failure: they need rights that a user of one database may lack.
func (f *serverFacts) ask(ctx context.Context, database *mongo.Database) {
	f.version, f.engine, f.writeConcern = unknown, unknown, unknown
	admin := database.Client().Database("admin")
	var build struct{ Version string }
	if database.RunCommand(ctx, bson.D{{Key: "buildInfo", Value: 1}}).Decode(&build) == nil && build.Version != "" {
		f.version = build.Version
	}
	var status struct {
		StorageEngine struct {
			Name       string
			Persistent *bool
		} `bson:"storageEngine"`
	}
	if admin.RunCommand(ctx, bson.D{{Key: "serverStatus", Value: 1}}).Decode(&status) == nil && status.StorageEngine.Name != "" {
		f.engine = status.StorageEngine.Name
		if p := status.StorageEngine.Persistent; p != nil && !*p {
			f.engine += ", not persistent"
		}
	}
	var defaults struct {
		WriteConcern struct{ W any } `bson:"defaultWriteConcern"`
	}
	if admin.RunCommand(ctx, bson.D{{Key: "getDefaultRWConcern", Value: 1}}).Decode(&defaults) == nil && defaults.WriteConcern.W != nil {
		f.writeConcern = fmt.Sprintf("w=%v", defaults.WriteConcern.W)
	}
}

// Facts tells which server it was, what an answered write has survived, and
// what the client did on its own.
func (b *binding) Facts() []bindings.Fact {
	facts := []bindings.Fact{
		{Name: "client", Value: "mongo-driver " + bindings.ModuleVersion("go.mongodb.org/mongo-driver/v2")},
		{Name: "server version", Value: b.server.version},
		{Name: "storage engine", Value: b.server.engine},
	}
	if b.options == nil {
		return facts
	}
	facts = append(facts,
		bindings.Fact{Name: "servers", Value: b.monitor.describe()},
		bindings.Fact{Name: "database", Value: b.settings.database},
		bindings.Fact{Name: "write concern", Value: b.writeConcern()},
		bindings.Fact{Name: "read preference", Value: b.options.ReadPreference.Mode().String()},
		bindings.Fact{Name: "read concern", Value: readConcern(b.options)},
		bindings.Fact{Name: "encryption", Value: encryption(b.options)},
		bindings.Fact{Name: "compression", Value: compression(b.options)},
		bindings.Fact{Name: "retries", Value: "off"},
	)
	return append(facts, b.pool.facts()...)
}

// writeConcern says in words when a write is answered.
func (b *binding) writeConcern() string {
	wc := b.options.WriteConcern
	if wc == nil || wc.W == nil && wc.Journal == nil {
		return "the server's default: " + b.server.writeConcern
	}
	w := "the server's default"
	if wc.W != nil {
		w = fmt.Sprintf("w=%v", wc.W)
	}
	switch {
	case !wc.Acknowledged():
		return w + ": writes are not answered at all"
	case wc.Journal != nil && *wc.Journal:
		return w + ", journal=true: answered when the journal is on disk"
	case wc.W == "majority":
		return w + ": answered when most of the set has it, in the journal unless the set says otherwise"
	}
	return w + ": answered before the journal is on disk"
}

func readConcern(o *options.ClientOptions) string {
	if o.ReadConcern == nil || o.ReadConcern.Level == "" {
		return "the server's default"
	}
	return o.ReadConcern.Level
}

func encryption(o *options.ClientOptions) string {
	switch {
	case o.TLSConfig == nil:
		return "none"
	case o.TLSConfig.InsecureSkipVerify:
		return "TLS, the server's certificate is not verified"
	}
	return "TLS, the server's certificate is verified"
}

func compression(o *options.ClientOptions) string {
	if len(o.Compressors) == 0 {
		return "none"
	}
	return "asked for: " + strings.Join(o.Compressors, ", ")
}
