package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// promised is the schema that `holdfast schema report` prints.
func promised(t *testing.T) *jsonschema.Schema {
	t.Helper()
	code, out, errs := holdfast(t, "schema", "report")
	if code != 0 {
		t.Fatal(errs)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(out)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("report.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// parsed is JSON as the validator takes it.
func parsed(t *testing.T, text []byte) map[string]any {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return value.(map[string]any)
}

func TestAReportOfARunIsWhatTheSchemaPromises(t *testing.T) {
	g := NewWithT(t)
	schema, out := promised(t), filepath.Join(t.TempDir(), "report")
	code, _, errs := holdfast(t, "run", "reference", "--select", "DU-02/answer-cut,DU-21,WR-01", "--out", out)
	g.Expect(code).To(Equal(0), errs)
	text, err := os.ReadFile(filepath.Join(out, reports.ReportFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(schema.Validate(parsed(t, text))).To(Succeed())
	r, err := reports.Read(out)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Counts.Specs).To(Equal(map[verdict.Verdict]int{verdict.Pass: 3}))
	g.Expect(r.Counts.ProcessStarts).To(BeNumerically(">=", 3), "the run was a real one")
	g.Expect(filepath.Join(out, reports.HTMLFile)).To(BeARegularFile())

	code, table, errs := holdfast(t, "revalidate", out)
	g.Expect(code).To(Equal(0), errs)
	g.Expect(table).To(ContainSubstring("3 recordings judged again: 3 as then, 0 otherwise; 0 not judged again (exit 0)"))
	r.Specs[0].Verdict = verdict.Fail
	g.Expect(reports.Write(out, reports.ReportFile, r)).To(Succeed())
	code, table, errs = holdfast(t, "revalidate", out, "--json")
	g.Expect(code).To(Equal(1), errs)
	g.Expect(parsed(t, []byte(table))).To(HaveKeyWithValue("results", ContainElement(And(
		HaveKeyWithValue("id", r.Specs[0].ID), HaveKeyWithValue("then", "fail"), HaveKeyWithValue("now", "pass"), HaveKeyWithValue("judged", true)))))
}

// filled is a value of a type with something in every field.
func filled(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Now()))
			return
		}
		for i := range v.NumField() {
			filled(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		filled(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		filled(key)
		filled(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Interface:
		v.Set(reflect.ValueOf([]any{"x", 1, nil}))
	case reflect.String:
		if v.SetString("x"); v.Type() == reflect.TypeFor[verdict.Verdict]() {
			v.SetString(string(verdict.Pass))
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Bool:
		v.SetBool(true)
	}
}

func TestTheSchemaOfReportsTakesReportsAndNothingElse(t *testing.T) {
	schema := promised(t)
	var full reports.Report
	filled(reflect.ValueOf(&full).Elem())
	full.Schema = reports.ReportSchema
	at := func(r map[string]any, key string) map[string]any { return r[key].([]any)[0].(map[string]any) }
	for name, c := range map[string]struct {
		change func(map[string]any)
		fits   bool
	}{
		"as it is":                  {func(map[string]any) {}, true},
		"with a field of later":     {func(r map[string]any) { r["later"] = 1; at(r, "specs")["later"] = 1 }, true},
		"another schema":            {func(r map[string]any) { r["schema"] = "holdfast.report/2" }, false},
		"without a gate":            {func(r map[string]any) { delete(r, "gate") }, false},
		"a verdict that is none":    {func(r map[string]any) { at(r, "specs")["verdict"] = "passed" }, false},
		"a clause's that is none":   {func(r map[string]any) { at(r, "clauses")["verdict"] = "PASS" }, false},
		"a count of nothing":        {func(r map[string]any) { r["counts"].(map[string]any)["specs"].(map[string]any)["passed"] = 1 }, false},
		"a time that is none":       {func(r map[string]any) { r["started"] = "yesterday" }, false},
		"a seed that is a text":     {func(r map[string]any) { r["seed"] = "7" }, false},
		"a stage without its time":  {func(r map[string]any) { delete(at(at(at(r, "specs"), "faults"), "stages"), "at_ms") }, false},
		"a comparison of nothing":   {func(r map[string]any) { delete(at(at(at(r, "specs"), "comparisons"), "rows"), "shown") }, false},
		"a crash point as a number": {func(r map[string]any) { at(at(r, "specs")["crash_points"].(map[string]any), "tried")["name"] = 17 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(full)
			if err != nil {
				t.Fatal(err)
			}
			value := parsed(t, text)
			c.change(value)
			err = schema.Validate(value)
			NewWithT(t).Expect(err == nil).To(Equal(c.fits), "%v", err)
		})
	}
}
