{{- define "name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end }}
{{- end }}

{{/* Takes a list: the root, and the component. */}}
{{- define "selector" -}}
app.kubernetes.io/name: image-delivery
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "labels" -}}
{{ include "selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: {{ (index . 0).Chart.Name }}-{{ (index . 0).Chart.Version }}
{{- end }}

{{/* A string, whole number or boolean as text. Helm reads numbers in values files as floats, and would write large ones with an exponent. */}}
{{- define "text" -}}
{{ if kindIs "float64" . }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{- define "image" -}}
{{ .Values.image.repository }}:{{ include "text" (.Values.image.tag | default .Chart.AppVersion) }}
{{- end }}

{{- define "secretName" -}}
{{ .Values.existingSecret | default (include "name" .) }}
{{- end }}

{{/* `true` if HAProxy runs: a single pod needs no balancer. */}}
{{- define "balanced" -}}
{{ and .Values.balancer.enabled (eq .Values.store "mongodb") }}
{{- end }}

{{/* The component that clients reach. */}}
{{- define "entry" -}}
{{ ternary "balancer" "front-end" (eq (include "balanced" .) "true") }}
{{- end }}

{{/* Refuses values that do not work together. */}}
{{- define "check" -}}
{{- $pods := ternary .Values.autoscaling.maxReplicas .Values.replicas .Values.autoscaling.enabled | int }}
{{- if eq .Values.store "embedded" }}
{{- if or (gt $pods 1) .Values.autoscaling.enabled }}
{{- fail "The embedded store supports one pod only. For more pods, set store=mongodb, and SERVICE_MONGODB_URL in secrets or in existingSecret." }}
{{- end }}
{{- else if not (or .Values.existingSecret .Values.secrets.SERVICE_MONGODB_URL) }}
{{- fail "store=mongodb needs SERVICE_MONGODB_URL, in secrets or in existingSecret." }}
{{- end }}
{{- with .Values.autoscaling }}
{{- if and .enabled (gt (int .minReplicas) (int .maxReplicas)) }}
{{- fail "autoscaling.minReplicas is greater than autoscaling.maxReplicas." }}
{{- end }}
{{- end }}
{{- if hasKey .Values.settings "SERVICE_DRAIN_DELAY_MS" }}
{{- fail "Set drainDelaySeconds instead of SERVICE_DRAIN_DELAY_MS: it also extends the pods' termination grace period." }}
{{- end }}
{{- end }}

{{- define "podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "placement" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Takes a list: the root, and the component. */}}
{{- define "spread" -}}
topologySpreadConstraints:
  {{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{ include "selector" $ | nindent 8 }}
  {{- end }}
{{- end }}

{{/* Restarts pods when their settings change. */}}
{{- define "annotations" -}}
checksum/settings: {{ list .Values.settings .Values.secrets | toJson | sha256sum }}
{{- with .Values.podAnnotations }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "environment" -}}
- configMapRef: { name: {{ include "name" . }} }
- secretRef: { name: {{ include "secretName" . }}, optional: {{ eq .Values.existingSecret "" }} }
{{- end }}

{{/* Keeps a pod from starting without the URL, because it would create an embedded store of its own. */}}
{{- define "storeUrl" -}}
{{- if eq .Values.store "mongodb" -}}
env:
  - name: SERVICE_MONGODB_URL
    valueFrom:
      secretKeyRef: { name: {{ include "secretName" . }}, key: SERVICE_MONGODB_URL }
{{- end }}
{{- end }}
