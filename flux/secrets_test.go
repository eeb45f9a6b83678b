package flux

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestSecretsStayHiddenHoweverQuoted has charts say values of Secrets in errors, as
// templates, JSON and schemas print them.
func TestSecretsStayHiddenHoweverQuoted(t *testing.T) {
	printed := func(format string) func(any) string {
		return func(pin any) string { return fmt.Sprintf(format, pin) }
	}
	integer := func(pin any) string { return fmt.Sprint(int64(pin.(float64))) }
	asJSON := func(pin any) string {
		data, err := json.Marshal(pin)
		return fmt.Sprint(string(data), err)
	}
	ofSchema := func(any) string { return `'pa\'ssword' does not match pattern '^x$'` }
	for _, tt := range []struct {
		name, secret, ref string
		say               func(pin any) string
		leak              string
	}{
		{"an integer", `"pin: 12345678"`, "", integer, "12345678"},
		{"a number", `"pin: 12345678"`, "", printed("%v"), "1.2345678e+07"},
		{"Go quotes", `"pin: 'pa\"ssword'"`, "", printed("%q"), "ssword"},
		{"a backslash", `'pin: pass\word'`, "", printed("%q"), "word"},
		{"JSON", `"pin: 'pa<&ssword'"`, "", asJSON, "ssword"},
		{"a schema", `"pin: pa'ssword"`, "", ofSchema, "ssword"},
		{"a comma at a targetPath", `"hunter22\\,also=x"`, ", targetPath: pin", printed("%s"), "hunter22"},
		{"cut at a targetPath", `"hunter22,also=password"`, ", targetPath: pin", printed("%s"), "hunter22"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			options := Options{RenderChart: func(_ context.Context, chart Chart) (Rendered, error) {
				return Rendered{}, errors.New("no good: " + tt.say(chart.Values["pin"]))
			}}
			in := repo{
				"edge.yaml": edgeRelease + "  valuesFrom: [{kind: Secret, name: v" + tt.ref + "}]\n", "source.yaml": source,
				"secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: v, namespace: infra}\nstringData: {values.yaml: " + tt.secret + "}\n",
			}
			_, err := Render(t.Context(), in.files(), options)
			if err == nil || !strings.Contains(err.Error(), "[hidden]") || strings.Contains(err.Error(), tt.leak) {
				t.Errorf("got %v", err)
			}
		})
	}
}
