kubectl create namespace shop
kubectl create secret generic db -n shop --from-literal password=first
kubectl create secret generic web-tls -n shop --from-literal tls.crt=first
kubectl create configmap locks -n shop
kubectl create -n shop -f - <<'YAML'
apiVersion: v1
kind: List
items:
  - apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web, annotations: {wave.pusher.com/update-on-config-change: "true"}}
    spec: &spec
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec: {containers: [{name: nginx, image: nginx, envFrom: [{secretRef: {name: db}}]}]}
  - {apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: *spec}
YAML
wave wait deployment/web -n shop --timeout=60s
