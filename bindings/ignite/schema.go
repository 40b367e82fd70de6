package ignite

import (
	"fmt"
	"slices"

	"pianola/bindings/ignite/thin"
)

// learn asks for the fields that an object was written with: another client, or
// the server itself, may write them in another order or leave some out. What was
// not read yet of the answer is kept meanwhile.
func (w *work) learn(a *thin.Answer, rest []byte, o *thin.Object) {
	if w.kept != nil {
		w.done(classed(fmt.Errorf("an object of type %d has the list of fields %d, which the cluster doesn't know", o.TypeID(), o.SchemaID())))
		return
	}
	w.kept, w.resume, w.step = slices.Clone(rest), w.step, learning
	w.body = thin.AppendTypeID(w.body[:0], o.TypeID())
	a.Next(thin.OpType, w.body, w.deadline, w)
}

// learned goes on with the answer that was kept.
func (w *work) learned(a *thin.Answer) {
	info, err := thin.ReadTypeInfo(&a.Decoder)
	if err != nil {
		w.done(classed(err))
		return
	}
	w.binding.layout.learn(info)
	w.step = w.resume
	kept := w.kept
	d := thin.NewDecoder(kept)
	switch w.step {
	case scanning, paging:
		w.rows(a, &d)
	default:
		w.record(a, &d)
	}
}
