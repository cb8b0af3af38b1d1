{{/*
All components as JSON, for the templates that iterate over them. `name` is the suffix of the names of its objects, `program` is the
program in the image, and `values` are the values of the component.
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

{{/* Labels that select the pods of a component. Takes: root, name. */}}
{{- define "millrace.componentSelector" -}}
{{ include "millrace.selectorLabels" .root }}
app.kubernetes.io/component: {{ .name }}
{{- end -}}

{{/*
Maximum number of seconds that a component needs to stop (services/<program>/src/main.ts). Takes: kind, values.
- gateway and consumer: DRAIN_TIMEOUT_MS
- management API: STOP_DELAY_MS plus DRAIN_TIMEOUT_MS plus 5 s
- delivery worker: DRAIN_TIMEOUT_MS plus 3 s
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
{{- end -}}
{{- div (add $drain $more 999) 1000 -}}
{{- end -}}

{{/* Termination grace period in seconds: preStop, the time to stop, and a reserve of 5 s. Takes: kind, values. */}}
{{- define "millrace.graceSeconds" -}}
{{- $needed := add (include "millrace.stopSeconds" . | int) (default 0 .values.preStopSeconds | int) -}}
{{- default (add $needed 5) .values.terminationGracePeriodSeconds -}}
{{- end -}}

{{/*
The current number of replicas, if Helm still owns this field because it was set before autoscaling was enabled. Otherwise empty.
If the field were removed then, the deployment would have one replica until the autoscaler acts. This works only with server-side
apply, which records the owner of each field. Without it, Helm removes a field that it once set, so leaving the number out one
upgrade later would also scale the deployment to one replica. Takes: root, name.
*/}}
{{- define "millrace.replicasOfHelm" -}}
{{- $there := lookup "apps/v1" "Deployment" .root.Release.Namespace .name -}}
{{- $isOfHelm := false -}}
{{- range dig "metadata" "managedFields" list $there -}}
{{- if and (eq .manager "helm") (eq .operation "Apply") (hasKey (dig "fieldsV1" "f:spec" dict .) "f:replicas") -}}{{- $isOfHelm = true -}}{{- end -}}
{{- end -}}
{{- if $isOfHelm -}}{{- include "millrace.text" $there.spec.replicas -}}{{- end -}}
{{- end -}}

{{/* Whether X-Forwarded-… headers are trusted. */}}
{{- define "millrace.trustsProxy" -}}
{{- if kindIs "invalid" .Values.proxy.trusted -}}
{{- or .Values.ingress.enabled .Values.gatewayApi.enabled -}}
{{- else -}}
{{- .Values.proxy.trusted -}}
{{- end -}}
{{- end -}}

{{/* Public URLs of the management API and of the gateway. Empty if no host is set. */}}
{{- define "millrace.apiUrl" -}}
{{- with coalesce .Values.apiHost .Values.host -}}{{- include "millrace.scheme" $ }}://{{ . }}{{- end -}}
{{- end -}}
{{- define "millrace.ingestUrl" -}}
{{- include "millrace.scheme" . }}://{{ .Values.host }}
{{- end -}}
{{- define "millrace.scheme" -}}
{{- ternary "http" "https" (and .Values.ingress.enabled (not .Values.ingress.tls.enabled)) -}}
{{- end -}}
