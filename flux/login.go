package flux

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/fluxcd/pkg/runtime/secrets"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/gatewright/gatewright/postrender/engine"
)

// reach says how a source is reached: by the login, certificates and proxy of the
// Secrets that it names. What only Flux can do is told.
func (r *run) reach(ctx context.Context, hr *release, chart *Chart, source *object, spec access) error {
	ctx = log.IntoContext(ctx, logr.Discard())
	if spec.Provider != "" && spec.Provider != "generic" && spec.SecretRef == nil {
		r.find(engine.Warning, CodeSourceLogin, hr, fmt.Sprintf("%s logs in to the cloud (spec.provider: %s), which is not done here; that of helm registry login is used, if there is one", source.key, spec.Provider))
	}
	if spec.ServiceAccountName != "" {
		r.find(engine.Warning, CodeSourceLogin, hr, fmt.Sprintf("%s logs in with the pull Secrets of ServiceAccount %s, which are not read here; that of helm registry login is used, if there is one", source.key, spec.ServiceAccountName))
	}
	read := func(ref *localObject, what string, use func(*object, *corev1.Secret) error) error {
		if ref == nil || ref.Name == "" {
			return nil
		}
		id := key{kindSecret, source.namespace, ref.Name}
		o, err := r.object(ctx, id)
		if err != nil || o == nil || o.encrypted() {
			r.find(engine.Warning, CodeSourceLogin, hr, r.noLogin(id, what, err))
			return nil
		}
		if err := use(o, secretOf(o)); err != nil {
			return hr.fault(fmt.Sprintf("%s of %s: %v", id, source.key, err), "correct it")
		}
		return nil
	}
	return errors.Join(
		read(spec.SecretRef, "login", func(o *object, secret *corev1.Secret) error { return r.login(ctx, chart, o, secret) }),
		read(spec.CertSecretRef, "certificates", func(_ *object, secret *corev1.Secret) (err error) {
			chart.TLS, err = secrets.TLSConfigFromSecret(ctx, secret, secrets.WithSystemCertPool())
			return err
		}),
		read(spec.ProxySecretRef, "proxy", func(_ *object, secret *corev1.Secret) (err error) {
			if chart.Proxy, err = secrets.ProxyURLFromSecret(ctx, secret); err != nil {
				return errors.New("its key address is no http, https or socks5 URL") // err quotes it, login and all
			}
			return nil
		}))
}

// noLogin says that something of a Secret is not at hand, and why.
func (r *run) noLogin(secret key, what string, err error) string {
	instead := map[string]string{"login": "that of helm registry login is used, if there is one", "certificates": "those of the system are used", "proxy": "that of the environment is used, if there is one"}[what]
	where := "not among the files in clear"
	switch {
	case err != nil:
		where = "not readable (" + err.Error() + ")"
	case r.options.Object != nil:
		where += ", nor in the cluster"
	}
	return fmt.Sprintf("its chart needs the %s of %s, which is %s; %s", what, secret, where, instead)
}

// login takes user and password from a Secret, and certificates, if it holds them
// as older versions of Flux wanted them.
func (r *run) login(ctx context.Context, chart *Chart, o *object, secret *corev1.Secret) error {
	if config := secret.Data[corev1.DockerConfigJsonKey]; len(config) > 0 {
		chart.User, chart.Password = dockerLogin(config, chart.Ref)
		r.hide(chart.Password)
		if chart.User == "" {
			return fmt.Errorf("its %s has no login for the registry of %s", corev1.DockerConfigJsonKey, chart.Ref)
		}
		return nil
	}
	methods, err := secrets.AuthMethodsFromSecret(ctx, secret, secrets.WithTLSSystemCertPool())
	if err != nil {
		return err
	}
	if methods.HasBasicAuth() {
		chart.User, chart.Password = methods.Basic.Username, methods.Basic.Password
		r.hide(chart.Password)
	}
	if methods.HasTLS() {
		chart.TLS = methods.TLS
	}
	return nil
}

// secretOf returns a Secret as the API server would have it.
func secretOf(o *object) *corev1.Secret {
	out := &corev1.Secret{Data: map[string][]byte{}}
	out.Name, out.Namespace = o.name, o.namespace
	for _, field := range []string{"data", "stringData"} {
		values, _ := o.value[field].(map[string]any)
		for name := range values {
			if text, err := secretText(o, name); err == nil {
				out.Data[name] = []byte(text)
			}
		}
	}
	return out
}

// errNoKey says that an object does not have a key.
var errNoKey = errors.New("it has no such key")

// secretText returns what a Secret has for a key.
func secretText(o *object, name string) (string, error) {
	if plain, found := nested(o.value, "stringData", name); found {
		return plain, nil
	}
	encoded, found := nested(o.value, "data", name)
	if !found {
		return "", errNoKey
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", fmt.Errorf("its key %s is not base64", name)
	}
	return string(data), nil
}

// dockerLogin returns the login for the registry of a reference.
func dockerLogin(config []byte, ref string) (user, password string) {
	var docker struct {
		Auths map[string]struct{ Username, Password, Auth string }
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(ref, "oci://"), "/")
	if host == "docker.io" || host == "registry-1.docker.io" {
		host = "index.docker.io" // by which its login is kept
	}
	if json.Unmarshal(config, &docker) != nil {
		return "", ""
	}
	for name, login := range docker.Auths {
		name = strings.TrimPrefix(strings.TrimPrefix(name, "https://"), "http://")
		name, _, _ = strings.Cut(name, "/")
		if matched, err := path.Match(name, host); err != nil || !matched {
			continue
		}
		if login.Username != "" {
			return login.Username, login.Password
		}
		both, err := base64.StdEncoding.DecodeString(login.Auth)
		if user, password, found := strings.Cut(string(both), ":"); found && err == nil {
			return user, password
		}
	}
	return "", ""
}
