{{/*
What a schema cannot say: values that only make sense together. A right that
the policy needs and the values do not grant would otherwise show up as a
failing run, long after the install.
*/}}
{{- define "gatewright.validate" -}}
{{- range $i, $entry := .Values.policy }}
  {{- $at := printf "policy[%d]" $i }}
  {{- if and (ne (toString (dig "secretRetention" "Keep" $entry)) "Keep") (not $.Values.secretRetention.enabled) }}
    {{- fail (printf "%s.secretRetention: removing Secrets needs rights on Secrets; set secretRetention.enabled to true, or leave the key out" $at) }}
  {{- end }}
  {{- if and (eq (dig "withdraw" "SamePort" $entry) "Served") (not $.Values.services.read) }}
    {{- fail (printf "%s.withdraw: Served looks Services up; set services.read to true, or leave the key out" $at) }}
  {{- end }}
  {{- if and (eq (toString (dig "http" "redirect" "Auto" $entry)) "true") (not $.Values.redirects.enabled) }}
    {{- fail (printf "%s.http.redirect: the redirect is an HTTPRoute; set redirects.enabled to true, or leave the key out" $at) }}
  {{- end }}
{{- end }}
{{- if .Values.namespaces }}
  {{- range .Values.gateways }}
    {{- $namespace := first (splitList "/" .) }}
    {{- if not (has $namespace $.Values.namespaces) }}
      {{- fail (printf "gateways: %s is in none of namespaces; add %s there" . $namespace) }}
    {{- end }}
  {{- end }}
{{- end }}
{{- end }}
