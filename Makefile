# Everything that builds, tests or shows gatewright. "make help" lists it.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VERSION   ?= 0.1.0
FUZZTIME  ?= 3s
DIST      ?= dist
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

STAMP := -s -w -X main.version=$(VERSION)

# Go's ./... leaves testdata out; our own Go program there is checked as well.
PACKAGES = ./... $(addprefix ./,$(patsubst %/,%,$(dir $(wildcard testdata/*/main.go))))
MODULES  = $(patsubst %/,%,$(dir $(wildcard go.mod testdata/*/go.mod)))

#? help: show this list
.PHONY: help
help:
	@grep -h '^#? ' $(MAKEFILE_LIST) | sed 's/^#? //' | awk -F': ' '{printf "  make %-13s %s\n", $$1, $$2}'

# The lean program is built as for the plugin: static, and the same bytes in every
# clone. The full one links what the tests link, so it is built like them.
#? build: bin/gatewright, the lean program that Helm runs, and bin/gatewright-full beside it
.PHONY: build
build:
	CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags '$(STAMP)' -o .cache/build/gatewright ./cmd/gatewright
	go build -buildvcs=false -ldflags '$(STAMP)' -o .cache/build/gatewright-full ./cmd/gatewright-full
	@mkdir -p bin
	@for program in gatewright gatewright-full; do \
		cmp -s .cache/build/$$program bin/$$program || install .cache/build/$$program bin/$$program; \
	done # go build touches a program that is built already; then go test would run again all that uses it

#? tools: the real Helm 3, Helm 4, kustomize and staticcheck in .cache/bin, built once
TOOLS := $(addprefix .cache/bin/,helm3 helm4 kustomize staticcheck)
.PHONY: tools
tools: $(TOOLS)

.cache/bin/helm3: PACKAGE = helm.sh/helm/v3/cmd/helm
.cache/bin/helm4: PACKAGE = helm.sh/helm/v4/cmd/helm
.cache/bin/kustomize: PACKAGE = sigs.k8s.io/kustomize/kustomize/v5
.cache/bin/staticcheck: PACKAGE = honnef.co/go/tools/cmd/staticcheck

# Helm 3 takes the version of Kubernetes that charts see from its linker flags;
# without them it claims 1.20, which many charts refuse.
.cache/bin/helm3: FLAGS = -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=37

$(TOOLS): testdata/tools/go.mod testdata/tools/go.sum
	cd testdata/tools && go build -buildvcs=false -ldflags '-s -w $(FLAGS)' -o ../../$@ $(PACKAGE)
	@touch $@

#? cluster: the real etcd, kube-apiserver, kube-controller-manager, kubectl and cert-manager in .cache/cluster, built once, in some minutes
CLUSTER := etcd kube-apiserver kube-controller-manager kubectl certmanager
# What KUBEBUILDER_ASSETS holds, if it is set, is used instead.
CLUSTER := $(filter-out $(notdir $(if $(KUBEBUILDER_ASSETS),$(wildcard $(KUBEBUILDER_ASSETS)/*))),$(CLUSTER))
CLUSTER := $(addprefix .cache/cluster/,$(CLUSTER))
.PHONY: cluster
cluster: $(CLUSTER)

.cache/cluster/etcd: PACKAGE = go.etcd.io/etcd/server/v3
.cache/cluster/kube%: PACKAGE = k8s.io/kubernetes/cmd/$(@F)
.cache/cluster/certmanager: PACKAGE = ./certmanager
.cache/cluster/certmanager: testdata/cluster/certmanager/main.go

# Without these the programs claim to be v0.0.0 and refuse one another.
KUBERNETES = $(shell cd testdata/cluster && go list -m -f '{{.Version}}' k8s.io/kubernetes)
KUBE_MINOR = $(word 2,$(subst ., ,$(KUBERNETES)))
KUBE_STAMP = $(foreach v,gitVersion=$(KUBERNETES) gitMajor=1 gitMinor=$(KUBE_MINOR),-X k8s.io/component-base/version.$(v))

# With the flags and the versions of our own tests, so that what both need is
# compiled once.
$(CLUSTER): testdata/cluster/go.mod testdata/cluster/go.sum
	cd testdata/cluster && go build -buildvcs=false -ldflags '-s -w $(KUBE_STAMP)' -o ../../$@.new $(PACKAGE)
	@mv $@.new $@ # at once: tests may be starting it

#? demo: render a chart through the real Helm 3 and Helm 4, then show the plan and the diff
.PHONY: demo
demo: build tools
	@testdata/demo.sh

# A fifth of the time that the servers and Helm would take is garbage collection;
# with GOGC=400 an API server has up to a gigabyte. A test waits for its server for
# much of its time, so there is one more than processors. The longest package runs
# first, beside all others.
TEST_FLAGS = -timeout 60m -parallel $$(($$(getconf _NPROCESSORS_ONLN) + 1))

#? test: all tests, after the fuzz targets have run for FUZZTIME (3s) each
.PHONY: test
test: build tools cluster fuzz
	GOGC=$${GOGC:-400} go test $(TEST_FLAGS) ./jobs $(PACKAGES)
	go -C testdata/image test ./...
	go -C testdata/crds test ./...

#? test-faults: each fault at each read and write of a sweep, of which test takes a sample, in some fifteen minutes
.PHONY: test-faults
test-faults: cluster
	GATEWRIGHT_EVERY_FAULT=1 go test ./jobs -run 'TestInvariant|TestDeathAtEachWrite|TestTwoSweepsAtOnce|TestStories' -count=1 -timeout 60m

#? fuzz: every fuzz target for FUZZTIME (3s; 1000x for a number of inputs)
.PHONY: fuzz
fuzz:
	@testdata/fuzz.sh $(FUZZTIME)

#? golden: rewrite the expected outputs that tests compare with, and fail if any changed; read the diff
.PHONY: golden
golden: build tools
	UPDATE=1 go test $(PACKAGES)
	UPDATE=1 go -C testdata/crds test ./...

#? bench: time and memory of post-render beside kustomize and cat, and of the engine alone, in some minutes
.PHONY: bench
bench: build tools
	go run ./testdata/bench
	go test ./postrender/engine -run '^$$' -bench . -benchtime 3x

#? bench-cluster: what a sweep costs on a real API server with 30,000 routes, in some ten minutes (GATEWAYS=100 for a tenth)
.PHONY: bench-cluster
bench-cluster: cluster
	go test ./jobs -run '^$$' -bench Scale -benchtime 1x -timeout 2h

#? lint: gofmt, go vet, go mod tidy and staticcheck, without exceptions
.PHONY: lint
lint: .cache/bin/staticcheck
	@out=$$(gofmt -l .); test -z "$$out" || { echo "not formatted, run gofmt -w on: $$out"; exit 1; }
	go vet $(PACKAGES)
	@for m in $(MODULES); do echo "go mod tidy -diff ($$m)"; (cd $$m && go mod tidy -diff); done
	.cache/bin/staticcheck $(PACKAGES)
	cd testdata/cluster && go vet ./... && ../../.cache/bin/staticcheck ./...
	cd testdata/image && go vet ./... && ../../.cache/bin/staticcheck ./...
	cd testdata/crds && go vet ./... && ../../.cache/bin/staticcheck ./...

#? plugin: dist/gatewright-VERSION.tgz, the plugin for Helm 4; PLATFORMS="linux/amd64" limits it
.PHONY: plugin
plugin:
	go run ./cmd/gatewright/plugin -version $(VERSION) -ldflags '$(STAMP)' -out $(DIST) $(PLATFORMS)

# The image holds the full program, and is built by a module of its own.
#? image: dist/gatewright-VERSION-image.tar, for PLATFORMS of Linux; PUSH=REGISTRY/REPOSITORY pushes it, too
.PHONY: image
image:
	go -C testdata/image run . -source $(CURDIR) -out $(abspath $(DIST)) -version $(VERSION) -ldflags '$(STAMP)' \
		$(addprefix -push ,$(PUSH)) $(filter linux/%,$(PLATFORMS))

#? clean: remove what was built, tools included
.PHONY: clean
clean:
	rm -rf bin dist .cache
