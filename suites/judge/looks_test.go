package judge

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

func TestCells(t *testing.T) {
	for _, tt := range []struct {
		value  any
		text   string
		number int
		truth  bool
	}{
		{nil, "", 0, false},
		{"", "", 0, false},
		{"25", "25", 25, false},
		{"1", "1", 1, true},
		{"true", "true", 0, true},
		{"no", "no", 0, false},
		{true, "true", 0, true},
		{false, "false", 0, false},
		{3, "3", 3, true},
		{int64(1) << 40, "1099511627776", 1 << 40, true},
		{float64(0), "0", 0, false},
		{float64(1_234_567), "1234567", 1_234_567, true},
		{1.5, "1.5", 1, true},
		{json.Number("9007199254740993"), "9007199254740993", 9007199254740993, true},
	} {
		r := row("c", tt.value)
		if got := text(r, "c"); got != tt.text {
			t.Errorf("text of %#v is %q, expected %q", tt.value, got, tt.text)
		}
		if got := number(r, "c"); got != tt.number {
			t.Errorf("number of %#v is %d, expected %d", tt.value, got, tt.number)
		}
		if got := truth(r, "c"); got != tt.truth {
			t.Errorf("truth of %#v is %t, expected %t", tt.value, got, tt.truth)
		}
	}
}

func TestTexts(t *testing.T) {
	for _, tt := range []struct {
		value any
		list  []string
		ok    bool
	}{
		{nil, nil, true},
		{[]any{}, nil, true},
		{[]any{"a", "b"}, []string{"a", "b"}, true},
		{[]any{row("text", "a", "seq", 1), row("seq", 2)}, []string{"a", ""}, true},
		{[]any{float64(1_234_567), true, nil}, []string{"1234567", "true", ""}, true},
		{[]string{"a"}, []string{"a"}, true},
		{`["a"]`, []string{"a"}, true},
		{"a", nil, false},
		{7, nil, false},
		{row("text", "a"), nil, false},
	} {
		list, ok := texts(row("c", tt.value), "c")
		if !reflect.DeepEqual(list, tt.list) || ok != tt.ok {
			t.Errorf("texts of %#v are %q, %t; expected %q, %t", tt.value, list, ok, tt.list, tt.ok)
		}
	}
}

func TestLastLook(t *testing.T) {
	s := newStory()
	s.look("item", "converged", item("i1"), row("n", 1))
	s.look("item", "converged", item("i1"), row("n", 2))
	s.look("item", "converged", item("i2"), row("n", 3))
	s.look("item", "early", item("i1"), row("n", 4))
	s.look("items", "converged", nil, row("n", 5))
	for _, tt := range []struct {
		name        string
		probe, when string
		want        map[string]string
		n           int // 0 when it was not seen
		edits       []edit
	}{
		{"the last one counts", "item", "converged", item("i1"), 2, nil},
		{"of its own item", "item", "converged", item("i2"), 3, nil},
		{"at its own moment", "item", "early", item("i1"), 4, nil},
		{"without parameters", "items", "converged", nil, 5, nil},
		{"of an item that nobody looked at", "item", "converged", item("i3"), 0, nil},
		{"of an item without an ID", "items", "converged", item(""), 0, nil},
		{"an older look does not stand for one that failed", "item", "converged", item("i1"), 0, edits(
			each("look 2", func(e history.Event) bool { return e.Seq == 2 }, func(e *history.Event) { e.Look.Error = "no" }))},
		{"a look that failed before does not count", "item", "converged", item("i1"), 2, edits(
			each("look 1", func(e history.Event) bool { return e.Seq == 1 }, func(e *history.Event) { e.Look.Error = "no" }))},
	} {
		look, ok := lastLook(with(s.told(), tt.edits...), tt.probe, tt.when, tt.want)
		if ok != (tt.n > 0) || ok && number(look.Rows[0], "n") != tt.n {
			t.Errorf("%s: look %v, %t; expected %d", tt.name, look.Rows, ok, tt.n)
		}
	}
}
