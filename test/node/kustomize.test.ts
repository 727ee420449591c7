import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { expect, it } from "vitest";
import { until } from "../control-plane/wave-process.ts";
import { deploy } from "../deploy/rendered.ts";
import { makeNamespace, workload } from "../end-to-end/objects.ts";
import { getWorkload } from "../end-to-end/state.ts";
import { temporaryFiles } from "../support/kube/files.ts";
import { admits, makeSystem, nginx, podsOf, rolledOut, system } from "./installed.ts";
import { describeOnNode } from "./suite.ts";

const ns = "shop";

describeOnNode("Wave installed by kustomize", (node) => {
  it("runs as restricted Pods, admits through its Service, rolls, and is removed completely", async () => {
    const { cluster } = node();
    const overlay = {
      namespace: system,
      resources: [relative(realpathSync(tmpdir()), join(deploy, "kustomize/webhooks"))].map((path) => `../${path}`),
    };
    const folder = await temporaryFiles({ "kustomization.yaml": JSON.stringify(overlay) });
    const namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("app", { greeting: "hello" });
    await makeSystem(cluster);
    await cluster.kubectl(["apply", "-k", folder]);
    await rolledOut(cluster, system, "deployment/wave");

    const command = ["sh", "-c", 'echo "$greeting"; exec sleep infinity'];
    const app = workload("app", {
      containers: [{ name: "app", image: nginx, command, envFrom: [{ configMapRef: { name: "app" } }] }],
    });
    await admits(cluster, ns, app);
    await namespace.create(app);
    const says = (what: string) =>
      until(`the Pod to say ${what}`, async () =>
        (await cluster.kubectl(["-n", ns, "logs", "-l", "app=app"])) === `${what}\n` ? true : undefined,
      );
    await says("hello");
    expect((await getWorkload(cluster, ns, "Deployment", "app")).metadata.generation).toBe(1);
    await namespace.edit("ConfigMap", "app", { greeting: "good morning" });
    await says("good morning");

    await cluster.kubectl(["delete", "-k", folder, "--wait=false"]);
    await until("its Pods to end", async () => ((await podsOf(cluster, system)).length === 0 ? true : undefined));
    await rolledOut(cluster, ns, "deployment/app");
  });
});
