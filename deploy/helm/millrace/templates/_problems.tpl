{{/* Checks that a JSON schema cannot express, such as values that contradict each other. Reports all problems together, one sentence each. */}}
{{- define "millrace.refuseProblems" -}}
{{- $problems := list -}}
{{- range list "stores" "log" "scaling" "hosts" "pods" "names" "upgrade" "keys" -}}
{{- range splitList "\n" (include (printf "millrace.problems.%s" .) $) -}}
{{- with trim . -}}{{- $problems = append $problems . -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- with $problems -}}
{{- fail (printf "\n\nThe values contain these problems:\n  - %s\n" (join "\n  - " .)) -}}
{{- end -}}
{{- end -}}

{{- define "millrace.problems.stores" -}}
{{- $pg := .Values.postgresql -}}
{{- $secret := $pg.existingSecret -}}
{{- $ways := compact (list $pg.url $pg.host (and $secret.name $secret.urlKey)) -}}
{{- if not $ways }}
postgresql: the address is required. Set `postgresql.existingSecret.name` and `.urlKey` (a secret that contains the complete URL), or `postgresql.host`, or `postgresql.url`.
{{- else if gt (len $ways) 1 }}
postgresql: the address is set more than once. Keep only one of `postgresql.url`, `postgresql.host` and `postgresql.existingSecret.urlKey`.
{{- end }}
{{- range $path, $host := dict "postgresql.host" $pg.host "postgresql.direct.host" $pg.direct.host }}
{{- if and $host (not (include "millrace.isHost" $host)) }}
{{ $path }} must contain only a host name or IP address. Set the port in `port`. To set a complete URL, use `postgresql.url`.
{{- end }}{{- end }}
{{- if and (not $pg.host) $ways (or $pg.user $pg.password (and $secret.name (not $secret.urlKey))) }}
postgresql: the user and password have no effect with a complete URL. Add them to the URL, or set `postgresql.host` instead of the URL.
{{- end }}
{{- if and $pg.direct.host (not $pg.host) }}
postgresql.direct.host requires `postgresql.host`. If you use a complete URL, set the URL for migrations with `postgresql.direct.existingSecret`.
{{- end }}
{{- if and $pg.host (not $secret.name) (not (and $pg.user $pg.password)) }}
postgresql: `postgresql.host` requires credentials. Set `postgresql.user` and `postgresql.password`, or `postgresql.existingSecret.name`.
{{- end }}
{{- if and $pg.url (not (regexMatch "^postgres(ql)?://[^[:space:]]+$" $pg.url)) }}
postgresql.url must have the form postgresql://user:password@host:5432/database.
{{- end }}
{{- if and (eq $pg.tls.mode "disable") (or $pg.tls.ca.secret $pg.tls.ca.configMap $pg.tls.client.secret) }}
postgresql.tls: certificates are set, but `mode` is disable. Use `mode: verify-full`, or remove the certificates.
{{- end }}
{{- if and (eq $pg.tls.mode "no-verify") (or $pg.tls.ca.secret $pg.tls.ca.configMap) }}
postgresql.tls: `ca` has no effect with `mode: no-verify`, which does not check certificates. Use verify-full.
{{- end }}
{{- $redis := .Values.redis -}}
{{- $ways = compact (list $redis.url (join "," $redis.nodes) (and $redis.existingSecret.name $redis.existingSecret.urlKey)) -}}
{{- if gt (len $ways) 1 }}
redis: the address is set more than once. Keep only one of `redis.url`, `redis.nodes` and `redis.existingSecret.urlKey`.
{{- end }}
{{- if and $ways (not $redis.nodes) (or $redis.username $redis.password (and $redis.url $redis.existingSecret.name (not $redis.sentinel.passwordKey))) }}
redis: the user and password have no effect with a complete URL. Add them to the URL, or set `redis.nodes` instead of the URL.
{{- end }}
{{- if and (not $ways) (or $redis.existingSecret.name $redis.password $redis.username) }}
redis: credentials are set, but the address is missing. Set `redis.nodes`, or `redis.existingSecret.urlKey` if the secret contains the complete URL.
{{- end }}
{{- if and $redis.url (not (regexMatch "^rediss?://[^[:space:]]+$" $redis.url)) }}
redis.url must have the form redis://host:6379 or rediss://host:6379.
{{- end }}
{{- range $redis.nodes }}{{- if not (regexMatch "^([^[:space:]/:@]+|\\[[0-9a-fA-F:.]+\\]):[0-9]+$" .) }}
redis.nodes: {{ . | quote }} must have the form host:port.
{{- end }}{{- end }}
{{- if and (eq $redis.mode "single") (gt (len $redis.nodes) 1) }}
redis.nodes: `redis.mode: single` allows only one node. Set `redis.mode` to sentinel or cluster.
{{- end }}
{{- if and (or $redis.tls.ca.secret $redis.tls.ca.configMap) (or (hasPrefix "redis://" $redis.url) (and $redis.nodes (not $redis.tls.enabled))) }}
redis.tls.ca is set, but the connection does not use TLS. Use a rediss:// URL, or `redis.tls.enabled: true` with `redis.nodes`.
{{- end }}
{{- if and $redis.tls.enabled (hasPrefix "redis://" $redis.url) }}
redis.tls.enabled is true, but `redis.url` starts with redis://. Use rediss://.
{{- end }}
{{- if and .Values.mail.url .Values.mail.existingSecret.name }}
mail: the address is set twice. Keep only one of `mail.url` and `mail.existingSecret`.
{{- end }}
{{- if and (not .Values.keys.existingSecret) (eq .Values.keys.secretsKeyKey .Values.keys.tokenSecretKey) }}
keys: `secretsKeyKey` and `tokenSecretKey` must be different, because they are the names of two different keys.
{{- end }}
{{- end -}}

