import { expect, it, onTestFinished } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { container, makeNamespace, workload } from "../end-to-end/objects.ts";
import { newHash, recordedHash, revisionsToBe, settledRevisions } from "../end-to-end/state.ts";
import { startFor } from "./migrated.ts";

const merge = "application/merge-patch+json";

describeOnControlPlane("the filters of Reloader, with compatibility in Wave,", (cluster) => {
  it("exclude namespaces by name and by labels, and include a namespace that gets the labels", async () => {
    const [ignored, other, chosen] = ["filtered-ignored", "filtered-other", "filtered-chosen"] as const;
    const podSpec = { containers: [{ ...container, envFrom: [{ configMapRef: { name: "settings" } }] }] };
    const label = (name: string, team: string) =>
      cluster.api("PATCH", `/api/v1/namespaces/${name}`, { metadata: { labels: { team } } }, merge);
    for (const name of [ignored, other, chosen]) {
      const namespace = await makeNamespace(cluster, name);
      await namespace.configMap("settings", { colour: "red" });
      await namespace.create(workload("web", podSpec));
    }
    await label(ignored, "shop");
    await label(chosen, "shop");
    const wave = await startFor(
      cluster,
      [ignored, other, chosen].join(","),
      `--namespaces-to-ignore=${ignored}`,
      "--namespace-selector=team=shop",
    );
    onTestFinished(async () => void (await wave.stop("SIGKILL")));
    const first = await newHash(cluster, chosen, "Deployment", "web");
    for (const name of [ignored, other]) expect(await recordedHash(cluster, name, "Deployment", "web")).toBeUndefined();
    await label(other, "shop");
    const before = await newHash(cluster, other, "Deployment", "web");

    await label(chosen, "garden");
    await cluster.api("PATCH", `/api/v1/namespaces/${chosen}/configmaps/settings`, { data: { colour: "blue" } }, merge);
    await cluster.api("PATCH", `/api/v1/namespaces/${other}/configmaps/settings`, { data: { colour: "blue" } }, merge);
    await newHash(cluster, other, "Deployment", "web", before);
    expect(await recordedHash(cluster, chosen, "Deployment", "web")).toBe(first);
    expect(await recordedHash(cluster, ignored, "Deployment", "web")).toBeUndefined();
    expect(await wave.stop()).toBe(0);
  });

  it("exclude ConfigMaps and Secrets without the labels, and include an object that gets them from its next edit on", async () => {
    const ns = "filtered-objects";
    const namespace = await makeNamespace(cluster, ns);
    const metadata = (name: string) => ({ metadata: { name, labels: { reload: "yes" } } });
    await namespace.configMap("counted", { a: "1" }, metadata("counted"));
    await namespace.configMap("left-out", { a: "1" });
    await namespace.secret("login", { a: "1" });
    const envFrom = [
      { configMapRef: { name: "counted" } },
      { configMapRef: { name: "left-out" } },
      { secretRef: { name: "login" } },
    ];
    await namespace.create(workload("web", { containers: [{ ...container, envFrom }] }));
    const wave = await startFor(cluster, ns, "--resource-label-selector=reload=yes");
    onTestFinished(async () => void (await wave.stop("SIGKILL")));
    const first = await newHash(cluster, ns, "Deployment", "web");
    const revisions = await settledRevisions(cluster, ns, "Deployment", "web");
    await namespace.edit("ConfigMap", "left-out", { a: "2" });
    await namespace.edit("Secret", "login", { a: "2" });
    expect(await recordedHash(cluster, ns, "Deployment", "web")).toBe(first);
    await namespace.edit("ConfigMap", "counted", { a: "2" });
    const second = await newHash(cluster, ns, "Deployment", "web", first);
    await revisionsToBe(cluster, ns, "Deployment", "web", revisions + 1);

    await namespace.merge(`/api/v1/namespaces/${ns}/secrets/login`, { metadata: { labels: { reload: "yes" } } });
    await namespace.edit("Secret", "login", { a: "3" });
    await newHash(cluster, ns, "Deployment", "web", second);
    expect(await wave.stop()).toBe(0);
  });
});
