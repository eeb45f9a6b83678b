package engine

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/net/idna"
)

// The limits of RFC 1035 that the Gateway API's own pattern does not check.
const (
	maxHostname = 253
	maxLabel    = 63
)

// toASCII maps an international name as a resolver would.
var toASCII = idna.New(idna.MapForLookup(), idna.Transitional(false))

// NormalizeHostname brings a hostname into the one form in which the engine
// compares and writes it: lower case, no trailing dot, punycode. The error says
// in a few words why the name cannot be the hostname of a listener: it is an
// IP address, a label is too long, the wildcard does not stand in front.
func NormalizeHostname(raw string) (string, error) {
	host := strings.TrimSuffix(raw, ".")
	rest := strings.TrimPrefix(host, "*.")
	wildcard := host[:len(host)-len(rest)]
	if !isASCII(rest) {
		ascii, err := toASCII.ToASCII(rest)
		if err != nil {
			return "", errors.New("is not a valid international name")
		}
		rest = ascii
	}
	rest = strings.ToLower(rest)
	if err := checkName(rest); err != nil {
		return "", err
	}
	if len(wildcard)+len(rest) > maxHostname {
		return "", fmt.Errorf("is longer than %d characters", maxHostname)
	}
	return wildcard + rest, nil
}

func checkName(name string) error {
	if name == "" {
		return errors.New("is empty")
	}
	if last := name[len(name)-1]; strings.Contains(name, ":") || (last >= '0' && last <= '9') {
		if _, err := netip.ParseAddr(name); err == nil {
			return errors.New("is an IP address, and a listener takes none")
		}
	}
	if err := checkLabels(name); err != nil {
		return err
	}
	if last := name[strings.LastIndexByte(name, '.')+1:]; strings.Trim(last, "0123456789") == "" {
		return errors.New("ends in a number, as an IP address does")
	}
	return nil
}

func checkLabels(name string) error {
	for label := range strings.SplitSeq(name, ".") {
		if err := checkLabel(label); err != nil {
			return err
		}
	}
	return nil
}

func checkLabel(label string) error {
	switch {
	case label == "":
		return errors.New("has an empty label")
	case len(label) > maxLabel:
		return fmt.Errorf("has a label of more than %d characters", maxLabel)
	case label[0] == '-' || label[len(label)-1] == '-':
		return errors.New("has a label that begins or ends with a dash")
	case strings.Contains(label, "*"):
		return errors.New("has a wildcard that is not its whole first label")
	}
	for i := range len(label) {
		if c := label[i]; c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return fmt.Errorf("has the character %q", label[i])
		}
	}
	return nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func isWildcard(hostname string) bool { return strings.HasPrefix(hostname, "*.") }

// Covers says whether every name that hostname stands for is one that pattern
// accepts. As in the Gateway API, *.x accepts any depth below x but not x
// itself, and "" accepts everything.
func Covers(pattern, hostname string) bool {
	if pattern == "" || pattern == hostname {
		return true
	}
	return isWildcard(pattern) && strings.HasSuffix(hostname, pattern[1:])
}

// intersects says whether some name matches both.
func intersects(a, b string) bool { return b == "" || Covers(a, b) || Covers(b, a) }

// oneLabelBelow says whether hostname is what a certificate for the wildcard
// covers: exactly one label below it (RFC 6125, 6.4.3).
func oneLabelBelow(wildcard, hostname string) bool {
	return isWildcard(wildcard) && Covers(wildcard, hostname) &&
		!strings.Contains(strings.TrimSuffix(hostname, wildcard[1:]), ".")
}

// specificity orders hostnames as the Gateway API picks a listener: an exact
// name, then the longer wildcard, then none.
func specificity(hostname string) int {
	if hostname != "" && !isWildcard(hostname) {
		return maxHostname + len(hostname)
	}
	return len(hostname)
}
