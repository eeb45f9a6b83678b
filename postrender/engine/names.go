package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// Names are part of what a release records, so they never change: a renamed
// listener drops its connections and a renamed Certificate is issued again.
// They never depend on a namespace (a render may not know it), an issuer or
// another claim. names_test.go pins them.

const (
	maxName    = 63 // the longest DNS label, so that nobody downstream cuts a name again
	hashDigits = 12 // 48 bits
	maxPrefix  = 22 // of a Gateway's name within the name of a Certificate
)

// PlainListenerName is the name of the plain HTTP listener.
const PlainListenerName = "http"

// ListenerName returns the name of the terminate listener for a normalised
// hostname on a port: https-<slug>-<hash>.
func ListenerName(hostname string, port int) string {
	return listenerName("https-", "listener", hostname, port)
}

func listenerName(prefix, domain, hostname string, port int) string {
	suffix := "-" + hash(domain, hostname, strconv.Itoa(port))
	return prefix + slug(hostname, maxName-len(prefix)-len(suffix)) + suffix
}

// CertificateName returns the name of the Certificate, and of its Secret, for a
// normalised hostname of a parent: <parent>-<slug>-<hash>-tls.
func CertificateName(parentKind, parent, hostname string) string {
	return nameBeside(parent, hostname, hash("certificate", parentKind, parent, hostname)+"-tls")
}

// plainHostName returns the name of a plain listener for one hostname:
// http-<slug>-<hash>.
func plainHostName(hostname string, port int) string {
	return listenerName("http-", "plain", hostname, port)
}

// grantName returns the name of the ReferenceGrant that lets parents of this
// kind and name read a Secret.
func grantName(parentKind, parent, secret string) string {
	return nameBeside(parent, secret, hash("grant", parentKind, parent, secret)+"-grant")
}

// redirectName returns the name of the redirect route of a Gateway.
func redirectName(gateway string) string {
	return nameBeside(gateway, "https", hash("redirect", KindGateway, gateway)+"-redirect")
}

// ForLabel returns the value of the label gatewright.dev/for: the name of the
// Gateway, shortened with a hash where a label value would be too long.
func ForLabel(gateway string) string {
	if len(gateway) <= maxName {
		return gateway
	}
	suffix := "-" + hash("for", gateway)
	return slug(gateway, maxName-len(suffix)) + suffix
}

// nameBeside is the name of an object that stands beside its parent.
func nameBeside(parent, subject, suffix string) string {
	prefix := slug(parent, maxPrefix)
	return prefix + "-" + slug(subject, maxName-len(prefix)-len(suffix)-2) + "-" + suffix
}

// slug makes a hostname or name readable inside a name. It need not be
// injective: the hash beside it is.
func slug(name string, length int) string {
	name = strings.ReplaceAll(name, "*", "wildcard")
	name = strings.ReplaceAll(name, ".", "-")
	if len(name) > length {
		name = name[:length]
	}
	return strings.TrimRight(name, "-")
}

func hash(parts ...string) string {
	var text, digits [4 * maxName]byte // on the stack, mostly
	joined := text[:0]
	for i, part := range parts {
		if i > 0 {
			joined = append(joined, 0)
		}
		joined = append(joined, part...)
	}
	sum := sha256.Sum256(joined)
	return string(hex.AppendEncode(digits[:0], sum[:hashDigits/2]))
}
