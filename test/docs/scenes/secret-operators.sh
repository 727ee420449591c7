kubectl create namespace shop
# The content of the vault is a Secret of this namespace: test/recipes/operators.ts simulates the operators.
kubectl create namespace vault
kubectl create secret generic shop-db -n vault --from-literal password=first
kubectl create secret generic shop-mail -n vault --from-literal password=first
mkdir -p ~/bin
cat >~/bin/vault <<'SH'
#!/bin/sh
# vault kv put PATH KEY=VALUE
kubectl patch secret shop-db -n vault --patch "{\"stringData\": {\"${4%%=*}\": \"${4#*=}\"}}" >&2
SH
chmod +x ~/bin/vault
kubectl create configmap locks -n shop
workload() { # KIND NAME CONTAINER VOLUMES
  kubectl create -n shop -f - <<YAML
apiVersion: apps/v1
kind: $1
metadata: {name: $2, annotations: {wave.pusher.com/update-on-config-change: "true"}}
spec:
  selector: {matchLabels: {app: $2}}
  template:
    metadata: {labels: {app: $2}}
    spec: {containers: [{name: app, image: nginx, $3}], $4}
YAML
}
workload StatefulSet db 'envFrom: [{configMapRef: {name: locks}}]' ''
workload Deployment api 'envFrom: [{secretRef: {name: db}}]' ''
workload Deployment mail 'envFrom: [{secretRef: {name: mail}}]' ''
workload Deployment web 'volumeMounts: [{name: tls, mountPath: /tls}]' \
  'volumes: [{name: tls, secret: {secretName: web-tls}}]'
workload Deployment client 'volumeMounts: [{name: ca, mountPath: /ca}]' \
  'volumes: [{name: ca, configMap: {name: company-ca}}]'
