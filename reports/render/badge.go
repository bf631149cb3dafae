package render

import (
	"fmt"
	"html"
	"unicode/utf8"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// Sizes of a badge, in its own units.
const (
	glyph   = 7  // the width that a character is given
	padding = 8  // on either side of a text
	height  = 20 // of the badge
)

var badgeColors = map[verdict.Verdict]string{verdict.Pass: "#1a7f37", verdict.Fail: "#c4212b", verdict.Inconclusive: "#96650a"}

// Badge renders the gate's verdict and the numbers of clauses as a small picture
// (SVG) that needs no font of its own.
func Badge(r reports.Report) []byte {
	name, says := "holdfast", cut(Plain(r.Gate.Verdict+" · "+Tally(r.Counts.Clauses)), 100)
	left, right := width(name), width(says)
	text := func(x, width int, text string) string {
		return fmt.Sprintf(`<text x="%d" y="14" textLength="%d">%s</text>`, x+padding, width-2*padding, html.EscapeString(text))
	}
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" role="img" aria-label="%[3]s">
<title>%[3]s</title>
<clipPath id="round"><rect width="%[1]d" height="%[2]d" rx="3"/></clipPath>
<g clip-path="url(#round)"><rect width="%[4]d" height="%[2]d" fill="#4a4f55"/><rect x="%[4]d" width="%[5]d" height="%[2]d" fill="%[6]s"/></g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">%[7]s%[8]s</g>
</svg>
`, left+right, height, html.EscapeString(name+": "+says), left, right, badgeColors[colorOf(r.Gate.ExitCode)], text(0, left, name), text(left, right, says))
}

func width(text string) int { return utf8.RuneCountInString(text)*glyph + 2*padding }
