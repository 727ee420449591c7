kubectl create namespace shop
kubectl create deployment web --image nginx -n shop
kubectl patch deployment web -n shop --patch '{"spec": {"template": {"spec": {"containers": [{"name": "nginx", "envFrom": [{"secretRef": {"name": "db"}}]}]}}}}'
kubectl annotate deployment web -n shop wave.pusher.com/update-on-config-change=true
