package thin

import (
	"context"
	"slices"
	"time"
)

// routes say which node has the primary copy of a cache's partitions.
type routes struct {
	caches map[int32]route
}

type route struct {
	// partitions holds the node of each, nil for one that is not connected.
	partitions []*node
	// byField: where keys are objects a field of theirs decides, which is not
	// looked into.
	byField bool
}

// home returns the node that has the primary copy of a key, nil if that isn't
// known.
func (c *Client) home(cache int32, key []byte) *node {
	if len(c.nodes) == 1 {
		return nil
	}
	r := c.routes.Load().caches[cache]
	if len(r.partitions) == 0 || r.byField && len(key) > 0 && key[0] == typeObject {
		return nil
	}
	hash, ok := keyHash(key)
	if !ok {
		return nil
	}
	return r.partitions[partitionOf(hash, len(r.partitions))]
}

// disturbed makes the routes be asked for again.
func (c *Client) disturbed() {
	select {
	case c.unsteady <- struct{}{}:
	default:
	}
}

// follow asks for the routes whenever the topology has changed.
func (c *Client) follow(life context.Context) {
	for {
		select {
		case <-life.Done():
			return
		case <-c.unsteady:
		}
		if c.refresh(life) == nil {
			continue
		}
		select {
		case <-life.Done():
			return
		case <-time.After(leastPause):
			c.disturbed()
		}
	}
}

// The nodes know a new cache's partitions some milliseconds after it was
// created, and those with an affinity of their own are never told.
const (
	routeTries = 50
	routePause = 20 * time.Millisecond
)

// track has the routes of a cache asked for, and waits until they are here.
func (c *Client) track(ctx context.Context, cache int32) error {
	c.routed.Lock()
	if !slices.Contains(c.caches, cache) {
		c.caches = append(c.caches, cache)
	}
	c.routed.Unlock()
	for range routeTries {
		if err := c.refresh(ctx); err != nil {
			return err
		}
		if len(c.nodes) == 1 || len(c.routes.Load().caches[cache].partitions) > 0 {
			return nil
		}
		time.Sleep(routePause)
	}
	return nil
}

// refreshTimeout bounds the question for the routes, so that a node that hangs
// doesn't keep it for ever.
const refreshTimeout = 5 * time.Second

// refresh asks which node has which partition.
func (c *Client) refresh(ctx context.Context) error {
	c.routed.Lock()
	defer c.routed.Unlock()
	if len(c.nodes) == 1 || len(c.caches) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	body := appendInt32(nil, int32(len(c.caches)))
	for _, id := range c.caches {
		body = appendInt32(body, id)
	}
	a, err := c.ask(ctx, nil, opCachePartitions, body)
	if err != nil {
		return err
	}
	r, err := c.readRoutes(&a.Decoder)
	if err != nil {
		return err
	}
	c.routes.Store(r)
	return nil
}

// readRoutes reads the answer to opCachePartitions.
func (c *Client) readRoutes(d *Decoder) (*routes, error) {
	r := &routes{caches: map[int32]route{}}
	d.Int64() // the topology's version
	d.Int32()
	for groups := d.Count(1); groups > 0 && d.Err() == nil; groups-- {
		applicable := d.Bool()
		if !applicable {
			d.take(4 * d.Count(4)) // caches whose affinity is not ours to know
			continue
		}
		of := map[int32]route{}
		for caches := d.Count(8); caches > 0 && d.Err() == nil; caches-- {
			id := d.Int32()
			fields := d.Count(8)
			d.take(8 * fields)
			of[id] = route{byField: fields > 0}
		}
		partitions := c.readPartitions(d)
		for id, route := range of {
			route.partitions = partitions
			r.caches[id] = route
		}
	}
	return r, d.Err()
}

// maxPartitions is Ignite's own limit.
const maxPartitions = 65000

func (c *Client) readPartitions(d *Decoder) []*node {
	var partitions []*node
	for nodes := d.Count(21); nodes > 0 && d.Err() == nil; nodes-- {
		if code := d.Byte(); d.Err() == nil && code != typeUUID {
			d.fail("the id of a node")
		}
		home := c.byID(d.rawUUID())
		for n := d.Count(4); n > 0 && d.Err() == nil; n-- {
			p := d.Int32()
			if p < 0 || p >= maxPartitions {
				d.fail("the number of a partition")
				return nil
			}
			for int(p) >= len(partitions) {
				partitions = append(partitions, nil)
			}
			partitions[p] = home
		}
	}
	return partitions
}

func (c *Client) byID(id UUID) *node {
	for _, n := range c.nodes {
		if own := n.id.Load(); own != nil && *own == id {
			return n
		}
	}
	return nil
}
