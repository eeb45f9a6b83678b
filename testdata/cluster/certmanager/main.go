// Certmanager runs cert-manager's own controllers, those that need nothing but
// the API server: Certificates are issued by SelfSigned and CA issuers, and the
// gateway shim makes Certificates of annotated Gateways. ACME, Vault and Venafi
// are left out, and so are the webhooks and leader election.
//
// It prints "ready" to stdout when every controller has read the cluster's
// objects.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/cert-manager/cert-manager/pkg/controller"
	shim "github.com/cert-manager/cert-manager/pkg/controller/certificate-shim/gateways"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	requestsca "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	requestsselfsigned "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	"github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	"github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"         // registers itself
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned" // registers itself
	logf "github.com/cert-manager/cert-manager/pkg/logs"
)

var controllers = []string{
	trigger.ControllerName, keymanager.ControllerName, requestmanager.ControllerName, issuing.ControllerName,
	readiness.ControllerName, revisionmanager.ControllerName,
	approver.ControllerName, requestsca.CRControllerName, requestsselfsigned.CRControllerName,
	issuers.ControllerName, clusterissuers.ControllerName,
	shim.ControllerName,
}

func main() {
	var options controller.ContextOptions
	flag.StringVar(&options.Kubeconfig, "kubeconfig", "", "how to reach the cluster")
	flag.StringVar(&options.ClusterResourceNamespace, "cluster-resource-namespace", "cert-manager",
		"namespace of the Secrets that ClusterIssuers name")
	flag.BoolVar(&options.EnableOwnerRef, "enable-certificate-owner-ref", false, "let a Certificate own its Secret")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(logf.NewContext(ctx, logf.Log), options); err != nil {
		fmt.Fprintln(os.Stderr, "certmanager:", err)
		os.Exit(1)
	}
}

// run runs the controllers until the context is done or one of them fails.
func run(ctx context.Context, options controller.ContextOptions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	options.EnableGatewayAPI = true
	factory, err := controller.NewContextFactory(ctx, options)
	if err != nil {
		return err
	}
	var loops []controller.Interface
	for _, name := range controllers {
		loop, err := controller.Known()[name](factory)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		loops = append(loops, loop)
	}
	shared, err := factory.Build()
	if err != nil {
		return err
	}
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	shared.GWShared.Start(ctx.Done())
	errs := make(chan error, len(loops))
	for _, loop := range loops {
		go func() { errs <- loop.Run(2, ctx) }()
	}
	shared.SharedInformerFactory.WaitForCacheSync(ctx.Done())
	shared.KubeSharedInformerFactory.WaitForCacheSync(ctx.Done())
	shared.GWShared.WaitForCacheSync(ctx.Done())
	fmt.Println("ready")
	return wait(errs, len(loops), cancel)
}

// wait collects the errors of n loops; the first that ends stops the others.
func wait(errs <-chan error, n int, cancel func()) error {
	var all []error
	for range n {
		all = append(all, <-errs)
		cancel()
	}
	return errors.Join(all...)
}
