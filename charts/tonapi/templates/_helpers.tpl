{{/* Name of the TonApi. */}}
{{- define "tonapi.name" -}}
{{- $name := default .Release.Name .Values.name }}
{{- if gt (len $name) 40 }}{{ fail (printf "the name of a TonApi has at most 40 characters: %s" $name) }}{{ end }}
{{- if contains "." $name }}{{ fail (printf "the name of a TonApi has no dot, because Services are named after it: %s" $name) }}{{ end }}
{{- $name }}
{{- end }}

{{/* Repository of the service's image. */}}
{{- define "tonapi.serviceRepository" -}}
{{- printf "%s/tonplane/service" (default "ghcr.io" (.Values.global).imageRegistry) }}
{{- end }}

{{/* The labels of every object. */}}
{{- define "tonapi.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" | quote }}
app.kubernetes.io/name: {{ .Chart.Name | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/part-of: tonplane
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
{{- end }}
