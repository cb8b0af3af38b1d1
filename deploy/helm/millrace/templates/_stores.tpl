{{/* The secret that the chart creates from URLs and passwords in the values. */}}
{{- define "millrace.storesSecret" -}}
{{- printf "%s-stores" (include "millrace.fullname" .) -}}
{{- end -}}

{{- define "millrace.certificates" -}}/etc/millrace/certificates{{- end -}}

{{/* Variables for connecting to PostgreSQL. The migration bypasses a pooler, and has its secrets in a separate secret (`made`). */}}
{{- define "millrace.env.postgresql" -}}
{{- include "millrace.env.postgresqlFrom" (dict "root" . "pg" .Values.postgresql "made" (include "millrace.storesSecret" .)) -}}
{{- end -}}

{{- define "millrace.env.migration" -}}
{{- $pg := deepCopy .root.Values.postgresql -}}
{{- with $pg.direct.host -}}
{{- $pg = mergeOverwrite $pg (dict "host" . "port" $pg.direct.port) -}}
{{- end -}}
{{- with $pg.direct.existingSecret -}}
{{- if .name -}}{{- $pg = mergeOverwrite $pg (dict "existingSecret" (dict "name" .name "urlKey" .urlKey)) -}}{{- end -}}
{{- end -}}
{{- include "millrace.env.postgresqlFrom" (dict "pg" $pg "made" .made) -}}
{{- end -}}

{{- define "millrace.env.postgresqlFrom" -}}
{{- $made := .made -}}
{{- $pg := .pg -}}
{{- $secret := $pg.existingSecret -}}
{{- if and $secret.name $secret.urlKey }}
{{ include "millrace.fromSecret" (dict "name" "DATABASE_URL" "secret" $secret.name "key" $secret.urlKey) }}
{{- else if $pg.url }}
{{ include "millrace.fromSecret" (dict "name" "DATABASE_URL" "secret" $made "key" "DATABASE_URL") }}
{{- else }}
- { name: DATABASE_URL, value: {{ printf "postgresql://%s:%s/%s" (include "millrace.urlHost" $pg.host) (include "millrace.text" $pg.port) $pg.database | quote }} }
{{- if $secret.name }}
{{- if $pg.user }}
- { name: DATABASE_USER, value: {{ $pg.user | quote }} }
{{- else }}
{{ include "millrace.fromSecret" (dict "name" "DATABASE_USER" "secret" $secret.name "key" $secret.userKey) }}
{{- end }}
{{ include "millrace.fromSecret" (dict "name" "DATABASE_PASSWORD" "secret" $secret.name "key" $secret.passwordKey) }}
{{- else }}
- { name: DATABASE_USER, value: {{ $pg.user | quote }} }
{{ include "millrace.fromSecret" (dict "name" "DATABASE_PASSWORD" "secret" $made "key" "DATABASE_PASSWORD") }}
{{- end }}
{{- end }}
{{- with $pg.tls.mode }}
- { name: DATABASE_SSL_MODE, value: {{ . | quote }} }
{{- end }}
{{- if or $pg.tls.ca.secret $pg.tls.ca.configMap }}
- { name: DATABASE_SSL_CA_FILE, value: {{ include "millrace.certificates" . }}/postgresql-ca.crt }
{{- end }}
{{- if $pg.tls.client.secret }}
- { name: DATABASE_SSL_CERT_FILE, value: {{ include "millrace.certificates" . }}/postgresql.crt }
- { name: DATABASE_SSL_KEY_FILE, value: {{ include "millrace.certificates" . }}/postgresql.key }
{{- end }}
{{- end -}}

{{/* In URLs, IPv6 addresses are in brackets. */}}
{{- define "millrace.urlHost" -}}
{{- if and (contains ":" .) (not (hasPrefix "[" .)) -}}[{{ . }}]{{- else -}}{{ . }}{{- end -}}
{{- end -}}

{{- define "millrace.env.eventLog" -}}
{{- $log := .Values.eventLog -}}
- { name: EVENT_LOG, value: {{ $log.type | quote }} }
{{- with $log.topicPrefix }}
- { name: TOPIC_PREFIX, value: {{ . | quote }} }
{{- end }}
{{- if eq $log.type "kafka" }}
{{ include "millrace.env.kafka" . | trim }}
{{- end }}
{{- end -}}