{{/* Whether this is a host name or an IP address without a port. An IPv6 address has more than one colon. */}}
{{- define "millrace.isHost" -}}
{{- if regexMatch "^([^[:space:]/:@]+|\\[?[0-9a-fA-F]*:[0-9a-fA-F]*:[0-9a-fA-F:.]*\\]?)$" . -}}true{{- end -}}
{{- end -}}

{{- define "millrace.problems.log" -}}
{{- $kafka := .Values.kafka -}}
{{- $sasl := $kafka.sasl -}}
{{- if eq .Values.eventLog.type "kafka" }}
{{- if not $kafka.brokers }}
kafka.brokers is required. List some brokers as host:port, or set `eventLog.type: postgres` to run without Kafka.
{{- end }}
{{- range $kafka.brokers }}{{- if hasPrefix "[" . }}
kafka.brokers: {{ . | quote }} is an IPv6 address. Use a host name that resolves to it instead.
{{- else if not (regexMatch "^[^[:space:]/:@]+:[0-9]+$" .) }}
kafka.brokers: {{ . | quote }} must have the form host:port.
{{- end }}{{- end }}
{{- if and (not $kafka.tls.enabled) (or $kafka.tls.ca.secret $kafka.tls.ca.configMap $kafka.tls.client.secret) }}
kafka.tls: certificates are set, but `kafka.tls.enabled` is false. Set `kafka.tls.enabled` to true, or remove the certificates.
{{- end }}
{{- if and $sasl.mechanism (not $sasl.username) (not (and $sasl.existingSecret.name $sasl.existingSecret.usernameKey)) }}
kafka.sasl: a user name is required. Set `kafka.sasl.username`, or `kafka.sasl.existingSecret.usernameKey`.
{{- end }}
{{- if and $sasl.mechanism (not $sasl.password) (not $sasl.existingSecret.name) }}
kafka.sasl: a password is required. Set `kafka.sasl.existingSecret.name`, or `kafka.sasl.password`.
{{- end }}
{{- if and (not $sasl.mechanism) (or $sasl.username $sasl.password $sasl.existingSecret.name) }}
kafka.sasl: credentials are set, but `mechanism` is missing. Set `mechanism` to plain, scram-sha-256 or scram-sha-512.
{{- end }}
{{- else if ne .Values.eventLog.fallback "none" }}
eventLog.fallback is supported only with `eventLog.type: kafka`. Set `eventLog.fallback` to none.
{{- end }}
{{- $topics := list -}}
{{- range $name, $consumer := .Values.consumers }}
{{- $topics = concat $topics (default list $consumer.topics) }}
{{- if not $consumer.topics }}
consumers.{{ $name }}.topics is required. List the topics that this consumer reads: live, historical, overflow.
{{- end }}
{{- end }}
{{- range list "live" "historical" "overflow" }}
{{- if not (has . $topics) }}
consumers: no consumer reads the topic {{ . }}, so its events would never be stored. Add the topic to a consumer's `topics`.
{{- end }}
{{- end }}
{{- end -}}

