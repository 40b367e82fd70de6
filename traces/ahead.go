package traces

import (
	"io"
	"sync"
)

// DecodeAhead makes n goroutines decode a file's blocks before NextBlock asks
// for them, up to 2·n of them at a time. A stream is decoded as it comes. It is
// called before anything is read; 0 ends what a call before it began.
func (r *Reader) DecodeAhead(n int) {
	r.stopAhead()
	r.aheadOf = n
}

// ahead decodes the blocks of a file in parallel and gives them in order.
type ahead struct {
	// delivered is the index of the next block to be given.
	delivered int
	// jobs come in order.
	jobs chan *job
	free chan *job
	stop chan struct{}
	all  sync.WaitGroup
}

// job is one block on its way.
type job struct {
	k      int
	entry  *blockEntry
	size   frameSize
	frame  []byte
	field  []byte
	block  Block
	counts [KindLimit]int
	hash   *chunkHash
	hashed bool
	err    error
	// turn is closed once all blocks before have passed the sight, passed once
	// this one has.
	turn, passed chan struct{}
	done         chan struct{}
}

func newAhead(r *Reader, f *fileSource) *ahead {
	n := r.aheadOf
	a := &ahead{delivered: f.next, jobs: make(chan *job, 2*n), free: make(chan *job, 2*n), stop: make(chan struct{})}
	for range 2 * n {
		a.free <- &job{hash: newChunkHash()}
	}
	work := make(chan *job, 2*n)
	for range n {
		w := &aheadWorker{reader: r, codec: newBlockCodec(r.header), decoder: newDecoder(blockBytesMax)}
		a.all.Go(func() {
			for j := range work {
				w.run(j)
				close(j.done)
			}
		})
	}
	a.all.Go(func() {
		defer close(work)
		defer close(a.jobs)
		a.read(r, f, work)
	})
	return a
}

// read reads frames in order and hands them out.
func (a *ahead) read(r *Reader, f *fileSource, work chan<- *job) {
	turn := make(chan struct{})
	close(turn)
	for k := f.next; k < len(r.footer.blocks); k++ {
		var j *job
		select {
		case j = <-a.free:
		case <-a.stop:
			return
		}
		j.k, j.entry, j.size, j.err, j.hashed = k, &r.footer.blocks[k], f.frames[k+1], nil, false
		j.turn, j.passed, j.done = turn, make(chan struct{}), make(chan struct{})
		turn = j.passed
		j.frame = sized(j.frame, int(j.entry.size))
		j.err = f.readAt(j.frame, j.entry.offset)
		// Both have room for every job.
		work <- j
		a.jobs <- j
	}
}

type aheadWorker struct {
	reader  *Reader
	codec   *blockCodec
	decoder decoder
	checker frameChecker
}

// run decodes a block. It passes the turn on whatever happens; behind an error
// nothing is delivered.
func (w *aheadWorker) run(j *job) {
	var o *opened
	if j.err == nil {
		j.field, j.err = decompressBlock(&w.checker, w.decoder, j.frame, j.field, j.entry, j.size)
	}
	if j.err == nil {
		o, j.err = w.codec.open(j.field, &j.block)
	}
	<-j.turn
	if j.err == nil {
		j.block.Seen, j.err = w.reader.sight.take(&j.block, &o.counts, j.block.Seen)
	}
	close(j.passed)
	if j.err == nil {
		j.counts = o.counts
		j.err = w.codec.finish(o, &j.block, j.block.PhaseFirst, j.block.Seen)
	}
	if j.err == nil && !w.reader.tally.undigested && j.block.PhaseFirst%BlockOps == 0 {
		j.hashed = true
		j.hash.reset()
		j.hash.add(&j.block, w.reader.header.Phases[j.block.Phase].Paced, 0, j.block.Len())
	}
}

// next gives the next block. It exchanges memory with b.
func (a *ahead) next(r *Reader, b *Block) (place, error) {
	j, ok := <-a.jobs
	if !ok {
		f := r.source.(*fileSource)
		return place{f.footerOffset(), -1}, io.EOF
	}
	<-j.done
	where := place{j.entry.offset, j.k}
	if j.err != nil {
		return where, j.err
	}
	*b, j.block = j.block, *b
	hash := j.hash
	if !j.hashed {
		hash = nil
	}
	free, err := r.tally.add(b, &j.counts, hash)
	if free != nil {
		j.hash = free
	}
	if err == nil {
		err = checkStart(startOf(b), j.entry.blockStart)
	}
	a.delivered = j.k + 1
	a.free <- j
	return where, err
}

// stopAhead ends the decoding ahead; the file goes on at the next block.
func (r *Reader) stopAhead() {
	if r.ahead == nil {
		return
	}
	close(r.ahead.stop)
	r.ahead.all.Wait()
	r.source.(*fileSource).next = r.ahead.delivered
	r.ahead = nil
}
