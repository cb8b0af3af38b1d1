{{/*
Prefix of every name. It has at most 34 characters, so that a name with a component as suffix fits into 63 characters. A truncated
prefix ends with a checksum, so that releases with similar names do not collide.
*/}}
{{- define "millrace.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $whole := default (ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name)) .Values.fullnameOverride -}}
{{- if le (len $whole) 34 -}}
{{- $whole -}}
{{- else -}}
{{- printf "%s-%s" (trunc 25 $whole | trimSuffix "-") (sha256sum $whole | trunc 8) -}}
{{- end -}}
{{- end -}}

{{/* Labels that never change. Selectors use them. */}}
{{- define "millrace.selectorLabels" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Labels of all objects. */}}
{{- define "millrace.labels" -}}
{{ include "millrace.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: millrace
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.labels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The same labels and additional ones, without duplicate keys, which are not valid YAML. Takes: root, more (takes precedence). */}}
{{- define "millrace.labelsAnd" -}}
{{- mergeOverwrite (include "millrace.labels" .root | fromYaml) (deepCopy .more) | toYaml -}}
{{- end -}}

{{/* The name of a component's service account. Takes: root, component. */}}
{{- define "millrace.serviceAccountName" -}}
{{- default (printf "%s-%s" (include "millrace.fullname" .root) .component) .root.Values.serviceAccounts.existingName -}}
{{- end -}}

{{/* The image of a component. Takes: root, values (of the component). */}}
{{- define "millrace.image" -}}
{{- $image := .root.Values.image -}}
{{- $tag := coalesce (get (default dict .values.image) "tag") $image.tag .root.Chart.AppVersion -}}
{{- $name := ternary $image.repository (printf "%s/%s" $image.registry $image.repository) (empty $image.registry) -}}
{{- if and $image.digest (not (get (default dict .values.image) "tag")) -}}
{{- printf "%s@%s" $name $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name $tag -}}
{{- end -}}
{{- end -}}

{{/* A value as text. Otherwise, a large whole number would be rendered as 1e+06. */}}
{{- define "millrace.text" -}}
{{- if kindIs "float64" . -}}
{{- if eq . (floor .) -}}{{ printf "%.0f" . }}{{- else -}}{{ . }}{{- end -}}
{{- else -}}
{{ . }}
{{- end -}}
{{- end -}}
