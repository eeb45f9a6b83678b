package cli

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// SweepRequest says what a sweep does; see the flags of the same names.
type SweepRequest struct {
	Connection     Connection
	Policies       engine.PolicySources
	Gateways       []engine.ObjectName
	Namespaces     []string
	Services       bool
	Grace, Settle  time.Duration
	MaxRemovals    int
	Yields         []Yield
	Leave          []engine.ObjectName
	DryRun         report.DryRun
	Events         bool
	Infrastructure bool
	// FluxEvents is the address of Flux's notification-controller, or "".
	FluxEvents string
	// Lease keeps two sweeps apart; without a name there is none.
	Lease engine.ObjectName
	// LockTimeout is how long to wait for the Lease.
	LockTimeout time.Duration
	// Progress is told what the sweep is at. It may be nil.
	Progress func(what string)
}

// Yield gives a listener of ours up for a time.
type Yield struct {
	Gateway  engine.ObjectName
	Hostname string
	For      time.Duration
}

// sweepFlags are the flags of sweep, as they are written.
type sweepFlags struct {
	request     SweepRequest
	policy      policyFlags
	gateways    []string
	allowed     []string
	yields      []string
	leaves      []string
	yieldFor    time.Duration
	dryRun      dryRun
	lease       string
	output      string
	report      string
	termination string
	yes         bool
	detailed    bool
}

