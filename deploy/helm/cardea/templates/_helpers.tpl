{{- define "cardea.name" -}}
{{- if eq .Release.Name .Chart.Name }}{{ .Chart.Name }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "cardea.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "cardea.labels" -}}
{{ include "cardea.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "cardea.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "cardea.name" .) }}{{ else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{- define "cardea.image" -}}
{{- with .Values.image }}{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}{{ end }}
{{- end }}

{{- define "cardea.claim" -}}
{{- .Values.store.existingClaim | default (printf "%s-state" (include "cardea.name" .)) }}
{{- end }}

{{/* "true" if more than one gateway may run. */}}
{{- define "cardea.several" -}}
{{- if or (gt (int .Values.replicas) 1) .Values.autoscaling.enabled }}true{{ end }}
{{- end }}

{{/* "true" if the password of the database is in a Secret. */}}
{{- define "cardea.password" -}}
{{- if and (eq .Values.store.type "postgresql") .Values.store.secret.name }}true{{ end }}
{{- end }}

{{/* The ports of the hosts of store.url, with commas between them. */}}
{{- define "cardea.databasePorts" -}}
{{- $hosts := regexReplaceAll "^postgres(ql)?://([^/@]*@)?([^/?]*).*$" .Values.store.url "${3}" }}
{{- range $i, $host := splitList "," $hosts }}{{ if $i }},{{ end }}{{ regexFind ":[0-9]+$" $host | trimPrefix ":" | default "5432" }}{{ end }}
{{- end }}

{{- define "cardea.check" -}}
{{- if and (eq .Values.store.type "postgresql") (not .Values.store.url) }}
{{- fail "store.type postgresql needs store.url, such as postgresql://cardea@postgres.data.svc:5432/cardea." }}
{{- end }}
{{- if and (include "cardea.several" .) (eq .Values.store.type "sqlite") }}
{{- fail "Several replicas cannot share the SQLite file of store.type sqlite: only one gateway at a time uses it. Set replicas: 1 without autoscaling, store.type: postgresql, or store.type: memory with all agents in config." }}
{{- end }}
{{- end }}

{{/* The seconds of a duration of the configuration, such as 1m30s, rounded up. */}}
{{- define "cardea.seconds" -}}
{{- $sum := 0.0 }}
{{- range regexFindAll "[0-9]+(ms|d|h|m|s)" (toString .) -1 }}
{{- $unit := regexFind "[a-z]+$" . }}
{{- $sum = addf $sum (mulf (float64 (trimSuffix $unit .)) (get (dict "ms" 0.001 "s" 1.0 "m" 60.0 "h" 3600.0 "d" 86400.0) $unit)) }}
{{- end }}
{{- ceil $sum | int }}
{{- end }}

{{/* Longer than the gateway's drain, so that Kubernetes does not cut calls. All its times count from SIGTERM. */}}
{{- define "cardea.grace" -}}
{{- $times := .Values.config.timeouts | default dict }}
{{- $drain := include "cardea.seconds" ($times.drain | default "30s") | int }}
{{- $streams := include "cardea.seconds" ($times.drain_streams | default "30s") | int }}
{{- $delay := include "cardea.seconds" ($times.drain_delay | default "0") | int }}
{{- add (max $drain $streams $delay) 10 }}
{{- end }}
