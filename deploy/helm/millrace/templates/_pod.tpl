{{/* Fields of every pod, which comply with the restricted Pod Security Standard. Takes: root, name, stores (whose certificates it needs). */}}
{{- define "millrace.podBasics" -}}
{{- $values := .root.Values -}}
automountServiceAccountToken: false
# Otherwise, Kubernetes would set variables such as REDIS_PORT for a service named "redis".
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  {{- with $values.podSecurity.user }}
  runAsUser: {{ include "millrace.text" . }}
  runAsGroup: {{ include "millrace.text" . }}
  fsGroup: {{ include "millrace.text" . }}
  fsGroupChangePolicy: OnRootMismatch
  {{- end }}
  seccompProfile: { type: RuntimeDefault }
{{- with $values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
volumes:
  - name: tmp
    emptyDir: { sizeLimit: 256Mi }
  {{- with include "millrace.certificateSources" . | trim }}
  - name: certificates
    projected:
      defaultMode: 0440
      sources:
        {{- . | nindent 8 }}
  {{- end }}
  {{- with include "millrace.secretSources" . | trim }}
  - name: secrets
    projected:
      defaultMode: 0440
      sources:
        {{- . | nindent 8 }}
  {{- end }}
{{- end -}}

{{/* Fields of every container. Takes: root, values, stores. */}}
{{- define "millrace.containerBasics" -}}
image: {{ include "millrace.image" . | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  capabilities: { drop: [ALL] }
  seccompProfile: { type: RuntimeDefault }
resources:
  {{- toYaml .values.resources | nindent 2 }}
volumeMounts:
  - { name: tmp, mountPath: /tmp }
  {{- if include "millrace.certificateSources" . | trim }}
  - { name: certificates, mountPath: {{ include "millrace.certificates" . }}, readOnly: true }
  {{- end }}
  {{- if include "millrace.secretSources" . | trim }}
  - { name: secrets, mountPath: {{ include "millrace.secretFiles" . }}, readOnly: true }
  {{- end }}
{{- end -}}

{{/* Scheduling of the pods of a component. Takes: root, name, kind, values. */}}
{{- define "millrace.placement" -}}
{{- $values := .root.Values -}}
{{- $own := .values -}}
{{- with coalesce $own.priorityClassName $values.priorityClassName (include "millrace.priorityClass" .) }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with default $values.nodeSelector $own.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with default $values.tolerations $own.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with default $values.affinity $own.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- $spread := $values.topologySpread }}
{{- if or $spread.zones $spread.nodes }}
topologySpreadConstraints:
  {{- range list (list "topology.kubernetes.io/zone" $spread.zones) (list "kubernetes.io/hostname" $spread.nodes) }}
  {{- if last . }}
  - maxSkew: 1
    topologyKey: {{ first . }}
    whenUnsatisfiable: {{ last . }}
    labelSelector:
      matchLabels:
        {{- include "millrace.componentSelector" $ | nindent 8 }}
    # Spreads the pods of each version separately, so that the pods of a previous version do not count during a rollout.
    matchLabelKeys: [pod-template-hash]
  {{- end }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* Scheduling of the hooks' pods, which run before the chart has created its priority classes. */}}
{{- define "millrace.placementOfHook" -}}
{{- $own := dict -}}
{{- range $name, $value := pick .Values "priorityClassName" "nodeSelector" "tolerations" "affinity" -}}
{{- if $value -}}{{- $_ := set $own $name $value -}}{{- end -}}
{{- end -}}
{{- with $own -}}{{- toYaml . -}}{{- end -}}
{{- end -}}

{{/* The priority class that the chart creates for a component. Empty if the chart does not create priority classes. Takes: root, kind. */}}
{{- define "millrace.priorityClass" -}}
{{- if .root.Values.priorityClasses.create -}}
{{- include "millrace.priorityClassName" (dict "root" .root "what" (ternary "ingest" "other" (has .kind (list "gateway" "flags")))) -}}
{{- end -}}
{{- end -}}

{{/* The name contains the priority, because the priority of an existing class cannot be changed. Takes: root, what (ingest or other). */}}
{{- define "millrace.priorityClassName" -}}
{{- printf "%s-%s-%s-%s" .root.Release.Namespace (include "millrace.fullname" .root) .what (get .root.Values.priorityClasses .what | include "millrace.text") -}}
{{- end -}}

{{/* A checksum that replaces the pods when the contents of the chart's own secrets change. */}}
{{- define "millrace.secretsChecksum" -}}
{{- $keys := .Values.keys -}}
{{- list (include "millrace.madeSecrets" .) (include "millrace.otherMadeSecrets" .) | toJson | sha256sum | trunc 32 -}}
{{- end -}}
