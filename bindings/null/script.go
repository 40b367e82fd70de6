package null

import (
	"math"
	"strings"
	"time"

	"pianola/bindings"
	"pianola/traces/payload"
)

// script is what the properties ask for.
type script struct {
	service law
	// The stall lasts from stallAt to stallEnd after the phase's start; they
	// are equal if there is none.
	stallAt, stallEnd time.Duration
	failShare         float64
	// delays is whether any answer can take time.
	delays bool
}

// longest bounds every duration of a script, so that no sum overflows.
const longest = 1000 * time.Hour

func parseScript(p bindings.Properties) (script, error) {
	var s script
	var err error
	if s.service, err = parseLaw(p); err != nil {
		return script{}, err
	}
	if s.stallAt, s.stallEnd, err = parseStall(p); err != nil {
		return script{}, err
	}
	if s.failShare, err = p.Share("fail"); err != nil {
		return script{}, err
	}
	s.delays = s.service != law{} || s.stallAt < s.stallEnd
	return s, nil
}

func parseStall(p bindings.Properties) (at, end time.Duration, err error) {
	if p["stall"] == "" {
		return 0, 0, nil
	}
	first, second, found := strings.Cut(p["stall"], ":")
	at, err = time.ParseDuration(first)
	length, lengthErr := time.ParseDuration(second)
	if !found || err != nil || lengthErr != nil || at < 0 || length < 0 || at > longest || length > longest {
		return 0, 0, p.Unfit("stall", "AT:FOR, two durations such as 5s:1s, up to 1000h each")
	}
	return at, at + length, nil
}

// acts reports whether the script changes any answer.
func (s *script) acts() bool { return s.delays || s.failShare > 0 }

// end returns when operation n is to be answered that starts now, in a phase
// that began at start. A stall ends every operation that it meets.
func (s *script) end(n uint64, start, now time.Duration) time.Duration {
	end := now + s.service.draw(n)
	stallAt, stallEnd := start+s.stallAt, start+s.stallEnd
	if stallAt == stallEnd || now >= stallEnd || now < stallAt && end <= stallAt {
		return end
	}
	return stallEnd
}

// fails reports whether operation n is answered with an error.
func (s *script) fails(n uint64) bool {
	return s.failShare > 0 && uniform(failStream, n) < s.failShare
}

// law is the law of the service time. The zero law is no time at all.
type law struct {
	constant time.Duration
	// location and sigma are the parameters of a lognormal law of nanoseconds.
	lognormal       bool
	location, sigma float64
}

// maxSigma bounds the spread: at 4 the mean is already at the 97.7th percentile.
const maxSigma = 4

func parseLaw(p bindings.Properties) (law, error) {
	arguments, lognormal := strings.CutPrefix(p["service"], "lognormal:")
	if !lognormal {
		d, err := p.Duration("service")
		if err != nil || d > longest {
			return law{}, p.Unfit("service", "a duration such as 5ms, up to 1000h, or lognormal:MEAN,SIGMA such as lognormal:5ms,0.8")
		}
		return law{constant: d}, nil
	}
	first, second, _ := strings.Cut(arguments, ",")
	mean, err := time.ParseDuration(first)
	sigma, sigmaErr := bindings.Properties{"sigma": second}.Float("sigma", 0, maxSigma)
	if err != nil || mean <= 0 || mean > longest || sigmaErr != nil {
		return law{}, p.Unfit("service", "lognormal:MEAN,SIGMA with MEAN a duration over 0 and up to 1000h, and SIGMA from 0 to 4")
	}
	// The mean of exp(location + sigma·Z) is exp(location + sigma²/2).
	return law{lognormal: true, location: math.Log(float64(mean)) - sigma*sigma/2, sigma: sigma}, nil
}

// draw returns the service time of operation n, rounded to nanoseconds.
func (l *law) draw(n uint64) time.Duration {
	if !l.lognormal {
		return l.constant
	}
	z := math.Sqrt2 * math.Erfinv(2*uniform(serviceStream, n)-1)
	return time.Duration(math.Round(min(math.Exp(l.location+l.sigma*z), float64(longest))))
}

// Streams of draws.
const (
	serviceStream = 1 + iota
	failStream
)

// uniform returns draw n of a stream, inside (0, 1): the middle of one of 2^52
// equal intervals, chosen by payload.Mix.
func uniform(stream, n uint64) float64 {
	return (float64(payload.Mix(payload.Mix(stream)+n)>>12) + 0.5) / (1 << 52)
}
