kubectl create namespace shop
kubectl create deployment web --image nginx -n shop
kubectl annotate deployment web -n shop wave.pusher.com/update-on-config-change=true
