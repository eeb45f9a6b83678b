package flux

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gatewright/gatewright/postrender/engine"
)

// login takes user and password from a Secret, if the files hold it in clear.
// Otherwise Helm's own are used, of helm registry login.
func (r *run) login(hr *release, chart *Chart, secret key) {
	o, found := r.repository.objects[secret]
	if !found || o.value["sops"] != nil {
		r.find(engine.Warning, CodeSourceLogin, hr, fmt.Sprintf("its chart needs the login of %s, which is not among the files in clear; that of helm registry login is used, if there is one", secret))
		return
	}
	chart.User, chart.Password = secretText(o, "username"), secretText(o, "password")
	if config := secretText(o, ".dockerconfigjson"); config != "" && chart.User == "" {
		chart.User, chart.Password = dockerLogin(config, chart.Ref)
	}
}

// secretText returns a field of a Secret, or "".
func secretText(o *object, name string) string {
	if text, found := nested(o.value, "stringData", name); found {
		return text
	}
	text, _ := nested(o.value, "data", name)
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return ""
	}
	return string(data)
}

// dockerLogin returns the login for the registry of a reference.
func dockerLogin(config, ref string) (user, password string) {
	var docker struct {
		Auths map[string]struct{ Username, Password, Auth string }
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(ref, "oci://"), "/")
	if json.Unmarshal([]byte(config), &docker) != nil {
		return "", ""
	}
	for name, login := range docker.Auths {
		name = strings.TrimPrefix(strings.TrimPrefix(name, "https://"), "http://")
		if name, _, _ = strings.Cut(name, "/"); name != host {
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
