package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/redis/rueidis"

	"pianola/bindings"
	"pianola/traces"
)

// scanChunk is the number of records that a SCAN reads in one round trip.
const scanChunk = 1000

// session runs one operation at a time on a shared connection or its own.
type session struct {
	binding *binding
	client  rueidis.Client
	// owns says that nobody else uses the client.
	owns bool
	// text holds the bytes of the operation that commands point into. The
	// runner's own may change while a command that was given up is still queued.
	text []byte
	// args and commands are used again.
	args     []string
	commands []rueidis.Completed
	// sent counts commands.
	sent atomic.Uint64
}

// Close closes a connection that is the session's own.
func (s *session) Close() error {
	if s.owns {
		s.client.Close()
	}
	return nil
}

func (s *session) Do(ctx context.Context, op *bindings.Op) error {
	if op.Deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, op.Deadline-s.binding.clock.Now())
		defer cancel()
	}
	if err := ctx.Err(); err != nil {
		return classed(err)
	}
	s.text = s.text[:0]
	err := s.do(ctx, op)
	if err != nil && err != bindings.ErrNotFound {
		// A command may be queued still: its bytes are left to it.
		s.text = nil
	}
	return classed(err)
}

func (s *session) do(ctx context.Context, op *bindings.Op) error {
	switch op.Kind {
	case traces.Read:
		return s.read(ctx, op, s.keep(op.Key))
	case traces.Scan:
		return s.scan(ctx, op)
	case traces.Insert:
		return s.insert(ctx, op)
	case traces.Update:
		return s.update(ctx, op, s.keep(op.Key))
	case traces.ReadModifyWrite:
		key := s.keep(op.Key)
		if err := s.read(ctx, op, key); err != nil {
			return err
		}
		op.ReadEnded = s.binding.clock.Now()
		return s.update(ctx, op, key)
	case traces.Delete:
		return s.remove(ctx, op)
	}
	return &bindings.Error{Class: bindings.Invalid, Err: fmt.Errorf("redis has no operation %v", op.Kind)}
}

// keep copies bytes to where commands may point as long as they need to.
func (s *session) keep(b []byte) string {
	if cap(s.text)-len(s.text) < len(b) {
		// Strings that were made before point into the old array.
		s.text = make([]byte, 0, max(2*cap(s.text), len(b), 1<<10))
	}
	start := len(s.text)
	s.text = append(s.text, b...)
	return rueidis.BinaryString(s.text[start:len(s.text):len(s.text)])
}

// send sends one command.
func (s *session) send(ctx context.Context, command rueidis.Completed) rueidis.RedisResult {
	s.sent.Add(1)
	return s.client.Do(ctx, command)
}

// readCommand is HGETALL or HMGET.
func (s *session) readCommand(key string, fields []string) rueidis.Completed {
	if len(fields) == 0 {
		return s.client.B().Hgetall().Key(key).Build()
	}
	return s.client.B().Hmget().Key(key).Field(fields...).Build()
}

func (s *session) read(ctx context.Context, op *bindings.Op, key string) error {
	answer, err := s.send(ctx, s.readCommand(key, op.Read)).ToMessage()
	if err != nil {
		return err
	}
	given, err := give(op, op.Key, &answer)
	if given || err != nil {
		return err
	}
	if len(op.Read) > 0 {
		n, err := s.send(ctx, s.client.B().Exists().Key(key).Build()).AsInt64()
		if err != nil {
			return err
		}
		if n > 0 {
			if op.Rows != nil {
				op.Rows.Row(op.Key)
			}
			return nil
		}
	}
	return bindings.ErrNotFound
}

// give hands the answer to HGETALL or HMGET to the operation's rows. It returns
// false, and gives nothing, if no field is there.
func give(op *bindings.Op, key []byte, answer *rueidis.RedisMessage) (bool, error) {
	values, err := answer.ToArray()
	if err != nil {
		return false, err
	}
	if len(op.Read) > 0 {
		return giveSome(op, key, values)
	}
	if len(values) == 0 || op.Rows == nil {
		return len(values) > 0, nil
	}
	op.Rows.Row(key)
	for i := 0; i+1 < len(values); i += 2 {
		name, err := values[i].ToString()
		if err != nil {
			return false, err
		}
		value, err := values[i+1].AsBytes()
		if err != nil {
			return false, err
		}
		op.Rows.Field(name, value)
	}
	return true, nil
}

