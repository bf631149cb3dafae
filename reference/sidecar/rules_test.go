package sidecar

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestEveryEventHasOneRule(t *testing.T) {
	g := NewWithT(t)
	rules := map[Event]int{}
	for _, r := range EventRules() {
		rules[r.Event]++
		g.Expect(r.By).To(BeElementOf("helper", "app", "helper, app"))
		g.Expect(r.Guard).NotTo(BeEmpty())
		g.Expect(r.Also).NotTo(BeEmpty())
	}
	used := map[Event]int{}
	for _, s := range IntentSteps() {
		used[s.Event] = 1
	}
	for _, s := range AnchorSteps() {
		used[s.Event] = 1
	}
	g.Expect(rules).To(Equal(used))
}
