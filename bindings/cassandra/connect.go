package cassandra

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gocql/gocql"
)

// patience is how long Open may take: a person waits for it.
const patience = 10 * time.Second

// cluster returns what the driver connects with.
func (b *binding) cluster() *gocql.ClusterConfig {
	s := &b.settings
	c := gocql.NewCluster(s.hosts...)
	c.ProtoVersion = s.protocol
	c.NumConns = s.connections
	c.ConnectTimeout = s.connectTimeout
	c.Timeout = s.readTimeout
	c.WriteTimeout = s.readTimeout
	c.WriteCoalesceWaitTime = s.coalesce
	c.RetryPolicy = nil
	// More than there are statements, so that none is forgotten.
	c.MaxPreparedStmts = 1 << 16
	// One attempt at a time; nodes that are down are tried again each second.
	c.ReconnectionPolicy = &gocql.ConstantReconnectionPolicy{MaxRetries: 1, Interval: 100 * time.Millisecond}
	c.ReconnectInterval = time.Second
	// Nothing here depends on the schema once a run has begun.
	c.Events.DisableSchemaEvents = true
	c.PoolConfig.HostSelectionPolicy = b.nodes
	c.ConnectObserver = b.nodes
	c.FrameHeaderObserver = b.nodes
	c.StreamObserver = b.streams
	c.Logger = b.log
	if s.username != "" {
		// Any class of the server's that asks for a name and a password will do.
		c.Authenticator = login{gocql.PasswordAuthenticator{Username: s.username, Password: s.password}}
	}
	if s.tls != nil {
		c.SslOpts = &gocql.SslOptions{Config: s.tls, EnableHostVerification: true}
	}
	return c
}

// connect opens the driver's session. The driver knows no context here; a
// session that comes too late is closed.
func (b *binding) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	type opened struct {
		db  *gocql.Session
		err error
	}
	done := make(chan opened, 1)
	go func() {
		db, err := b.cluster().CreateSession()
		done <- opened{db, err}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			return b.cannotConnect(o.err)
		}
		b.db = o.db
	case <-ctx.Done():
		go func() {
			if o := <-done; o.err == nil {
				o.db.Close()
			}
		}()
		cause := ctx.Err()
		if message := b.log.last(); message != "" {
			cause = fmt.Errorf("%w: %s", cause, message)
		}
		return b.cannotConnect(cause)
	}
	if err := b.awaitConnections(ctx); err != nil {
		b.db.Close()
		return b.cannotConnect(err)
	}
	b.askServer(ctx)
	return nil
}

// awaitConnections waits until the pools of all nodes are full: the driver
// fills them in the background. Where a node refuses some it goes on without.
func (b *binding) awaitConnections(ctx context.Context) error {
	for ctx.Err() == nil {
		// One more looks after the cluster, and one has found the protocol out.
		want := len(b.nodes.up())*b.settings.connections + 1
		if b.settings.protocol == 0 {
			want++
		}
		opened, failed := b.nodes.connections()
		if opened+failed >= want {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return ctx.Err()
}

// driverPrefixes are what the driver puts before the cause.
var driverPrefixes = []string{
	"gocql: unable to create session: ", "unable to discover protocol version: ", "unable to connect to initial hosts: ",
	"control: ", "gocql: ",
}

// cannotConnect names the address and the cause, which the driver gives as text
// alone.
func (b *binding) cannotConnect(err error) error {
	text := err.Error()
	for _, prefix := range driverPrefixes {
		text = strings.TrimPrefix(text, prefix)
	}
	hint := ""
	switch {
	case strings.Contains(text, "authentication required"):
		hint = "\nset cassandra.username, and " + passwordVariable + " or cassandra.password-file"
	case strings.Contains(text, "x509: certificate signed by unknown authority"):
		hint = "\nset cassandra.tls-ca to a file with the authority's certificate"
	case b.settings.tls == nil && (strings.Contains(text, "EOF") || strings.Contains(text, "connection reset")):
		hint = "\nif it talks TLS alone, set cassandra.useSSL=true"
	case b.settings.tls != nil && strings.Contains(text, "first record does not look like a TLS handshake"):
		hint = "\nit does not talk TLS there: set cassandra.useSSL=false"
	}
	return fmt.Errorf("connect to %s: %s%s", b.settings.address(), strings.Join(strings.Fields(text), " "), hint)
}

// login is the driver's, for any authenticator of the server.
type login struct{ gocql.PasswordAuthenticator }

// Challenge gives name and password to whichever class asks for them: forks
// and hosted services have their own.
func (l login) Challenge([]byte) ([]byte, gocql.Authenticator, error) {
	return []byte("\x00" + l.Username + "\x00" + l.Password), nil, nil
}

// log takes what the driver would print.
type log struct {
	mu       sync.Mutex
	messages uint64
	newest   string
}

var _ gocql.StdLogger = (*log)(nil)

func (l *log) Print(v ...any)                 { l.take(fmt.Sprint(v...)) }
func (l *log) Printf(format string, v ...any) { l.take(fmt.Sprintf(format, v...)) }
func (l *log) Println(v ...any)               { l.take(fmt.Sprintln(v...)) }

func (l *log) take(message string) {
	message = strings.Join(strings.Fields(message), " ")
	l.mu.Lock()
	defer l.mu.Unlock()
	l.messages++
	l.newest = message
}

func (l *log) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.newest
}

func (l *log) count() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.messages
}
