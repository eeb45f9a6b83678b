package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// namespace is where all generated objects are.
const namespace = "bench"

// listenersPerGateway leaves room for the plain listener under the limit of 64.
const listenersPerGateway = 60

// stream is a file that a post-renderer reads.
type stream struct {
	name      string
	file      string
	size      int64
	documents int
	hostnames int // that gatewright has to add
}

// prepare returns the streams to compare the tools on.
func (b *bench) prepare() ([]stream, error) {
	var out []stream
	for _, chart := range []struct {
		name, file      string
		documents, size int // of a look-alike
	}{
		{"traefik", "traefik.helm3.yaml", 8, 8_500},
		{"argo-cd", "argo-cd.helm3.yaml", 56, 1_900_000},
	} {
		s, err := inspect(chart.name, filepath.Join(b.corpus, chart.file))
		if os.IsNotExist(err) {
			fmt.Fprintf(b.out, "no %s in %s: a look-alike takes its place\n", chart.file, b.corpus)
			s, err = b.write(chart.name+" look-alike", func(w *bufio.Writer) { lookAlike(w, chart.documents, chart.size) })
		}
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	s, err := b.generated(b.documents)
	return append(out, s), err
}

// generated is a stream of as many documents, a fifth of them routes.
func (b *bench) generated(documents int) (stream, error) {
	s, err := b.write(fmt.Sprintf("generated-%d", documents), func(w *bufio.Writer) { applications(w, documents) })
	s.name, s.hostnames = "generated", documents/5
	return s, err
}

// write makes a file piece by piece.
func (b *bench) write(name string, fill func(*bufio.Writer)) (stream, error) {
	path := filepath.Join(b.dir, name+".yaml")
	file, err := os.Create(path)
	if err != nil {
		return stream{}, err
	}
	w := bufio.NewWriter(file)
	fill(w)
	if err := w.Flush(); err != nil {
		return stream{}, err
	}
	if err := file.Close(); err != nil {
		return stream{}, err
	}
	return inspect(name, path)
}

// inspect measures a file and counts its documents.
func inspect(name, path string) (stream, error) {
	file, err := os.Open(path)
	if err != nil {
		return stream{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return stream{}, err
	}
	s := stream{name: name, file: path, size: info.Size()}
	in := bufio.NewScanner(file)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		if bytes.HasPrefix(in.Bytes(), []byte("kind: ")) {
			s.documents++
		}
	}
	return s, in.Err()
}

// applications writes that many documents: a fifth as many applications of five
// each, some of which give up their ServiceAccount to make room for Gateways.
func applications(w *bufio.Writer, documents int) {
	count := documents / 5
	gateways := (count + listenersPerGateway - 1) / listenersPerGateway
	for g := range gateways {
		fmt.Fprintf(w, gatewayDocument, g, namespace)
	}
	for app := range count {
		name := fmt.Sprintf("app-%05d", app)
		if app >= gateways {
			fmt.Fprintf(w, serviceAccountDocument, name, namespace)
		}
		fmt.Fprintf(w, configMapDocument, name, namespace)
		for line := range 95 {
			fmt.Fprintf(w, "    server.%03d.upstream = %q # one of many settings\n", line, name)
		}
		fmt.Fprintf(w, serviceDocument, name, namespace)
		deployment(w, name)
		fmt.Fprintf(w, routeDocument, name, namespace, app/listenersPerGateway)
	}
}

// deployment writes a Deployment with the settings that charts write out.
func deployment(w *bufio.Writer, name string) {
	fmt.Fprintf(w, deploymentDocument, name, namespace)
	for env := range 78 {
		fmt.Fprintf(w, "        - name: SETTING_%03d\n          value: https://%s.example.com/settings?page=%03d\n", env, name, env)
	}
}

// lookAlike writes a Gateway without routes and definitions of custom resources
// up to a size.
func lookAlike(w *bufio.Writer, documents, size int) {
	fmt.Fprintf(w, gatewayDocument, 0, namespace)
	for d := 1; d < documents; d++ {
		written, _ := fmt.Fprintf(w, definitionDocument, fmt.Sprintf("widgets%d", d))
		for field := 0; written < size/(documents-1); field++ {
			n, _ := fmt.Fprintf(w, fieldLines, field)
			written += n
		}
	}
}
