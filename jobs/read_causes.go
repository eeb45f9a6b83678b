package jobs

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
)

// causes are the reasons for which reads failed, each once: a server that does not
// answer any of them, or does not know who asks, is one reason, and each right that
// is missing is one.
func (c *Cluster) causes(errs []error) []error {
	var causes []error
	told := map[string]bool{}
	for _, err := range leaves(errs) {
		key := err.Error()
		if read, is := errors.AsType[*readError](err); is {
			switch {
			case isUnreachable(read.err):
				key = "unreachable"
				err = fmt.Errorf("the API server at %s cannot be reached: %w; %s", c.base.Host, read.err, read.fix)
			case hasCode(read.err, http.StatusUnauthorized):
				key = "unauthorized"
				err = fmt.Errorf("the API server at %s: %w; %s", c.base.Host, read.err, read.fix)
			}
		}
		if !told[key] {
			told[key] = true
			causes = append(causes, err)
		}
	}
	return causes
}

// leaves are the errors that are joined in errs.
func leaves(errs []error) []error {
	var all []error
	for _, err := range errs {
		if joined, is := err.(interface{ Unwrap() []error }); is {
			all = append(all, leaves(joined.Unwrap())...)
		} else {
			all = append(all, err)
		}
	}
	return all
}

// isUnreachable says whether no whole answer came.
func isUnreachable(err error) bool {
	_, network := errors.AsType[net.Error](err)
	_, dialled := errors.AsType[*net.OpError](err)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	return network || dialled || certificate || errors.Is(err, errLate) || errors.Is(err, io.EOF)
}
