# A shop in which each workload is in a different state.
kubectl create namespace shop
kubectl create configmap page -n shop --from-literal index.html=Hello
workload() { # KIND NAME ANNOTATIONS SPEC CONTAINER VOLUMES
  kubectl create -n shop -f - <<YAML
apiVersion: apps/v1
kind: $1
metadata: {name: $2, annotations: {wave.pusher.com/update-on-config-change: "true", $3}}
spec:
  $4
  selector: {matchLabels: {app: $2}}
  template:
    metadata: {labels: {app: $2}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: app, image: nginx, $5}], $6}
YAML
}
page='envFrom: [{configMapRef: {name: page}}]'
workload DaemonSet agent '' '' "$page" ''
workload Deployment web '' 'replicas: 3' "$page" ''
workload Deployment api "wave.pusher.com/window: \"$(date -u -d '+3 days' +%a) 00:00-00:01\"" 'replicas: 2' "$page" ''
workload StatefulSet db '' $'replicas: 3\n  updateStrategy: {type: OnDelete}' "$page" ''
workload Deployment mail 'wave.pusher.com/extra-configmaps: shared/footer' '' \
  'env: [{name: PASSWORD, valueFrom: {secretKeyRef: {name: db, key: password}}}], envFrom: [{configMapRef: {name: flags, optional: true}}], volumeMounts: [{name: page, mountPath: /page/index.html, subPath: index.html}]' \
  'volumes: [{name: page, configMap: {name: page}}]'
# Its first hash also waits for the window.
kubectl rollout status daemonset/agent -n shop --timeout 240s
wave wait daemonset/agent deployment/web -n shop --timeout 240s
kubectl patch configmap page -n shop --patch '{"data": {"index.html": "Goodbye"}}'
wave wait daemonset/agent deployment/web -n shop --timeout 240s
kubectl delete pod db-0 -n shop
mkdir shop
kubectl create configmap other -n shop --from-literal a=b --dry-run=client -o yaml >shop/other.yaml
# A namespace with SAP's pod-reloader, and one workload that Wave rolls.
kubectl create namespace old
kubectl create namespace tools
kubectl create deployment pod-reloader --image ghcr.io/sap/pod-reloader:1 -n tools
kubectl create configmap page -n old --from-literal a=b
for name in api web; do
  kubectl create deployment $name --image nginx -n old
  kubectl set env deployment/$name --from configmap/page -n old
done
kubectl annotate deployment api -n old wave.pusher.com/update-on-config-change=true
kubectl annotate deployment web -n old pod-reloader.cs.sap.com/configmaps=page
wave wait deployment/api -n old --timeout 240s
