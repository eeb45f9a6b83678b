package engine

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// differs is why a thing is updated, and in which fields it is not as it is to be.
const differs = "differs from what was rendered"

// difference is a field that stands in one way and is to stand in another. What a
// list holds is told apart only where it is one mapping before and after.
type difference struct {
	path     []string
	old, now any
}

// differences lists the fields in which two maps differ, sorted. If not whole, a
// field that only the old one has is no difference.
func differences(old, now map[string]any, whole bool, path ...string) []difference {
	keys := slices.Collect(maps.Keys(now))
	if whole {
		keys = slices.AppendSeq(keys, maps.Keys(old))
	}
	slices.Sort(keys)
	var out []difference
	for _, key := range slices.Compact(keys) {
		at := append(slices.Clone(path), key)
		before, isMap := old[key].(map[string]any)
		after, toMap := now[key].(map[string]any)
		one, other := onlyMap(old[key]), onlyMap(now[key])
		switch {
		case equalObjects(old[key], now[key]):
		case one != nil && other != nil:
			out = append(out, differences(one, other, true, append(at, "[0]")...)...)
		case (isMap || old[key] == nil) && (toMap || now[key] == nil) && len(before)+len(after) > 0:
			out = append(out, differences(before, after, whole, at...)...)
		default:
			out = append(out, difference{at, old[key], now[key]})
		}
	}
	return out
}

// onlyMap is the one mapping that a list holds, or nil.
func onlyMap(value any) map[string]any {
	if list, ok := value.([]any); ok && len(list) == 1 {
		return asMap(list[0])
	}
	return nil
}

// maxDifferences is how many fields a reason names.
const maxDifferences = 3

// whyDiffers is the reason of an update that makes the differences undone. Those
// that keptBy gives a field manager for stay, because it owns the field.
func whyDiffers(all []difference, keptBy func(path []string) string) string {
	var parts []string
	for i, d := range all {
		if i == maxDifferences {
			parts = append(parts, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		part := fmt.Sprintf("%s: %s -> %s", strings.ReplaceAll(strings.Join(d.path, "."), ".[0]", "[0]"), shown(d.old), shown(d.now))
		if manager := keptBy(d.path); manager != "" {
			part += fmt.Sprintf(" (field manager %s owns it, so its value is left as it is%s)", shown(manager), d.cost())
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return differs
	}
	return differs + ": " + strings.Join(parts, ", ")
}

// whyDiffers is the reason of an update of a live listener.
func (l *SourceListener) whyDiffers(now map[string]any) string {
	return whyDiffers(differences(l.Object, now, true), l.owner)
}

// cost is what becomes of the claim where another manager keeps the old value: the
// API server refuses to change it, but not to do without it.
func (d difference) cost() string {
	if d.now == nil {
		return ""
	}
	return ", and a sweep refuses the claim"
}

// nobody owns fields of what only we write.
func nobody([]string) string { return "" }

// plainValue is what needs no quotes to be told from the sentence around it.
var plainValue = regexp.MustCompile(`^[\w./:*@+-]{1,64}$`)

// shown is a value of a field in a sentence, cut to what fits one.
func shown(value any) string {
	const most = 64
	text, isText := value.(string)
	switch {
	case value == nil:
		return "none"
	case isText && plainValue.MatchString(text):
		return text
	}
	text = compact(value)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// fieldOwner is a field manager beside ours, and what it owns of a listener, as
// fieldsV1 of managedFields writes it.
type fieldOwner struct {
	manager string
	fields  map[string]any
}

// owner is the manager beside ours that owns a field of a listener, or "".
func (l *SourceListener) owner(path []string) string {
	for _, o := range l.owners {
		if o.owns(path) {
			return o.manager
		}
	}
	return ""
}

// owns follows the path; where it ends early the manager owns all that is below.
func (o fieldOwner) owns(path []string) bool {
	fields := o.fields
	for _, key := range path {
		below, ok := fields["f:"+key].(map[string]any)
		if !ok {
			return false
		}
		if len(below) == 0 {
			return true
		}
		fields = below
	}
	return true
}