func (a *app) sweepCommand() *cobra.Command {
	var flags sweepFlags
	cmd := &cobra.Command{
		Use:   "sweep",
		Short: "Bring a cluster in line: add what routes ask for, remove what is stale",
		Long: `sweep runs the engine against a cluster, once. It adds the listeners and
Certificates that routes and Certificates ask for, and marks those of its own
that nobody asks for any more. What has been stale for the whole grace period it
removes, after a second full read and plan.

It manages the Gateways that carry the annotation gatewright.dev/policy or
gatewright.dev/rendered, or that the policy file matches. It changes and removes
only what it made. What cannot be read whole is unknown, never absent: what
depends on it is not changed.`,
		Example: `  gatewright sweep --dry-run
  gatewright sweep --policy policy.yaml --gateway infra/edge
  gatewright sweep --yield infra/edge:shop.example.com
  gatewright sweep --leave infra/edge --dry-run
  gatewright sweep -o json --report report.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && flags.dryRun != "" && isDryRun(args[0]) {
				return fmt.Errorf("unexpected argument %q: write --dry-run=%s", args[0], args[0])
			}
			return noArguments("name Gateways by --gateway NAMESPACE/NAME")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return a.sweep(cmd, &flags) },
	}
	flags.register(cmd)
	return cmd
}

func (f *sweepFlags) register(cmd *cobra.Command) {
	fs, r := cmd.Flags(), &f.request
	f.policy.register(cmd)
	r.Connection.register(cmd)
	fs.StringArrayVar(&f.gateways, "gateway", nil, "write this Gateway only, `NAMESPACE/NAME` (repeatable); policy flags need it")
	fs.StringSliceVar(&r.Namespaces, "namespaces", nil, "read these `NAMESPACES` only (commas); nothing is removed that others may use")
	fs.StringSliceVar(&f.allowed, "allowed-issuers", nil, "issuers that Certificates may name, `KIND/NAME` with * for any (commas); without it all")
	fs.BoolVar(&r.Services, "services", false, "read the names of Services too, for policies with withdraw: Served")
	fs.DurationVar(&r.Grace, "grace", sweepGrace, "how long (`DURATION`) a listener or Certificate is stale before it goes; 0 needs --yes")
	fs.DurationVar(&r.Settle, "settle", 10*time.Minute, "remove nothing from a Gateway that Helm or Flux wrote in this `DURATION`")
	fs.IntVar(&r.MaxRemovals, "max-removals", 0, "let `N` listeners of a Gateway go in this run; without it at most 3, or 20 %")
	fs.StringArrayVar(&f.yields, "yield", nil, "give up our listener of `NAMESPACE/GATEWAY:HOSTNAME` at once and for a time, so that a chart can bring its own (repeatable)")
	fs.DurationVar(&f.yieldFor, "yield-for", time.Hour, "for which `DURATION` --yield gives up; 0 ends a yield")
	fs.StringArrayVar(&f.leaves, "leave", nil, "do nothing but take all that is the sweep's out of the Gateway `NAMESPACE/NAME` and its ListenerSets, whoever uses it (repeatable)")
	// The empty name leaves the value that it has by itself.
	fs.Var(&f.dryRun, "dry-run", "write nothing, plan only; --dry-run=server``: ask the API server as well")
	fs.Lookup("dry-run").NoOptDefVal = string(report.DryRunClient)
	fs.BoolVar(&r.Events, "events", false, "write Events on the Gateways and routes that something happens to")
	fs.BoolVar(&r.Infrastructure, "infrastructure", false, "report Deployments, Services and ServiceAccounts whose Gateway is gone, and subjects of ClusterRoleBindings that are")
	fs.StringVar(&r.FluxEvents, "flux-events", "", "tell Flux's notification-controller at this `URL` of what happens to Gateways of HelmReleases")
	fs.StringVar(&f.lease, "lease", "", "Lease `NAMESPACE/NAME` that keeps two sweeps apart")
	fs.DurationVar(&r.LockTimeout, "lock-timeout", 2*time.Minute, "for which `DURATION` to wait for the Lease before doing nothing")
	fs.StringVarP(&f.output, "output", "o", "table", "`FORMAT`: table or json")
	fs.StringVar(&f.report, "report", "", "write the report as JSON to this `FILE` too")
	fs.StringVar(&f.termination, "termination-log", "", "write a short report to this `FILE`, for Kubernetes")
	fs.BoolVar(&f.yes, "yes", false, "confirm --grace 0")
	fs.BoolVar(&f.detailed, "detailed-exitcode", false, "exit code 2 if something was, or would be, changed")
	complete(cmd, "output", []string{"table", "json"})
	complete(cmd, "dry-run", []string{"client", "server"})
}

// check turns the flags into a request.
func (f *sweepFlags) check(cmd *cobra.Command) error {
	wrong := func(format string, args ...any) error {
		return &usageError{cmd.CommandPath(), fmt.Errorf(format, args...)}
	}
	r := &f.request
	r.DryRun = report.DryRun(f.dryRun)
	switch {
	case f.output != "table" && f.output != "json":
		return wrong("unknown format %q for --output, want table or json", f.output)
	case r.Grace < 0 || r.Settle < 0 || r.MaxRemovals < 0 || f.yieldFor < 0:
		return wrong("--grace, --settle, --max-removals and --yield-for take nothing below zero")
	case len(f.leaves) > 0 && len(f.yields)+len(f.gateways) > 0:
		return wrong("--leave does nothing else; run it without --yield and --gateway")
	case cmd.Flags().Changed("yield-for") && len(f.yields) == 0:
		return wrong("--yield-for says for how long --yield gives up; give --yield NAMESPACE/GATEWAY:HOSTNAME too")
	case cmd.Flags().Changed("lock-timeout") && f.lease == "":
		return wrong("--lock-timeout says for how long to wait for the Lease; give --lease NAMESPACE/NAME too")
	case r.Grace == 0 && !f.yes && r.DryRun == report.Write:
		return wrong("--grace 0 removes at once what nobody asks for at this moment; add --yes if that is meant")
	}
	if address, err := url.Parse(r.FluxEvents); r.FluxEvents != "" && (err != nil || address.Host == "" || !strings.HasPrefix(address.Scheme, "http")) {
		return wrong("--flux-events %q: want an http address, such as http://notification-controller.flux-system.svc.cluster.local./", r.FluxEvents)
	}
	for _, namespace := range r.Namespaces {
		if len(validation.IsDNS1123Label(namespace)) > 0 {
			return wrong("no namespace can be called %q; --namespaces takes names with commas", namespace)
		}
	}
	return errors.Join(f.checkNames(wrong), f.checkIssuers(wrong), f.checkPolicy(wrong))
}

func (f *sweepFlags) checkNames(wrong func(string, ...any) error) error {
	r := &f.request
	for _, text := range f.gateways {
		name, ok := qualifiedName(text)
		if !ok {
			return wrong("--gateway %q: want NAMESPACE/NAME", text)
		}
		r.Gateways = append(r.Gateways, name)
	}
	for _, text := range f.leaves {
		name, ok := qualifiedName(text)
		if !ok {
			return wrong("--leave %q: want NAMESPACE/NAME", text)
		}
		r.Leave = append(r.Leave, name)
	}
	for _, text := range f.yields {
		gateway, raw, _ := strings.Cut(text, ":")
		name, ok := qualifiedName(gateway)
		hostname, err := engine.NormalizeHostname(raw)
		if !ok || err != nil {
			return wrong("--yield %q: want NAMESPACE/GATEWAY:HOSTNAME", text)
		}
		r.Yields = append(r.Yields, Yield{name, hostname, f.yieldFor})
	}
	if f.lease == "" {
		return nil
	}
	var ok bool
	if r.Lease, ok = qualifiedName(f.lease); !ok {
		return wrong("--lease %q: want NAMESPACE/NAME", f.lease)
	}
	return nil
}

func (f *sweepFlags) checkIssuers(wrong func(string, ...any) error) error {
	for _, issuer := range f.allowed {
		if kind, name, ok := strings.Cut(issuer, "/"); !ok || kind == "" || name == "" {
			return wrong("--allowed-issuers %q: want KIND/NAME, such as ClusterIssuer/letsencrypt or Issuer/*", issuer)
		}
	}
	f.request.Policies.AllowedIssuers = f.allowed
	return nil
}

// checkPolicy keeps policy flags from reaching every Gateway of the cluster.
func (f *sweepFlags) checkPolicy(wrong func(string, ...any) error) error {
	sources, err := f.policy.sources()
	if err != nil {
		return err
	}
	if len(sources.Flags) > 0 && len(f.request.Gateways) == 0 {
		return wrong("policy flags would reach every Gateway of the cluster; name those that are meant by --gateway NAMESPACE/NAME, or use --policy FILE")
	}
	sources.FlagsFor, sources.AllowedIssuers = f.request.Gateways, f.request.Policies.AllowedIssuers
	f.request.Policies = sources
	return nil
}

func qualifiedName(text string) (engine.ObjectName, bool) {
	namespace, name, ok := strings.Cut(text, "/")
	return engine.ObjectName{Namespace: namespace, Name: name}, ok &&
		len(validation.IsDNS1123Label(namespace)) == 0 && len(validation.IsDNS1123Subdomain(name)) == 0
}

// sweep runs the sweep and prints its report, also that of one that failed.
func (a *app) sweep(cmd *cobra.Command, flags *sweepFlags) error {
	if err := flags.check(cmd); err != nil {
		return err
	}
	if a.program.Sweep == nil {
		return a.needFull(cmd.Context(), need{"sweep", "reach clusters", "run it where there is one"})
	}
	if err := flags.canWrite(); err != nil {
		return err
	}
	progress := newProgress(a.stderr)
	flags.request.Progress = progress.show
	got, err := a.program.Sweep(cmd.Context(), flags.request)
	progress.clear()
	if got == nil {
		return err
	}
	for _, note := range got.Notes {
		say(a.stderr, oneLine("gatewright: warning: "+note))
	}
	if err := errors.Join(a.printSweep(got, flags), flags.files(got)); err != nil {
		return &exitError{exitPartial, err}
	}
	if err != nil {
		return err
	}
	switch {
	case got.Result == report.Partial:
		return &exitError{code: exitPartial}
	case flags.detailed && got.Changed():
		return &exitError{code: exitChanges}
	}
	return nil
}

func (a *app) printSweep(got *report.Report, flags *sweepFlags) error {
	text := []byte(sweepReport(got).textAs("Sweep: ", lookOf(a.stdout)))
	if flags.output == "json" {
		var err error
		if text, err = got.JSON(); err != nil {
			return err
		}
	} else if got.Result == report.Failed {
		return nil // the error says it all
	}
	if _, err := a.stdout.Write(text); err != nil {
		return fmt.Errorf("stdout: %w", err)
	}
	return nil
}
