{{/* Name of the chart, as a label value. */}}
{{- define "tonplane.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* Name of every object of the release. */}}
{{- define "tonplane.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "tonplane.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "tonplane.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* The labels that select the operator's pods. */}}
{{- define "tonplane.selectorLabels" -}}
app.kubernetes.io/name: {{ include "tonplane.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: operator
{{- end }}

{{/* The labels of every object. */}}
{{- define "tonplane.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" | quote }}
{{ include "tonplane.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: tonplane
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
{{- end }}

{{/* An image: digest before tag, the global registry before its own. Called with a list: the root, the image's values. */}}
{{- define "tonplane.image" -}}
{{- $root := index . 0 }}
{{- $image := index . 1 }}
{{- $registry := default $image.registry ($root.Values.global).imageRegistry }}
{{- if $registry }}{{ $registry }}/{{ end }}{{ $image.repository }}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ default $root.Chart.AppVersion $image.tag }}{{ end }}
{{- end }}

{{/* Name of the operator's ServiceAccount. */}}
{{- define "tonplane.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "tonplane.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- required "serviceAccount.name is needed when serviceAccount.create is false" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* Image of the embedded Redis. A name without a registry is one of Docker Hub's official images. Empty: the operator's default. */}}
{{- define "tonplane.redisImage" -}}
{{- $registry := (.Values.global).imageRegistry }}
{{- if $registry }}
{{- $image := default "redis:8.2-alpine" .Values.redisImage }}
{{- $path := regexReplaceAll "^([^/]*[.:][^/]*|localhost)/" $image "" }}
{{- if not (contains "/" $path) }}{{ $path = printf "library/%s" $path }}{{ end }}
{{- printf "%s/%s" $registry $path }}
{{- else }}
{{- .Values.redisImage }}
{{- end }}
{{- end }}

{{/* Name of the leader's Lease: operators of the same namespaces share one. The operator makes the same name. */}}
{{- define "tonplane.leaseName" -}}
ton-operator
{{- with .Values.namespaces }}-{{ uniq . | sortAlpha | join "," | sha256sum | trunc 10 }}{{ end }}
{{- end }}

{{/* `true` where the platform assigns the ids of users and groups, as OpenShift does; else empty. */}}
{{- define "tonplane.platformIds" -}}
{{- if or (not .Values.podSecurityContext) (.Capabilities.APIVersions.Has "security.openshift.io/v1") }}true{{ end }}
{{- end }}

{{/* Security context of a pod at the restricted Pod Security level. */}}
{{- define "tonplane.podSecurity" -}}
runAsNonRoot: true
{{- if not (include "tonplane.platformIds" .) }}
{{- with .Values.podSecurityContext }}
{{ toYaml . }}
{{- end }}
{{- end }}
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* The same of a container. */}}
{{- define "tonplane.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* The operator's rules in the namespaces that it looks at: what it does there, and no more. */}}
{{- define "tonplane.rules" -}}
- apiGroups: [tonplane.dev]
  resources: [tonapis]
  verbs: [list, watch]
# A key has a finalizer, a TonApi has none.
- apiGroups: [tonplane.dev]
  resources: [tonapikeys]
  verbs: [list, watch, patch]
- apiGroups: [tonplane.dev]
  resources: [tonapis/status, tonapikeys/status]
  verbs: [patch]
# blockOwnerDeletion in a child's ownerReferences asks for this.
- apiGroups: [tonplane.dev]
  resources: [tonapis/finalizers, tonapikeys/finalizers]
  verbs: [update]
- apiGroups: ['']
  resources: [services, configmaps, serviceaccounts, secrets]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [apps]
  resources: [deployments, statefulsets]
  verbs: [get, list, watch, create, patch, delete]
# A finished Job goes by itself after a day.
- apiGroups: [batch]
  resources: [jobs]
  verbs: [get, list, watch, create, patch]
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [networking.k8s.io]
  resources: [ingresses, networkpolicies]
  verbs: [get, list, watch, create, patch, delete]
{{- if .Values.optionalApis.gateway }}
- apiGroups: [gateway.networking.k8s.io]
  resources: [httproutes]
  verbs: [get, list, watch, create, patch, delete]
{{- end }}
{{- if .Values.optionalApis.monitoring }}
- apiGroups: [monitoring.coreos.com]
  resources: [servicemonitors, prometheusrules, probes]
  verbs: [get, list, watch, create, patch, delete]
{{- end }}
{{- if .Values.optionalApis.keda }}
- apiGroups: [keda.sh]
  resources: [scaledobjects]
  verbs: [get, list, watch, create, patch, delete]
{{- end }}
- apiGroups: ['']
  resources: [pods]
  verbs: [list, watch{{ if .Values.operator.nudgePods }}, patch{{ end }}]
# Labels of a namespace decide whether its TonApiKeys may point at a TonApi elsewhere.
- apiGroups: ['']
  resources: [namespaces]
  verbs: [get]
# Events of pods that do not start name the key that a Secret lacks.
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [list, create, patch]
{{- end }}
