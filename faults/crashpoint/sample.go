package crashpoint

import "strings"

// Sample takes at most so many of the runs, in their order: the same ones of the same
// runs every time. One kind of run is one call, kill or error, on one file. The kinds
// take turns until the bound is reached, so that a rare one is there as well as a
// frequent one; of the runs of a kind those are taken that lie evenly between its
// first and its last. Where there are more kinds than runs to be made, the later
// kinds are left out.
func Sample(runs []Run, most int) []Run {
	if len(runs) <= most {
		return runs
	}
	var kinds []string
	of := map[string][]int{}
	for i, r := range runs {
		kind := r.kind()
		if of[kind] == nil {
			kinds = append(kinds, kind)
		}
		of[kind] = append(of[kind], i)
	}
	taken := make([]bool, len(runs))
	for kind, n := range shares(kinds, of, most) {
		for _, i := range evenly(of[kind], n) {
			taken[i] = true
		}
	}
	var sample []Run
	for i, r := range runs {
		if taken[i] {
			sample = append(sample, r)
		}
	}
	return sample
}

// Kinds is how many kinds of runs there are, in the sense of Sample.
func Kinds(runs []Run) int {
	kinds := map[string]bool{}
	for _, r := range runs {
		kinds[r.kind()] = true
	}
	return len(kinds)
}

func (r Run) kind() string {
	return strings.Join([]string{r.Error, r.Point.Call, r.Point.Name, r.Point.ToName}, "\x00")
}

// shares deals out so many runs among the kinds in turns.
func shares(kinds []string, of map[string][]int, most int) map[string]int {
	share := map[string]int{}
	for dealt := 0; dealt < most; {
		for _, kind := range kinds {
			if dealt < most && share[kind] < len(of[kind]) {
				share[kind]++
				dealt++
			}
		}
	}
	return share
}

// evenly takes n of a list: the first, the last, and what lies evenly between them.
func evenly(all []int, n int) []int {
	if n == 1 {
		return all[:1]
	}
	var some []int
	for i := range n {
		some = append(some, all[i*(len(all)-1)/(n-1)])
	}
	return some
}
