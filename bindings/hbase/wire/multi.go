package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	hbasev1 "pianola/proto/hbase/v1"
)

// Multi does several actions in one call, in an order of the server's. Each has
// an answer of its own, and none undoes another.
type Multi struct{ Regions []RegionActions }

// RegionActions are the actions for one region.
type RegionActions struct {
	Region  []byte // as RegionName returns it
	Actions []Action
}

// Action is a Get or a Mutate, one of them nil. Its Region counts for nothing,
// and a Mutate can't have the condition Absent.
type Action struct {
	Get    *Get
	Mutate *Mutate
}

func (m *Multi) Method() string { return "Multi" }

func (m *Multi) Size() (n int) {
	for i := range m.Regions {
		n += sizeBytes(m.Regions[i].size())
	}
	return n
}

func (m *Multi) AppendTo(b []byte) []byte {
	for i := range m.Regions {
		r := &m.Regions[i]
		b = appendBytes(appendLength(b, tag1, r.size()), tag1, r.Region)
		for j := range r.Actions {
			a := &r.Actions[j]
			b = protowire.AppendVarint(append(appendLength(b, tag3, a.size(j)), varint1), uint64(j))
			if a.Get != nil {
				b = a.Get.append(appendLength(b, tag3, a.Get.size()))
			} else {
				b = a.Mutate.appendMutation(appendLength(b, tag2, a.Mutate.sizeMutation()))
			}
		}
	}
	return b
}

func (r *RegionActions) size() int {
	n := sizeBytes(len(r.Region))
	for i := range r.Actions {
		n += sizeBytes(r.Actions[i].size(i))
	}
	return n
}

func (a *Action) size(index int) int {
	n := 1 + protowire.SizeVarint(uint64(index))
	if a.Get != nil {
		return n + sizeBytes(a.Get.size())
	}
	return n + sizeBytes(a.Mutate.sizeMutation())
}

// ActionAnswer is what has become of an action: an exception, or what a Get has
// read. The bytes of cells in a block are the response's.
type ActionAnswer struct {
	Exception *hbasev1.NamedBytes
	Cells     []Cell
	// Exists answers a Get with ExistenceOnly.
	Exists bool
}

// ParseMulti returns the answers to the actions of m, by region and action. The
// exception of a region is that of all its actions.
func ParseMulti(r *Response, m *Multi) ([][]ActionAnswer, error) {
	var message hbasev1.MultiResponse
	if err := proto.Unmarshal(r.Message, &message); err != nil {
		return nil, fmt.Errorf("answer of Multi: %w", err)
	}
	if len(message.Region) != len(m.Regions) {
		return nil, fmt.Errorf("answer of Multi: %d regions, %d were asked for", len(message.Region), len(m.Regions))
	}
	all := make([][]ActionAnswer, len(m.Regions))
	block := r.Cells
	for i, region := range message.Region {
		answers, rest, err := parseRegion(region, len(m.Regions[i].Actions), block)
		if err != nil {
			return nil, fmt.Errorf("answer of Multi: region %d of %d: %w", i+1, len(m.Regions), err)
		}
		all[i], block = answers, rest
	}
	if len(block) > 0 {
		return nil, fmt.Errorf("answer of Multi: %w", errCells)
	}
	return all, nil
}

// parseRegion returns the answers of a region to n actions, and the cells behind
// theirs.
func parseRegion(region *hbasev1.RegionResult, n int, block []byte) (answers []ActionAnswer, rest []byte, err error) {
	answers = make([]ActionAnswer, n)
	if region.Exception != nil {
		for i := range answers {
			answers[i].Exception = region.Exception
		}
		return answers, block, nil
	}
	answered := make([]bool, n)
	for _, action := range region.Action {
		index := action.GetIndex()
		if uint64(index) >= uint64(n) || answered[index] {
			return nil, nil, fmt.Errorf("an answer, or another one, to action %d of %d", index, n)
		}
		answered[index] = true
		a := &answers[index]
		if a.Exception = action.Exception; a.Exception != nil {
			continue
		}
		if block, err = a.parse(action.Result, block); err != nil {
			return nil, nil, fmt.Errorf("action %d: %w", index, err)
		}
	}
	if len(region.Action) < n {
		return nil, nil, fmt.Errorf("%d answers to %d actions", len(region.Action), n)
	}
	return answers, block, nil
}

// parse takes a result and returns the cells behind its own.
func (a *ActionAnswer) parse(result *hbasev1.Result, block []byte) (rest []byte, err error) {
	a.Exists = result.GetExists()
	inBlock := int(result.GetCellsInBlock())
	if inBlock < 0 || inBlock > len(block)/cellHead {
		return nil, errCells
	}
	a.Cells = make([]Cell, inBlock, inBlock+len(result.GetCell()))
	for i := range a.Cells {
		if block, err = a.Cells[i].Cut(block); err != nil {
			return nil, err
		}
	}
	for _, c := range result.GetCell() {
		a.Cells = append(a.Cells, Cell{
			Row: c.Row, Family: c.Family, Qualifier: c.Qualifier, Value: c.Value, Timestamp: c.GetTimestamp(), Type: byte(c.GetType()),
		})
	}
	return block, nil
}
