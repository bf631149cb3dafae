package world

import (
	"encoding/base64"
	"reflect"
	"strings"
	"testing"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
)

func TestATemplateIsChangedAtEveryDepth(t *testing.T) {
	template := map[string]any{"tool": "publish", "arguments": map[string]any{"text": "{{text}}", "id": "{{confirm_id}}", "parts": []any{"{{text}}", "{{confirm_id}}"}, "sure": true}}
	got, kept := changed(template, func(text string) (any, bool) { return text, !strings.Contains(text, "{{confirm_id") })
	want := map[string]any{"tool": "publish", "arguments": map[string]any{"text": "{{text}}", "parts": []any{"{{text}}"}, "sure": true}}
	if !kept || !reflect.DeepEqual(got, want) {
		t.Errorf("became %v, expected %v", got, want)
	}
	if arguments := template["arguments"].(map[string]any); len(arguments) != 4 {
		t.Errorf("the template itself was changed: %v", template)
	}
}

func TestACanaryIsFoundHoweverItIsEncoded(t *testing.T) {
	const word = "argument ~1a2b3c4d"
	for text, want := range map[string]bool{
		"msg=publish content=\"" + word + "\"\n":                          true,
		`{"a":1}` + "\n" + `{"content":"argument \u007e1a2b3c4d"}` + "\n": true,
		base64.StdEncoding.EncodeToString([]byte("x" + word + "y")):       true,
		"argument ~1a2b3c4e\n":                                            false,
		"":                                                                false,
		"[redacted]\n":                                                    false,
	} {
		if got := holds(target.NewRedactor(word), []byte(text)); got != want {
			t.Errorf("found in %q: %v, expected %v", text, got, want)
		}
	}
}
