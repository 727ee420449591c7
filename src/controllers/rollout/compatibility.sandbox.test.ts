import { describe, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { workload } from "../../../test/support/fake-cluster.ts";
import { leadingCluster, plainPolicy } from "../../../test/support/leading-cluster.ts";
import { compatibilities as everyCompatibility } from "../../domain/compatibility/directive.ts";
import type { WorkloadObject } from "../../domain/model/workload-references.ts";

const compatibility = {
  understood: everyCompatibility,
  autoReloadAll: false,
  reloadOnCreate: true,
  reloadOnDelete: true,
};

/** A controller that leads with all compatibility modes, and known workloads by their names and annotations. */
async function scene(workloads: Readonly<Record<string, Readonly<Record<string, string>>>>) {
  const names = Object.keys(workloads);
  const cluster = await leadingCluster(startSandbox, { ...plainPolicy, compatibility }, async (cluster) => {
    for (const name of ["web", "app-1"]) await cluster.create("ConfigMap", { metadata: { name }, data: { a: "1" } });
    const pod = { containers: [{ name: "main", image: "nginx" }] };
    for (const [name, annotations] of Object.entries(workloads)) {
      const optedOut = { "wave.pusher.com/update-on-config-change": "" };
      await cluster.create("StatefulSet", workload(name, pod, { ...optedOut, ...annotations }));
    }
  });
  const see = async () => {
    for (let turn = 0; turn < 5; turn++) await cluster.get("StatefulSet", "web");
    for (const name of names) await cluster.show("StatefulSet", name);
  };
  const reported = (reason?: string) =>
    cluster.events.filter((event) => reason === undefined || event.reason === reason);
  const rolled = () =>
    reported("ConfigChanged")
      .map(({ regarding }) => regarding.name)
      .sort();
  const change = async (name: string, value: string | undefined, isNew = false) => {
    if (value === undefined) await cluster.remove("ConfigMap", name);
    else if (isNew) await cluster.create("ConfigMap", { metadata: { name }, data: { a: value } });
    else await cluster.edit("ConfigMap", name, { data: { a: value } });
    cluster.events.length = 0;
    await cluster.show("ConfigMap", name);
    await see();
  };
  const annotationsOf = async (name: string) => {
    const object = (await cluster.get("StatefulSet", name)) as WorkloadObject | undefined;
    return { ...object?.metadata?.annotations, ...object?.spec?.template?.metadata?.annotations };
  };
  await eventually(async () => {
    for (const name of names) expect(Object.values(await annotationsOf(name)).join()).toContain("v2:");
  });
  await see();
  return { rolled, change, annotationsOf };
}

describe("a controller that understands all compatibility", () => {
  it("rolls the workloads that a change concerns, and keeps the hash in SAP's annotation if it is there", async () => {
    const { rolled, change, annotationsOf } = await scene({
      sap: { "pod-reloader.cs.sap.com/configmaps": "web" },
      stakater: { "configmap.reloader.stakater.com/reload": "web" },
      other: { "configmap.reloader.stakater.com/reload": "app-1" },
    });
    expect(Object.keys(await annotationsOf("sap"))).not.toContain("wave.pusher.com/config-hash");
    await change("web", "2");
    await eventually(() => expect(rolled()).toEqual(["sap", "stakater"]));
    expect((await annotationsOf("sap"))["pod-reloader.cs.sap.com/config-hash"]).toMatch(/^v2:/);
  });

  it("rolls for objects that match a regular expression, also when they are created, changed and deleted", async () => {
    const { rolled, change } = await scene({
      stakater: { "configmap.reloader.stakater.com/reload": "app-.*" },
      other: { "pod-reloader.cs.sap.com/configmaps": "web" },
    });
    for (const [name, value, isNew] of [
      ["app-1", "2", false],
      ["app-2", "1", true],
      ["app-2", "2", false],
      ["app-2", undefined, false],
    ] as const) {
      await change(name, value, isNew);
      await eventually(() => expect(rolled()).toEqual(["stakater"]));
    }
    await change("web", "2");
    await eventually(() => expect(rolled()).toEqual(["other"]));
  });
});
