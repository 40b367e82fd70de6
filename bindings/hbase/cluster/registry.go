package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"pianola/bindings/hbase/rpc"
	"pianola/bindings/hbase/wire"
	hbasev1 "pianola/proto/hbase/v1"
)

// Servers is the Registry of HBase 2.3 and later: any master or region server
// tells where the others are. They are asked in turn until one answers.
type Servers struct {
	Addresses []string
	Settings  *rpc.Settings
}

// errNotYet is the answer of a registry that will know later.
var errNotYet = errors.New("it does not know yet")

func (s *Servers) Meta(ctx context.Context) (string, error) {
	var answer hbasev1.GetMetaRegionLocationsResponse
	return s.ask(ctx, "GetMetaRegionLocations", &answer, func() *hbasev1.Server {
		for _, l := range answer.Location {
			if l.GetRegion().GetReplica() == 0 {
				return l.GetServer()
			}
		}
		return nil
	})
}

func (s *Servers) Master(ctx context.Context) (string, error) {
	var answer hbasev1.GetActiveMasterResponse
	return s.ask(ctx, "GetActiveMaster", &answer, func() *hbasev1.Server { return answer.Server })
}

func (s *Servers) ask(ctx context.Context, method string, into message, answer func() *hbasev1.Server) (string, error) {
	var all []error
	for _, address := range s.Addresses {
		found, err := s.askOne(ctx, address, method, into, answer)
		if err == nil {
			return found, nil
		}
		all = append(all, err)
	}
	return "", errors.Join(all...)
}

func (s *Servers) askOne(ctx context.Context, address, method string, into message, answer func() *hbasev1.Server) (string, error) {
	conn, err := s.Settings.Dial(ctx, address, wire.RegistryService)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	// Requests of the registry are empty.
	if err := conn.Ask(ctx, method, &hbasev1.GetActiveMasterResponse{}, into); err != nil {
		return "", err
	}
	found, ok := addressOf(answer())
	if !ok {
		return "", fmt.Errorf("%s at %s: %w", method, address, errNotYet)
	}
	return found, nil
}

// addressOf returns a server's address as "host:port".
func addressOf(s *hbasev1.Server) (string, bool) {
	if s.GetHost() == "" || s.GetPort() == 0 || s.GetPort() > 65535 {
		return "", false
	}
	return net.JoinHostPort(s.GetHost(), strconv.Itoa(int(s.GetPort()))), true
}
