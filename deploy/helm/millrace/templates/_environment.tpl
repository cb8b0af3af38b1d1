{{/*
The environment variables of a component: those that the chart sets, then `settings`, then `extraEnv`. Every name is a setting in
docs/configuration.md. Takes: root, kind, values.
*/}}
{{- define "millrace.environment" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- $parts := list (include "millrace.env.postgresql" $root) -}}
{{- if has .kind (list "gateway" "consumer" "managementApi") -}}{{- $parts = append $parts (include "millrace.env.eventLog" $root) -}}{{- end -}}
{{- if has .kind (list "gateway" "consumer") -}}{{- $parts = append $parts (include "millrace.env.writingLog" $root) -}}{{- end -}}
{{- if has .kind (list "gateway" "flags" "managementApi") -}}{{- $parts = append $parts (include "millrace.env.redis" $root) -}}{{- end -}}
{{- if ne .kind "consumer" -}}{{- $parts = append $parts (include "millrace.env.keys" (dict "root" $root "kind" .kind)) -}}{{- end -}}
{{- if has .kind (list "managementApi" "deliveryWorker") -}}{{- $parts = append $parts (include "millrace.env.mail" $root) -}}{{- end -}}
{{- if has .kind (list "managementApi" "deliveryWorker") -}}{{- $parts = append $parts (include "millrace.env.clickhouse" (dict "root" $root "kind" .kind)) -}}{{- end -}}
{{- $parts = append $parts (include (printf "millrace.env.%s" .kind) .) -}}
{{- range $parts -}}{{- with . | trim }}
{{ . }}
{{- end -}}{{- end }}
- { name: METRICS_PORT, value: {{ include "millrace.text" $values.metrics.port | quote }} }
- { name: LOG_LEVEL, value: {{ $values.logLevel | quote }} }
{{- range $name, $value := .values.settings }}
- { name: {{ $name }}, value: {{ include "millrace.text" $value | quote }} }
{{- end }}
{{- with .values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "millrace.env.gateway" -}}
- { name: INGEST_PORT, value: {{ include "millrace.text" .values.port | quote }} }
- { name: GATEWAY_ROLES, value: {{ ternary "ingest" "ingest,flags" .root.Values.flags.enabled | quote }} }
- { name: TRUST_PROXY, value: {{ include "millrace.trustsProxy" .root | quote }} }
{{- end -}}

{{- define "millrace.env.flags" -}}
- { name: INGEST_PORT, value: {{ include "millrace.text" .values.port | quote }} }
- { name: GATEWAY_ROLES, value: flags }
- { name: TRUST_PROXY, value: {{ include "millrace.trustsProxy" .root | quote }} }
{{- end -}}

{{- define "millrace.env.consumer" -}}
- { name: HEALTH_PORT, value: {{ include "millrace.text" .values.port | quote }} }
- { name: CONSUMER_TOPICS, value: {{ join "," .values.topics | quote }} }
- { name: EVENT_RETENTION_DAYS, value: {{ include "millrace.text" .root.Values.eventRetentionDays | quote }} }
{{- end -}}

{{- define "millrace.env.managementApi" -}}
- { name: NODE_ENV, value: production }
- { name: INGEST_URL, value: {{ include "millrace.flagsUrl" .root | quote }} }
{{- if .root.Values.flags.enabled }}
- { name: CAPTURE_URL, value: {{ include "millrace.gatewayUrl" (dict "root" .root "name" "gateway") | quote }} }
{{- end }}
- { name: API_PORT, value: {{ include "millrace.text" .values.port | quote }} }
- { name: TRUST_PROXY, value: {{ include "millrace.trustsProxy" .root | quote }} }
- { name: PROXY_HOPS, value: {{ include "millrace.text" .root.Values.proxy.hops | quote }} }
{{ include "millrace.env.publicApiUrl" . }}
{{- end -}}

{{/* Public URL of the API, unless the service's settings contain it. */}}
{{- define "millrace.env.publicApiUrl" -}}
{{- with ternary "" (include "millrace.apiUrl" .root) (hasKey (default dict .values.settings) "PUBLIC_API_URL") -}}
- { name: PUBLIC_API_URL, value: {{ . | quote }} }
{{- end -}}
{{- end -}}

{{/* Cluster-internal URL of the service that serves flags. */}}
{{- define "millrace.flagsUrl" -}}
{{- $flags := ternary "flags" "gateway" .Values.flags.enabled -}}
{{ include "millrace.gatewayUrl" (dict "root" . "name" $flags) }}
{{- end -}}

