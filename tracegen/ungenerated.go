package tracegen

import (
	"fmt"

	"pianola/traces"
)

// refuseUngenerated refuses what a Generator can't do.
func refuseUngenerated(s *Spec) error {
	switch {
	case s.FirstKey > 0 || s.InsertFrom > s.FirstKey+s.Records:
		return fmt.Errorf("generate slices: insertstart, insertcount and insert.from are %s", notSupported)
	case s.KeyLaw == Hotspot || s.KeyLaw == Sequential || s.KeyLaw == Exponential:
		return fmt.Errorf("generate requestdistribution=%s: %s", s.KeyLaw, notSupported)
	case s.ScanLaw == ScanZipfian:
		return fmt.Errorf("generate scanlengthdistribution=%s: %s", s.ScanLaw, notSupported)
	case s.picks(traces.Delete):
		return fmt.Errorf("generate deleteproportion: %s", notSupported)
	case s.WarmupOps > 0 || s.WarmupDuration > 0:
		return fmt.Errorf("generate warmup: %s", notSupported)
	}
	return nil
}
