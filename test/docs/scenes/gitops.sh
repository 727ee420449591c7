mkdir shop
cp examples/nginx.yaml shop/
kubectl create namespace shop
kubectl config set-context --current --namespace shop
kubectl create namespace argocd
kubectl create namespace wave-system
mkdir -p chart/templates
printf 'apiVersion: v2\nname: shop\nversion: 0.1.0\n' >chart/Chart.yaml
sed 's/\bweb\b/api/; s/web-page/api-page/' examples/nginx.yaml >chart/templates/api.yaml
