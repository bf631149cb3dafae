package render

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

type suitesXML struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Time     string     `xml:"time,attr"`
	Suites   []suiteXML `xml:"testsuite"`
}

type suiteXML struct {
	Name      string    `xml:"name,attr"`
	Tests     int       `xml:"tests,attr"`
	Failures  int       `xml:"failures,attr"`
	Errors    int       `xml:"errors,attr"`
	Skipped   int       `xml:"skipped,attr"`
	Time      string    `xml:"time,attr"`
	Timestamp string    `xml:"timestamp,attr"`
	Cases     []caseXML `xml:"testcase"`
}

type caseXML struct {
	Class   string    `xml:"classname,attr"`
	Name    string    `xml:"name,attr"`
	Time    string    `xml:"time,attr"`
	Failure *faultXML `xml:"failure,omitempty"`
	Error   *faultXML `xml:"error,omitempty"`
	Skipped *faultXML `xml:"skipped,omitempty"`
}

type faultXML struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit renders the specs as JUnit XML: failure is fail; error is error,
// inconclusive and not-run; skipped is not-applicable with its reason. A failure
// that a baseline excuses is still a failure, and its message says so.
func JUnit(r reports.Report) ([]byte, error) {
	suite := suiteXML{Name: Plain(r.Target.Name), Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05")}
	for _, s := range r.Specs {
		suite.add(s)
	}
	suite.Time = seconds(r.Ended.Sub(r.Started).Milliseconds())
	all := suitesXML{
		Name: "holdfast", Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Skipped: suite.Skipped,
		Time: suite.Time, Suites: []suiteXML{suite},
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("rendering junit.xml: %w", err)
	}
	return append([]byte(xml.Header), append(text, '\n')...), nil
}

func (x *suiteXML) add(s reports.Spec) {
	c := caseXML{Class: Plain(primary(s)), Name: Plain(s.ID), Time: seconds(s.DurationMS)}
	message := FirstLine(s.Reason, 500)
	if s.Expected != "" {
		message = Plain(s.Expected) + ": " + message
	}
	told := &faultXML{Message: message, Type: string(s.Verdict), Text: detail(s)}
	x.Tests++
	switch s.Verdict {
	case verdict.Fail:
		c.Failure = told
		x.Failures++
	case verdict.Error, verdict.Inconclusive, verdict.NotRun:
		c.Error = told
		x.Errors++
	case verdict.NotApplicable:
		c.Skipped = &faultXML{Message: message}
		x.Skipped++
	}
	x.Cases = append(x.Cases, c)
}

func primary(s reports.Spec) string {
	if len(s.Clauses) == 0 {
		return s.ID
	}
	return s.Clauses[0]
}

// detail is findings and facts as lines.
func detail(s reports.Spec) string {
	var b strings.Builder
	if strings.Contains(strings.TrimSpace(s.Reason), "\n") {
		b.WriteString("\n" + Block(s.Reason, ""))
	}
	for _, f := range s.Findings {
		fmt.Fprintf(&b, "\n%s (%s): %s\n", Plain(f.Clause), Plain(f.Source), Hanging(f.Summary, "  "))
		for _, fact := range f.Facts {
			fmt.Fprintf(&b, "  - %s\n", Hanging(fact, "    "))
		}
	}
	for _, line := range s.Tried {
		fmt.Fprintf(&b, "\n%s\n", Plain(line))
	}
	if s.Repro != "" {
		fmt.Fprintf(&b, "\nagain: %s\n", Plain(s.Repro))
	}
	return b.String()
}

func seconds(ms int64) string { return fmt.Sprintf("%d.%03d", ms/1000, ms%1000) }
