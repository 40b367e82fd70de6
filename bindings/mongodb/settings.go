package mongodb

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"pianola/bindings"
)

// passwordVariable is the environment variable that may hold the password.
const passwordVariable = "PIANOLA_MONGODB_PASSWORD"

const (
	// defaultDatabase is used where the URL names none, or admin, as in YCSB.
	defaultDatabase = "ycsb"
	// defaultSelection is how long an operation waits for a server to be up.
	defaultSelection = 5 * time.Second
	// defaultConnect bounds the opening of a connection: it is shorter than the
	// above, so that the reason is known when that ends.
	defaultConnect = 4 * time.Second
	// defaultConnecting is how many connections are opened at a time.
	defaultConnecting = 8
)

var properties = []bindings.Property{
	{Name: "mongodb.url", Default: "mongodb://127.0.0.1:27017/ycsb?w=1", Help: `Servers, database and options, as the client takes them: w, journal,
readPreference, readConcernLevel, replicaSet, directConnection, maxPoolSize,
tls, tlsCAFile, ... A user may be in it, a password may not. Without a database,
or with admin, the database is ycsb. Without w the server's default holds.`},
	{Name: "mongodb.upsert", Default: "false", Help: `true: INSERT replaces a document that exists. false: that is a duplicate.`},
	{Name: "mongodb.password-file", Help: `File whose first line is the password of the user in mongodb.url; the
environment variable PIANOLA_MONGODB_PASSWORD may hold it instead.`},
}

// settings are the properties, read.
type settings struct {
	// url is mongodb.url; it has no password.
	url urlParts
	// database is the name of the one that holds the table.
	database string
	upsert   bool
	// password of the user in the URL.
	password string
}

// urlParts are the parts of scheme://[user@]hosts[/path][?options].
type urlParts struct {
	scheme, user, hosts, path, options string
	// hasUser tells an empty user from none.
	hasUser bool
}

const passwordHint = "the password comes from " + passwordVariable + " or mongodb.password-file"

// errSecretURL does not show the URL: it is printed.
var errSecretURL = errors.New("property mongodb.url holds a secret, which would be printed with it\n" +
	"leave the password out of it, and set " + passwordVariable + " or mongodb.password-file")

// secretOptions are options of the URL with a secret in them.
var secretOptions = []string{"tlscertificatekeyfilepassword", "sslclientcertificatekeypassword", "authmechanismproperties", "proxypassword"}

func parseSettings(p bindings.Properties) (settings, error) {
	var s settings
	var err error
	if s.url, err = parseURL(p); err != nil {
		return settings{}, err
	}
	if s.url.hasUser && s.url.byPassword() {
		if s.password, err = p.Secret("", "mongodb.password-file", passwordVariable); err != nil {
			return settings{}, err
		}
		if s.password == "" {
			return settings{}, fmt.Errorf("%w\n%s", p.Unfit("mongodb.url", "without a user, and there is no password"), passwordHint)
		}
	}
	if s.upsert, err = p.Bool("mongodb.upsert"); err != nil {
		return settings{}, err
	}
	s.database, err = url.PathUnescape(s.url.path)
	if err != nil || strings.ContainsAny(s.database, "/\\. \"$\x00") {
		return settings{}, p.Unfit("mongodb.url", "a URL with a database name that MongoDB takes: one without / \\ . \" $ and blanks")
	}
	if s.database == "" || s.database == "admin" {
		s.database = defaultDatabase
	}
	if s.url.scheme == "mongodb+srv" {
		return s, nil // to read more of it, names have to be looked up
	}
	if err := options.Client().ApplyURI(s.secretURL()).Validate(); err != nil {
		return settings{}, fmt.Errorf("%w\n%v", p.Unfit("mongodb.url", "what the client takes"), err)
	}
	return s, nil
}

