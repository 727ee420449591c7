# A Deployment and a StatefulSet that run already and have not opted in.
kubectl create namespace shop
kubectl create configmap page -n shop --from-literal index.html='<h1>Hello</h1>'
# The times of the API are whole seconds: the Pods are created in a later one.
second=$(date +%s)
until [ "$(date +%s)" -gt "$second" ]; do sleep 0.1; done
for each in Deployment/web StatefulSet/db; do
  kubectl create -n shop -f - <<YAML
apiVersion: apps/v1
kind: ${each%/*}
metadata: {name: ${each#*/}}
spec:
  selector: {matchLabels: {app: ${each#*/}}}
  template:
    metadata: {labels: {app: ${each#*/}}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: app, image: nginx, volumeMounts: [{name: page, mountPath: /page/index.html, subPath: index.html}]}]
      volumes: [{name: page, configMap: {name: page}}]
YAML
done
kubectl rollout status deployment/web -n shop --timeout 240s
