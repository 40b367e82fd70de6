package tracegen

import (
	"maps"
	"slices"
	"strings"

	"pianola/traces"
)

// coreWorkload lists every spelling of the one workload class there is: of
// YCSB, of YCSB before 0.17, and of go-ycsb.
var coreWorkload = []string{
	"site.ycsb.workloads.CoreWorkload",
	"com.yahoo.ycsb.workloads.CoreWorkload",
	"core",
	"CoreWorkload",
}

// otherClasses are YCSB's further workload classes, without their packages.
var otherClasses = []string{"TimeSeriesWorkload", "RestWorkload", "ConstantOccupancyWorkload"}

// sortOut decides for each name that was given what becomes of it. Values that
// make the trace are read later.
func (r *specReader) sortOut() {
	otherWorkload := r.workloadClass()
	var client, stores []givenProperty
	for _, g := range r.inOrder() {
		use, instead, advice, ok := useOf(g.Name)
		switch {
		case !ok:
			r.failWith(g, "unknown property"+instead, advice)
			continue
		case use == otherClass:
			if !otherWorkload {
				r.fail(g, "a property of another workload class, known is CoreWorkload alone")
			}
			continue
		case use == used || use == notYet || use == unused:
			continue
		}
		secret := isSecret(g.Name, g.Value)
		if !secret && placeholderIn.MatchString(g.Value) {
			r.fail(g, "%s", unexpanded)
			continue
		}
		switch use {
		case hint:
			r.hint(g, secret)
		case noted:
			client = append(client, g)
		case otherStore:
			stores = append(stores, g)
		}
	}
	r.noteTogether(client, "no part of a trace, ignored")
	r.noteTogether(stores, "of a store that is not driven, ignored")
}

// inOrder returns what was given in the order of messages.
func (r *specReader) inOrder() []givenProperty {
	return slices.SortedFunc(maps.Values(r.given), func(a, b givenProperty) int { return a.at.compare(b.at) })
}

// hint keeps a property of the client or of a binding for the header.
func (r *specReader) hint(g givenProperty, secret bool) {
	switch {
	case secret:
		r.note(g, "a secret, left out of the trace")
		return
	case g.Name == "threadcount":
		n, ok := r.whole(g, 1, maxThreads)
		if !ok {
			return
		}
		g.Value = strings.TrimSpace(g.Value)
		if n > 1 {
			r.note(g, "kept as a hint: an open loop has no threads")
		}
	}
	at, _ := slices.BinarySearchFunc(r.hints, g.Name, func(h traces.Hint, name string) int { return strings.Compare(h.Name, name) })
	r.hints = slices.Insert(r.hints, at, traces.Hint{Name: g.Name, Value: g.Value})
}

// maxThreads is the greatest number that YCSB reads as threadcount.
const maxThreads = 1<<31 - 1

// noteTogether makes one note of properties that share a fate.
func (r *specReader) noteTogether(all []givenProperty, fate string) {
	if len(all) == 0 {
		return
	}
	names := make([]string, len(all))
	for i, g := range all {
		names[i] = g.Name
	}
	first := all[0]
	first.Name = strings.Join(names, ", ")
	r.note(first, fate)
}

// workloadClass checks the property workload. It reports whether another class
// of YCSB was asked for, which is an error.
func (r *specReader) workloadClass() (other bool) {
	g := r.get("workload")
	if !g.isGiven() {
		r.noteAll("no workload given: CoreWorkload is assumed")
		return false
	}
	class, ok := r.scalar(g, "the name of a workload class")
	if !ok || slices.Contains(coreWorkload, class) {
		return false
	}
	short := class[strings.LastIndexByte(class, '.')+1:]
	if slices.Contains(otherClasses, short) {
		r.fail(g, "%s is not supported, known is CoreWorkload alone", short)
		return true
	}
	r.failWith(g, "unknown workload class, known is "+coreWorkload[0],
		"a ready spec or a file is chosen with -w, the class with workload="+coreWorkload[0])
	return false
}
