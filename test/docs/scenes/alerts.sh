helm install wave deploy/chart -n wave-system --create-namespace
kubectl create -n wave-system -f - <<'YAML'
{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: wave}, spec: {holderIdentity: wave-5f7c9d4b6c-x2x2x_0}}
YAML
kubectl create secret generic wave-hash-key -n wave-system
kubectl create namespace shop
kubectl create deployment web --image nginx -n shop
