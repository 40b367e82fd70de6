package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"pianola/replay/measure"
)

// listMax is the greatest number of items of a list, far above what a run
// makes. It bounds the memory that a damaged file takes.
const listMax = 1 << 16

// Read reads a result file as written by the form "json", and nothing else:
// unknown, repeated or ill-typed fields, another schema version, figures that
// contradict each other and anything behind the document are errors that give
// name, position in bytes and field.
func Read(r io.Reader, name string) (*measure.Result, error) {
	d := decoder{json.NewDecoder(r)}
	result := new(measure.Result)
	err := d.value("", reflect.ValueOf(result).Elem())
	if err == nil {
		err = d.end()
	}
	if err == nil {
		err = check(result)
	}
	if err != nil {
		return nil, fmt.Errorf("read result %q: %w", name, err)
	}
	return result, nil
}

// decoder fills Go values from JSON, field by field, so that it knows where
// and in which field an error is.
type decoder struct{ *json.Decoder }

// fault says in which field an error is and behind which byte, and that a
// file ended too early.
func fault(path string, at int64, err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if path == "" {
		return fmt.Errorf("at byte %d: %w", at, err)
	}
	return fmt.Errorf("at byte %d: %s: %w", at, path, err)
}

// end makes sure that nothing follows.
func (d *decoder) end() error {
	_, err := d.Token()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil:
		err = errors.New("something follows the result")
	}
	return fault("", d.InputOffset(), err)
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// value reads the next value into v.
func (d *decoder) value(path string, v reflect.Value) error {
	if !v.Addr().Type().Implements(unmarshaler) {
		switch v.Kind() {
		case reflect.Struct:
			return d.object(path, v)
		case reflect.Slice:
			return d.list(path, v)
		}
	}
	at := d.InputOffset()
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return fault(path, at, err)
	}
	if string(raw) == "null" && v.Kind() != reflect.Pointer && v.Kind() != reflect.Map {
		return fault(path, at, errors.New("null where there must be a value"))
	}
	if err := json.Unmarshal(raw, v.Addr().Interface()); err != nil {
		return fault(path, at, err)
	}
	return nil
}

// object reads an object into a struct.
func (d *decoder) object(path string, v reflect.Value) error {
	if err := d.open(path, '{', "an object"); err != nil {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		name, err := d.name(path)
		if err != nil {
			return err
		}
		field, ok := fieldOf(v, name)
		switch {
		case !ok:
			return fault(path, d.InputOffset(), fmt.Errorf("unknown field %q", name))
		case seen[name]:
			return fault(path, d.InputOffset(), fmt.Errorf("field %q a second time", name))
		}
		seen[name] = true
		if err := d.value(join(path, name), field); err != nil {
			return err
		}
		if path == "" && name == schemaField && field.Int() != measure.SchemaVersion {
			return fmt.Errorf("schema version %d, this program knows version %d", field.Int(), measure.SchemaVersion)
		}
	}
	if _, err := d.Token(); err != nil {
		return fault(path, d.InputOffset(), err)
	}
	if path == "" && !seen[schemaField] {
		return errors.New("no schema version: this is no result file")
	}
	return nil
}

// schemaField is the field of a result that says how to read all others.
const schemaField = "schema"

// name reads the name of the next field.
func (d *decoder) name(path string) (string, error) {
	token, err := d.Token()
	if err != nil {
		return "", fault(path, d.InputOffset(), err)
	}
	name, ok := token.(string)
	if !ok {
		return "", fault(path, d.InputOffset(), fmt.Errorf("the name of a field expected, not %s", describe(token)))
	}
	return name, nil
}

// list reads a list into a slice, whose nil is null.
func (d *decoder) list(path string, v reflect.Value) error {
	token, err := d.Token()
	switch {
	case err != nil:
		return fault(path, d.InputOffset(), err)
	case token == nil:
		v.SetZero()
		return nil
	case token != json.Delim('['):
		return fault(path, d.InputOffset(), fmt.Errorf("a list expected, not %s", describe(token)))
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	for i := 0; d.More(); i++ {
		if i == listMax {
			return fault(path, d.InputOffset(), fmt.Errorf("more than %d items", listMax))
		}
		item := reflect.New(v.Type().Elem()).Elem()
		if err := d.value(fmt.Sprintf("%s[%d]", path, i), item); err != nil {
			return err
		}
		v.Set(reflect.Append(v, item))
	}
	if _, err := d.Token(); err != nil {
		return fault(path, d.InputOffset(), err)
	}
	return nil
}

// open reads the token that begins an object.
func (d *decoder) open(path string, want json.Delim, what string) error {
	token, err := d.Token()
	if err != nil {
		return fault(path, d.InputOffset(), err)
	}
	if token != want {
		return fault(path, d.InputOffset(), fmt.Errorf("%s expected, not %s", what, describe(token)))
	}
	return nil
}

// describe names the kind of a token.
func describe(token json.Token) string {
	switch t := token.(type) {
	case nil:
		return "null"
	case json.Delim:
		return t.String()
	case string:
		return fmt.Sprintf("text %.50q", t)
	}
	return fmt.Sprintf("%.50v", token)
}

// fieldOf returns the field of a struct with the given name in JSON.
func fieldOf(v reflect.Value, name string) (reflect.Value, bool) {
	for i := range v.NumField() {
		tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if tag == name {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// check makes sure of what reports rely on.
func check(r *measure.Result) error {
	for i := range r.Phases {
		for j := range r.Phases[i].Kinds {
			if err := checkKind(&r.Phases[i].Kinds[j]); err != nil {
				return fmt.Errorf("phases[%d].kinds[%d].%w", i, j, err)
			}
		}
		for j := range r.Phases[i].Intervals {
			for n, k := range r.Phases[i].Intervals[j].Kinds {
				if k.Response.Count() != k.Counts.Completed {
					return fmt.Errorf("phases[%d].intervals[%d].kinds[%d].response: of %d ops, but %d are completed",
						i, j, n, k.Response.Count(), k.Counts.Completed)
				}
			}
		}
	}
	return nil
}

func checkKind(k *measure.Kind) error {
	for _, h := range []struct {
		name string
		*measure.Histogram
	}{{"response", k.Response}, {"service", k.Service}, {"wait", k.Wait}, {"lag", k.Lag}} {
		if h.Histogram == nil {
			return fmt.Errorf("%s: missing", h.name)
		}
	}
	for i, part := range k.Parts {
		if part.Response == nil || part.Service == nil {
			return fmt.Errorf("parts[%d]: times missing", i)
		}
	}
	for i, f := range k.Failed {
		if f.Response == nil {
			return fmt.Errorf("failed_classes[%d].response: missing", i)
		}
	}
	c := &k.Counts
	if c.Offered != c.Decided() {
		return fmt.Errorf("counts: %d ops offered, but %d completed, failed, censored, dropped or unsent", c.Offered, c.Decided())
	}
	if k.Response.Count() != c.Completed {
		return fmt.Errorf("response: of %d ops, but %d are completed", k.Response.Count(), c.Completed)
	}
	return nil
}
