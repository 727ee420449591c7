kubectl apply -f examples/nginx.yaml
kubectl rollout status deployment web --timeout 240s
