// Package render turns a report into what people and other programs read. Every
// renderer is a pure function of the report. What a target printed is in it, so
// nothing reaches a terminal, a page or XML without being made harmless.
package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain makes text harmless on one line of a terminal or a file: control
// characters, characters that turn the direction of text, and bytes that are no
// UTF-8 are shown as \xNN or \uNNNN.
func Plain(text string) string {
	if !strings.ContainsFunc(text, odd) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1, r < 0x80 && odd(r):
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case odd(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		text = text[size:]
	}
	return b.String()
}

// odd says whether a character may not stand as itself: controls (C0, DEL, C1),
// format characters (bidirectional and invisible ones), line and paragraph
// separators, surrogates, private use.
func odd(r rune) bool {
	return unicode.In(r, unicode.C, unicode.Zl, unicode.Zp)
}

// cut shortens text to n characters, for a place that has no more room.
func cut(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:n-1]) + "…"
}

// FirstLine is the first line of a text, harmless and at most n characters long,
// for a place that has one line.
func FirstLine(text string, n int) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimRight(line, "\r")
	if strings.TrimSpace(rest) != "" {
		line += " …"
	}
	return cut(Plain(line), n)
}

// Hanging is a text of several lines, harmless, whose first line stands where it
// is put and whose others stand behind indent.
func Hanging(text, indent string) string {
	return strings.TrimSuffix(strings.TrimPrefix(Block(text, indent), indent), "\n")
}

// Block is a text of several lines, harmless, every line behind indent.
func Block(text, indent string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(text)) {
		b.WriteString(indent + Plain(strings.TrimRight(line, "\r\n")) + "\n")
	}
	return b.String()
}
