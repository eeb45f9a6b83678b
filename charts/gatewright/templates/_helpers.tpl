{{- define "gatewright.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimSuffix "-" }}
{{- end }}

{{/* A CronJob's name may have 52 characters: its Jobs add 11. */}}
{{- define "gatewright.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* Two releases of one name in two namespaces share no cluster-wide object. */}}
{{- define "gatewright.clusterName" -}}
{{- printf "%s:%s" .Release.Namespace (include "gatewright.fullname" .) }}
{{- end }}

{{- define "gatewright.selectorLabels" -}}
app.kubernetes.io/name: {{ include "gatewright.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gatewright.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "gatewright.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* Labels of one's own are added; they cannot take the place of the chart's. */}}
{{- define "gatewright.podLabels" -}}
{{- toYaml (merge (include "gatewright.labels" . | fromYaml) .Values.podLabels) }}
{{- end }}

{{- define "gatewright.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "gatewright.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- required "serviceAccount.create is false: give serviceAccount.name, the account that the sweep runs as" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "gatewright.image" -}}
{{- $repository := required "image.repository is empty: no image is published; build one with make image, push it to a registry of yours, and name it here" .Values.image.repository }}
{{- if .Values.image.digest }}
{{- printf "%s@%s" $repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{- define "gatewright.policy" -}}
apiVersion: gatewright.dev/v1alpha1
kind: Policy
gateways:
{{- toYaml .Values.policy | nindent 2 }}
{{- end }}

{{/* What every run is told; the CronJob's own flags are beside it. */}}
{{- define "gatewright.args" -}}
- sweep
- --policy=/etc/gatewright/policy.yaml
- --grace={{ .Values.grace }}
- --settle={{ .Values.settle }}
{{- if not (kindIs "invalid" .Values.maxRemovals) }}
- --max-removals={{ .Values.maxRemovals | int }}
{{- end }}
{{- range .Values.gateways }}
- --gateway={{ . }}
{{- end }}
{{- with .Values.namespaces }}
- --namespaces={{ join "," . }}
{{- end }}
{{- with .Values.allowedIssuers }}
- --allowed-issuers={{ join "," . }}
{{- end }}
{{- if .Values.services.read }}
- --services
{{- end }}
{{- with .Values.flux.eventsAddress }}
- --flux-events={{ . }}
{{- end }}
{{- if .Values.infrastructure.report }}
- --infrastructure
{{- end }}
{{- end }}

{{/* The Pod of a run: of the CronJob and of helm test, which have args of their own. */}}
{{- define "gatewright.podSpec" -}}
{{- $ := .root -}}
restartPolicy: Never
serviceAccountName: {{ include "gatewright.serviceAccountName" $ }}
automountServiceAccountToken: true
enableServiceLinks: false
{{- with $.Values.imagePullSecrets }}
imagePullSecrets:
{{- toYaml . | nindent 0 }}
{{- end }}
{{- with $.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  {{- toYaml $.Values.podSecurityContext | nindent 2 }}
containers:
- name: sweep
  image: {{ include "gatewright.image" $ | quote }}
  imagePullPolicy: {{ $.Values.image.pullPolicy }}
  args:
  {{- .args | nindent 2 }}
  {{- with $.Values.extraArgs }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with $.Values.extraEnv }}
  env:
  {{- toYaml . | nindent 2 }}
  {{- end }}
  securityContext:
    {{- toYaml $.Values.securityContext | nindent 4 }}
  {{- with $.Values.resources }}
  resources:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  terminationMessagePath: /dev/termination-log
  terminationMessagePolicy: File
  volumeMounts:
  - name: policy
    mountPath: /etc/gatewright
    readOnly: true
volumes:
- name: policy
  configMap:
    name: {{ include "gatewright.fullname" $ }}
{{- with $.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $.Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $.Values.tolerations }}
tolerations:
{{- toYaml . | nindent 0 }}
{{- end }}
{{- end }}

{{/* A dry run writes nothing, so it needs no Lease and says nothing in Events. */}}
{{- define "gatewright.cronArgs" -}}
{{ include "gatewright.args" . }}
- --termination-log=/dev/termination-log
- --output={{ .Values.output }}
{{- if .Values.dryRun }}
- --dry-run
{{- else }}
- --lease={{ .Release.Namespace }}/{{ include "gatewright.fullname" . }}
{{- if .Values.events.enabled }}
- --events
{{- end }}
{{- end }}
{{- end }}

{{/* The server refuses a dry run of what the account may not write, as it would refuse the run. */}}
{{- define "gatewright.testArgs" -}}
{{ include "gatewright.args" . }}
- --output=table
- --dry-run{{ if not .Values.dryRun }}=server{{ end }}
{{- end }}