{{/* Variables for services that write to the event log: how topics are created, and where events go while Kafka is unavailable. */}}
{{- define "millrace.env.writingLog" -}}
{{- $log := .Values.eventLog -}}
- { name: TOPIC_PARTITIONS, value: {{ include "millrace.text" $log.partitions | quote }} }
{{- if eq $log.type "kafka" }}
- { name: EVENT_LOG_FALLBACK, value: {{ $log.fallback | quote }} }
- { name: EVENT_LOG_FALLBACK_AFTER_MS, value: {{ include "millrace.text" $log.fallbackAfterMs | quote }} }
{{- end }}
{{- end -}}

{{- define "millrace.env.kafka" -}}
{{- $kafka := .Values.kafka -}}
{{- $sasl := $kafka.sasl -}}
{{- $secret := $sasl.existingSecret -}}
- { name: KAFKA_BROKERS, value: {{ join "," $kafka.brokers | quote }} }
- { name: KAFKA_SSL, value: {{ $kafka.tls.enabled | quote }} }
{{- if or $kafka.tls.ca.secret $kafka.tls.ca.configMap }}
- { name: KAFKA_SSL_CA_FILE, value: {{ include "millrace.certificates" . }}/kafka-ca.crt }
{{- end }}
{{- if $kafka.tls.client.secret }}
- { name: KAFKA_SSL_CERT_FILE, value: {{ include "millrace.certificates" . }}/kafka.crt }
- { name: KAFKA_SSL_KEY_FILE, value: {{ include "millrace.certificates" . }}/kafka.key }
{{- end }}
{{- if $sasl.mechanism }}
- { name: KAFKA_SASL_MECHANISM, value: {{ $sasl.mechanism | quote }} }
{{- if and $secret.name $secret.usernameKey }}
{{ include "millrace.fromSecret" (dict "name" "KAFKA_SASL_USERNAME" "secret" $secret.name "key" $secret.usernameKey) }}
{{- else }}
- { name: KAFKA_SASL_USERNAME, value: {{ $sasl.username | quote }} }
{{- end }}
{{ include "millrace.fromSecret" (dict "name" "KAFKA_SASL_PASSWORD" "secret" (default (include "millrace.storesSecret" .) $secret.name) "key" (ternary $secret.passwordKey "KAFKA_SASL_PASSWORD" (not (empty $secret.name)))) }}
{{- end }}
{{- end -}}

{{- define "millrace.env.redis" -}}
{{- $redis := .Values.redis -}}
{{- $secret := $redis.existingSecret -}}
{{- $made := include "millrace.storesSecret" . -}}
{{- if include "millrace.hasRedis" . -}}
{{- if and $secret.name $secret.urlKey }}
{{ include "millrace.fromSecret" (dict "name" "REDIS_URL" "secret" $secret.name "key" $secret.urlKey) }}
{{- else if $redis.url }}
{{ include "millrace.fromSecret" (dict "name" "REDIS_URL" "secret" $made "key" "REDIS_URL") }}
{{- else }}
- { name: REDIS_URL, value: {{ printf "%s://%s" (ternary "rediss" "redis" $redis.tls.enabled) (join "," $redis.nodes) | quote }} }
{{- with $redis.username }}
- { name: REDIS_USERNAME, value: {{ . | quote }} }
{{- end }}
{{- if $secret.name }}
{{ include "millrace.fromSecret" (dict "name" "REDIS_PASSWORD" "secret" $secret.name "key" $secret.passwordKey) }}
{{- else if $redis.password }}
{{ include "millrace.fromSecret" (dict "name" "REDIS_PASSWORD" "secret" $made "key" "REDIS_PASSWORD") }}
{{- end }}
{{- end }}
- { name: REDIS_MODE, value: {{ $redis.mode | quote }} }
{{- if eq $redis.mode "sentinel" }}
- { name: REDIS_SENTINEL_MASTER, value: {{ $redis.sentinel.master | quote }} }
{{- if and $secret.name $redis.sentinel.passwordKey }}
{{ include "millrace.fromSecret" (dict "name" "REDIS_SENTINEL_PASSWORD" "secret" $secret.name "key" $redis.sentinel.passwordKey) }}
{{- else if $redis.sentinel.password }}
{{ include "millrace.fromSecret" (dict "name" "REDIS_SENTINEL_PASSWORD" "secret" $made "key" "REDIS_SENTINEL_PASSWORD") }}
{{- end }}
{{- end }}
{{- if or $redis.tls.ca.secret $redis.tls.ca.configMap }}
- { name: REDIS_CA_FILE, value: {{ include "millrace.certificates" . }}/redis-ca.crt }
{{- end }}
{{- end -}}
{{- end -}}

