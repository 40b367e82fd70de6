//go:build !unix

package rpc

// tryWrite leaves all to the connection's goroutine: here there is no write that
// does not wait.
func (c *Conn) tryWrite(uintptr) bool { return true }

// tryRead is never called.
func (c *Conn) tryRead(uintptr) bool { return true }

// readSome waits for bytes and reads them into b.
func (c *Conn) readSome(b []byte) (int, error) { return c.socket.Read(b) }
