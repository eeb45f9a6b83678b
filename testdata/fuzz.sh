#!/usr/bin/env bash
# Runs every fuzz target of the module for the time given (default 5s): go test
# fuzzes one target of one package at a time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
time=${1:-5s}

list=$(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...)
for package in $list; do
  dir=$(go list -f '{{.Dir}}' "$package")
  targets=$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$dir"/*_test.go)
  for target in $targets; do
    echo "fuzz $package $target"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package"
  done
done
