import { createHash } from "node:crypto";
import { expect, it, onTestFinished } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { freePort, until } from "../control-plane/wave-process.ts";
import { container, makeNamespace, optIn, workload, workloadPath } from "../end-to-end/objects.ts";
import { newHash, recordedHash, revisionsToBe, settledRevisions, type WorkloadState } from "../end-to-end/state.ts";
import { auditWritten, leftBehind, startFor, untilUnchanged, writesIn } from "./migrated.ts";

const ns = "moved-with-webhooks";
const merge = "application/merge-patch+json";
const base64 = Buffer.from("red").toString("base64");
/** The algorithm of Wave in Go: https://github.com/wave-k8s/wave/blob/v0.11.0/pkg/core/hash.go. */
const hashInGo = createHash("sha256")
  .update(`{"configMaps":{"settings":{"colour":"${base64}"}},"secrets":{}}`)
  .digest("hex");

describeOnControlPlane("Wave with webhooks after Wave in Go", (cluster) => {
  it("keeps its hash in edits that replace no Pod, and sets the hash of Wave in edits that do", async () => {
    const namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("settings", { colour: "red" });
    const podSpec = { containers: [{ ...container, envFrom: [{ configMapRef: { name: "settings" } }] }] };
    const template = { "wave.pusher.com/config-hash": hashInGo };
    for (const name of ["web", "upgraded"]) {
      await namespace.create(leftBehind(name, podSpec, { annotations: optIn, template }));
    }
    const before = await settledRevisions(cluster, ns, "Deployment", "web");
    const port = await freePort();
    const wave = await startFor(
      cluster,
      ns,
      "--enable-webhooks",
      `--webhook-bind-address=127.0.0.1:${port}`,
      `--webhook-url=https://127.0.0.1:${port}`,
      `--webhook-service-name=${ns}`,
    );
    onTestFinished(async () => void (await wave.stop("SIGKILL")));
    for (const name of ["web", "upgraded"]) await untilUnchanged(wave, "Deployment", name);
    const asked = async () => {
      const made = await cluster.api<WorkloadState>(
        "POST",
        `${workloadPath(ns, "Deployment")}?dryRun=All`,
        workload("probe", podSpec),
      );
      return made.spec.template.metadata.annotations?.["wave.pusher.com/config-hash"];
    };
    const current = await until("the API server to ask", asked);

    const edit = (name: string, patch: object) =>
      cluster.api("PATCH", workloadPath(ns, "Deployment", name), patch, merge);
    await edit("web", { metadata: { labels: { team: "shop" } } });
    await edit("web", { spec: { revisionHistoryLimit: 3 } });
    expect(await recordedHash(cluster, ns, "Deployment", "web")).toBe(hashInGo);
    await revisionsToBe(cluster, ns, "Deployment", "web", before);
    await edit("upgraded", {
      spec: { template: { spec: { containers: [{ ...podSpec.containers[0], image: "nginx:2" }] } } },
    });
    expect(await recordedHash(cluster, ns, "Deployment", "upgraded")).toBe(current);
    await auditWritten(cluster);
    expect(writesIn(cluster, ns)).toEqual([]);

    await namespace.edit("ConfigMap", "settings", { colour: "blue" });
    expect(await newHash(cluster, ns, "Deployment", "web", hashInGo)).toMatch(/^v2:/);
    expect(await wave.stop()).toBe(0);
    await revisionsToBe(cluster, ns, "Deployment", "web", before + 1);
  });
});
