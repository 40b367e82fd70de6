package report

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"pianola/replay/measure"
)

// compiled returns the schema, checked against the schema of schemas.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.AssertContent()
	if err := c.AddResource("result.schema.json", document); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("result.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(document)
}

func TestResultFilesFollowTheSchema(t *testing.T) {
	s := compiled(t)
	files, err := filepath.Glob(filepath.Join("testdata", "*.json"))
	if err != nil || len(files) < len(results()) {
		t.Fatalf("%d golden files, %v", len(files), err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, s, string(text)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	all := results()
	all["ramp"], all["recorded"] = ramp(), recorded(t, 2)
	for name, r := range all {
		if err := validate(t, s, render(t, "json", r)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheSchemaRefuses(t *testing.T) {
	s := compiled(t)
	good := render(t, "json", single())
	for _, c := range []struct{ old, new, want string }{
		{`"tool"`, `"tools"`, "tools"},
		{`"tool": "1.2.3",`, ``, "missing property 'tool'"},
		{`"schema": 1`, `"schema": 2`, "value must be 1"},
		{`"slots": 1024`, `"slots": "1024"`, "got string, want integer"},
		{`"slots": 1024`, `"slots": 1.5`, "got number, want integer"},
		{`"records": 1000`, `"records": -1`, "minimum"},
		{`"place": "remote"`, `"place": "far"`, "one of"},
		{`"word": "valid"`, `"word": "fine"`, "one of"},
		{`"digest": "01`, `"digest": "0x`, "does not match pattern"},
		{`"hdr": "HISTF`, `"hdr": "*`, "base64"},
		{`2026-03-04T`, `2026-13-04T`, "date-time"},
		{`"length_ns": 460000`, `"length_ns": null`, "got null, want integer"},
	} {
		bad := strings.Replace(good, c.old, c.new, 1)
		if bad == good {
			t.Fatalf("no %s in %s", c.old, good)
		}
		if err := validate(t, s, bad); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: error %v, want it to hold %q", c.new, c.old, err, c.want)
		}
	}
}

// object is what the schema says of an object.
type object struct {
	Properties map[string]struct {
		Ref   string `json:"$ref"`
		Items struct {
			Ref string `json:"$ref"`
		}
	}
	Required             []string
	AdditionalProperties any
}

// The schema knows each field of each type of a result and no other, and
// requires those that are always written.
func TestTheSchemaHasEveryField(t *testing.T) {
	var root struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(Schema()), &root); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	var compare func(name string, o object, fields []reflect.StructField)
	compare = func(name string, o object, fields []reflect.StructField) {
		if o.AdditionalProperties != false {
			t.Errorf("%s: takes other properties", name)
		}
		var names, required []string
		for _, field := range fields {
			tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			names = append(names, tag)
			if options == "" {
				required = append(required, tag)
			}
			property := o.Properties[tag]
			inner, nested := structOf(field.Type)
			if !nested {
				continue
			}
			def := strings.TrimPrefix(property.Ref+property.Items.Ref, "#/$defs/")
			if def == "" {
				t.Errorf("%s.%s: no reference to what it is", name, tag)
			} else if !used[def] {
				used[def] = true
				compare(def, root.Defs[def], inner)
			}
		}
		slices.Sort(names)
		slices.Sort(required)
		slices.Sort(o.Required)
		if got := slices.Sorted(maps.Keys(o.Properties)); !slices.Equal(got, names) {
			t.Errorf("%s: the schema has %q, the type %q", name, got, names)
		}
		if !slices.Equal(o.Required, required) {
			t.Errorf("%s: the schema requires %q, always written are %q", name, o.Required, required)
		}
	}
	compare("result", root.object, reflect.VisibleFields(reflect.TypeFor[measure.Result]()))
	for _, scalar := range []string{"nanoseconds", "count"} {
		used[scalar] = true
	}
	for name := range root.Defs {
		if !used[name] {
			t.Errorf("the schema defines %q, which no type uses", name)
		}
	}
}

// structOf returns the fields of a type that is an object in a result file, or
// a list of such objects.
func structOf(of reflect.Type) ([]reflect.StructField, bool) {
	for of.Kind() == reflect.Slice || of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch {
	case of == reflect.TypeFor[measure.Histogram]():
		return histogramFields(), true
	case of.Kind() != reflect.Struct || of == reflect.TypeFor[time.Time]():
		return nil, false
	}
	return reflect.VisibleFields(of), true
}

// histogramFields are those of a histogram, which writes itself: those of one
// with values, and of them optional what an empty one lacks.
func histogramFields() []reflect.StructField {
	some := measure.NewHistogram()
	some.Record(1)
	full, empty := keys(some), keys(measure.NewHistogram())
	var out []reflect.StructField
	for _, name := range full {
		tag := name
		if !slices.Contains(empty, name) {
			tag += ",omitempty"
		}
		out = append(out, reflect.StructField{Name: name, Type: reflect.TypeFor[int](), Tag: reflect.StructTag(`json:"` + tag + `"`)})
	}
	return out
}

func keys(h *measure.Histogram) []string {
	text, err := json.Marshal(h)
	if err != nil {
		panic(err)
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		panic(err)
	}
	return slices.Sorted(maps.Keys(object))
}
