package clustertest

import (
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// As returns a client configuration with a real token of a ServiceAccount,
// which must exist, and thus with exactly its rights.
func (e *Env) As(t testing.TB, namespace, serviceAccount string) *rest.Config {
	t.Helper()
	request, err := e.Client.CoreV1().ServiceAccounts(namespace).
		CreateToken(t.Context(), serviceAccount, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("token of ServiceAccount %s/%s: %v", namespace, serviceAccount, err)
	}
	return e.withToken(request.Status.Token)
}

// withToken is the configuration of somebody whose token is known.
func (e *Env) withToken(token string) *rest.Config {
	config := rest.AnonymousClientConfig(e.Config)
	config.BearerToken = token
	return config
}
