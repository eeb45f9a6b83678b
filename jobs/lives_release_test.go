package jobs_test

import (
	"testing"
	"time"
)

// TestGatewayOfManyReleases: a platform's release has the Gateway, and three
// releases of applications use it, each in its namespace. One after the other
// goes, and comes back.
func TestGatewayOfManyReleases(t *testing.T) {
	t.Parallel()
	for _, how := range []helm{helms[0], helms[2]} {
		t.Run(how.name, func(t *testing.T) {
			lands := newLands(t, how)
			platform := lands.release(t, "edge")
			apps := map[string]*release{}
			platform.upgrade(withoutRoutes)
			for _, name := range []string{"one", "two", "three"} {
				app := lands.release(t, name)
				app.namespace = platform.Namespace(t)
				apps[name] = app
			}
			applicationsComeAndGo(platform, apps)
			platformComesAndGoes(platform)
		})
	}
}

// application are the values of a release of routes for the platform's Gateway.
func application(platform *release, hostnames string) string {
	return platform.named(`{gateway: false, parent: {name: EDGE, namespace: NS}, routes: {app: [` + hostnames + `]}}`)
}

func applicationsComeAndGo(platform *release, apps map[string]*release) {
	apps["one"].upgrade(application(platform, "one.example.com, shared.example.com"))
	apps["two"].upgrade(application(platform, "two.example.com, shared.example.com"))
	apps["three"].upgrade(application(platform, "three.example.com"))
	platform.sweep()
	platform.has("http", "one.example.com", "shared.example.com", "three.example.com", "two.example.com")
	platform.quiet()

	// The release goes, and comes back within the grace period.
	apps["one"].uninstall()
	apps["one"].installed = false
	platform.sweep()
	platform.has("http", "one.example.com", "shared.example.com", "three.example.com", "two.example.com")
	platform.later(23 * time.Hour)
	platform.quiet()
	apps["one"].upgrade(application(platform, "one.example.com"))
	platform.sweep()
	platform.later(23 * time.Hour)
	platform.quiet()

	// Another goes for good, and a third changes its mind.
	apps["two"].uninstall()
	apps["three"].upgrade(application(platform, "drei.example.com"))
	platform.sweep()
	platform.has("http", "drei.example.com", "one.example.com", "shared.example.com", "three.example.com", "two.example.com")
	platform.later(25 * time.Hour)
	platform.sweep()
	platform.has("http", "drei.example.com", "one.example.com")
	for range 2 {
		platform.sweep()
		platform.later(25 * time.Hour)
	}
	for hostname, want := range map[string]bool{"one": true, "drei": true, "two": false, "three": false, "shared": false} {
		if got := platform.certificate(hostname+".example.com") != nil; got != want {
			platform.t.Errorf("there is a Certificate for %s: %v", hostname, got)
		}
	}
	platform.quiet()
}

// platformComesAndGoes takes the Gateway itself away: its Certificates, which
// the sweep made, wait for it for the grace period.
func platformComesAndGoes(platform *release) {
	everything := platform.options.Gateways
	was := platform.certificate("one.example.com").GetUID()
	platform.uninstall()
	platform.installed = false
	platform.options.Gateways = nil // what belongs to no Gateway is for a sweep of all
	platform.sweep()
	platform.upgrade(`{routes: {shop: [one.example.com]}}`) // which takes its Certificate over
	platform.options.Gateways = everything
	platform.settle()
	platform.has("http", "drei.example.com", "one.example.com")
	if platform.certificate("one.example.com").GetUID() != was {
		platform.t.Error("the Certificate was made anew")
	}
	platform.quiet()

	platform.uninstall()
	platform.options.Gateways = nil
	platform.sweep()
	platform.later(25 * time.Hour)
	platform.sweep()
	if platform.certificate("one.example.com") != nil {
		platform.t.Error("a Certificate of a Gateway that is gone is left")
	}
}