{{- define "millrace.problems.scaling" -}}
{{- $keda := .Values.keda.enabled -}}
{{- $log := .Values.eventLog.type -}}
{{- range include "millrace.components" . | fromJsonArray }}
{{- $scaling := default dict .values.autoscaling }}
{{- $path := .kind }}
{{- if eq .kind "consumer" }}{{- $path = printf "consumers.%s" (trimPrefix "consumer-" .name) }}{{- end }}
{{- if $scaling.enabled }}
{{- if lt (int $scaling.maxReplicas) (int $scaling.minReplicas) }}
{{ $path }}.autoscaling: maxReplicas ({{ $scaling.maxReplicas }}) is less than minReplicas ({{ $scaling.minReplicas }}).
{{- end }}
{{- if and (eq (int $scaling.minReplicas) 0) (not (and $keda (eq .kind "consumer"))) }}
{{ $path }}.autoscaling.minReplicas must be at least 1. Only consumers can be scaled to zero, and only with KEDA (`keda.enabled`).
{{- end }}
{{- /* Kubernetes uses the limit as the request if no request is set. */}}
{{- $cpu := or (get (default dict .values.resources.requests) "cpu") (get (default dict .values.resources.limits) "cpu") }}
{{- if and (not (and $keda (eq .kind "consumer"))) (not $cpu) }}
{{ $path }}.resources.requests.cpu is required, because autoscaling compares the CPU usage with this value. Set the value, or set `autoscaling.enabled: false`.
{{- end }}
{{- if and $keda (eq .kind "consumer") (eq $log "postgres") (not $scaling.triggers) }}
{{ $path }}.autoscaling: KEDA reads the lag from Kafka, but `eventLog.type` is postgres. Set `triggers`, or `keda.enabled: false`.
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "millrace.problems.hosts" -}}
{{- range list "ingress" "gatewayApi" }}
{{- if and (get $.Values .).enabled (not $.Values.host) }}
{{ . }}.enabled requires `host`, the host name that clients use.
{{- end }}
{{- end }}
{{- if and .Values.ingress.enabled (regexMatch "cert-manager.io/(cluster-)?issuer" (toJson .Values.ingress.annotations)) (not .Values.ingress.tls.secretName) }}
ingress.annotations request a certificate from cert-manager. Set `ingress.tls.secretName` to the secret in which cert-manager stores the certificate.
{{- end }}
{{- if and .Values.gatewayApi.enabled (not .Values.gatewayApi.parentRefs) }}
gatewayApi.parentRefs is required. Set it to the Gateway, e.g. [{ name: public, namespace: gateways }].
{{- end }}
{{- if and .Values.apiHost (eq .Values.host .Values.apiHost) }}
apiHost is the same as `host`. To serve the management API and events on one host, leave `apiHost` empty.
{{- end }}
{{- range list "host" "apiHost" }}
{{- with get $.Values . }}
{{- if regexMatch "[/: ]" . }}
{{ . | quote }} is not a host name. Remove the scheme, the port and the path.
{{- else if and (or $.Values.ingress.enabled $.Values.gatewayApi.enabled) (or (not (regexMatch "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$" .)) (regexMatch "^[0-9.]+$" .)) }}
{{ . | quote }} cannot be used in an Ingress or a Gateway. Set a single host name that consists of lower-case letters, digits, hyphens and dots. IP addresses are not allowed.
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Checks each pod for enough time to stop, and for duplicate ports, variables and labels. */}}
{{- define "millrace.problems.pods" -}}
{{- range include "millrace.components" . | fromJsonArray }}
{{- $component := .name }}
{{- $needed := add (include "millrace.stopSeconds" . | int) (default 0 .values.preStopSeconds | int) }}
{{- with .values.terminationGracePeriodSeconds }}
{{- if lt (int .) (int $needed) }}
terminationGracePeriodSeconds is {{ include "millrace.text" . }}, but a {{ $component }} takes up to {{ $needed }} s to stop (preStopSeconds, STOP_DELAY_MS, DRAIN_TIMEOUT_MS). Raise terminationGracePeriodSeconds, or remove it.
{{- end }}
{{- end }}
{{- if eq (int .values.port) (int $.Values.metrics.port) }}
metrics.port is {{ include "millrace.text" .values.port }}, which is also the port of a {{ $component }}. Use a different port.
{{- end }}
{{- with .values.service }}
{{- if and .loadBalancerSourceRanges (ne .type "LoadBalancer") }}
{{ $component }}.service.loadBalancerSourceRanges requires `type: LoadBalancer`. With other types, use `networkPolicies.clients` to restrict clients.
{{- end }}
{{- if and .externalTrafficPolicy (eq .type "ClusterIP") }}
{{ $component }}.service.externalTrafficPolicy requires `type: NodePort` or `type: LoadBalancer`.
{{- end }}
{{- end }}
{{- if has .kind (list "gateway" "flags") }}
{{- $delay := get (default dict .values.settings) "STOP_DELAY_MS" | default 2000 | int }}
{{- $drain := get (default dict .values.settings) "DRAIN_TIMEOUT_MS" | default 25000 | int }}
{{- if ge $delay $drain }}
{{ .kind }}.settings: STOP_DELAY_MS ({{ $delay }}) is part of DRAIN_TIMEOUT_MS ({{ $drain }}) and leaves no time to finish requests in progress. Raise DRAIN_TIMEOUT_MS.
{{- end }}
{{- end }}
{{- $names := list }}
{{- range include "millrace.environment" (dict "root" $ "kind" .kind "values" .values) | fromYamlArray }}
{{- if has .name $names }}
{{ $component }}: `extraEnv` contains {{ .name }}, which the chart already sets or which occurs twice. Move service settings to `settings`.
{{- end }}
{{- $names = append $names .name }}
{{- end }}
{{- range $label, $_ := merge dict (default dict .values.podLabels) $.Values.podLabels $.Values.labels }}
{{- if has $label (list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" "app.kubernetes.io/part-of") }}
{{ $component }}: the label {{ $label }} is reserved, because services use it to select pods. Use a different label (`labels`, `podLabels`).
{{- end }}
{{- end }}
{{- end }}
{{- range $part := list "migrations" "tests" }}
{{- range $label, $_ := (get $.Values $part).podLabels }}
{{- if has $label (list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" "app.kubernetes.io/part-of") }}
{{ $part }}.podLabels: {{ $label }} is reserved for the chart. Use a different label.
{{- end }}
{{- end }}
{{- end }}
{{- range list "app.kubernetes.io/version" "app.kubernetes.io/managed-by" "helm.sh/chart" }}
{{- if hasKey $.Values.labels . }}
labels: {{ . }} is reserved for the chart. Use a different label.
{{- end }}
{{- end }}
{{- $names := list }}
{{- range concat (include "millrace.env.migration" (dict "root" $ "made" "") | fromYamlArray) .Values.migrations.extraEnv }}
{{- if has .name $names }}
migrations.extraEnv contains {{ .name }}, which the chart already sets or which occurs twice.
{{- end }}
{{- $names = append $names .name }}
{{- end }}
{{- end -}}

{{- define "millrace.problems.names" -}}
{{- $fullname := include "millrace.fullname" . }}
{{- if not (regexMatch "^[a-z]([a-z0-9-]*[a-z0-9])?$" $fullname) }}
The name {{ $fullname | quote }} cannot be used as the prefix of object names. The prefix must consist of lower-case letters, digits and hyphens, and start with a letter. Set `fullnameOverride`.
{{- end }}
{{- if and .Values.nameOverride (not (regexMatch "^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$" .Values.nameOverride)) }}
nameOverride: {{ .Values.nameOverride | quote }} cannot be used as a label. Use only letters, digits, hyphens, dots and underscores.
{{- end }}
{{- range $name, $_ := .Values.consumers }}
{{- if or (gt (len $name) 18) (not (regexMatch "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$" $name)) }}
consumers: {{ $name | quote }} cannot be used in object names. Use at most 18 lower-case letters, digits and hyphens.
{{- end }}
{{- end }}
{{- end -}}

{{/* Compares the values with objects in the cluster. `helm template` does not look up objects, so these checks always pass there. */}}
{{- define "millrace.problems.upgrade" -}}
{{- $fullname := include "millrace.fullname" . }}
{{- $there := lookup "apps/v1" "Deployment" .Release.Namespace (printf "%s-management-api" $fullname) }}
{{- $name := dig "spec" "selector" "matchLabels" "app.kubernetes.io/name" "" $there }}
{{- if and $name (ne $name (get (include "millrace.selectorLabels" . | fromYaml) "app.kubernetes.io/name")) }}
nameOverride: the existing deployments select their pods by the name {{ $name | quote }}, which cannot be changed. Set `nameOverride` to this name, or uninstall the release first.
{{- end }}
{{- $secret := include "millrace.keysOfServices" . }}
{{- if and (not .Values.keys.existingSecret) $secret (ne $secret (printf "%s-keys" $fullname)) }}
keys: the running services use the keys in the secret {{ $secret | quote }}. Existing data cannot be decrypted with new keys. Set `keys.existingSecret` to this secret again.
{{- end }}
{{- end -}}

{{/* The secret that contains the keys of the running services. Empty if no services run, or if the cluster is not queried. */}}
{{- define "millrace.keysOfServices" -}}
{{- $there := lookup "apps/v1" "Deployment" .Release.Namespace (printf "%s-management-api" (include "millrace.fullname" .)) -}}
{{- $pod := dig "spec" "template" "spec" dict $there -}}
{{- $names := list -}}
{{- range $pod.containers }}{{- range .env }}
{{- if eq .name "SECRETS_KEY" }}{{- $names = append $names (dig "valueFrom" "secretKeyRef" "name" "" .) }}{{- end }}
{{- end }}{{- end }}
{{- range $pod.volumes }}{{- range dig "projected" "sources" list . }}
{{- if eq "SECRETS_KEY" (dig "path" "" (first (dig "secret" "items" (list dict) .))) }}{{- $names = append $names .secret.name }}{{- end }}
{{- end }}{{- end }}
{{- compact $names | join " " -}}
{{- end -}}

{{/* Prevents new keys from replacing existing ones, because the existing data could then no longer be decrypted. */}}
{{- define "millrace.problems.keys" -}}
{{- if not (or .Values.keys.existingSecret .Values.keys.allowNew) }}
{{- $name := printf "%s-keys" (include "millrace.fullname" .) }}
{{- $there := lookup "v1" "Secret" .Release.Namespace $name }}
{{- if $there }}
{{- range list .Values.keys.secretsKeyKey .Values.keys.tokenSecretKey }}
{{- if not (hasKey (default dict $there.data) .) }}
keys: the secret {{ $name | quote }} does not contain {{ . | quote }}, so new keys would replace the existing ones. Set `secretsKeyKey` and `tokenSecretKey` back to their previous values.
{{- end }}
{{- end }}
{{- else if eq $name (include "millrace.keysOfServices" .) }}
keys: services are running, but the secret {{ $name | quote }} with their keys is missing. Restore the secret from your backup. `keys.allowNew` would create new keys, but existing data cannot be decrypted with new keys.
{{- end }}
{{- end }}
{{- end -}}
