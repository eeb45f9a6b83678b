package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatewright/gatewright/postrender"
	"github.com/gatewright/gatewright/postrender/engine"
)

// input is everything that a plan is computed from.
type input struct {
	streams  []stream
	snapshot engine.Snapshot
	policies engine.PolicySources
	// cluster is that of --cluster, if there are manifests beside it.
	cluster *input
}

// stream is one of the inputs, before and after it was read.
type stream struct {
	manifest
	*postrender.Stream
}

// read reads the manifests as one release.
func (a *app) read(cmd *cobra.Command, release *releaseFlags, flags *inputFlags) (*input, error) {
	if err := release.check(cmd); err != nil {
		return nil, err
	}
	if err := flags.checkAlone(cmd); err != nil {
		return nil, err
	}
	policies, err := release.policy.sources()
	if err != nil {
		return nil, err
	}
	known, err := release.known()
	if err != nil {
		return nil, err
	}
	flags.chart.Namespace, flags.chart.ReleaseName = release.namespace, release.release
	manifests, err := flags.read(cmd.Context(), a, cmd)
	if err != nil {
		return nil, err
	}
	var beside *input
	if flags.cluster && !flags.alone() {
		data, err := a.readCluster(cmd.Context(), flags.connection)
		if err != nil {
			return nil, err
		}
		known = append(known, postrender.File{Name: clusterSource, Data: data})
		live, there := []manifest{{clusterSource, data}}, policies
		there.Flags = nil // which are for the release
		if beside, err = a.inputOf(live, nil, there, &releaseFlags{}, false); err != nil {
			return nil, err
		}
	}
	in, err := a.inputOf(manifests, known, policies, release, flags.complete)
	if err != nil {
		return nil, err
	}
	in.cluster = beside
	return in, nil
}

// inputOf reads manifests, and what is known beside them.
func (a *app) inputOf(manifests []manifest, known []postrender.File, policies engine.PolicySources, release *releaseFlags, complete bool) (*input, error) {
	headers, isComplete, err := a.readHeaders(manifests, complete)
	if err != nil {
		return nil, err
	}
	in := &input{policies: policies, snapshot: engine.Snapshot{Complete: isComplete, ReadNamespaces: onlyNamespaces(headers)}}
	services := slices.ContainsFunc(manifests, func(m manifest) bool { return postrender.NeedsServices(m.data) })
	for i, m := range manifests {
		live := complete || headers[i] != nil
		before := countKinds(&in.snapshot)
		if err := in.add(m, postrender.ReadOptions{Source: m.source, Namespace: release.namespace, Services: services, Live: live, Unnumbered: m.source == clusterSource}); err != nil {
			return nil, err
		}
		a.warnOfCut(m, headers[i], before, countKinds(&in.snapshot))
	}
	for _, file := range known {
		if err := in.add(manifest{file.Name, file.Data}, postrender.ReadOptions{Source: file.Name, Known: true, Services: services, Unnumbered: file.Name == clusterSource}); err != nil {
			return nil, err
		}
	}
	in.snapshot.ServicesUnread = slices.ContainsFunc(headers, func(h *engine.SnapshotHeader) bool {
		return h != nil && !h.Has(engine.GroupKind{Kind: engine.KindService})
	})
	in.snapshot.IssuerKinds, in.snapshot.NotServed = issuerKinds(headers), notServed(headers)
	if isComplete {
		in.snapshot.Hold(time.Now(), sweepGrace)
	}
	return in, nil
}

// sweepGrace is how long a sweep leaves what nobody asks for, unless it is told
// otherwise.
const sweepGrace = 24 * time.Hour

func (in *input) add(m manifest, options postrender.ReadOptions) error {
	read, err := postrender.Read(m.data, options)
	if err != nil {
		return hintTemplate(m, err)
	}
	if !options.Known {
		in.streams = append(in.streams, stream{m, read})
	}
	return read.AddTo(&in.snapshot)
}

// compute plans, and adds what reading found odd, in the engine's order, which
// does not depend on that of the inputs.
func (in *input) compute() (*engine.Plan, error) {
	plan, err := engine.Compute(&in.snapshot, in.policies)
	if err != nil {
		return nil, err
	}
	for _, s := range in.streams {
		plan.Findings = append(plan.Findings, s.Findings()...)
	}
	sortFindings(plan.Findings)
	return plan, nil
}

func sortFindings(findings []engine.Finding) {
	slices.SortFunc(findings, func(a, b engine.Finding) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Message, b.Message), cmp.Compare(a.Source, b.Source))
	})
}

// rendered is what comes out of a post-render of all inputs.
func (in *input) rendered(plan *engine.Plan) ([]byte, error) {
	var all bytes.Buffer
	for _, s := range in.streams {
		result, err := s.Edit(plan)
		if err != nil {
			return nil, err
		}
		all.WriteString("\n---\n")
		if _, err := result.WriteTo(&all); err != nil {
			return nil, err
		}
	}
	return all.Bytes(), nil
}

// diff is what a post-render changes in the inputs, one after the other.
func (in *input) diff(plan *engine.Plan) (string, error) {
	var all strings.Builder
	for _, s := range in.streams {
		result, err := s.Edit(plan)
		if err != nil {
			return "", err
		}
		var after bytes.Buffer
		if _, err := result.WriteTo(&after); err != nil {
			return "", err
		}
		diff, err := unifiedDiff(s.source, s.data, after.Bytes())
		if err != nil {
			return "", fmt.Errorf("diff of %s: %w", s.source, err)
		}
		all.WriteString(diff)
	}
	return all.String(), nil
}
