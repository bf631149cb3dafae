package suites

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTheSourceIsEmbeddedWithoutItsTests(t *testing.T) {
	for _, folder := range []string{"workrecords", "durability", "judge"} {
		there, err := filepath.Glob(folder + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		there = slices.DeleteFunc(there, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
		s, err := readSource(folder)
		if err != nil {
			t.Fatal(err)
		}
		var embedded []string
		for name := range s.texts {
			embedded = append(embedded, name)
		}
		slices.Sort(embedded)
		if !slices.Equal(embedded, there) {
			t.Errorf("embedded of %s are\n%q\nexpected\n%q\nadd a pattern for the missing one to the embed in written.go", folder, embedded, there)
		}
	}
}
