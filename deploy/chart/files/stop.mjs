// Run by the hook before Helm, Flux or Argo CD remove Wave, in a Pod: removes the webhook and stops Wave. Each step can be repeated.
import { setTimeout } from "node:timers/promises";

const { JOB, DEPLOYMENT, WEBHOOK } = process.env;

const wave = await request("GET", DEPLOYMENT);
// `helm template | kubectl apply` creates this Job too. Then Wave must keep running. Tools that know hooks create the Job and do not apply it,
// except Helm 4, which marks the objects of a release.
const isHelms = wave?.metadata.annotations?.["meta.helm.sh/release-name"] !== undefined;
const writers = isHelms ? [] : ((await request("GET", JOB))?.metadata.managedFields ?? []);
if (writers.some(({ manager, operation }) => operation === "Apply" || manager?.startsWith("kubectl"))) {
  console.error(
    "This Job was applied as a part of the manifests, so nothing is removed. Render the chart with --no-hooks.",
  );
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