func parseURL(p bindings.Properties) (urlParts, error) {
	var u urlParts
	scheme, rest, found := strings.Cut(p["mongodb.url"], "://")
	if !found || scheme != "mongodb" && scheme != "mongodb+srv" {
		// A password may be in what was forgotten to begin with the scheme.
		if strings.Contains(p["mongodb.url"], "@") {
			return u, errors.New("property mongodb.url does not begin with mongodb:// or mongodb+srv://")
		}
		return u, p.Unfit("mongodb.url", "a URL that begins with mongodb:// or mongodb+srv://")
	}
	u.scheme = scheme
	rest, u.options, _ = strings.Cut(rest, "?")
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		u.user, rest, u.hasUser = rest[:at], rest[at+1:], true
		if strings.Contains(u.user, ":") {
			return urlParts{}, errSecretURL
		}
	}
	u.hosts, u.path, _ = strings.Cut(rest, "/")
	for _, name := range secretOptions {
		if u.option(name) != "" {
			return urlParts{}, errSecretURL
		}
	}
	return u, nil
}

// secretURL returns the URL that the client takes. It must not be printed.
func (s *settings) secretURL() string {
	u := &s.url
	var text strings.Builder
	text.WriteString(u.scheme + "://")
	if u.hasUser {
		text.WriteString(u.user)
		if s.password != "" {
			// A blank as + would be taken for a plus.
			text.WriteString(":" + strings.ReplaceAll(url.QueryEscape(s.password), "+", "%20"))
		}
		text.WriteString("@")
	}
	text.WriteString(u.hosts + "/" + u.path)
	if u.options != "" {
		text.WriteString("?" + u.options)
	}
	return text.String()
}

// byPassword reports whether the user has a password: the other ways to log in
// take a certificate, a ticket or a token.
func (u *urlParts) byPassword() bool {
	switch strings.ToUpper(u.option("authmechanism")) {
	case "", "SCRAM-SHA-1", "SCRAM-SHA-256", "PLAIN":
		return true
	}
	return false
}

// option returns the value of the first option with that name, in lower case.
func (u *urlParts) option(name string) string {
	for option := range strings.FieldsFuncSeq(u.options, func(r rune) bool { return r == '&' || r == ';' }) {
		if n, value, _ := strings.Cut(option, "="); strings.ToLower(n) == name {
			return value
		}
	}
	return ""
}

// clientOptions are the URL's, with a connection for each slot unless it says
// otherwise, and without anything that repeats an operation.
func (s *settings) clientOptions(slots int) (*options.ClientOptions, error) {
	o := options.Client().ApplyURI(s.secretURL())
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("read the URL of %s: %w", s.place(), err)
	}
	if o.MaxPoolSize == nil {
		o.SetMaxPoolSize(uint64(slots))
	}
	if o.MaxConnecting == nil {
		o.SetMaxConnecting(defaultConnecting)
	}
	if o.ServerSelectionTimeout == nil {
		o.SetServerSelectionTimeout(defaultSelection)
	}
	if o.ConnectTimeout == nil {
		o.SetConnectTimeout(defaultConnect)
	}
	if o.ReadPreference == nil {
		o.SetReadPreference(readpref.Primary())
	}
	if o.AppName == nil {
		o.SetAppName("pianola")
	}
	return o.SetRetryReads(false).SetRetryWrites(false).SetMaxAdaptiveRetries(0).SetEnableOverloadRetargeting(false), nil
}

// local reports whether one of the hosts is this machine.
func (s *settings) local() bool {
	for host := range strings.SplitSeq(s.url.hosts, ",") {
		// A path in place of a host is a socket of this machine.
		if strings.HasPrefix(strings.ToLower(host), "%2f") || bindings.IsLocal(host) {
			return true
		}
	}
	return false
}

// place tells people which servers are meant.
func (s *settings) place() string { return "mongodb at " + s.url.hosts }

// cannotConnect names the address and the cause; the client's own text for it
// is a description of all it knows.
func (s *settings) cannotConnect(err error) error {
	cause, hint := err, ""
	var selection topology.ServerSelectionError
	if errors.As(err, &selection) {
		for _, server := range selection.Desc.Servers {
			if server.LastError != nil {
				cause = server.LastError
				break
			}
		}
	}
	switch class := bindings.ClassOf(classed(err)); {
	case strings.Contains(err.Error(), "wire version"):
		hint = "\nthe oldest server that the client supports is MongoDB " + topology.MinSupportedMongoDBVersion
	case class == bindings.Unauthorised && s.url.hasUser:
		hint = "\n" + passwordHint
	}
	return fmt.Errorf("connect to %s: %w%s", s.place(), cause, hint)
}
