# A Wave that serves webhooks, in addition to the Wave without webhooks.
kubectl create namespace shop
wave run --namespaces=shop --enable-webhooks --webhook-bind-address=127.0.0.1:19443 --webhook-url=https://127.0.0.1:19443 >wave.log 2>&1 &
echo $! >wave.pid
until kubectl get mutatingwebhookconfiguration wave-127.0.0.1-19443 && grep -q "caches synced" wave.log; do sleep 0.2; done
cat >web.yaml <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {wave.pusher.com/update-on-config-change: "true"}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: nginx, image: nginx, envFrom: [{configMapRef: {name: page}}, {secretRef: {name: db}}]}]}
YAML
