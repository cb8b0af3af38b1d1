{{/* What a schema cannot say: settings that contradict each other. All of them at once, each as a sentence. */}}
{{- define "millrace.refuseProblems" -}}
{{- $problems := list -}}
{{- range list "stores" "log" "scaling" "hosts" "pods" "names" "upgrade" "keys" -}}
{{- range splitList "\n" (include (printf "millrace.problems.%s" .) $) -}}
{{- with trim . -}}{{- $problems = append $problems . -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- with $problems -}}
{{- fail (printf "\n\nThe values do not fit together:\n  - %s\n" (join "\n  - " .)) -}}
{{- end -}}
{{- end -}}

{{- define "millrace.problems.stores" -}}
{{- $pg := .Values.postgresql -}}
{{- $secret := $pg.existingSecret -}}
{{- $ways := compact (list $pg.url $pg.host (and $secret.name $secret.urlKey)) -}}
{{- if not $ways }}
postgresql: say where it is. Set `postgresql.existingSecret.name` and `.urlKey` (a secret with the whole address), or `postgresql.host`, or `postgresql.url`.
{{- else if gt (len $ways) 1 }}
postgresql: the address is given more than once. Keep one of `postgresql.url`, `postgresql.host` and `postgresql.existingSecret.urlKey`.
{{- end }}
{{- range $path, $host := dict "postgresql.host" $pg.host "postgresql.direct.host" $pg.direct.host }}
{{- if and $host (not (include "millrace.isHost" $host)) }}
{{ $path }} is not a host alone. Its port goes into `port` beside it, a whole address into `postgresql.url`.
{{- end }}{{- end }}
{{- if and (not $pg.host) $ways (or $pg.user $pg.password (and $secret.name (not $secret.urlKey))) }}
postgresql: beside a whole address, user and password are not looked at. Put them into the address, or give `postgresql.host` instead of it.
{{- end }}
{{- if and $pg.direct.host (not $pg.host) }}
postgresql.direct.host goes with `postgresql.host`. Where the address is whole, give `postgresql.direct.existingSecret` one for migrations.
{{- end }}
{{- if and $pg.host (not $secret.name) (not (and $pg.user $pg.password)) }}
postgresql: with `postgresql.host` set `postgresql.user` and `postgresql.password`, or `postgresql.existingSecret.name`.
{{- end }}
{{- if and $pg.url (not (regexMatch "^postgres(ql)?://[^[:space:]]+$" $pg.url)) }}
postgresql.url is not an address like postgresql://user:password@host:5432/database.
{{- end }}
{{- if and (eq $pg.tls.mode "disable") (or $pg.tls.ca.secret $pg.tls.ca.configMap $pg.tls.client.secret) }}
postgresql.tls: `mode` is disable, but certificates are given.
{{- end }}
{{- if and (eq $pg.tls.mode "no-verify") (or $pg.tls.ca.secret $pg.tls.ca.configMap) }}
postgresql.tls: `mode: no-verify` looks at no certificate, so `ca` is of no use. Use verify-full.
{{- end }}
{{- $redis := .Values.redis -}}
{{- $ways = compact (list $redis.url (join "," $redis.nodes) (and $redis.existingSecret.name $redis.existingSecret.urlKey)) -}}
{{- if gt (len $ways) 1 }}
redis: the address is given more than once. Keep one of `redis.url`, `redis.nodes` and `redis.existingSecret.urlKey`.
{{- end }}
{{- if and $ways (not $redis.nodes) (or $redis.username $redis.password (and $redis.url $redis.existingSecret.name (not $redis.sentinel.passwordKey))) }}
redis: beside a whole address, user and password are not looked at. Put them into the address, or give `redis.nodes` instead of it.
{{- end }}
{{- if and (not $ways) (or $redis.existingSecret.name $redis.password $redis.username) }}
redis: there is a password but no address. Set `redis.nodes`, or `redis.existingSecret.urlKey` when the secret holds the whole address.
{{- end }}
{{- if and $redis.url (not (regexMatch "^rediss?://[^[:space:]]+$" $redis.url)) }}
redis.url is not an address like redis://host:6379 or rediss://host:6379.
{{- end }}
{{- range $redis.nodes }}{{- if not (regexMatch "^([^[:space:]/:@]+|\\[[0-9a-fA-F:.]+\\]):[0-9]+$" .) }}
redis.nodes: {{ . | quote }} is not host:port.
{{- end }}{{- end }}
{{- if and (eq $redis.mode "single") (gt (len $redis.nodes) 1) }}
redis.nodes: several of them are sentinels or a cluster. Set `redis.mode` to sentinel or cluster.
{{- end }}
{{- if and (or $redis.tls.ca.secret $redis.tls.ca.configMap) (or (hasPrefix "redis://" $redis.url) (and $redis.nodes (not $redis.tls.enabled))) }}
redis.tls.ca is given, but the connection is in the clear. Use rediss://, or `redis.tls.enabled: true` with nodes.
{{- end }}
{{- if and $redis.tls.enabled (hasPrefix "redis://" $redis.url) }}
redis.tls.enabled is true, but `redis.url` begins with redis://. Write rediss://.
{{- end }}
{{- if and .Values.mail.url .Values.mail.existingSecret.name }}
mail: the address is given twice. Keep one of `mail.url` and `mail.existingSecret`.
{{- end }}
{{- if and (not .Values.keys.existingSecret) (eq .Values.keys.secretsKeyKey .Values.keys.tokenSecretKey) }}
keys: `secretsKeyKey` and `tokenSecretKey` are the same. They are two secrets.
{{- end }}
{{- end -}}

