package clustertest

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd/api"
)

// mount makes a folder for each volume that the container mounts, and notes
// where it is.
func (h *podHost) mount(ctx context.Context, container corev1.Container) error {
	volumes := map[string]corev1.Volume{}
	for _, v := range h.pod.Spec.Volumes {
		volumes[v.Name] = v
	}
	// Of two paths that fit, the longer one is meant.
	mounts := slices.SortedFunc(slices.Values(container.VolumeMounts), func(a, b corev1.VolumeMount) int {
		return cmp.Compare(len(b.MountPath), len(a.MountPath))
	})
	for _, m := range mounts {
		if m.SubPath != "" || m.SubPathExpr != "" {
			return fmt.Errorf("volume %s: RunPod knows no subPath", m.Name)
		}
		dir := filepath.Join(h.dir, "volumes", m.Name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		files, err := h.files(ctx, volumes[m.Name])
		if err != nil {
			return fmt.Errorf("volume %s: %w", m.Name, err)
		}
		for name, data := range files {
			if err := writeFile(filepath.Join(dir, name), data); err != nil {
				return err
			}
		}
		h.mounts = append(h.mounts, m.MountPath, dir)
		if m.MountPath == serviceAccountPath {
			if err := h.writeKubeconfig(dir); err != nil {
				return err
			}
		}
	}
	log := cmp.Or(container.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	h.mounts = append(h.mounts, log, h.terminationLog())
	return nil
}

func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// files returns what is in a volume.
func (h *podHost) files(ctx context.Context, v corev1.Volume) (map[string][]byte, error) {
	switch {
	case v.EmptyDir != nil:
		return nil, nil
	case v.ConfigMap != nil:
		return h.configMap(ctx, v.ConfigMap.Name, v.ConfigMap.Items)
	case v.Secret != nil && len(v.Secret.Items) == 0:
		secret, err := h.Client.CoreV1().Secrets(h.pod.Namespace).Get(ctx, v.Secret.SecretName, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		return secret.Data, nil
	case v.Projected != nil:
		files := map[string][]byte{}
		for _, source := range v.Projected.Sources {
			if err := h.project(ctx, source, files); err != nil {
				return nil, err
			}
		}
		return files, nil
	}
	return nil, fmt.Errorf("RunPod does not know this kind of volume: %s", v.String())
}

// project adds the files of one source of a projected volume.
func (h *podHost) project(ctx context.Context, source corev1.VolumeProjection, files map[string][]byte) error {
	switch {
	case source.ServiceAccountToken != nil:
		token, err := h.token(ctx, source.ServiceAccountToken)
		if err != nil {
			return err
		}
		files[source.ServiceAccountToken.Path] = []byte(token)
	case source.ConfigMap != nil:
		more, err := h.configMap(ctx, source.ConfigMap.Name, source.ConfigMap.Items)
		if err != nil {
			return err
		}
		for name, data := range more {
			files[name] = data
		}
	case source.DownwardAPI != nil:
		for _, item := range source.DownwardAPI.Items {
			value, err := h.field(item.FieldRef)
			if err != nil {
				return err
			}
			files[item.Path] = []byte(value)
		}
	default:
		return fmt.Errorf("RunPod does not know this projection: %s", source.String())
	}
	return nil
}

// configMap returns the files of a ConfigMap, or of some of its keys.
func (h *podHost) configMap(ctx context.Context, name string, items []corev1.KeyToPath) (map[string][]byte, error) {
	config, err := h.Client.CoreV1().ConfigMaps(h.pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	if len(items) == 0 {
		for key, value := range config.Data {
			files[key] = []byte(value)
		}
		return files, nil
	}
	for _, item := range items {
		value, ok := config.Data[item.Key]
		if !ok {
			return nil, fmt.Errorf("ConfigMap %s has no key %s", name, item.Key)
		}
		files[item.Path] = []byte(value)
	}
	return files, nil
}

// token asks for a token that is bound to the Pod, as a kubelet does.
func (h *podHost) token(ctx context.Context, projection *corev1.ServiceAccountTokenProjection) (string, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: projection.ExpirationSeconds,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: h.pod.Name, UID: h.pod.UID},
	}}
	if projection.Audience != "" {
		request.Spec.Audiences = []string{projection.Audience}
	}
	answer, err := h.Client.CoreV1().ServiceAccounts(h.pod.Namespace).
		CreateToken(ctx, h.pod.Spec.ServiceAccountName, request, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return answer.Status.Token, nil
}

// writeKubeconfig says in a file what a client would find in the folder of the
// ServiceAccount: it looks for that in one place of the host only.
func (h *podHost) writeKubeconfig(dir string) error {
	cluster := &api.Cluster{Server: h.Config.Host, CertificateAuthority: filepath.Join(dir, "ca.crt")}
	if h.kubelet.Proxy != nil {
		cluster = &h.kubelet.Proxy.cluster
	}
	user := &api.AuthInfo{TokenFile: filepath.Join(dir, "token")}
	return writeKubeconfig(h.kubeconfig(), cluster, user, h.pod.Namespace)
}

// environment returns the variables of the container, references resolved.
func (h *podHost) environment(ctx context.Context, container corev1.Container) ([]corev1.EnvVar, error) {
	if len(container.EnvFrom) != 0 {
		return nil, fmt.Errorf("container %s: RunPod knows no envFrom", container.Name)
	}
	var env []corev1.EnvVar
	for _, v := range container.Env {
		value := expand(v.Value, env)
		if from := v.ValueFrom; from != nil {
			var err error
			if value, err = h.valueFrom(ctx, from); err != nil {
				return nil, fmt.Errorf("environment variable %s: %w", v.Name, err)
			}
		}
		env = append(env, corev1.EnvVar{Name: v.Name, Value: value})
	}
	return env, nil
}

func (h *podHost) valueFrom(ctx context.Context, from *corev1.EnvVarSource) (string, error) {
	switch {
	case from.FieldRef != nil:
		return h.field(from.FieldRef)
	case from.ConfigMapKeyRef != nil:
		key := from.ConfigMapKeyRef.Key
		files, err := h.configMap(ctx, from.ConfigMapKeyRef.Name, []corev1.KeyToPath{{Key: key, Path: key}})
		return string(files[key]), err
	}
	return "", fmt.Errorf("RunPod does not know this source: %s", from.String())
}

// field is a field of the Pod that a container may ask for.
func (h *podHost) field(ref *corev1.ObjectFieldSelector) (string, error) {
	if ref == nil {
		return "", fmt.Errorf("RunPod knows fields of the Pod only")
	}
	fields := map[string]string{
		"metadata.name": h.pod.Name, "metadata.namespace": h.pod.Namespace, "metadata.uid": string(h.pod.UID),
		"spec.serviceAccountName": h.pod.Spec.ServiceAccountName, "spec.nodeName": h.pod.Spec.NodeName,
	}
	value, ok := fields[ref.FieldPath]
	if !ok {
		return "", fmt.Errorf("RunPod does not know the field %s", ref.FieldPath)
	}
	return value, nil
}

// expand replaces $(NAME) by the value of a variable, if there is one.
func expand(text string, env []corev1.EnvVar) string {
	for _, v := range env {
		text = strings.ReplaceAll(text, "$("+v.Name+")", v.Value)
	}
	return text
}
