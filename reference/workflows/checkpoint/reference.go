package checkpoint

import (
	"crypto/rand"
	"regexp"
	"strings"
)

// shape is what a reference looks like: wf_ and 26 letters and digits of base 32,
// which are 130 random bits. Nothing else ever becomes part of a path (WF-24).
var shape = regexp.MustCompile(`\Awf_[a-z2-7]{26}\z`)

// NewID makes a reference (WF-02).
func NewID() string { return "wf_" + strings.ToLower(rand.Text()) }

// Valid says whether a text can be a reference of an operation.
func Valid(id string) bool { return shape.MatchString(id) }
