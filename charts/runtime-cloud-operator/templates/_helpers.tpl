{{- define "rco.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 48 | trimSuffix "-" -}}
{{- end -}}

{{- define "rco.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 48 | trimSuffix "-" -}}
{{- else if contains (include "rco.name" .) .Release.Name -}}
{{- .Release.Name | trunc 48 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "rco.name" .) | trunc 48 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "rco.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{- define "rco.selectorLabels" -}}
app.kubernetes.io/name: {{ include "rco.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "rco.labels" -}}
{{ include "rco.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: controller
app.kubernetes.io/part-of: runtime-cloud
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with mergeOverwrite (deepCopy .Values.global.commonLabels) .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* The metadata that every object has, without a namespace. Call: (list . NAME) */ -}}
{{- define "rco.clusterMetadata" -}}
{{- $ := index . 0 -}}
name: {{ index . 1 }}
labels:
  {{- include "rco.labels" $ | nindent 2 }}
{{- with $.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "rco.metadata" -}}
{{ include "rco.clusterMetadata" . }}
namespace: {{ include "rco.namespace" (index . 0) }}
{{- end -}}

{{- define "rco.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "rco.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- required "serviceAccount.name is required when serviceAccount.create is false: name the account the controller runs as" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- /* The operator's user name, as the API server sees it. */ -}}
{{- define "rco.userName" -}}
system:serviceaccount:{{ include "rco.namespace" . }}:{{ include "rco.serviceAccountName" . }}
{{- end -}}

{{- /* A full image name. Call: (list . IMAGE) */ -}}
{{- define "rco.image" -}}
{{- $ := index . 0 -}}
{{- $image := index . 1 -}}
{{- $registry := default $image.registry $.Values.global.imageRegistry -}}
{{- $name := $image.repository -}}
{{- if $registry -}}{{- $name = printf "%s/%s" (trimSuffix "/" $registry) $image.repository -}}{{- end -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $name $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (default $.Chart.AppVersion $image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "rco.gatewayURL" -}}
{{- default (printf "https://%s-gateway.%s.svc:8443" (include "rco.fullname" .) (include "rco.namespace" .)) .Values.gateway.url -}}
{{- end -}}

{{- define "rco.config" -}}
{{- $stateVolume := dict "size" .Values.stateVolume.size -}}
{{- with .Values.stateVolume.storageClassName }}{{ $_ := set $stateVolume "storageClassName" . }}{{ end -}}
{{- $runner := dict "image" (include "rco.image" (list . .Values.runner.image)) "imagePullPolicy" .Values.runner.image.pullPolicy "resources" .Values.runner.resources -}}
{{- with .Values.runner.nodeSelector }}{{ $_ := set $runner "nodeSelector" . }}{{ end -}}
{{- with .Values.runner.tolerations }}{{ $_ := set $runner "tolerations" . }}{{ end -}}
{{- $base := dict "defaultTenant" .Values.tenancy.defaultTenant "editions" .Values.editions "runner" $runner "stateVolume" $stateVolume "historyLimit" (int .Values.historyLimit) -}}
{{- toYaml (mergeOverwrite $base (deepCopy .Values.config)) -}}
{{- end -}}
