{{/*
Paths under a host and their services, as JSON: [{ path, service }]. The first match wins. The management API serves `/api`, except for
the paths that SDKs use there (docs/wire-rules.md#paths). It also serves the console, public links, the redirects of sign-in providers, SCIM, and live
events by token. Takes: root, part (all, ingest or api).
*/}}
{{- define "millrace.paths" -}}
{{- $flags := ternary "flags" "gateway" .root.Values.flags.enabled -}}
{{- $ingest := list
  (dict "path" "/flags" "service" $flags)
  (dict "path" "/decide" "service" $flags)
  (dict "path" "/api/feature_flag/local_evaluation" "service" $flags)
  (dict "path" "/api/early_access_features" "service" "gateway")
  (dict "path" "/api/surveys" "service" "gateway")
  (dict "path" "/api/web_experiments" "service" "gateway") -}}
{{- $api := list
  (dict "path" "/api" "service" "management-api")
  (dict "path" "/console" "service" "management-api")
  (dict "path" "/shared" "service" "management-api")
  (dict "path" "/embedded" "service" "management-api")
  (dict "path" "/login" "service" "management-api")
  (dict "path" "/complete" "service" "management-api")
  (dict "path" "/scim" "service" "management-api")
  (dict "path" "/events" "service" "management-api")
  (dict "path" "/stats" "service" "management-api") -}}
{{- $rest := list (dict "path" "/" "service" "gateway") -}}
{{- if eq .part "api" -}}
{{- toJson $api -}}
{{- else if eq .part "ingest" -}}
{{- concat $ingest (list (dict "path" "/api" "service" $flags)) $rest | toJson -}}
{{- else -}}
{{- concat $ingest $api $rest | toJson -}}
{{- end -}}
{{- end -}}

{{/* Hosts and their paths as JSON: [{ host, part }]. */}}
{{- define "millrace.hosts" -}}
{{- if .Values.apiHost -}}
{{- list (dict "host" .Values.host "part" "ingest") (dict "host" .Values.apiHost "part" "api") | toJson -}}
{{- else -}}
{{- list (dict "host" .Values.host "part" "all") | toJson -}}
{{- end -}}
{{- end -}}

{{/* The port of a component's service. Takes: root, service (its name). */}}
{{- define "millrace.servicePort" -}}
{{- $values := get .root.Values (ternary "managementApi" .service (eq .service "management-api")) -}}
{{- include "millrace.text" $values.service.port -}}
{{- end -}}
