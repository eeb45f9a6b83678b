#!/usr/bin/env bash
# Shows gatewright on a chart: through Helm 3, through Helm 4, and beforehand as
# a plan. Run it by "make demo", which builds what it needs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

chart=testdata/charts/allinone
version=0.1.0
platform=$(go env GOOS)/$(go env GOARCH)

# Helm's folders are the demo's own: Helm 3 loads no plugin at all where one
# for Helm 4 lies, and nobody's own folders are to be touched.
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
helm() {
  local major=$1
  shift
  env -u HELM_PLUGINS -u HELM_NAMESPACE KUBECONFIG=/dev/null \
    HELM_CONFIG_HOME="$home/$major/config" HELM_CACHE_HOME="$home/$major/cache" \
    HELM_DATA_HOME="$home/$major/data" ".cache/bin/helm$major" "$@"
}
helm3() { helm 3 "$@"; }
helm4() { helm 4 "$@"; }
gatewright() { bin/gatewright "$@"; }

step() { printf '\n=== %s\n' "$1"; }
run() {
  printf '$ %s\n' "$*"
  "$@"
}

step "Helm 3 runs gatewright as an executable. The Gateway of the chart comes out with a listener for each hostname:"
run helm3 template demo "$chart" --post-renderer bin/gatewright --show-only templates/gateway.yaml

step "Helm 4 runs it as a plugin, which is installed from its archive (here into a folder of the demo's own):"
make --no-print-directory plugin VERSION="$version" PLATFORMS="$platform" DIST="$home"
run helm4 plugin install "$home/gatewright-$version.tgz" --verify=false

step "The same chart through Helm 4. These objects were added, a Certificate for each listener:"
run helm4 template demo "$chart" --post-renderer gatewright --show-only templates/gatewright.yaml

step "The plan says beforehand what will be done and why, and shows the manifests' diff:"
run gatewright plan --chart "$chart" --diff
