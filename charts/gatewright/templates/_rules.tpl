{{/*
The rights of the sweep. What it may write, and read only before it does, comes
last in each list of verbs and is left out of a dry run. README.md says what each
of them is for.
*/}}

{{/* Rights on objects in namespaces. */}}
{{- define "gatewright.namespacedRules" -}}
{{- $write := not .Values.dryRun -}}
{{- if .Values.namespaces }}
- apiGroups: [""]
  resources: [namespaces] # in a Role: the namespace itself
  verbs: [get]
{{- end }}
- apiGroups: [gateway.networking.k8s.io]
  resources: [gateways, listenersets]
  verbs: [list{{ if $write }}, get, patch{{ end }}]
- apiGroups: [gateway.networking.k8s.io]
  resources: [httproutes]
  verbs: [list{{ if and $write .Values.redirects.enabled }}, create, patch, delete{{ end }}]
- apiGroups: [gateway.networking.k8s.io]
  resources: [grpcroutes, tlsroutes, referencegrants]
  verbs: [list]
- apiGroups: [cert-manager.io]
  resources: [certificates]
  verbs: [list{{ if $write }}, create, patch, delete{{ end }}]
- apiGroups: [cert-manager.io]
  resources: [issuers]
  verbs: [list]
- apiGroups: [networking.k8s.io]
  resources: [ingresses]
  verbs: [list]
{{- if and $write .Values.events.enabled }}
- apiGroups: [""]
  resources: [events]
  verbs: [create]
{{- end }}
{{- if or .Values.services.read .Values.infrastructure.report }}
- apiGroups: [""]
  resources: [services]
  verbs: [list]
{{- end }}
{{- if .Values.secretRetention.enabled }}
- apiGroups: [""]
  resources: [secrets]
  verbs: [list{{ if $write }}, patch, delete{{ end }}]
- apiGroups: [""]
  resources: [pods]
  verbs: [list]
{{- end }}
{{- if .Values.flux.enabled }}
- apiGroups: [helm.toolkit.fluxcd.io]
  resources: [helmreleases]
  verbs: [list]
{{- end }}
{{- if .Values.infrastructure.report }}
- apiGroups: [apps]
  resources: [deployments]
  verbs: [list]
- apiGroups: [""]
  resources: [serviceaccounts]
  verbs: [list]
{{- end }}
{{- end }}

{{/* Rights on objects that lie in no namespace. */}}
{{- define "gatewright.clusterRules" -}}
{{- if not .Values.namespaces }}
- apiGroups: [""]
  resources: [namespaces]
  verbs: [list]
{{- end }}
- apiGroups: [cert-manager.io]
  resources: [clusterissuers]
  verbs: [list]
{{- if not .Values.dryRun }}
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  resourceNames:
  - gateways.gateway.networking.k8s.io
  - listenersets.gateway.networking.k8s.io
  - httproutes.gateway.networking.k8s.io
  - grpcroutes.gateway.networking.k8s.io
  - tlsroutes.gateway.networking.k8s.io
  - referencegrants.gateway.networking.k8s.io
  - certificates.cert-manager.io
  verbs: [get]
{{- end }}
{{- if .Values.infrastructure.report }}
- apiGroups: [rbac.authorization.k8s.io]
  resources: [clusterrolebindings]
  verbs: [list]
{{- end }}
{{- end }}

{{- define "gatewright.subjects" -}}
- kind: ServiceAccount
  name: {{ include "gatewright.serviceAccountName" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}
