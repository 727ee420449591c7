# Three applications that read one page. Their progress deadline is short, but long enough for a busy machine.
kubectl create namespace shop
kubectl create configmap page -n shop --from-literal index.html=Welcome
for name in api mail web; do
  kubectl create -n shop -f - <<YAML
apiVersion: apps/v1
kind: Deployment
metadata: {name: $name, annotations: {wave.pusher.com/update-on-config-change: "true"}}
spec:
  replicas: 2
  progressDeadlineSeconds: 20
  selector: {matchLabels: {app: $name}}
  template:
    metadata: {labels: {app: $name}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: app, image: nginx, envFrom: [{configMapRef: {name: page}}]}]}
YAML
done
wave wait deployment/api deployment/mail deployment/web -n shop --timeout 240s
