mkdir shop
cp examples/nginx.yaml shop/
kubectl create namespace shop
kubectl config set-context --current --namespace shop
kubectl create namespace argocd
kubectl create namespace wave-system
