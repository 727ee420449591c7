# A workload with Reloader's annotation that runs already.
kubectl create namespace shop
kubectl create configmap page -n shop --from-literal index.html=Hello
kubectl create deployment web --image nginx -n shop
kubectl set env deployment/web --from configmap/page -n shop
kubectl annotate deployment web -n shop reloader.stakater.com/auto=true
kubectl rollout status deployment/web -n shop --timeout 240s
kubectl create -f - <<YAML
apiVersion: secrets.hashicorp.com/v1beta1
kind: VaultStaticSecret
metadata: {name: db, namespace: shop}
spec:
  mount: secret
  type: kv-v2
  path: shop/db
  destination: {name: db}
  rolloutRestartTargets: [{kind: Deployment, name: web}]
YAML
