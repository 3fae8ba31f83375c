{{- /* The binding of a policy, to everything it matches. Call: (list . POLICY) */ -}}
{{- define "rco.policyBinding" -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  {{- include "rco.clusterMetadata" . | nindent 2 }}
spec:
  policyName: {{ index . 1 }}
  validationActions: [Deny]
{{- end -}}
