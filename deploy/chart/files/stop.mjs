// Run by the hook before `helm uninstall`, in a Pod: removes the webhook and stops Wave. Each step can be repeated.
import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port, DEPLOYMENT, WEBHOOK, TOKEN_FILE } = process.env;
const tokenFile = TOKEN_FILE ?? "/var/run/secrets/kubernetes.io/serviceaccount/token";

/** Sends a request and returns the object; undefined if it does not exist. */
async function request(method, path, body) {
  const response = await fetch(`https://${host.includes(":") ? `[${host}]` : host}:${port}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}`,
      ...(body && { "content-type": "application/merge-patch+json" }),
    },
    body: body && JSON.stringify(body),
  });
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
  return response.json();
}

const wave = await request("GET", DEPLOYMENT);
// `helm template | kubectl apply` creates this Job too. Then Wave must keep running.
if (wave && !wave.metadata.annotations?.["meta.helm.sh/release-name"]) {
  console.error("Helm did not install this Wave, so nothing is removed. Render the chart with --no-hooks.");
  process.exit(1);
}
if (WEBHOOK) await request("DELETE", WEBHOOK);
if (wave) await request("PATCH", DEPLOYMENT, { spec: { replicas: 0 } });
for (let left = wave?.status?.replicas ?? 0, tries = 90; left > 0; tries -= 1) {
  if (tries === 0) throw new Error(`${left} replicas of Wave still run`);
  await setTimeout(1000);
  left = (await request("GET", DEPLOYMENT))?.status?.replicas ?? 0;
}
// A leader that stops finishes its running writes.
if (wave?.status?.replicas) await setTimeout(3000);
console.log("Wave is stopped");
