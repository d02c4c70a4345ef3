{{- define "cadenza.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "cadenza.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "cadenza.labels" -}}
{{ include "cadenza.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end -}}

{{- define "cadenza.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "cadenza.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "cadenza.name" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end -}}

{{/* Variables: secrets by reference, then settings of all, then those of one program. */}}
{{- define "cadenza.environment" -}}
{{- $root := .root -}}
- name: CADENZA_DATABASE_URL
  valueFrom: {secretKeyRef: {name: {{ $root.Values.existingSecret | quote }}, key: database-url}}
- name: CADENZA_MASTER_KEY
  valueFrom: {secretKeyRef: {name: {{ $root.Values.existingSecret | quote }}, key: master-key}}
{{- if $root.Values.secretKeys.adminKey }}
- name: CADENZA_ADMIN_KEY
  valueFrom: {secretKeyRef: {name: {{ $root.Values.existingSecret | quote }}, key: admin-key}}
{{- end }}
{{- if $root.Values.secretKeys.listenDatabaseUrl }}
- name: CADENZA_LISTEN_DATABASE_URL
  valueFrom: {secretKeyRef: {name: {{ $root.Values.existingSecret | quote }}, key: listen-database-url}}
{{- end }}
{{- if $root.Values.secretKeys.llmApiKey }}
- name: CADENZA_LLM_API_KEY
  valueFrom: {secretKeyRef: {name: {{ $root.Values.existingSecret | quote }}, key: llm-api-key}}
{{- end }}
- name: CADENZA_LOG_JSON
  value: "true"
- name: CADENZA_DATA_FOLDER
  value: /var/lib/cadenza
{{- range $name, $value := merge (dict) .settings $root.Values.settings }}
- name: CADENZA_{{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{- define "cadenza.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "cadenza.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{- define "cadenza.mounts" -}}
- {name: data, mountPath: /var/lib/cadenza}
- {name: tmp, mountPath: /tmp}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* What is around the container in every pod. */}}
{{- define "cadenza.around" -}}
serviceAccountName: {{ include "cadenza.serviceAccount" . }}
automountServiceAccountToken: false
terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
securityContext:
  {{- include "cadenza.podSecurity" . | nindent 2 }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: data
    emptyDir: {}
  - name: tmp
    emptyDir: {}
  {{- with .Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
