import { afterAll, describe, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { commandScene, type WantedWorkload } from "../../../test/support/cli/commands.ts";
import { closedWindow } from "../../../test/support/pacing/closed-window.ts";

const sandbox = await startSandbox({ controllers: false });
afterAll(() => sandbox.close());

let scenes = 0;
/** A namespace of a test's own, with a Deployment that is due. */
async function scene(wanted: WantedWorkload = {}, ofNamespace: Readonly<Record<string, string>> = {}) {
  const namespace = `holds-${++scenes}`;
  const cluster = commandScene(sandbox, namespace);
  await cluster.createNamespace(namespace, ofNamespace);
  await cluster.createConfigMap("page", "1");
  await cluster.createWorkload("deployments/web", wanted);
  const text = async (...args: readonly string[]) => (await cluster.run("explain", "deploy/web", ...args)).out;
  return { ...cluster, namespace, text };
}

const rarely = closedWindow();

describe("wave explain of a held workload", () => {
  it("shows the hold, its end and the annotation that decides", async () => {
    const { text, explained } = await scene(
      { annotations: { "wave.pusher.com/priority": "5" } },
      { "wave.pusher.com/mode": "approve", "wave.pusher.com/priority": "1" },
    );
    const { outcome, due, hold, state, because, policy, currentHash } = await explained("deployments/web");
    expect({ outcome, due, state, because }).toEqual({
      outcome: "held",
      due: "firstHash",
      state: "held",
      because: "approval",
    });
    expect(hold).toEqual({
      reason: "approval",
      message: expect.stringContaining(currentHash?.slice(3, 11) ?? ""),
      until: null,
    });
    expect(policy).toEqual([
      { name: "mode", value: "approve", by: "namespace" },
      { name: "priority", value: "5", by: "workload" },
    ]);
    const lines = await text();
    expect(lines).toMatch(/^Now +Waiting for approval of hash /m);
    expect(lines).toMatch(/^Due +No hash is recorded yet\.$/m);
    expect(lines).toMatch(/^Policy +mode: approve \(Namespace annotation\)\n +priority: 5 \(workload annotation\)$/m);
    expect(lines).not.toMatch(/^Until /m);
    expect(lines).not.toMatch(/^If it stays /m);
  });

  it("shows what changed and who edited it last", async () => {
    const { text, roll, merge } = await scene({ annotations: { "wave.pusher.com/mode": "approve" } });
    await roll("deployments/web");
    await merge("configmaps/page", { data: { page: "2" } }, "kubectl-edit");
    expect(await text()).toMatch(/^Due +ConfigMap "page" changed\b.*, last edited by "kubectl-edit"\.$/m);
  });

  it("shows the end of a hold that ends without a person", async () => {
    const { text, explained } = await scene();
    const settling = ["--settle=1h"];
    expect((await explained("deployments/web", ...settling)).hold).toMatchObject({
      reason: "settling",
      until: expect.any(String),
    });
    expect(await text(...settling)).toMatch(/^Until +in (59|60)m \(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\)$/m);
  });

  it("decides with the flags of the running Wave", async () => {
    const { explained } = await scene();
    const observed = await explained("deployments/web", "--observe");
    expect(observed).toMatchObject({
      hold: { reason: "observed" },
      policy: [{ name: "observe", value: "true", by: "flag" }],
    });
    expect((await explained("deployments/web", `--window=${rarely}`)).policy).toEqual([
      { name: "window", value: rarely, by: "flag" },
    ]);
  });

  it("reports a stuck rollout as failed, and not as up to date", async () => {
    const { text, explained, roll, merge } = await scene();
    await roll("deployments/web");
    expect(await explained("deployments/web")).toMatchObject({ outcome: "current", state: "rolling" });
    const conditions = [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" }];
    await merge("deployments/web/status", { status: { observedGeneration: 1_000, conditions } });
    expect(await explained("deployments/web")).toMatchObject({ state: "failed", because: "deadline" });
    const failed = await text();
    expect(failed).toMatch(/^Now +Rollout failed\. Progress deadline exceeded/m);
    expect(failed).toContain('The last change before this rollout was in ConfigMap "page"');
    expect(failed).toMatch(/^Why +The pod template has the current hash\.$/m);
    expect(failed).not.toContain("Pods read the current configuration");
  });

  it("shows why Kubernetes cannot create Pods, in every command", async () => {
    const { text, explained, roll, merge, run } = await scene();
    await roll("deployments/web");
    const message = 'pods "web-5d" is forbidden: exceeded quota: team, used: pods=2, limited: pods=2';
    const refused = { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message };
    const status = (...conditions: readonly object[]) =>
      merge("deployments/web/status", { status: { observedGeneration: 1_000, conditions } });
    await status({ type: "Progressing", status: "True", reason: "ReplicaSetUpdated" }, refused);
    const said = { kubernetes: { reason: "FailedCreate", message }, because: "FailedCreate" };
    expect(await explained("deployments/web")).toMatchObject({ state: "rolling", ...said });
    await status(
      { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "late" },
      refused,
    );
    expect(await explained("deployments/web")).toMatchObject({ state: "failed", ...said });
    expect(await text()).toContain(`\nKubernetes   FailedCreate: ${message}\n`);
    expect((await run("list")).out).toMatch(/^deployment\/web +failed +\S+ +\S+ +FailedCreate +/m);
    expect((await run("list", "-o", "wide")).out).toContain(` FailedCreate: ${message}.`);
    expect((await run("wait", "deploy/web")).err).toContain(` FailedCreate: ${message}.`);
    const { findings } = JSON.parse((await run("doctor", "-o", "json")).out);
    expect(findings).toContainEqual(expect.objectContaining({ what: expect.stringMatching(/FailedCreate: pods /) }));
    await status({ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "late" });
    expect(await explained("deployments/web")).toMatchObject({ because: "deadline", kubernetes: { message: "late" } });
    await status({ type: "Progressing", status: "False", reason: "ReplicaSetCreateError", message: "too long" });
    expect(await explained("deployments/web")).toMatchObject({ state: "rolling", because: "ReplicaSetCreateError" });
  });

  it("reads Events for kinds without conditions, and ignores Events from before the rollout", async () => {
    const { createWorkload, merge, roll, read, explained, run, namespace } = await scene();
    await createWorkload("statefulsets/db");
    await roll("statefulsets/db");
    const lacking = { replicas: 1, currentRevision: "a", updateRevision: "b" };
    await merge("statefulsets/db/status", { status: lacking });
    const { uid } = (await read("statefulsets/db")).metadata;
    const refused = async (name: string, message: string, at: number, of = uid) => {
      const involvedObject = { kind: "StatefulSet", namespace, name: "db", uid: of };
      const lastTimestamp = new Date(at).toISOString().replace(/\.\d+Z$/, "Z");
      const event = {
        metadata: { name },
        involvedObject,
        type: "Warning",
        reason: "FailedCreate",
        message,
        lastTimestamp,
      };
      const headers = { "content-type": "application/json" };
      const path = `${sandbox.url}/api/v1/namespaces/${namespace}/events`;
      expect((await fetch(path, { method: "POST", headers, body: JSON.stringify(event) })).status).toBe(201);
    };
    await refused("before", "a quota of yesterday", Date.now() - 86_400_000);
    await refused("of-another", "of another", Date.now() + 1_000, "another");
    expect(await explained("statefulsets/db")).toMatchObject({ state: "rolling", kubernetes: null });
    await refused("now", "exceeded quota: team.", Date.now() + 1_000);
    const kubernetes = { reason: "FailedCreate", message: "exceeded quota: team" };
    expect(await explained("statefulsets/db")).toMatchObject({ because: "FailedCreate", kubernetes });
    expect((await run("list")).out).toMatch(/^statefulset\/db +rolling +\S+ +\S+ +FailedCreate /m);
    const { findings } = JSON.parse((await run("doctor", "-o", "json")).out);
    expect(findings).toContainEqual(
      expect.objectContaining({ severity: "warning", what: expect.stringMatching(/FailedCreate: exceeded quota/) }),
    );
    const match = ({ path }: { readonly path: string }) => path.endsWith(`${namespace}/events`);
    const end = sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    expect(await explained("statefulsets/db")).toMatchObject({ state: "rolling", kubernetes: null });
    end();
    await merge("statefulsets/db/status", { status: { ...lacking, replicas: 2 } });
    expect(await explained("statefulsets/db")).toMatchObject({ kubernetes: null });
  });

  it("names the workloads that roll first, and those that failed", async () => {
    const { text, createWorkload, merge, roll } = await scene();
    await createWorkload("deployments/canary", { annotations: { "wave.pusher.com/priority": "1" } });
    await roll("deployments/canary");
    const pods = { observedGeneration: 1_000, replicas: 2, updatedReplicas: 2, availableReplicas: 1 };
    for (const name of ["web", "canary"]) await merge(`deployments/${name}/status`, { status: pods });
    const rolling = await text();
    expect(rolling).toMatch(/^Notes:\n {2}ConfigMap "page" is rolling out in deployment\/canary\.$/m);
    expect(rolling).toMatch(/^Batch +1 of 1 that are left\. 0 of 2 workloads are complete for ConfigMap "page"\.$/m);
    const conditions = [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "late" }];
    await merge("deployments/canary/status", { status: { conditions } });
    const halted = await text();
    expect(halted).toMatch(/^Now +Rollout halted: /m);
    expect(halted).toMatch(/^Batch +0 of 2 workloads are complete for ConfigMap "page"\.$/m);
    expect(halted).toMatch(/^ {2}ConfigMap "page" failed in deployment\/canary\.$/m);
  });

  it("continues without a Namespace that it cannot read, and reports this", async () => {
    const { run, namespace } = await scene({}, { "wave.pusher.com/hold": "true" });
    const match = ({ path }: { readonly path: string }) => path === `/api/v1/namespaces/${namespace}`;
    sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    const { code, out } = await run("explain", "deploy/web", "-ojson");
    sandbox.faults.clear();
    const { state, notes } = JSON.parse(out);
    expect({ code, state }).toEqual({ code: 3, state: "due" });
    expect(notes.at(-1)).toMatch(/^Namespace annotations are unknown and .*: get namespaces\/.* 403/);
  });

  it("continues without the other workloads of the batch if it cannot list them, and reports this", async () => {
    const { run, merge, namespace } = await scene();
    const pods = { replicas: 1, updatedReplicas: 1, availableReplicas: 1 };
    await merge("deployments/web/status", { status: { observedGeneration: 1_000, ...pods } });
    const match = ({ path }: { readonly path: string }) =>
      /^\/apis\/apps\/v1\/namespaces\/[^/]+\/[a-z]+(\?|$)/.test(path) && path.includes(namespace);
    sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    const { code, out } = await run("explain", "deploy/web", "-ojson");
    sandbox.faults.clear();
    const { state, notes } = JSON.parse(out);
    expect({ code, state }).toEqual({ code: 3, state: "due" });
    expect(notes.at(-1)).toMatch(/^Other workloads of the batch are unknown and may roll first: list .* 403/);
  });

  it("reports Pods that it cannot list as unknown, and not as up to date", async () => {
    const { explained, text, roll, merge, namespace } = await scene({ spec: { replicas: 0 } });
    await roll("deployments/web");
    await merge("deployments/web/status", { status: { observedGeneration: 1_000 } });
    expect(await explained("deployments/web")).toMatchObject({ state: "current" });
    const match = ({ path }: { readonly path: string }) => path.startsWith(`/api/v1/namespaces/${namespace}/pods`);
    sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    expect(await explained("deployments/web")).toMatchObject({ state: "unknown", because: "pods", pods: null });
    const lines = await text();
    sandbox.faults.clear();
    expect(lines).toMatch(/^Now +The hash is current\. Cannot read the Pods: list pods /m);
  });
});
