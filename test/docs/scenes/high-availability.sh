kubectl create namespace wave-system
kubectl create -n wave-system -f - <<'YAML'
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: wave}
spec: {holderIdentity: wave-5f7c9d4b6c-x2x2x_0}
YAML
