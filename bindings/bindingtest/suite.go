// Package bindingtest is the suite that every binding passes. A binding's test
// hands Run a function that returns it on an empty database, and says what the
// database cannot do; everything else is demanded. A limit is no excuse either:
// where one is stated, the suite demands what the limit says.
//
// A Pipeliner passes twice, through its sessions and through its pipeline.
package bindingtest

import (
	"slices"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/traces"
)

// Limits says what a database cannot do. The zero value is one without limits.
type Limits struct {
	// Forgets: nothing is stored, and every operation is answered with success.
	Forgets bool
	// Lacks lists the kinds of operations that are refused as invalid. READ and
	// INSERT are not among them: without them nothing can be tested.
	Lacks []traces.Kind
	// Unordered: a SCAN goes on in another order than that of the keys' bytes.
	// It still begins at its key, and gives no record twice.
	Unordered bool
	// BlindInsert: an INSERT takes the place of a record that exists, and
	// can't tell.
	BlindInsert bool
	// BlindUpdate: an UPDATE creates a record that doesn't exist, with the
	// fields it writes, and can't tell.
	BlindUpdate bool
	// BlindDelete: a DELETE of a record that doesn't exist succeeds.
	BlindDelete bool
	// SparseScans: a SCAN of named fields passes by records that have none of
	// them.
	SparseScans bool
	// DeleteLingers is for how long a DELETE takes with it what is written to its
	// key afterwards.
	DeleteLingers time.Duration
	// Conflicts: operations on one key at a time may be given up as a conflict,
	// class other; none is carried out by half.
	Conflicts bool
	// WholeUpdates: an UPDATE and a READMODIFYWRITE read the record and write it
	// back whole, so that one of two at a time on a record may be undone.
	WholeUpdates bool
	// TextOnly: values are text, not any bytes.
	TextOnly bool
	// MaxValueBytes bounds a value and MaxFields the fields of a record, if
	// they are not 0.
	MaxValueBytes, MaxFields int
}

func (l *Limits) can(k traces.Kind) bool { return !slices.Contains(l.Lacks, k) }

// Run runs the suite. Each call of open returns a binding that was made but not
// opened, on a database of its own that is empty when it is opened; what has to
// be cleaned up behind it is up to open.
func Run(t *testing.T, open func(t *testing.T) bindings.Binding, limits Limits) {
	forms := []string{"sessions"}
	if _, ok := open(t).(bindings.Pipeliner); ok {
		forms = append(forms, "pipeline")
	}
	for _, form := range forms {
		s := &suite{open: open, limits: limits, pipeline: form == "pipeline"}
		t.Run(form, func(t *testing.T) {
			for _, part := range parts {
				if limits.Forgets == part.forgetful || part.always {
					t.Run(part.name, func(t *testing.T) { part.test(t, s) })
				}
			}
		})
	}
}

// suite is one pass over the parts.
type suite struct {
	open     func(t *testing.T) bindings.Binding
	limits   Limits
	pipeline bool
}

var parts = []struct {
	name string
	test func(t *testing.T, s *suite)
	// forgetful parts are for databases that store nothing, the others for
	// those that store, always ones for both.
	forgetful, always bool
}{
	{name: "answers", test: testAnswers, forgetful: true},
	{name: "facts", test: testFacts, always: true},
	{name: "sessions close apart", test: testSessionsCloseApart, always: true},
	{name: "cancel", test: testCancel, always: true},
	{name: "crowd", test: testCrowd, always: true},

	{name: "unknown kinds", test: testUnknownKinds},
	{name: "insert and read", test: testInsertAndRead},
	{name: "update", test: testUpdate},
	{name: "read-modify-write", test: testReadModifyWrite},
	{name: "delete", test: testDelete},
	{name: "not found", test: testNotFound},
	{name: "duplicate", test: testDuplicate},
	{name: "scan", test: testScan},
	{name: "scan fields", test: testScanFields},
	{name: "value sizes", test: testValueSizes},
	{name: "every byte", test: testEveryByte},
	{name: "many fields", test: testManyFields},
	{name: "unicode keys", test: testUnicodeKeys},
	{name: "count", test: testCount},
	{name: "schema twice", test: testSchemaTwice},
	{name: "drop", test: testDrop},
	{name: "each sees the other", test: testEachSeesTheOther},
	{name: "cancelled write", test: testCancelledWrite},
	{name: "no update is lost", test: testNoUpdateIsLost},
	{name: "one insert wins", test: testOneInsertWins},
	{name: "records stay whole", test: testRecordsStayWhole},
	{name: "random sequence", test: testRandomSequence},
}
