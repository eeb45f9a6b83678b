#!/usr/bin/env bash
# Runs every fuzz target of the module for the time given (default 3s), or as
# often as given (1000x): go test fuzzes one target of one package at a time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
time=${1:-3s}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The fuzzer first runs all that it has ever found interesting, which takes
# longer from run to run until no time is left. So each run begins with the seeds
# alone. What fails is written to the package's testdata/fuzz as always.
fuzz() {
  rm -rf "$work/cache"
  echo "fuzz $1 $2 for $3"
  go test -run '^$' -fuzz "^$2\$" -fuzztime "$3" "$1" -args -test.fuzzcachedir="$work/cache" | tee "$work/log"
}

list=$(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...)
for package in $list; do
  dir=$(go list -f '{{.Dir}}' "$package")
  targets=$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$dir"/*_test.go)
  for target in $targets; do
    fuzz "$package" "$target" "$time"
    # On a busy machine the seeds alone may take all the time.
    grep -q 'now fuzzing' "$work/log" || fuzz "$package" "$target" 1000x
  done
done
