package null

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pianola/bindings"
)

func TestUnfitScriptsAreRefused(t *testing.T) {
	for name, values := range map[string][]string{
		"service": {"", "5", "-1ms", "1001h", "lognormal:", "lognormal:5ms", "lognormal:5ms,", "lognormal:0s,1", "lognormal:-5ms,1",
			"lognormal:5ms,-1", "lognormal:5ms,4.1", "lognormal:5ms,NaN", "lognormal:5,1", "lognormal:1001h,1", "lognormal:5ms,1,2", "normal:5ms,1"},
		"stall": {"5s", ":", "5s:", ":1s", "5:1", "-5s:1s", "5s:-1s", "5s:1s:1s", "1001h:1s", "1s:1001h"},
		"fail":  {"", "2", "-0.1", "101%", "some"},
	} {
		for _, value := range values {
			p, err := Driver.Configure(bindings.Properties{name: value}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Driver.New(p); err == nil || !strings.Contains(err.Error(), "property "+name+` is "`+value+`"`) {
				t.Errorf("%s=%s: %v, want an error with name and value", name, value, err)
			}
		}
	}
}

func TestNothingScripted(t *testing.T) {
	for _, p := range []bindings.Properties{
		{"service": "0", "stall": "", "fail": "0"},
		{"service": "0s", "stall": "5s:0s", "fail": "0%"},
	} {
		if s, err := parseScript(p); err != nil || s.acts() {
			t.Errorf("%v acts: %+v, %v", p, s, err)
		}
	}
}

// TestLognormalLaw draws 200,000 times. The mean's standard deviation is then
// 0.12 % at sigma 0.5; four of them are allowed. Quantiles at one, two and three
// sigma are those of the law to 2 %.
func TestLognormalLaw(t *testing.T) {
	const n = 200_000
	l, err := parseLaw(bindings.Properties{"service": "lognormal:5ms,0.5"})
	if err != nil {
		t.Fatal(err)
	}
	draws := make([]float64, n)
	sum := 0.0
	for i := range draws {
		draws[i] = float64(l.draw(uint64(i)))
		sum += draws[i]
	}
	if mean := sum / n; math.Abs(mean/5e6-1) > 0.005 {
		t.Errorf("the mean is %v ns, want 5 ms", mean)
	}
	slices.Sort(draws)
	median := 5e6 * math.Exp(-0.125)
	for z, share := range map[float64]float64{-2: 0.0227501, -1: 0.1586553, 0: 0.5, 1: 0.8413447, 2: 0.9772499, 3: 0.9986501} {
		got, want := draws[int(share*n)], median*math.Exp(0.5*z)
		if math.Abs(got/want-1) > 0.02 {
			t.Errorf("the quantile at %v sigma is %v ns, want %v", z, got, want)
		}
	}
}

func TestLognormalWithoutSpreadIsConstant(t *testing.T) {
	l, err := parseLaw(bindings.Properties{"service": "lognormal:5ms,0"})
	if err != nil {
		t.Fatal(err)
	}
	for n := range uint64(100) {
		if got := l.draw(n); got != 5*time.Millisecond {
			t.Fatalf("draw %d is %v", n, got)
		}
	}
}

func TestDrawsStayInBounds(t *testing.T) {
	l, err := parseLaw(bindings.Properties{"service": "lognormal:1000h,4"})
	if err != nil {
		t.Fatal(err)
	}
	atBound := 0
	for n := range uint64(10_000) {
		if d := l.draw(n); d < 0 || d > longest {
			t.Fatalf("draw %d is %v", n, d)
		} else if d == longest {
			atBound++
		}
	}
	if atBound == 0 {
		t.Error("no draw met the bound")
	}
}
