package render_test

import (
	"encoding/xml"
	"io"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/net/html"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/render"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// hostile is what a target may print to take a page over.
const hostile = "\x1b[31m</script></style></pre></details><img src=x onerror=alert(1)><script>alert(2)</script>\"' onload='alert(3)' javascript:alert(4)\u202e\x9b\xff"

// poison puts a text into every string that a value holds, but for verdicts.
func poison(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		poison(v.Elem(), text)
	case reflect.Struct:
		if v.Type().PkgPath() == "time" {
			return
		}
		for i := range v.NumField() {
			poison(v.Field(i), text)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		poison(v.Index(0), text)
	case reflect.Map:
		if v.Type().Key() == reflect.TypeFor[string]() {
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(reflect.ValueOf(text), reflect.ValueOf(text))
		}
	case reflect.String:
		v.SetString(text)
	}
}

// elements are those of a page, tags and attributes; what is opened and not closed
// in its turn is an error.
func elements(t *testing.T, page string) (all []html.Token) {
	t.Helper()
	void := []string{"meta", "br", "!doctype"}
	var open []string
	z := html.NewTokenizer(strings.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF || len(open) > 0 {
				t.Fatalf("the page ends with %v, and open are %v", z.Err(), open)
			}
			return all
		case html.StartTagToken:
			token := z.Token()
			all = append(all, token)
			if !slices.Contains(void, token.Data) {
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			token := z.Token()
			if len(open) == 0 || open[len(open)-1] != token.Data {
				t.Fatalf("</%s> closes nothing; open are %v", token.Data, open)
			}
			open = open[:len(open)-1]
		}
	}
}

func TestAPageHoldsNothingOfWhatATargetPrinted(t *testing.T) {
	poisoned := reports.Report{}
	poison(reflect.ValueOf(&poisoned).Elem(), hostile)
	for i, v := range verdict.All() {
		poisoned.Specs = append(poisoned.Specs, poisoned.Specs[0])
		poisoned.Specs[i].Verdict = v
	}
	tags := []string{}
	for name, r := range map[string]reports.Report{"a report": report(), "one of a hostile target": poisoned, "an empty one": {}} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			page, err := render.HTML(r)
			g.Expect(err).NotTo(HaveOccurred())
			for _, c := range string(page) {
				g.Expect(c == '\n' || c >= ' ' && c != 0x7f && (c < 0x80 || c > 0x9f) && c != 0x202e && c != 0xfffd).To(BeTrue(), "%q behind %q", c, before(string(page), c))
			}
			for _, e := range elements(t, string(page)) {
				tags = append(tags, e.Data)
				g.Expect(e.Data).NotTo(BeElementOf("script", "img", "iframe", "object", "embed", "link", "base", "form", "svg"))
				for _, a := range e.Attr {
					g.Expect(a.Key).NotTo(HavePrefix("on"), "%v", e)
					g.Expect(a.Key).NotTo(BeElementOf("src", "style", "srcset"), "%v", e)
					if a.Key == "href" {
						g.Expect(a.Val).To(Or(HavePrefix("#"), HavePrefix("./")), "a link leads to the page or to what lies beside it")
						to, err := url.Parse(a.Val)
						g.Expect(err).NotTo(HaveOccurred())
						g.Expect(to.Host + to.Scheme).To(BeEmpty())
					}
				}
			}
			_, err = html.Parse(strings.NewReader(string(page)))
			g.Expect(err).NotTo(HaveOccurred())
		})
	}
	NewWithT(t).Expect(tags).To(ContainElements("details", "table", "pre", "a", "style"))
}

// What a page links to within itself is there, once.
func TestLinksWithinAPageLeadSomewhere(t *testing.T) {
	g := NewWithT(t)
	page, err := render.HTML(report())
	g.Expect(err).NotTo(HaveOccurred())
	ids, links := map[string]int{}, 0
	all := elements(t, string(page))
	for _, e := range all {
		for _, a := range e.Attr {
			if a.Key == "id" {
				ids[a.Val]++
			}
		}
	}
	for _, e := range all {
		for _, a := range e.Attr {
			if fragment, within := strings.CutPrefix(a.Val, "#"); within && a.Key == "href" {
				id, err := url.PathUnescape(fragment)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(ids).To(HaveKeyWithValue(id, 1))
				links++
			}
		}
	}
	g.Expect(links).To(Equal(6), "a link a spec of a clause that is shown")
	g.Expect(string(page)).To(ContainSubstring(`href="./artifacts/DU-04/concurrent%20on%20one%3Fconnection/history.jsonl"`))
}

func TestABadgeIsAPictureOfTheGate(t *testing.T) {
	for text, r := range map[string]reports.Report{
		"failed · 2 fail, 1 error, 1 inconclusive, 1 not-run, 1 pass, 1 not-applicable": report(),
		"passed · none":              {Gate: reports.Gate{Verdict: "passed"}},
		`\x1b[1m<img> & "x"… · none`: {Gate: reports.Gate{Verdict: "\x1b[1m<img> & \"x\"…", ExitCode: 3}},
	} {
		g := NewWithT(t)
		var svg struct {
			XMLName xml.Name
			Title   string   `xml:"title"`
			Texts   []string `xml:"g>text"`
		}
		g.Expect(xml.Unmarshal(render.Badge(r), &svg)).To(Succeed())
		g.Expect(svg.XMLName.Space + " " + svg.XMLName.Local).To(Equal("http://www.w3.org/2000/svg svg"))
		g.Expect(svg.Texts).To(Equal([]string{"holdfast", text}))
		g.Expect(svg.Title).To(Equal("holdfast: " + text))
	}
}

// before is what stands in front of a character, to find it.
func before(page string, c rune) string {
	at := strings.IndexRune(page, c)
	return page[max(0, at-80):at]
}
