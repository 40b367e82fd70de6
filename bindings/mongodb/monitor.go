package mongodb

import (
	"fmt"
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/v2/event"
)

// monitor hears of the client's checks of the servers.
type monitor struct {
	mu sync.Mutex
	// topology is what the client last knew of the servers.
	topology event.TopologyDescription
	// left is the number of failed checks until giveUp is called; there is none
	// once a check has succeeded.
	left   int
	giveUp func()
}

// failuresEach is how often a check of each server may fail before nobody is
// taken to be there. The client checks twice a second while somebody waits.
const failuresEach = 3

// expect calls giveUp when the checks of that many servers go on failing from
// the start, so that a wrong address is told of soon.
func (m *monitor) expect(servers int, giveUp func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left += failuresEach * max(servers, 1)
	m.giveUp = giveUp
	m.check()
}

// check calls giveUp when it is time. The lock is held.
func (m *monitor) check() {
	if m.left <= 0 && m.giveUp != nil {
		m.giveUp()
		m.giveUp = nil
	}
}

func (m *monitor) listener() *event.ServerMonitor {
	return &event.ServerMonitor{
		TopologyDescriptionChanged: func(e *event.TopologyDescriptionChangedEvent) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.topology = e.NewDescription
		},
		ServerHeartbeatFailed: func(*event.ServerHeartbeatFailedEvent) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.left--
			m.check()
		},
		ServerHeartbeatSucceeded: func(*event.ServerHeartbeatSucceededEvent) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.giveUp = nil
		},
	}
}

// describe tells what servers the client knows.
func (m *monitor) describe() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var servers []string
	for _, s := range m.topology.Servers {
		servers = append(servers, fmt.Sprintf("%s %s, wire version %d", s.Addr, s.Kind, s.MaxWireVersion))
	}
	if m.topology.SetName != "" {
		servers = append(servers, "replica set "+m.topology.SetName)
	}
	return strings.Join(servers, "; ")
}
