package reports

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestNumbersInWords(t *testing.T) {
	for _, c := range []struct {
		numbers Numbers
		want    []string
	}{
		{Numbers{}, nil},
		{Numbers{Concurrent: 50, Rounds: 1}, []string{"50 writes at once", "1 round"}},
		{Numbers{Rounds: 5}, []string{"5 rounds"}},
		{Numbers{Alternations: 10}, []string{"10 turns of each of two servers"}},
	} {
		if got := c.numbers.Words(); !slices.Equal(got, c.want) {
			t.Errorf("%+v is %q, expected %q", c.numbers, got, c.want)
		}
	}
}

func TestNumbersThatASpecHasNotAreNotWritten(t *testing.T) {
	for _, c := range []struct {
		spec PlannedSpec
		want string
	}{
		{PlannedSpec{Numbers: Numbers{Concurrent: 7, Rounds: 2}}, `{"concurrent":7,"rounds":2}`},
		{PlannedSpec{}, ""},
	} {
		text, err := json.Marshal(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		var keys map[string]json.RawMessage
		if err := json.Unmarshal(text, &keys); err != nil {
			t.Fatal(err)
		}
		if got := string(keys["numbers"]); got != c.want {
			t.Errorf("numbers of a planned spec are %s, expected %s", got, c.want)
		}
	}
}
