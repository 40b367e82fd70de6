package postgresql

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"pianola/bindings"
)

const passwordVariable = "PIANOLA_POSTGRESQL_PASSWORD"

var properties = []bindings.Property{
	{Name: "db.url", Default: "postgresql://127.0.0.1:5432/postgres", Help: `Address and database; jdbc: may stand before it. Parameters behind a question
mark are settings of the session, such as synchronous_commit=off.`},
	{Name: "db.user", Default: "postgres", Help: "User name."},
	{Name: "db.passwd", Secret: true, Help: `Password. Others can see it on the command line, so better is a file or the
environment variable ` + passwordVariable + `.`},
	{Name: "postgresql.password-file", Help: "File whose first line is the password."},
	{Name: "postgresql.tls", Default: "false", Help: "true: TLS, and the server's certificate is verified."},
	{Name: "postgresql.tls-ca", Help: `File with the certificates of the authorities that are trusted, in PEM; the
default is those of this machine.`},
	{Name: "postgresql.isolation", Help: `Isolation of each transaction: read-committed, repeatable-read or serializable;
the default is the server's.`},
	{Name: "postgresql.load", Default: "insert", Help: `How phase load writes its records: insert, or copy, which puts those that wait
at the same moment into one COPY.`},
	{Name: "postgresql.columns", Default: "text", Help: `Type of the fields in a table that is created: text, as YCSB's, which takes no
zero byte; or bytes (bytea).`},
}

// settings are the properties, read.
type settings struct {
	config *pgconn.Config
	// columns is the type of the columns of fields.
	columns string
	// copyLoad has phase load use COPY.
	copyLoad bool
}

// address returns host:port.
func (s *settings) address() string {
	return net.JoinHostPort(s.config.Host, strconv.Itoa(int(s.config.Port)))
}

var isolations = map[string]string{
	"read-committed": "read committed", "repeatable-read": "repeatable read", "serializable": "serializable",
}

func parseSettings(p bindings.Properties) (settings, error) {
	var s settings
	u, err := parseURL(p)
	if err != nil {
		return settings{}, err
	}
	if s.config, err = pgconn.ParseConfig(u.String()); err != nil {
		return settings{}, fmt.Errorf("property db.url: %w", err)
	}
	s.config.User = p["db.user"]
	password, err := p.Secret("db.passwd", "postgresql.password-file", passwordVariable)
	if err != nil {
		return settings{}, err
	}
	if password != "" {
		s.config.Password = password
	}
	s.config.RuntimeParams["application_name"] = "pianola"
	if p["postgresql.isolation"] != "" {
		word, err := p.Word("postgresql.isolation", "read-committed", "repeatable-read", "serializable")
		if err != nil {
			return settings{}, err
		}
		s.config.RuntimeParams["default_transaction_isolation"] = isolations[word]
	}
	word, err := p.Word("postgresql.columns", "text", "bytes")
	if err != nil {
		return settings{}, err
	}
	load, err := p.Word("postgresql.load", "insert", "copy")
	if err != nil {
		return settings{}, err
	}
	s.copyLoad = load == "copy"
	s.columns = map[string]string{"text": "text", "bytes": "bytea"}[word]
	return s, nil
}

// parseURL returns what the client takes: of db.url, with the way to connect
// added, so that no variable of the environment decides it.
func parseURL(p bindings.Properties) (*url.URL, error) {
	const form = "of the form postgresql://host:port/database?name=value"
	u, err := url.Parse(strings.TrimPrefix(p["db.url"], "jdbc:"))
	if err != nil {
		// The client's error shows the text, which may hold a password.
		return nil, fmt.Errorf("property db.url is not %s", form)
	}
	_, password := u.User.Password()
	q := u.Query()
	switch {
	case password || q.Has("password"):
		return nil, fmt.Errorf("property db.url holds a password\ngive it by %s or postgresql.password-file", passwordVariable)
	case u.User != nil || q.Has("user"):
		return nil, fmt.Errorf("property db.url holds a user\ngive it by db.user")
	case u.Scheme != "postgresql" && u.Scheme != "postgres", u.Hostname() == "", strings.Trim(u.Path, "/") == "":
		return nil, p.Unfit("db.url", form)
	case strings.Contains(u.Host, ","):
		return nil, p.Unfit("db.url", "the address of one server")
	case p["db.user"] == "":
		return nil, p.Unfit("db.user", "a user name")
	}
	on, err := p.Bool("postgresql.tls")
	if err != nil {
		return nil, err
	}
	authority := p["postgresql.tls-ca"]
	switch {
	case q.Has("sslmode") || q.Has("sslrootcert"):
		return nil, p.Unfit("db.url", "without sslmode, for which there is postgresql.tls")
	case !on && authority != "":
		return nil, p.Unfit("postgresql.tls", "true, which postgresql.tls-ca needs")
	case !on:
		q.Set("sslmode", "disable")
	default:
		q.Set("sslmode", "verify-full")
	}
	if authority != "" {
		q.Set("sslrootcert", authority)
	}
	if u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), "5432")
	}
	u.RawQuery = q.Encode()
	return u, nil
}
