// Package flux gives the HelmReleases of a GitOps repository what a post-render
// gives a release. Flux runs no executable post-renderer, only kustomize patches,
// and those cannot add objects. So the chart of a HelmRelease is rendered as
// Flux's helm-controller would render it, the engine plans, and the plan becomes
// JSON6902 patches in spec.postRenderers and a companion file with everything
// that is an object of its own.
//
// The flow of [Render], one step after the other:
//
//	files.go, read.go     the files, and the objects in them
//	lookup.go             objects of the files, or else of the cluster
//	chart.go              which chart to render
//	sources.go, login.go  from where, and with which login
//	values.go             with which values
//	secrets.go            what errors must not say
//	kustomization.go      what applies a file
//	steps.go              helm-controller's post-renderers, run by kustomize
//	policy.go             the policy of a HelmRelease
//	patches.go            a plan as patches
//	companions.go         a plan as a companion file
//	write.go              both, written into the files
//	warnings.go           what can go wrong, as far as files show it
//	render.go             all of it in a row
//
// Nothing here reads a file or the network: files come in and go out as bytes,
// and a chart is rendered by a function that the caller gives.
package flux
