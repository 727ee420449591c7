# The page assumes the Prometheus operator.
for kind in PodMonitor PrometheusRule; do
  singular=$(echo $kind | tr '[:upper:]' '[:lower:]')
  kubectl apply -f - <<YAML
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ${singular}s.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: {kind: $kind, plural: ${singular}s, singular: $singular}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
YAML
done
kubectl wait --for=condition=Established crd --all
kubectl create namespace wave-system --dry-run=client -o yaml | kubectl apply -f -
kubectl create -n wave-system -f - <<'YAML'
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: wave}
spec: {holderIdentity: wave-5f7c9d4b6c-x2x2x_0}
YAML