{{- define "millrace.hasRedis" -}}
{{- $redis := .Values.redis -}}
{{- if or $redis.url $redis.nodes (and $redis.existingSecret.name $redis.existingSecret.urlKey) -}}true{{- end -}}
{{- end -}}

{{/* Contents of the secret that the chart creates: base64 by key, as YAML. Empty if all values are in existing secrets. */}}
{{- define "millrace.madeSecrets" -}}
{{- $pg := .Values.postgresql -}}
{{- if and $pg.url (not (and $pg.existingSecret.name $pg.existingSecret.urlKey)) }}
DATABASE_URL: {{ $pg.url | b64enc }}
{{- else if and $pg.password (not $pg.existingSecret.name) }}
DATABASE_PASSWORD: {{ $pg.password | b64enc }}
{{- end }}
{{- end -}}

{{- define "millrace.otherMadeSecrets" -}}
{{- $redis := .Values.redis -}}
{{- $sasl := .Values.kafka.sasl -}}
{{- if and $sasl.password (not $sasl.existingSecret.name) }}
KAFKA_SASL_PASSWORD: {{ $sasl.password | b64enc }}
{{- end }}
{{- /* KEDA reads the user name only from a secret. */}}
{{- if and .Values.keda.enabled $sasl.username (not (and $sasl.existingSecret.name $sasl.existingSecret.usernameKey)) }}
KAFKA_SASL_USERNAME: {{ $sasl.username | b64enc }}
{{- end }}
{{- if not (and $redis.existingSecret.name $redis.existingSecret.urlKey) }}
{{- with $redis.url }}
REDIS_URL: {{ . | b64enc }}
{{- end }}
{{- if and $redis.password (not $redis.existingSecret.name) }}
REDIS_PASSWORD: {{ $redis.password | b64enc }}
{{- end }}
{{- end }}
{{- with $redis.sentinel.password }}
REDIS_SENTINEL_PASSWORD: {{ . | b64enc }}
{{- end }}
{{- if and .Values.mail.url (not .Values.mail.existingSecret.name) }}
SMTP_URL: {{ .Values.mail.url | b64enc }}
{{- end }}
{{- end -}}

{{/* Certificates as sources of a projected volume. Empty if no certificates are set. Takes: root, stores (a list of names). */}}
{{- define "millrace.certificateSources" -}}
{{- $values := .root.Values -}}
{{- range .stores -}}
{{- $tls := get (get $values .) "tls" -}}
{{- $store := . -}}
{{- with $tls.ca.secret }}
- secret: { name: {{ . | quote }}, items: [{ key: {{ $tls.ca.key | quote }}, path: {{ $store }}-ca.crt }] }
{{- end }}
{{- if and $tls.ca.configMap (not $tls.ca.secret) }}
- configMap: { name: {{ $tls.ca.configMap | quote }}, items: [{ key: {{ $tls.ca.key | quote }}, path: {{ $store }}-ca.crt }] }
{{- end }}
{{- with get $tls "client" }}
{{- if .secret }}
- secret: { name: {{ .secret | quote }}, items: [{ key: {{ .certKey | quote }}, path: {{ $store }}.crt }, { key: {{ .keyKey | quote }}, path: {{ $store }}.key }] }
{{- end }}
{{- end }}
{{- end -}}
{{- end -}}
