package cassandra

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	// countRanges is the number of parts of the ring that are counted, countWorkers
	// of them at a time.
	countRanges  = 64
	countWorkers = 8
	// countPage is the number of keys in an answer: so few that no answer takes
	// as long as a server's own timeout.
	countPage = 5000
)

// Count counts the keys in the table, page by page. It is exact where nothing
// is written meanwhile, and takes time in proportion.
func (b *binding) Count(ctx context.Context) (uint64, error) {
	found, err := b.findTable(ctx)
	if err != nil || found == nil {
		return 0, err
	}
	partition := columnNames(found.PartitionKey)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var n atomic.Uint64
	var failed atomic.Pointer[error]
	parts := make(chan string)
	var all sync.WaitGroup
	for range countWorkers {
		all.Go(func() {
			for part := range parts {
				if err := b.countPart(ctx, part, &n); err != nil && failed.CompareAndSwap(nil, &err) {
					cancel()
				}
			}
		})
	}
	for _, part := range b.ringParts(partition) {
		parts <- part
	}
	close(parts)
	all.Wait()
	if err := failed.Load(); err != nil {
		return 0, fmt.Errorf("count the records of %s: %w", b.statements.table, classed(*err))
	}
	return n.Load(), nil
}

// ringParts returns conditions that each record of the table meets one of.
func (b *binding) ringParts(partition string) []string {
	if !strings.HasSuffix(b.server.partitioner, "Murmur3Partitioner") {
		return []string{""}
	}
	parts := make([]string, countRanges)
	const width = 1 << 64 / countRanges
	for i := range parts {
		first := int64(math.MinInt64 + int64(i)*width)
		parts[i] = fmt.Sprintf(" WHERE token(%s) >= %d AND token(%s) <= %d", partition, first, partition, first+(width-1))
	}
	return parts
}

func (b *binding) countPart(ctx context.Context, part string, n *atomic.Uint64) error {
	text := fmt.Sprintf("SELECT %s FROM %s%s", keyColumn, b.statements.table, part)
	var page []byte
	for {
		iter := b.db.Query(text).Consistency(b.settings.read).WithContext(ctx).PageSize(countPage).PageState(page).Iter()
		rows := iter.NumRows()
		page = append([]byte(nil), iter.PageState()...)
		if err := iter.Close(); err != nil {
			return err
		}
		n.Add(uint64(rows))
		if len(page) == 0 {
			return nil
		}
	}
}
