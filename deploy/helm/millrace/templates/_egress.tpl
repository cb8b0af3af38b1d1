{{/* Access to the cluster's DNS. */}}
{{- define "millrace.egress.dns" -}}
- to:
    {{- toYaml .Values.networkPolicies.dns | nindent 4 }}
  ports:
    {{- range .Values.networkPolicies.dnsPorts }}
    - { port: {{ include "millrace.text" . }}, protocol: UDP }
    - { port: {{ include "millrace.text" . }}, protocol: TCP }
    {{- end }}
{{- end -}}

{{/* Access to a store. Takes: root, store (postgresql, kafka, redis, mail or clickhouse), also (additional ports). */}}
{{- define "millrace.egress.store" -}}
{{- $policy := get .root.Values.networkPolicies .store -}}
{{- $ports := $policy.ports -}}
{{- if not $ports -}}
{{- $ports = splitList "," (include (printf "millrace.ports.%s" .store) .root) -}}
{{- end -}}
- ports:
    {{- $all := list }}
    {{- range concat $ports (default list .also) }}{{ $all = append $all (include "millrace.text" .) }}{{ end }}
    {{- range uniq $all }}
    - { port: {{ . }}, protocol: TCP }
    {{- end }}
  {{- with $policy.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "millrace.ports.postgresql" -}}
{{- $pg := .Values.postgresql -}}
{{- if $pg.host -}}
{{- include "millrace.text" $pg.port -}}
{{- else -}}
{{- include "millrace.portOf" (dict "address" $pg.url "usual" "5432") -}}
{{- end -}}
{{- end -}}

{{- define "millrace.ports.kafka" -}}
{{- $ports := list -}}
{{- range .Values.kafka.brokers -}}{{- $ports = append $ports (include "millrace.portOf" (dict "address" . "usual" "9092")) -}}{{- end -}}
{{- join "," (default (list "9092") $ports) -}}
{{- end -}}

{{- define "millrace.ports.redis" -}}
{{- $redis := .Values.redis -}}
{{- $ports := list -}}
{{- range $redis.nodes -}}{{- $ports = append $ports (include "millrace.portOf" (dict "address" . "usual" "6379")) -}}{{- end -}}
{{- if or $redis.url (eq $redis.mode "sentinel") -}}
{{- $ports = append $ports (include "millrace.portOf" (dict "address" $redis.url "usual" "6379")) -}}
{{- end -}}
{{- join "," (default (list "6379") $ports) -}}
{{- end -}}

{{/* The port in a URL, or the default port. Takes: address, usual. */}}
{{- define "millrace.portOf" -}}
{{- $found := regexFind ":[0-9]+(/|\\?|$)" (regexReplaceAll "^.*@" .address "") | regexFind "[0-9]+" -}}
{{- default .usual $found -}}
{{- end -}}

{{/* Access to the internet without private networks, for webhooks, exports and sign-in providers. */}}
{{- define "millrace.egress.world" -}}
{{- $world := .Values.networkPolicies.world -}}
{{- if $world.cidrs -}}
- to:
    {{- range $world.cidrs }}
    {{- $except := ternary $world.exceptIPv6 $world.except (contains ":" .) }}
    - ipBlock:
        cidr: {{ . | quote }}
        {{- if and $except (has . (list "0.0.0.0/0" "::/0")) }}
        except: {{ toJson $except }}
        {{- end }}
    {{- end }}
{{- end -}}
{{- end -}}
