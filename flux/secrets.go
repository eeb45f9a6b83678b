package flux

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"helm.sh/helm/v3/pkg/strvals"
	"sigs.k8s.io/yaml"
)

// shortest is the length of the shortest value that is hidden: what is shorter
// stands in every other word.
const shortest = 4

// hide keeps a text out of all errors of the release at hand: as it is, line by
// line, as Secrets hold it, and as messages quote it.
func (r *run) hide(secret string) {
	for _, line := range append(strings.Split(secret, "\n"), secret, base64.StdEncoding.EncodeToString([]byte(secret))) {
		line = strings.TrimSpace(line)
		if len(line) < shortest {
			continue
		}
		r.hidden = append(r.hidden, line)
		quoted := inner(strconv.Quote(line))
		if encoded, err := json.Marshal(line); err == nil {
			r.hidden = append(r.hidden, inner(string(encoded)))
		}
		// Messages about a schema quote with ' what Go quotes with ".
		r.hidden = append(r.hidden, quoted, strings.NewReplacer(`\"`, `"`, `'`, `\'`).Replace(quoted))
	}
}

// inner is a quoted text without its quotes.
func inner(quoted string) string { return quoted[1 : len(quoted)-1] }

// hideValues hides values of a Secret: each of them, and all as one text.
func (r *run) hideValues(text string) {
	r.hide(text)
	var values any
	if yaml.Unmarshal([]byte(text), &values) == nil {
		r.hideEach(values)
	}
}

// hidePath hides what a value of a Secret becomes at a targetPath, where it may be
// cut at commas.
func (r *run) hidePath(text string) {
	values := map[string]any{}
	_ = strvals.ParseInto("value="+text, values) // what was read before an error is there
	r.hideEach(values)
	if len(values) > 1 {
		for name := range values {
			r.hide(name)
		}
	}
}

func (r *run) hideEach(value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, below := range value {
			r.hideEach(below)
		}
	case []any:
		for _, below := range value {
			r.hideEach(below)
		}
	case bool, nil:
	case float64: // which templates print in either way
		r.hide(fmt.Sprint(value))
		r.hide(strconv.FormatFloat(value, 'f', -1, 64))
	default:
		r.hide(fmt.Sprint(value))
	}
}

// redacted returns an error without what is hidden. Charts and their schemas put
// values into their messages.
func (r *run) redacted(err error) error {
	if err == nil {
		return nil
	}
	slices.SortFunc(r.hidden, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) // what holds another one first
	})
	message := err.Error()
	for _, secret := range slices.Compact(r.hidden) {
		message = strings.ReplaceAll(message, secret, "[hidden]")
	}
	if message == err.Error() {
		return err
	}
	return errors.New(message)
}
