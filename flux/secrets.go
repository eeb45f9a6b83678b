package flux

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// shortest is the length of the shortest value that is hidden: what is shorter
// stands in every other word.
const shortest = 4

// hide keeps a text out of all errors of the release at hand: as it is, line by
// line, and as Secrets hold it.
func (r *run) hide(secret string) {
	for _, line := range append(strings.Split(secret, "\n"), secret, base64.StdEncoding.EncodeToString([]byte(secret))) {
		if line = strings.TrimSpace(line); len(line) >= shortest {
			r.hidden = append(r.hidden, line)
		}
	}
}

// hideValues hides values of a Secret: each of them, and all as one text.
func (r *run) hideValues(text string) {
	r.hide(text)
	var values any
	if yaml.Unmarshal([]byte(text), &values) == nil {
		r.hideEach(values)
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
