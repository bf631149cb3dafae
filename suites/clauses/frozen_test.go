package clauses

import (
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	. "github.com/onsi/gomega"
)

// A released clause set is frozen: its bytes never change, and a later set
// holds each of its clauses unchanged and may add some.

type frozenList struct {
	Frozen map[string]string `yaml:"frozen"` // set → digest
}

func TestFrozenSetsAreUnchanged(t *testing.T) {
	NewWithT(t).Expect(thawed(embedded)).To(BeEmpty())
}

// thawed says what contradicts the promise that released sets are frozen.
func thawed(files fs.FS) []string {
	var list frozenList
	if err := decode(files, "frozen.yaml", &list); err != nil {
		return []string{err.Error()}
	}
	names, err := fs.Glob(files, "*/set.yaml") // sorted
	if err != nil {
		return []string{err.Error()}
	}
	var wrong []string
	var sets []string
	var earlier *Catalogue
	for _, name := range names {
		version := path.Dir(name)
		sets = append(sets, version)
		c, err := load(files, version)
		if err != nil {
			wrong = append(wrong, err.Error())
			continue
		}
		draft := strings.HasSuffix(version, "-draft")
		digest, listed := list.Frozen[version]
		switch {
		case draft && listed:
			wrong = append(wrong, fmt.Sprintf("%s is a draft, and a draft is not frozen; rename the set to release it", version))
		case !draft && !listed:
			wrong = append(wrong, fmt.Sprintf("%s is released but not frozen; add its digest %s to frozen.yaml", version, c.Digest))
		case listed && digest != c.Digest:
			wrong = append(wrong, fmt.Sprintf("%s is frozen with digest %s but its files have %s; put the change into a new set", version, digest, c.Digest))
		}
		if !draft {
			wrong = append(wrong, edited(earlier, c)...)
			earlier = c
		}
	}
	for version := range list.Frozen {
		if !slices.Contains(sets, version) {
			wrong = append(wrong, fmt.Sprintf("%s is frozen, but its folder is gone", version))
		}
	}
	return wrong
}

// edited names the clauses of a released set that a later one changed or lost.
func edited(earlier, later *Catalogue) []string {
	if earlier == nil {
		return nil
	}
	var wrong []string
	for _, was := range earlier.All() {
		if is, ok := later.Get(was.ID); !ok || !reflect.DeepEqual(was, is) {
			wrong = append(wrong, fmt.Sprintf("%s edits or drops %s of %s; a later set only adds", later.Version, was.ID, earlier.Version))
		}
	}
	return wrong
}

func TestTheFreezeHolds(t *testing.T) {
	g := NewWithT(t)
	released := func(version, clauses, list string, more ...fstest.MapFS) fstest.MapFS {
		files := fstest.MapFS{
			"frozen.yaml":                {Data: []byte(list)},
			version + "/set.yaml":        {Data: []byte(strings.Replace(goodSet, "version: t", "version: '"+version+"'", 1))},
			version + "/durability.yaml": {Data: []byte(clauses)},
		}
		for _, m := range more {
			for name, f := range m {
				if name != "frozen.yaml" {
					files[name] = f
				}
			}
		}
		return files
	}
	digest := func(files fstest.MapFS, version string) string {
		c, err := load(files, version)
		g.Expect(err).NotTo(HaveOccurred())
		return c.Digest
	}
	first := released("1.0", goodClauses, "frozen: {}")
	list := "frozen: {'1.0': " + digest(first, "1.0") + "}"

	g.Expect(thawed(first)).To(ConsistOf(ContainSubstring("1.0 is released but not frozen; add its digest")))
	g.Expect(thawed(released("1.0", goodClauses, list))).To(BeEmpty())
	g.Expect(thawed(released("1.0", goodClauses+"\n", list))).To(ConsistOf(ContainSubstring("put the change into a new set")))
	g.Expect(thawed(released("1.1-draft", goodClauses, "frozen: {1.1-draft: x}"))).To(ConsistOf(ContainSubstring("a draft is not frozen")))
	g.Expect(thawed(released("1.1-draft", goodClauses, list))).To(ConsistOf(ContainSubstring("1.0 is frozen, but its folder is gone")))

	changed := strings.Replace(goodClauses, "breaks: B", "breaks: C", 1)
	second := released("1.1", changed, "frozen: {}")
	both := list[:len(list)-1] + ", '1.1': " + digest(second, "1.1") + "}"
	g.Expect(thawed(released("1.1", changed, both, first))).To(ConsistOf("1.1 edits or drops DU-01 of 1.0; a later set only adds"))

	grown := goodClauses + strings.NewReplacer("DU-02", "DU-03", "[DU-01]", "[DU-02]").Replace(goodClauses[strings.Index(goodClauses, "  - id: DU-02"):])
	third := released("1.1", grown, "frozen: {}")
	both = list[:len(list)-1] + ", '1.1': " + digest(third, "1.1") + "}"
	g.Expect(thawed(released("1.1", grown, both, first))).To(BeEmpty())
}
