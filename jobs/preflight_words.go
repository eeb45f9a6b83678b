package jobs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gatewright/gatewright/postrender/engine"
)

// blockers names the sweep's listeners that stand in the way of a refused write,
// and how to give them up.
func blockers(p *parent, next *unstructured.Unstructured, err error) string {
	brings := map[string]bool{}
	names := map[any]bool{}
	for _, l := range listenersOf(next) {
		hostname, _ := l["hostname"].(string)
		brings[fmt.Sprintf("%v %s", l["port"], hostname)], names[l["name"]] = true, true
	}
	var clash, others []string
	for _, l := range p.source.Listeners {
		switch {
		case !p.ours(&l) || l.Hostname == "":
		case brings[fmt.Sprintf("%d %s", l.Port, l.Hostname)] && !names[l.Name], strings.Contains(err.Error(), `"`+l.Name+`"`):
			clash = append(clash, l.Hostname)
		default:
			others = append(others, l.Hostname)
		}
	}
	const asCronJob = ", with the --policy and --lease of the CronJob"
	yield := fmt.Sprintf("gatewright sweep --yield %s/%s:", next.GetNamespace(), next.GetName())
	slices.Sort(clash)
	slices.Sort(others)
	switch {
	case len(clash) > 0:
		return fmt.Sprintf(". The sweep's listeners for %s stand in its way; give them up right before the upgrade: %s%s", strings.Join(clash, ", "), yield, strings.Join(clash, " --yield "+next.GetNamespace()+"/"+next.GetName()+":")) + asCronJob
	case strings.Contains(err.Error(), "Too many") && len(others) > 0:
		return fmt.Sprintf(". %d of its listeners are the sweep's; make room by giving some up: %s%s", len(others), yield, others[0]) + asCronJob
	}
	return giveBack(err)
}

var conflictWith = regexp.MustCompile(`conflict with "([^"]+)"`)

// giveBack says what to do about fields that others than the sweep own, "" where
// there are none.
func giveBack(err error) string {
	var owners []string
	for _, c := range conflictsOf(err) {
		if owner := conflictWith.FindStringSubmatch(c.message); owner != nil && owner[1] != engine.FieldManager {
			owners = append(owners, owner[1])
		}
	}
	if len(owners) == 0 {
		return ""
	}
	slices.Sort(owners)
	return fmt.Sprintf(". What %s wrote has to be given back: put it into the chart alone and remove it by hand right before the upgrade, or upgrade once with --force-conflicts", strings.Join(slices.Compact(owners), " and "))
}