// giveSome hands on the fields of HMGET that are there.
func giveSome(op *bindings.Op, key []byte, values []rueidis.RedisMessage) (bool, error) {
	if len(values) != len(op.Read) {
		return false, fmt.Errorf("HMGET of %d fields is answered with %d", len(op.Read), len(values))
	}
	given := false
	for i := range values {
		if values[i].IsNil() {
			continue
		}
		value, err := values[i].AsBytes()
		if err != nil {
			return false, err
		}
		if !given && op.Rows != nil {
			op.Rows.Row(key)
		}
		given = true
		if op.Rows != nil {
			op.Rows.Field(op.Read[i], value)
		}
	}
	return given, nil
}

// setCommand is HSET of the fields written.
func (s *session) setCommand(op *bindings.Op, key string) (rueidis.Completed, error) {
	if len(op.Write) == 0 {
		return rueidis.Completed{}, &bindings.Error{Class: bindings.Invalid, Err: errors.New("a record without fields can't be a hash")}
	}
	s.args = s.args[:0]
	for i := range op.Write {
		s.args = append(s.args, op.Write[i].Name, s.keep(op.Write[i].Value))
	}
	return s.client.B().Arbitrary("HSET").Keys(key).Args(s.args...).Build(), nil
}

// addCommand is ZADD of the key.
func (s *session) addCommand(op *bindings.Op, key string) rueidis.Completed {
	return s.client.B().Zadd().Key(index).ScoreMember().ScoreMember(float64(score(op.Key)), key).Build()
}

func (s *session) update(ctx context.Context, op *bindings.Op, key string) error {
	set, err := s.setCommand(op, key)
	if err != nil {
		return err
	}
	added, err := s.send(ctx, set).AsInt64()
	if err != nil || int(added) < len(op.Write) {
		return err
	}
	// Perhaps there was no record before.
	return s.send(ctx, s.addCommand(op, key)).Error()
}

func (s *session) insert(ctx context.Context, op *bindings.Op) error {
	key := s.keep(op.Key)
	set, err := s.setCommand(op, key)
	if err != nil {
		return err
	}
	_, err = s.both(ctx, set, s.addCommand(op, key))
	return err
}

func (s *session) remove(ctx context.Context, op *bindings.Op) error {
	key := s.keep(op.Key)
	removed, err := s.both(ctx, s.client.B().Del().Key(key).Build(), s.client.B().Zrem().Key(index).Member(key).Build())
	if err == nil && removed == 0 {
		return bindings.ErrNotFound
	}
	return err
}

// both runs two commands in one round trip and returns the first one's answer;
// together, but for a cluster, where they may be of two nodes.
func (s *session) both(ctx context.Context, first, second rueidis.Completed) (int64, error) {
	s.commands = s.commands[:0]
	if s.binding.settings.cluster {
		s.commands = append(s.commands, first, second)
	} else {
		b := s.client.B()
		s.commands = append(s.commands, b.Multi().Build(), first, second, s.client.B().Exec().Build())
	}
	s.sent.Add(uint64(len(s.commands)))
	answers := s.client.DoMulti(ctx, s.commands...)
	// An error inside comes before the EXECABORT that it causes.
	for i := range answers {
		if err := answers[i].Error(); err != nil {
			return 0, err
		}
	}
	if s.binding.settings.cluster {
		return answers[0].AsInt64()
	}
	done, err := answers[len(answers)-1].ToArray()
	if err != nil {
		return 0, err
	}
	if len(done) != 2 {
		return 0, fmt.Errorf("EXEC of 2 commands is answered with %d", len(done))
	}
	if err := done[1].Error(); err != nil {
		return 0, err
	}
	return done[0].AsInt64()
}

func (s *session) scan(ctx context.Context, op *bindings.Op) error {
	if op.ScanLength <= 0 {
		return nil
	}
	from := strconv.Itoa(int(score(op.Key)))
	list := s.client.B().Zrangebyscore().Key(index).Min(from).Max("+inf").Limit(0, int64(op.ScanLength)).Build()
	keys, err := s.send(ctx, list).ToArray()
	for err == nil && len(keys) > 0 {
		n := min(len(keys), scanChunk)
		err = s.readAll(ctx, op, keys[:n])
		keys = keys[n:]
	}
	return err
}

// readAll reads the records of the keys in one round trip.
func (s *session) readAll(ctx context.Context, op *bindings.Op, keys []rueidis.RedisMessage) error {
	s.commands = s.commands[:0]
	for i := range keys {
		key, err := keys[i].ToString()
		if err != nil {
			return err
		}
		s.commands = append(s.commands, s.readCommand(key, op.Read))
	}
	s.sent.Add(uint64(len(keys)))
	for i, answer := range s.client.DoMulti(ctx, s.commands...) {
		message, err := answer.ToMessage()
		if err != nil {
			return err
		}
		key, err := keys[i].AsBytes()
		if err != nil {
			return err
		}
		if _, err := give(op, key, &message); err != nil {
			return err
		}
	}
	return nil
}