{{/* Whether this is a name or an address, without a port; an IPv6 address has more colons than one. */}}
{{- define "millrace.isHost" -}}
{{- if regexMatch "^([^[:space:]/:@]+|\\[?[0-9a-fA-F]*:[0-9a-fA-F]*:[0-9a-fA-F:.]*\\]?)$" . -}}true{{- end -}}
{{- end -}}

{{- define "millrace.problems.log" -}}
{{- $kafka := .Values.kafka -}}
{{- $sasl := $kafka.sasl -}}
{{- if eq .Values.eventLog.type "kafka" }}
{{- if not $kafka.brokers }}
kafka.brokers: name some brokers as host:port, or set `eventLog.type: postgres` to do without Kafka.
{{- end }}
{{- range $kafka.brokers }}{{- if hasPrefix "[" . }}
kafka.brokers: {{ . | quote }} is an IPv6 address. Give the broker by a name that leads there.
{{- else if not (regexMatch "^[^[:space:]/:@]+:[0-9]+$" .) }}
kafka.brokers: {{ . | quote }} is not host:port.
{{- end }}{{- end }}
{{- if and (not $kafka.tls.enabled) (or $kafka.tls.ca.secret $kafka.tls.ca.configMap $kafka.tls.client.secret) }}
kafka.tls: certificates are given, but `kafka.tls.enabled` is false.
{{- end }}
{{- if and $sasl.mechanism (not $sasl.username) (not (and $sasl.existingSecret.name $sasl.existingSecret.usernameKey)) }}
kafka.sasl: who are we to the brokers? Set `kafka.sasl.username`, or `kafka.sasl.existingSecret.usernameKey`.
{{- end }}
{{- if and $sasl.mechanism (not $sasl.password) (not $sasl.existingSecret.name) }}
kafka.sasl: set `kafka.sasl.existingSecret.name`, or `kafka.sasl.password`.
{{- end }}
{{- if and (not $sasl.mechanism) (or $sasl.username $sasl.password $sasl.existingSecret.name) }}
kafka.sasl: there is a user or a password but no `mechanism`. Set plain, scram-sha-256 or scram-sha-512.
{{- end }}
{{- else if ne .Values.eventLog.fallback "none" }}
eventLog.fallback is for the time while Kafka is out, and `eventLog.type` is postgres. Set it to none.
{{- end }}
{{- $lanes := list -}}
{{- range $name, $consumer := .Values.consumers }}
{{- $lanes = concat $lanes (default list $consumer.lanes) }}
{{- if not $consumer.lanes }}
consumers.{{ $name }}.lanes: say which of live, historical and overflow it works on.
{{- end }}
{{- end }}
{{- range list "live" "historical" "overflow" }}
{{- if not (has . $lanes) }}
consumers: nobody works on the lane {{ . }}, so its events would never be stored. Give it to one of them (`lanes`).
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
{{ $path }}.autoscaling.minReplicas: only consumers can be scaled to none, and only by KEDA (`keda.enabled`).
{{- end }}
{{- /* A request that is not given is the limit. */}}
{{- $cpu := or (get (default dict .values.resources.requests) "cpu") (get (default dict .values.resources.limits) "cpu") }}
{{- if and (not (and $keda (eq .kind "consumer"))) (not $cpu) }}
{{ $path }}.resources.requests.cpu: it is scaled by its CPU, which is reckoned against this. Set it, or `autoscaling.enabled: false`.
{{- end }}
{{- if and $keda (eq .kind "consumer") (eq $log "postgres") (not $scaling.triggers) }}
{{ $path }}.autoscaling: KEDA asks Kafka for the lag, and `eventLog.type` is postgres. Set `triggers`, or `keda.enabled: false`.
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "millrace.problems.hosts" -}}
{{- range list "ingress" "gatewayApi" }}
{{- if and (get $.Values .).enabled (not $.Values.host) }}
{{ . }}.enabled: set `host`, the name that clients call.
{{- end }}
{{- end }}
{{- if and .Values.ingress.enabled (regexMatch "cert-manager.io/(cluster-)?issuer" (toJson .Values.ingress.annotations)) (not .Values.ingress.tls.secretName) }}
ingress.annotations ask cert-manager for a certificate: say by `ingress.tls.secretName` in which secret it puts it.
{{- end }}
{{- if and .Values.gatewayApi.enabled (not .Values.gatewayApi.parentRefs) }}
gatewayApi.parentRefs: name the Gateway, e.g. [{ name: public, namespace: gateways }].
{{- end }}
{{- if and .Values.apiHost (eq .Values.host .Values.apiHost) }}
apiHost is the same as `host`. Leave it empty: one host serves both.
{{- end }}
{{- range list "host" "apiHost" }}
{{- with get $.Values . }}
{{- if regexMatch "[/: ]" . }}
{{ . | quote }} is not the name of a host: write it without https:// and without a path.
{{- else if and (or $.Values.ingress.enabled $.Values.gatewayApi.enabled) (or (not (regexMatch "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$" .)) (regexMatch "^[0-9.]+$" .)) }}
{{ . | quote }} is no name that an Ingress or a Gateway can serve: one host, in small letters, digits, hyphens and dots, no address.
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Of single pods: enough time to stop, no port, no variable and no label twice. */}}
{{- define "millrace.problems.pods" -}}
{{- range include "millrace.components" . | fromJsonArray }}
{{- $component := .name }}
{{- $needed := add (include "millrace.stopSeconds" . | int) (default 0 .values.preStopSeconds | int) }}
{{- with .values.terminationGracePeriodSeconds }}
{{- if lt (int .) (int $needed) }}
terminationGracePeriodSeconds is {{ include "millrace.text" . }}, but a {{ $component }} takes up to {{ $needed }} s to stop (preStopSeconds, STOP_DELAY_MS, DRAIN_TIMEOUT_MS). Give it more, or leave it out.
{{- end }}
{{- end }}
{{- if eq (int .values.port) (int $.Values.metrics.port) }}
metrics.port is {{ include "millrace.text" .values.port }}, and so is the port of a {{ $component }}. Give it another.
{{- end }}
{{- with .values.service }}
{{- if and .loadBalancerSourceRanges (ne .type "LoadBalancer") }}
{{ $component }}.service.loadBalancerSourceRanges is for `type: LoadBalancer`. Who may call is said by `networkPolicies.clients`, too.
{{- end }}
{{- if and .externalTrafficPolicy (eq .type "ClusterIP") }}
{{ $component }}.service.externalTrafficPolicy is for `type: NodePort` and `type: LoadBalancer`.
{{- end }}
{{- end }}
{{- if has .kind (list "gateway" "flags") }}
{{- $delay := get (default dict .values.settings) "STOP_DELAY_MS" | default 2000 | int }}
{{- $drain := get (default dict .values.settings) "DRAIN_TIMEOUT_MS" | default 25000 | int }}
{{- if ge $delay $drain }}
{{ .kind }}.settings: STOP_DELAY_MS ({{ $delay }}) is a part of DRAIN_TIMEOUT_MS ({{ $drain }}), and leaves no time to finish what has begun. Raise DRAIN_TIMEOUT_MS, too.
{{- end }}
{{- end }}
{{- $names := list }}
{{- range include "millrace.environment" (dict "root" $ "kind" .kind "values" .values) | fromYamlArray }}
{{- if has .name $names }}
extraEnv of a {{ $component }} has {{ .name }}, which the chart sets or which is there twice. Settings of the service go into `settings`.
{{- end }}
{{- $names = append $names .name }}
{{- end }}
{{- range $label, $_ := merge dict (default dict .values.podLabels) $.Values.podLabels $.Values.labels }}
{{- if has $label (list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" "app.kubernetes.io/part-of") }}
The label {{ $label }} of a {{ $component }} is the chart's own: services find pods by it. Use another (`labels`, `podLabels`).
{{- end }}
{{- end }}
{{- end }}
{{- range $part := list "migrations" "tests" }}
{{- range $label, $_ := (get $.Values $part).podLabels }}
{{- if has $label (list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" "app.kubernetes.io/part-of") }}
{{ $part }}.podLabels: {{ $label }} is the chart's own. Use another.
{{- end }}
{{- end }}
{{- end }}
{{- range list "app.kubernetes.io/version" "app.kubernetes.io/managed-by" "helm.sh/chart" }}
{{- if hasKey $.Values.labels . }}
labels: {{ . }} is the chart's own. Use another.
{{- end }}
{{- end }}
{{- $names := list }}
{{- range concat (include "millrace.env.migration" (dict "root" $ "made" "") | fromYamlArray) .Values.migrations.extraEnv }}
{{- if has .name $names }}
migrations.extraEnv has {{ .name }}, which the chart sets or which is there twice.
{{- end }}
{{- $names = append $names .name }}
{{- end }}
{{- end -}}

{{- define "millrace.problems.names" -}}
{{- $fullname := include "millrace.fullname" . }}
{{- if not (regexMatch "^[a-z]([a-z0-9-]*[a-z0-9])?$" $fullname) }}
The name {{ $fullname | quote }}, with which the names of all objects begin, is none for a Service: small letters, digits and hyphens, a letter first. Set `fullnameOverride`.
{{- end }}
{{- if and .Values.nameOverride (not (regexMatch "^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$" .Values.nameOverride)) }}
nameOverride: {{ .Values.nameOverride | quote }} becomes a label. Use letters, digits, hyphens, dots and underscores.
{{- end }}
{{- range $name, $_ := .Values.consumers }}
{{- if or (gt (len $name) 18) (not (regexMatch "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$" $name)) }}
consumers: {{ $name | quote }} becomes part of names. Use at most 18 small letters, digits and hyphens.
{{- end }}
{{- end }}
{{- end -}}

{{/* What is there already and would be lost or cannot change; nothing is known of it where the cluster is not asked. */}}
{{- define "millrace.problems.upgrade" -}}
{{- $fullname := include "millrace.fullname" . }}
{{- $there := lookup "apps/v1" "Deployment" .Release.Namespace (printf "%s-management-api" $fullname) }}
{{- $name := dig "spec" "selector" "matchLabels" "app.kubernetes.io/name" "" $there }}
{{- if and $name (ne $name (get (include "millrace.selectorLabels" . | fromYaml) "app.kubernetes.io/name")) }}
nameOverride: the pods that are there are found by the name {{ $name | quote }}, which cannot change. Set it to that, or uninstall the release first.
{{- end }}
{{- $secret := include "millrace.keysOfServices" . }}
{{- if and (not .Values.keys.existingSecret) $secret (ne $secret (printf "%s-keys" $fullname)) }}
keys: services have theirs from the secret {{ $secret | quote }}. New ones could not read what was encrypted with those: set `keys.existingSecret` to it again.
{{- end }}
{{- end -}}

{{/* The secret from which running services have their keys; empty when none run, or nobody asks the cluster. */}}
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

{{/* New keys, where there may be some already: what was encrypted with those could not be read any more. */}}
{{- define "millrace.problems.keys" -}}
{{- if not (or .Values.keys.existingSecret .Values.keys.allowNew) }}
{{- $name := printf "%s-keys" (include "millrace.fullname" .) }}
{{- $there := lookup "v1" "Secret" .Release.Namespace $name }}
{{- if $there }}
{{- range list .Values.keys.secretsKeyKey .Values.keys.tokenSecretKey }}
{{- if not (hasKey (default dict $there.data) .) }}
keys: the secret {{ $name | quote }} has no {{ . | quote }}, and a new one would take the place of what it has. Leave `secretsKeyKey` and `tokenSecretKey` as they were.
{{- end }}
{{- end }}
{{- else if eq $name (include "millrace.keysOfServices" .) }}
keys: services run, but the secret {{ $name | quote }} with their keys is gone. Put it back from your backup. What was encrypted with them cannot be read by new ones, which `keys.allowNew` makes.
{{- end }}
{{- end }}
{{- end -}}
