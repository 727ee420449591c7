kubectl create namespace shop
kubectl create configmap settings -n shop --from-literal level=1
for kind in deployment/web/Deployment statefulset/db/StatefulSet; do
  IFS=/ read -r _ name kind <<<"$kind"
  kubectl apply -n shop -f - <<YAML
apiVersion: apps/v1
kind: $kind
metadata: {name: $name, annotations: {wave.pusher.com/update-on-config-change: "true", wave.pusher.com/min-interval: 1s}}
spec:
  $([ $kind = Deployment ] || echo "replicas: 2")
  selector: {matchLabels: {app: $name}}
  template:
    metadata: {labels: {app: $name}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: nginx, image: nginx, envFrom: [{configMapRef: {name: settings}}]}]
YAML
done
wave wait deployment/web statefulset/db -n shop --timeout=240s
mkdir shop
git init -q
git config user.name test
git config user.email test@example.com
for level in 1 broken; do
  kubectl create configmap settings -n shop --from-literal level=$level --dry-run=client -o yaml >shop/settings.yaml
  git add shop
  git commit -qm "level $level"
done
kubectl apply -f shop/
wave wait deployment/web statefulset/db -n shop --timeout=240s
