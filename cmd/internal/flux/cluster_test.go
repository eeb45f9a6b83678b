package flux

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/gatewright/gatewright/cmd/internal/cli"
	"github.com/gatewright/gatewright/jobs/clustertest"
)

const account = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: reader}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: gatewright-flux}
subjects: [{kind: ServiceAccount, name: reader}]
---
`

// rights are those of a ServiceAccount with the Role that the page gives it.
func rights(t *testing.T, namespace string) string {
	t.Helper()
	role := string(snippet(t, string(read(t, filepath.Join(root, page))), "role"))
	const names = "[web-values, charts-login]"
	if !strings.Contains(role, names) {
		t.Fatalf("no names in\n%s", role)
	}
	return account + strings.NewReplacer(names, "[hosts, none, values, sealed, login, lost]", "namespace: web", "namespace: "+namespace).Replace(role) + "\n---"
}

// secretWord stands in every Secret, and must be nowhere else.
const secretWord = "hunter2-and-more"

const inCluster = `
apiVersion: v1
kind: ConfigMap
metadata: {name: hosts}
data: {host: map.example.com}
---
apiVersion: v1
kind: Secret
metadata: {name: values}
stringData: {values.yaml: "routes: {shop: [secret.example.com]}\npassword: ` + secretWord + `\n"}
---
apiVersion: v1
kind: Secret
metadata: {name: sealed}
stringData: {values.yaml: "routes: {shop: [unsealed.example.com]}"}
---
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {username: me, password: ` + secretWord + `}
---
apiVersion: v1
kind: Secret
metadata: {name: unreadable}
stringData: {values.yaml: "password: ` + secretWord + `"}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: src}
spec: {interval: 1h, url: URL, secretRef: {name: login}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmChart
metadata: {name: src}
spec: {interval: 1h, chart: allinone, version: 1.1.0, sourceRef: {kind: HelmRepository, name: src}}
`

// kubeconfigOf writes a kubeconfig with a token.
func kubeconfigOf(t *testing.T, config *rest.Config) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	err := clientcmd.WriteToFile(api.Config{
		CurrentContext: "a",
		Contexts:       map[string]*api.Context{"a": {Cluster: "a", AuthInfo: "a"}},
		Clusters:       map[string]*api.Cluster{"a": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos:      map[string]*api.AuthInfo{"a": {Token: config.BearerToken}},
	}, file)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// command runs the command line in a folder of its own with one file.
func command(t *testing.T, file string, arguments ...string) (folder, output string, exit int) {
	t.Helper()
	folder = t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "web.yaml"), []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	arguments = append([]string{"flux", "render", filepath.Join(folder, "web.yaml")}, arguments...)
	exit = cli.Main(t.Context(), arguments, strings.NewReader(""), &out, &out, cli.Program{Flux: Render})
	return folder, out.String(), exit
}

// TestCluster reads values and sources of a real cluster, as a ServiceAccount that
// may get these objects and do nothing else.
func TestCluster(t *testing.T) {
	isolate(t)
	env := clustertest.Start(t)
	env.DefineFlux(t)
	namespace := env.Namespace(t)
	env.Apply(t, "test", namespace, rights(t, namespace)+strings.Replace(inCluster, "URL", helmRepository(t, "me", secretWord), 1))
	kubeconfig := kubeconfigOf(t, env.As(t, namespace, "reader"))
	in := func(manifest string) string {
		return strings.NewReplacer("namespace: web", "namespace: "+namespace, "name: src}}}", "name: src, namespace: "+namespace+"}}}").Replace(manifest)
	}
	values := "  valuesFrom: [%s]\n"
	from := func(refs string) string { return release(ofRepository("1.0.0") + fmt.Sprintf(values, refs)) }
	const sealed = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: sealed, namespace: web}\nstringData: {values.yaml: 'ENC[AES256_GCM,data:x]'}\nsops: {mac: x}\n"
	for _, tt := range []struct {
		name, manifest string
		more           []string // arguments
		want           string   // a hostname, or what the error says
		exit           int
	}{
		{"the chart alone", release(ofRepository("1.0.0")), nil, "v1-0-0.example.com", 0},
		{"chartRef", release(ofChart), nil, "v1-1-0.example.com", 0},
		{"a Secret", from("{kind: Secret, name: values}"), nil, "secret.example.com", 0},
		{"a key for a path", from("{kind: ConfigMap, name: hosts, valuesKey: host, targetPath: 'routes.shop[0]'}"), nil, "map.example.com", 0},
		{"optional", from("{kind: ConfigMap, name: none, optional: true}, {kind: ConfigMap, name: hosts, optional: true}"), nil, "v1-0-0.example.com", 0},
		{"encrypted in the file", from("{kind: Secret, name: sealed}") + sealed, nil, "unsealed.example.com", 0},
		{"the file wins", from("{kind: ConfigMap, name: hosts, valuesKey: host, targetPath: 'routes.shop[0]'}") +
			"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: hosts, namespace: web}\ndata: {host: file.example.com}\n", nil, "file.example.com", 0},
		{"missing", from("{kind: Secret, name: lost}"), nil, "Secret NS/lost, which valuesFrom names, is in none of the files and not in the cluster; create it, or give its manifest as one more FILE (decrypted)", 1},
		{"missing key", from("{kind: Secret, name: values, valuesKey: other}"), nil, "Secret NS/values, which valuesFrom names, has no key other (cluster); add the key", 1},
		{"missing and ignored", from("{kind: Secret, name: lost}"), []string{"--ignore-missing-values"}, "v1-0-0.example.com", 0},
		{"forbidden", from("{kind: Secret, name: unreadable}"), nil, `web.yaml): Secret NS/unreadable, which valuesFrom names, cannot be read: secrets "unreadable" is forbidden: User "system:serviceaccount:NS:reader" cannot get resource "secrets" in API group "" in the namespace "NS"; grant the verb get on secrets in namespace NS by a Role; give its manifest as one more FILE (decrypted), or leave it out`, 1},
		{"forbidden and optional", from("{kind: Secret, name: unreadable, optional: true}"), nil, "is forbidden", 1},
		{"forbidden and ignored", from("{kind: Secret, name: unreadable}"), []string{"--ignore-missing-values"}, "v1-0-0.example.com", 0},
		{"forbidden source", release(strings.Replace(ofRepository(""), "HelmRepository", "GitRepository", 1)), nil, "its chart comes from GitRepository NS/src, which cannot be read: gitrepositories.source.toolkit.fluxcd.io \"src\" is forbidden", 1},
		{"no such source", release(strings.Replace(ofChart, "name: src", "name: other", 1)), nil, "HelmChart NS/other, which is not at hand; it is not in the cluster either", 1},
		{"values that are no values", from("{kind: Secret, name: login, valuesKey: password}"), nil, "values of Secret login, key password: they are not a YAML mapping; correct them", 1},
		{"a value that is no value", from("{kind: Secret, name: login, valuesKey: password, targetPath: 'a[x'}"), nil, "they are no value for targetPath a[x; correct them", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder, output, exit := command(t, in(tt.manifest), append(tt.more, "--cluster", "--kubeconfig", kubeconfig)...)
			if exit != tt.exit {
				t.Errorf("exit code %d, want %d:\n%s", exit, tt.exit, output)
			}
			all := output
			for _, name := range []string{"web.yaml", "web.gatewright.yaml"} {
				if data, err := os.ReadFile(filepath.Join(folder, name)); err == nil {
					all += string(data)
				}
			}
			if want := strings.ReplaceAll(tt.want, "NS", namespace); !strings.Contains(all, want) {
				t.Errorf("want %q in\n%s", want, all)
			}
			if strings.Contains(all, secretWord) {
				t.Errorf("a Secret is told:\n%s", all)
			}
		})
	}
}

// TestClusterCheck reads the cluster to check, too.
func TestClusterCheck(t *testing.T) {
	isolate(t)
	env := clustertest.Start(t)
	namespace := env.Namespace(t)
	env.Apply(t, "test", namespace, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hosts}\ndata: {host: map.example.com}\n")
	charts, err := filepath.Abs(filepath.Join(root, "testdata/charts"))
	if err != nil {
		t.Fatal(err)
	}
	manifest := strings.ReplaceAll(webOfGit+"  valuesFrom: [{kind: ConfigMap, name: hosts, valuesKey: host, targetPath: 'routes.shop[0]'}]\n", "namespace: web", "namespace: "+namespace)
	file := filepath.Join(files(t, map[string]string{"web.yaml": manifest}), "web.yaml")
	for _, tt := range []struct {
		verb, want string
		exit       int
	}{{"check", "+  - map.example.com", 2}, {"render", "changed ", 0}, {"check", "", 0}} {
		var out, errs bytes.Buffer
		exit := cli.Main(t.Context(), []string{"flux", tt.verb, file, "--cluster", "--kubeconfig", env.Kubeconfig, "--source", "GitRepository/" + namespace + "/src=" + charts},
			strings.NewReader(""), &out, &errs, cli.Program{Flux: Render})
		if exit != tt.exit || !strings.Contains(out.String(), tt.want) || tt.want == "" && out.Len() > 0 {
			t.Errorf("%s: exit code %d, want %d and %q in\n%s%s", tt.verb, exit, tt.exit, tt.want, &out, &errs)
		}
	}
}

// TestClusterFlags has no cluster, or one that does not answer.
func TestClusterFlags(t *testing.T) {
	isolate(t)
	dead := kubeconfigOf(t, &rest.Config{Host: "https://127.0.0.1:1"})
	for _, tt := range []struct {
		arguments []string
		want      string
		exit      int
	}{
		{[]string{"--kubeconfig", dead}, "--kubeconfig and --context need --cluster", 64},
		{[]string{"--cluster"}, "no cluster is known: KUBECONFIG=/dev/null names none", 1},
		{[]string{"--cluster", "--kubeconfig", dead, "--context", "b"}, `context "b" does not exist; correct --kubeconfig`, 1},
		{[]string{"--cluster", "--kubeconfig", dead}, "connection refused", 1},
		{[]string{"--cluster", "--kubeconfig", dead, "--ignore-missing-values"}, "connection refused", 1},
	} {
		_, output, exit := command(t, release(ofRepository("1.0.0")), tt.arguments...)
		if exit != tt.exit || !strings.Contains(output, tt.want) {
			t.Errorf("%q: exit code %d, want %d and %q in\n%s", tt.arguments, exit, tt.exit, tt.want, output)
		}
	}
}

// TestSecretsStayHidden has a chart put a value of a Secret into its own error, and
// a schema quote it.
func TestSecretsStayHidden(t *testing.T) {
	isolate(t)
	for name, files := range map[string]map[string]string{
		"fail":   {"templates/a.yaml": `{{ fail (printf "no such password: %s %s" .Values.password (b64enc .Values.password)) }}`},
		"schema": {"values.schema.json": `{"properties": {"password": {"pattern": "^x$"}}}`, "templates/a.yaml": "a: b"},
		"yaml":   {"templates/a.yaml": "kind: Gateway\napiVersion: gateway.networking.k8s.io/v1\nmetadata: {name: a}\nspec: *{{ .Values.password }}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			chart := t.TempDir()
			files["Chart.yaml"] = "{apiVersion: v2, name: a, version: 1.0.0}"
			for name, text := range files {
				file := filepath.Join(chart, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			manifest := release(ofOCI+"  valuesFrom: [{kind: Secret, name: v}]\n") +
				"---\napiVersion: v1\nkind: Secret\nmetadata: {name: v, namespace: web}\nstringData: {values.yaml: 'password: " + secretWord + "'}\n"
			_, output, exit := command(t, manifest, "--source", "OCIRepository/web/src="+chart)
			if exit != 1 || strings.Contains(output, secretWord) || !strings.Contains(output, "[hidden]") {
				t.Errorf("exit code %d:\n%s", exit, output)
			}
		})
	}
}
