package wait

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"
)

func TestFor(t *testing.T) {
	gone := errors.New("the helper is gone")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	short, end := context.WithTimeout(t.Context(), time.Millisecond)
	defer end()
	never := func(context.Context) (bool, error) { return false, nil }
	tests := []struct {
		name  string
		ctx   context.Context
		limit time.Duration
		fact  func(context.Context) (bool, error)
		err   string
		is    error
	}{
		{"it is there at once", t.Context(), time.Minute, func(context.Context) (bool, error) { return true, nil }, "", nil},
		{"it is there although the caller has left", cancelled, time.Minute, func(context.Context) (bool, error) { return true, nil }, "", nil},
		{"it comes later", t.Context(), time.Minute, after(3), "", nil},
		{"it does not come", t.Context(), 20 * time.Millisecond, never,
			"waited 20ms for the helper's answer, which did not come: context deadline exceeded", context.DeadlineExceeded},
		{"the caller has less time than the limit", short, time.Minute, never,
			"waited 1m0s for the helper's answer, which did not come: context deadline exceeded", context.DeadlineExceeded},
		{"the caller leaves", cancelled, time.Minute, never,
			"waited 1m0s for the helper's answer, which did not come: context canceled", context.Canceled},
		{"it can never come", t.Context(), time.Minute, func(context.Context) (bool, error) { return false, gone },
			"waiting for the helper's answer: the helper is gone", gone},
		{"the look is given the deadline", t.Context(), 20 * time.Millisecond, func(ctx context.Context) (bool, error) {
			<-ctx.Done()
			return false, nil
		}, "waited 20ms for the helper's answer, which did not come: context deadline exceeded", context.DeadlineExceeded},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := For(tt.ctx, "the helper's answer", tt.limit, tt.fact)
			if (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
				t.Errorf("the error is %v, expected %q", err, tt.err)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%v is not %v", err, tt.is)
			}
		})
	}
}

// While a fact is expected soon, looks stay close; then they get rarer as ever.
func TestTheNextPause(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct{ pause, passed, soon, next time.Duration }{
		{2 * ms, 0, 0, 3 * ms},
		{6 * ms, 20 * ms, 0, 9 * ms},
		{63 * ms, time.Minute, 0, 63*ms + 63*ms/2},
		{64 * ms, time.Minute, 0, 64 * ms},
		{2 * ms, 0, 200 * ms, 3 * ms},
		{4 * ms, 10 * ms, 200 * ms, 5 * ms},
		{5 * ms, 199 * ms, 200 * ms, 5 * ms},
		{6 * ms, 200 * ms, 200 * ms, 9 * ms},
		{64 * ms, time.Minute, 200 * ms, 64 * ms},
	}
	for _, tt := range tests {
		if next := nextPause(tt.pause, tt.passed, tt.soon); next != tt.next {
			t.Errorf("after a pause of %v, %v after the begin, with looks close for %v: %v, expected %v", tt.pause, tt.passed, tt.soon, next, tt.next)
		}
	}
}

func TestSoon(t *testing.T) {
	if err := Soon(t.Context(), "the helper", time.Minute, after(5)); err != nil {
		t.Error(err)
	}
	err := Soon(t.Context(), "the helper", 20*time.Millisecond, func(context.Context) (bool, error) { return false, nil })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v, expected that the deadline has passed", err)
	}
}

// after is a fact that shows at the nth look.
func after(n int) func(context.Context) (bool, error) {
	return func(context.Context) (bool, error) {
		n--
		return n == 0, nil
	}
}

func TestAScaleThatIsNoneIsToldAsWhatItIs(t *testing.T) {
	for _, scale := range []string{"abc", "0", "-1", "NaN", "Inf", "-Inf", "1e9", "0.0001", "0.09", "1001", "2x", " ", "1,5"} {
		t.Setenv("HOLDFAST_TIME_SCALE", scale)
		f, err := Scale()
		want := fmt.Sprintf("HOLDFAST_TIME_SCALE is %q; expected a factor from 0.1 to 1000, such as 2 on a slow machine, or none", scale)
		if f != 1 || err == nil || err.Error() != want {
			t.Errorf("the scale %q is %v with the error %v, expected 1 with %s", scale, f, err, want)
		}
	}
	for scale, want := range map[string]float64{"": 1, "1": 1, "0.1": 0.1, "1000": 1000, "2.5": 2.5} {
		t.Setenv("HOLDFAST_TIME_SCALE", scale)
		if f, err := Scale(); f != want || err != nil {
			t.Errorf("the scale %q is %v with the error %v, expected %v", scale, f, err, want)
		}
	}
}

func TestTimeScale(t *testing.T) {
	const idle = 15 * time.Second // Limits.Answer
	tests := []struct {
		scale  string
		answer time.Duration
	}{
		{"", idle},
		{"1", idle},
		{"2", 2 * idle},
		{"0.1", idle / 10},
		{"0.5", idle / 2},
		{"1000", 1000 * idle},
		{"0.09", idle},
		{"0", idle},
		{"-3", idle},
		{"1001", idle},
		{"1e300", idle},
		{"Inf", idle},
		{"NaN", idle},
		{"twice", idle},
		{"2x", idle},
	}
	t.Setenv("HOLDFAST_TIME_SCALE", "")
	plain := Default()
	for _, tt := range tests {
		t.Run(tt.scale, func(t *testing.T) {
			t.Setenv("HOLDFAST_TIME_SCALE", tt.scale)
			got := Default()
			if got.Answer != tt.answer {
				t.Errorf("the limit of an answer is %v, expected %v", got.Answer, tt.answer)
			}
			if got.Poll != plain.Poll {
				t.Errorf("the pause between two looks is %v, expected %v", got.Poll, plain.Poll)
			}
			was, is := reflect.ValueOf(plain), reflect.ValueOf(got)
			for i := range was.NumField() {
				name := was.Type().Field(i).Name
				before, after := time.Duration(was.Field(i).Int()), time.Duration(is.Field(i).Int())
				if before <= 0 || after <= 0 {
					t.Errorf("limit %s is %v, scaled %v", name, before, after)
				}
				ratio := float64(after) / float64(before)
				if name != "Poll" && math.Abs(ratio-float64(tt.answer)/float64(idle)) > 1e-6 {
					t.Errorf("limit %s is %v and was %v: it is not scaled like the others", name, after, before)
				}
			}
		})
	}
}
