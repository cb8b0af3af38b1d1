{{/*
All that runs, as JSON: what every template that goes through the components looks at. `name` ends the names of its objects,
`program` is what the image starts, `values` are the component's own.
*/}}
{{- define "millrace.components" -}}
{{- $values := .Values -}}
{{- $all := list -}}
{{- $all = append $all (dict "name" "gateway" "program" "ingest-gateway" "kind" "gateway" "values" $values.gateway) -}}
{{- if $values.flags.enabled -}}
{{- $all = append $all (dict "name" "flags" "program" "ingest-gateway" "kind" "flags" "values" $values.flags) -}}
{{- end -}}
{{- range $name, $consumer := $values.consumers -}}
{{- $merged := mergeOverwrite (deepCopy $values.consumerDefaults) (deepCopy $consumer) -}}
{{- $all = append $all (dict "name" (printf "consumer-%s" $name) "program" "event-consumer" "kind" "consumer" "values" $merged) -}}
{{- end -}}
{{- $all = append $all (dict "name" "management-api" "program" "management-api" "kind" "managementApi" "values" $values.managementApi) -}}
{{- $all = append $all (dict "name" "delivery-worker" "program" "delivery-worker" "kind" "deliveryWorker" "values" $values.deliveryWorker) -}}
{{- toJson $all -}}
{{- end -}}

{{/* Labels by which a component's pods are found. Takes: root, name. */}}
{{- define "millrace.componentSelector" -}}
{{ include "millrace.selectorLabels" .root }}
app.kubernetes.io/component: {{ .name }}
{{- end -}}

{{/*
Seconds a component needs to stop at most, as its own settings say (services/<program>/src/main.ts): the gateway
DRAIN_TIMEOUT_MS, and 2 s more for the process above several; the consumer DRAIN_TIMEOUT_MS; the API both of its times and 5 s;
the delivery worker 3 s more than DRAIN_TIMEOUT_MS. Takes: kind, values.
*/}}
{{- define "millrace.stopSeconds" -}}
{{- $settings := default dict .values.settings -}}
{{- $usualDrain := get (dict "managementApi" 15000 "deliveryWorker" 30000) .kind | default 25000 -}}
{{- $drain := get $settings "DRAIN_TIMEOUT_MS" | default $usualDrain | int -}}
{{- $more := 0 -}}
{{- if eq .kind "managementApi" -}}
{{- $delay := 2000 -}}
{{- if hasKey $settings "STOP_DELAY_MS" -}}{{- $delay = int (get $settings "STOP_DELAY_MS") -}}{{- end -}}
{{- $more = add $delay 5000 -}}
{{- else if eq .kind "deliveryWorker" -}}
{{- $more = 3000 -}}
{{- else if gt (get $settings "GATEWAY_PROCESSES" | default 1 | int) 1 -}}
{{- $more = 2000 -}}
{{- end -}}
{{- div (add $drain $more 999) 1000 -}}
{{- end -}}

{{/* Seconds between Kubernetes' wish to end a pod and its kill: preStop, stopping, and a little. Takes: kind, values. */}}
{{- define "millrace.graceSeconds" -}}
{{- $needed := add (include "millrace.stopSeconds" . | int) (default 0 .values.preStopSeconds | int) -}}
{{- default (add $needed 5) .values.terminationGracePeriodSeconds -}}
{{- end -}}

{{/*
How many pods a deployment has, while that number is still Helm's, from a time before autoscaling was switched on; else empty. Left
out then, it would be one until the autoscaler has looked. Only for server-side apply, where it is seen whose a field is: without, Helm
takes away what it has once set, and a number that is left out one upgrade later would be one then. Takes: root, name.
*/}}
{{- define "millrace.replicasOfHelm" -}}
{{- $there := lookup "apps/v1" "Deployment" .root.Release.Namespace .name -}}
{{- $isOfHelm := false -}}
{{- range dig "metadata" "managedFields" list $there -}}
{{- if and (eq .manager "helm") (eq .operation "Apply") (hasKey (dig "fieldsV1" "f:spec" dict .) "f:replicas") -}}{{- $isOfHelm = true -}}{{- end -}}
{{- end -}}
{{- if $isOfHelm -}}{{- include "millrace.text" $there.spec.replicas -}}{{- end -}}
{{- end -}}

{{/* Whether X-Forwarded-… is believed. */}}
{{- define "millrace.trustsProxy" -}}
{{- if kindIs "invalid" .Values.proxy.trusted -}}
{{- or .Values.ingress.enabled .Values.gatewayApi.enabled -}}
{{- else -}}
{{- .Values.proxy.trusted -}}
{{- end -}}
{{- end -}}

{{/* Where clients reach the management API, and the gateway; empty when there is no host. */}}
{{- define "millrace.apiUrl" -}}
{{- with coalesce .Values.apiHost .Values.host -}}{{- include "millrace.scheme" $ }}://{{ . }}{{- end -}}
{{- end -}}
{{- define "millrace.ingestUrl" -}}
{{- include "millrace.scheme" . }}://{{ .Values.host }}
{{- end -}}
{{- define "millrace.scheme" -}}
{{- ternary "http" "https" (and .Values.ingress.enabled (not .Values.ingress.tls.enabled)) -}}
{{- end -}}
