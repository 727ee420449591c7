# Another person breaks the ConfigMap: no Pod of the next rollout starts. First, every workload is past the minimum interval after its first
# hash, so that the canary is the first by name on a slow machine too.
newest() {
  kubectl get replicasets -n shop -o jsonpath='{range .items[*]}{.metadata.creationTimestamp}{"\n"}{end}' | sort | tail -n 1
}
until [ "$(date +%s -d "$(newest)")" -lt "$(($(date +%s) - 25))" ]; do sleep 1; done
kubectl cordon node-0
kubectl patch configmap page -n shop --patch '{"data": {"index.html": "Hello {{ name"}}'