{{- define "millrace.gatewayUrl" -}}
http://{{ include "millrace.fullname" .root }}-{{ .name }}:{{ include "millrace.servicePort" (dict "root" .root "service" .name) }}
{{- end -}}

{{- define "millrace.env.deliveryWorker" -}}
- { name: HEALTH_PORT, value: {{ include "millrace.text" .values.port | quote }} }
- { name: EVENT_RETENTION_DAYS, value: {{ include "millrace.text" .root.Values.eventRetentionDays | quote }} }
{{ include "millrace.env.publicApiUrl" . }}
{{- end -}}

{{- define "millrace.env.keys" -}}
{{- $keys := .root.Values.keys -}}
{{- $secret := default (printf "%s-keys" (include "millrace.fullname" .root)) $keys.existingSecret -}}
{{ include "millrace.fromSecret" (dict "name" "SECRETS_KEY" "secret" $secret "key" $keys.secretsKeyKey) }}
{{- if eq .kind "managementApi" }}
{{ include "millrace.fromSecret" (dict "name" "TOKEN_SECRET" "secret" $secret "key" $keys.tokenSecretKey) }}
{{- end }}
{{- end -}}

{{- define "millrace.env.mail" -}}
{{- $mail := .Values.mail -}}
{{- if $mail.existingSecret.name }}
{{ include "millrace.fromSecret" (dict "name" "SMTP_URL" "secret" $mail.existingSecret.name "key" $mail.existingSecret.urlKey) }}
{{- else if $mail.url }}
{{ include "millrace.fromSecret" (dict "name" "SMTP_URL" "secret" (include "millrace.storesSecret" .) "key" "SMTP_URL") }}
{{- end }}
{{- with $mail.from }}
- { name: SMTP_FROM, value: {{ . | quote }} }
{{- end }}
- { name: MAILS_PER_ORGANIZATION_HOUR, value: {{ include "millrace.text" $mail.perOrganizationHour | quote }} }
{{- end -}}

{{- define "millrace.env.clickhouse" -}}
{{- $secret := .root.Values.clickhouse.existingSecret -}}
{{- if $secret.name }}
- { name: EVENT_STORE, value: clickhouse }
{{ include "millrace.fromSecret" (dict "name" "CLICKHOUSE_URL" "secret" $secret.name "key" $secret.urlKey) }}
{{- if eq .kind "deliveryWorker" }}
{{ include "millrace.fromSecret" (dict "name" "CLICKHOUSE_POSTGRES_URL" "secret" $secret.name "key" $secret.postgresUrlKey) }}
{{- end }}
{{- end }}
{{- end -}}

{{/* A variable from a secret. Takes: name, secret, key. */}}
{{- define "millrace.fromSecret" -}}
- { name: {{ .name }}, valueFrom: { secretKeyRef: { name: {{ .secret | quote }}, key: {{ .key | quote }} } } }
{{- end -}}

{{- define "millrace.secretFiles" -}}/etc/millrace/secrets{{- end -}}

{{/*
The environment variables of the pod. With `secretsAsFiles`, each secret that the chart passes to the service is a file, and the
variable contains its path. Takes the same as "millrace.environment".
*/}}
{{- define "millrace.podEnvironment" -}}
{{- if .root.Values.secretsAsFiles -}}
{{- $files := include "millrace.secretSources" . | fromYamlArray -}}
{{- $paths := list -}}
{{- range $files }}{{- $paths = append $paths (first .secret.items).path -}}{{- end -}}
{{- range include "millrace.environment" . | fromYamlArray }}
{{- if has .name $paths }}
- { name: {{ .name }}_FILE, value: {{ include "millrace.secretFiles" $ }}/{{ .name }} }
{{- else }}
- {{ toJson . }}
{{- end }}
{{- end -}}
{{- else -}}
{{- include "millrace.environment" . -}}
{{- end -}}
{{- end -}}

{{/* Secrets as sources of a projected volume. Empty if they are in the environment. Takes the same as "millrace.environment". */}}
{{- define "millrace.secretSources" -}}
{{- if and .root.Values.secretsAsFiles (has .kind (list "gateway" "flags" "managementApi" "deliveryWorker" "consumer")) -}}
{{- $named := dict "root" .root "kind" .kind "values" (omit .values "extraEnv") -}}
{{- range include "millrace.environment" $named | fromYamlArray }}
{{- $name := .name -}}
{{- with .valueFrom }}
- secret: { name: {{ .secretKeyRef.name | quote }}, items: [{ key: {{ .secretKeyRef.key | quote }}, path: {{ $name }} }] }
{{- end }}
{{- end -}}
{{- end -}}
{{- end -}}
