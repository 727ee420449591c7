import { afterAll, describe, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { doctorScenes } from "../../../test/support/cli/doctor.ts";
import { eventually } from "../../../test/support/eventually.ts";

const sandbox = await startSandbox();
afterAll(() => sandbox.close());
const scene = doctorScenes(sandbox, "others");

const post = async (path: string, body: object) => {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${sandbox.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  expect(response.status, await response.text()).toBe(201);
};

describe("wave doctor", () => {
  it("finds a replica with another image than the Deployment has", async () => {
    const { createWave, found, namespace } = await scene();
    await createWave();
    await eventually(async () => expect(await found("wave")).toEqual([]));
    const list = await (
      await fetch(`${sandbox.url}/api/v1/namespaces/${namespace}/pods?labelSelector=app=wave`)
    ).json();
    const { name } = (list as { items: { metadata: { name: string } }[] }).items[0]?.metadata ?? { name: "" };
    const headers = { "content-type": "application/strategic-merge-patch+json" };
    const body = JSON.stringify({ spec: { containers: [{ name: "wave", image: "wave:other" }] } });
    await fetch(`${sandbox.url}/api/v1/namespaces/${namespace}/pods/${name}`, { method: "PATCH", headers, body });
    expect(await found("wave")).toEqual([
      `warning: Replica ${name} runs image "wave:other", and the Deployment has "wave".`,
    ]);
  });

  it("finds a Wave outside of the cluster by its Lease and by its Events, and not the Pods of Wave", async () => {
    const { createWave, diagnosed, namespace } = await scene();
    await createWave("--leader-election=true", `--leader-election-namespace=${namespace}`);
    const others = async () =>
      (await diagnosed()).findings.flatMap(({ what }) => (what.includes("Workloads may roll twice") ? [what] : []));
    const now = new Date().toISOString();
    const event = (name: string, reportingInstance: string, lastTimestamp: string) =>
      post(`/api/v1/namespaces/${namespace}/events`, {
        metadata: { name },
        involvedObject: { kind: "Deployment", namespace, name: "web" },
        reason: "ConfigChanged",
        type: "Normal",
        reportingComponent: "wave",
        reportingInstance,
        lastTimestamp: lastTimestamp.replace(/\.\d+Z/, "Z"),
      });
    await event("pod", "wave-5f7c9d-abcde_1", now);
    await event("old", "ended_2", new Date(Date.now() - 3_000_000).toISOString());
    expect(await others()).toEqual([]);
    await event("laptop", "laptop_3", now);
    await post(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`, {
      metadata: { name: "wave" },
      spec: { holderIdentity: "desk_4", leaseDurationSeconds: 3_600, renewTime: now.replace("Z", "000Z") },
    });
    await eventually(async () =>
      expect(await others()).toEqual([
        expect.stringMatching(
          /^A Wave on host "laptop" reported an Event \S+ ago, and is no Pod of deployment\/wave in /,
        ),
        expect.stringMatching(
          /^A Wave on host "desk" holds Lease wave in others-\d+, and is no Pod of deployment\/wave in /,
        ),
      ]),
    );
  });

  it("advises to stop a Wave or another controller only if a Wave is ready that does its work", async () => {
    const { createWorkload, createWave, diagnosed, namespace } = await scene();
    const advised = async (what: RegExp) =>
      (await diagnosed()).findings.flatMap((each) => (what.test(each.what) ? [each.fix] : []));
    const two = /^Two Waves roll the same workloads/;
    const other = (args: readonly string[], app = "other", image = "wave") => ({
      annotations: { "wave.pusher.com/update-on-config-change": undefined },
      labels: { "app.kubernetes.io/name": "wave" },
      spec: { template: { metadata: { labels: { app } }, spec: { containers: [{ name: "o", image, args }] } } },
    });
    await createWave();
    await createWorkload("deployments/other", other(["run", `--namespaces=${namespace},more`]));
    await eventually(async () =>
      expect(await advised(two)).toEqual([`kubectl scale -n ${namespace} deployment/wave --replicas=0`]),
    );
    const wider = await scene();
    await wider.createWave(`--namespaces=${wider.namespace},one`, "--compatibility=wave,stakater");
    await wider.createWorkload("deployments/other", other(["run", `--namespaces=${wider.namespace},two`]));
    await wider.createWorkload("deployments/reloader", other([], "reloader", "ghcr.io/stakater/reloader:v1.4.1"));
    const fixes = (await wider.diagnosed("--compatibility=wave,stakater")).findings.flatMap(({ check, fix }) =>
      check === "others" || check === "wave" ? [fix ?? ""] : [],
    );
    expect(fixes).toContain("Set --namespaces of the two, so that each namespace has one Wave.");
    expect(fixes).toContainEqual(expect.stringMatching(/^Let only one of the two roll these workloads\./));
    expect(fixes.filter((fix) => fix.includes("--replicas=0"))).toEqual([]);
  });
});
