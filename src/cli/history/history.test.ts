import { afterAll, describe, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { pinnedScene } from "../../../test/support/cli/pinned-scene.ts";
import { configMap } from "../../../test/support/domain/objects.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { builtInKinds } from "../../domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../domain/model/workload.ts";
import { type Cause, writeCause } from "../../domain/pacing/cause.ts";
import { formatRejected, rejectionDigest } from "../../domain/pinning/rejections.ts";
import type { HistoryEntry } from "./workload-history.ts";

const sandbox = await startSandbox({ controllers: false });
afterAll(() => sandbox.close());

let scenes = 0;
async function scene() {
  const namespace = `history-${++scenes}`;
  const cluster = await pinnedScene(sandbox, namespace);
  await cluster.createConfigMap("page", "1");
  await cluster.createConfigMap("flags", "1");
  await cluster.createWeb();
  const history = async (): Promise<readonly HistoryEntry[]> => {
    const { code, out, err } = await cluster.run("history", "deploy/web", "-o", "json");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    return JSON.parse(out).revisions;
  };
  return { ...cluster, namespace, history };
}

const [hash1, hash2, hash3] = ["1", "2", "3"].map((digit) => `v2:${digit.repeat(64)}`) as [string, string, string];

/** Three revisions: the first content, another content of `page`, and the first content of `page` again with other `flags`. */
async function threeRevisions() {
  const cluster = await scene();
  const flags1 = await cluster.createCopy("flags", { key: "1" });
  const flags2 = await cluster.createCopy("flags", { key: "1", more: "secret-looking" });
  const page1 = await cluster.createCopy("page", { key: "1", old: "x" });
  const page2 = await cluster.createCopy("page", { key: "2", added: "y" });
  await cluster.createRevision(1, hash1, { page: page1, flags: flags1 });
  await cluster.createRevision(2, hash2, { page: page2, flags: flags1 });
  await cluster.createRevision(3, hash3, { page: page2, flags: flags2 });
  await cluster.createPod({ revision: 2, hash: hash2, pinned: { page: page2, flags: flags1 }, reads: [page2, flags1] });
  const pinned = { page: page2, flags: flags2 };
  await cluster.createPod({ revision: 3, hash: hash3, pinned, reads: [page2, flags2] });
  await cluster.createPod({ revision: 3, hash: hash3, pinned, reads: ["page", flags2] });
  await cluster.complete();
  return { ...cluster, copies: { page1, page2, flags1, flags2 } };
}

describe("wave history", () => {
  it("shows which keys changed in each revision, and the Pods that run it", async () => {
    const { run } = await threeRevisions();
    const { code, out, err } = await run("history", "deploy/web");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.replace(/ \d+s {2,}/g, " AGE  ").split("\n")).toEqual([
      "REVISION  AGE  HASH      PODS        STATE    RESULT  EDITED BY  CHANGES",
      "1         AGE  11111111  0           old      -       -          -",
      "2         AGE  22222222  1           old      -       -          page: key, +added, -old",
      "3         AGE  33333333  2 (1 live)  current  -       -          flags: +more",
      "",
    ]);
    expect(out).not.toContain("secret-looking");
  });

  it("prints the same for programs", async () => {
    const { history, copies, run, namespace } = await threeRevisions();
    const [first, second, third] = await history();
    expect(first).toMatchObject({
      revision: 1,
      name: "web-r1",
      hash: hash1,
      state: "old",
      pods: 0,
      pinning: { pinned: 0, partlyPinned: 0, unpinned: 0 },
      copies: { page: copies.page1, flags: copies.flags1 },
      cause: "first",
      changes: [],
    });
    expect(second).toMatchObject({
      cause: "configMaps",
      changes: [{ name: "page", how: "changed", added: ["added"], removed: ["old"], changed: ["key"], editedBy: null }],
    });
    expect(third).toMatchObject({ state: "current", pods: 2, pinning: { pinned: 1, partlyPinned: 1, unpinned: 0 } });
    const yaml = await run("history", "deploy/web", "-oyaml");
    expect(yaml.out).toContain(`version: 1\nworkload:\n  kind: Deployment\n  namespace: ${namespace}`);
  });

  it("names the last editor of a ConfigMap while it has the content of the revision", async () => {
    const { history, merge } = await threeRevisions();
    await merge("configmaps/page", { data: { key: "2", added: "y" } }, "kubectl-patch");
    await merge("configmaps/page", { metadata: { labels: { a: "b" } } }, "kubectl-label");
    expect((await history())[1]?.changes).toMatchObject([{ name: "page", editedBy: "kubectl-patch" }]);
    await merge("configmaps/page", { data: { key: "3" } }, "kubectl-edit");
    expect((await history())[1]?.changes).toMatchObject([{ name: "page", editedBy: null }]);
  });

  it("names the editor that a copy records, after later edits, only of the first revision with this content", async () => {
    const { createCopy, createRevision, copies, history, merge } = await threeRevisions();
    const page3 = await createCopy("page", { key: "3" }, "helm");
    await createRevision(4, hash1, { page: page3, flags: copies.flags2 });
    await createRevision(5, hash2, { page: copies.page2, flags: copies.flags2 });
    await createRevision(6, hash3, { page: page3, flags: copies.flags2 });
    const editors = async () =>
      (await history()).slice(3).map(({ changes }) => changes.map(({ editedBy }) => editedBy)[0]);
    expect(await editors()).toEqual(["helm", null, null]);
    await merge("configmaps/page", { data: { key: "3" } }, "kubectl-edit");
    expect(await editors()).toEqual(["helm", null, "kubectl-edit"]);
  });

  it("names the newest of several revisions with the same content", async () => {
    const { createRevision, copies, history, merge } = await threeRevisions();
    await createRevision(4, hash1, { page: copies.page1, flags: copies.flags2 });
    await createRevision(5, hash2, { page: copies.page2, flags: copies.flags2 });
    await merge("configmaps/page", { data: { key: "2", added: "y" } }, "kubectl-patch");
    expect(
      (await history()).flatMap(({ revision, changes }) => changes.map((each) => [revision, each.editedBy])),
    ).toEqual([
      [2, null],
      [3, null],
      [4, null],
      [5, "kubectl-patch"],
    ]);
  });

  it("shows the revision whose content was rolled back, and a rollout in progress", async () => {
    const { createRevision, copies, history, merge, read, run } = await threeRevisions();
    await createRevision(4, hash1, { page: copies.page1, flags: copies.flags2 });
    const workload = toWorkload(builtInKinds[0] as never, (await read("deployments/web")) as never);
    const lookup = () => ({ ...configMap("page", { key: "2", added: "y" }), namespace: workload.namespace });
    const rejected = formatRejected(new Map([["page", rejectionDigest(workload, lookup, "page")]]));
    const annotations = { "wave.pusher.com/rejected-configmaps": rejected };
    await merge("deployments/web", { metadata: { annotations }, spec: { replicas: 9 } }, "wave");
    expect((await history()).map(({ state }) => state)).toEqual(["old", "rolledBack", "rolledBack", "rollingOut"]);
    expect((await run("history", "deploy/web")).out).toMatch(/^3 .* rolled back .*\n4 .* rolling out /m);
  });

  it("reports changes that are unknown, and does not guess", async () => {
    const { createRevision, copies, history, run } = await threeRevisions();
    await createRevision(4, hash1);
    await createRevision(5, hash1);
    await createRevision(6, hash2, { page: "page-0123456789" });
    await createRevision(7, hash2, { page: copies.page1 });
    await createRevision(8, hash3, { page: copies.page1 });
    expect((await history()).slice(3).map(({ cause, changes }) => [cause, changes.map(({ how }) => how)])).toEqual([
      ["unknown", []],
      ["template", []],
      ["unknown", []],
      ["configMaps", ["unknown"]],
      ["other", []],
    ]);
    const lines = (await run("history", "deploy/web")).out.split("\n").slice(4, 9);
    expect(lines.map((line) => line.split(/ {2,}/).at(-1))).toEqual([
      "unknown",
      "pod template",
      "unknown",
      "page: unknown: a copy is gone",
      "other configuration",
    ]);
  });

  it("reports a rollout as failed whenever wave list does", async () => {
    const { run, roll, merge, createRevision } = await scene();
    await roll("deployments/web");
    await createRevision(1, hash1);
    await merge("deployments/web/status", { status: { observedGeneration: 1_000, conditions: [] } });
    const states = async (...flags: readonly string[]) =>
      [await run("list", ...flags), await run("history", "deploy/web", ...flags)].map(
        ({ out }) => /\b(rolling|failed)\b/.exec(out)?.[1],
      );
    expect(await states()).toEqual(["rolling", "rolling"]);
    // The rollout exceeds this limit at once, which the status of the Deployment does not show.
    await eventually(async () => expect(await states("--rollout-timeout=1s")).toEqual(["failed", "failed"]));
  });

  it("reports that there is no revision", async () => {
    const { run } = await scene();
    expect(await run("history", "deploy/web")).toEqual({
      code: 0,
      out: "",
      err: "No revisions found. Kubernetes has not created one yet.\n",
    });
  });

  it("shows what Wave recorded with each rollout, pinned or not, and how it ended", async () => {
    const { run, createRevision, createPod, read, namespace, history } = await scene();
    const at = (seconds: number) => Math.floor(Date.now() / 1_000 - 600 + seconds) * 1_000;
    const edit = (kind: "ConfigMap" | "Secret", name: string, key: string, by: string) =>
      ({ kind, namespace, name, keys: [key], at: at(0), by }) as const;
    const causeOf = (hash: string, seconds: number, edits: Cause["edits"], heldBy?: string) =>
      writeCause(hash, { at: at(seconds), why: "recorded", edits, heldBy });
    const second = causeOf(
      hash2,
      10,
      [edit("ConfigMap", "page", "a", "helm"), edit("Secret", "db", "b", "vault")],
      "window",
    );
    await createRevision(1, hash1);
    await createRevision(2, hash2, undefined, second);
    // An edit of the image: the annotations of the workload are those of its last rollout.
    await createRevision(3, hash2, undefined, second);
    await createRevision(4, hash3, undefined, causeOf(hash3, 100, [edit("ConfigMap", "page", "c", "helm")]));
    await createRevision(5, hash1, undefined, causeOf(hash1, 200, []));
    await createPod({ revision: 5, hash: hash1, reads: ["page", "flags"] });
    const { uid } = (await read("deployments/web")).metadata;
    const event = async (reason: string, seconds: number, message: string) => {
      const time = new Date(at(seconds)).toISOString();
      const response = await fetch(`${sandbox.url}/api/v1/namespaces/${namespace}/events`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          metadata: { name: `web.${seconds}` },
          involvedObject: { kind: "Deployment", namespace, name: "web", uid },
          source: { component: "wave" },
          firstTimestamp: time,
          lastTimestamp: time,
          reason,
          message,
        }),
      });
      expect(response.status).toBe(201);
    };
    await event("RolloutComplete", 34, "Rollout complete after 24s: x.");
    await event(
      "RolloutFailed",
      150,
      'Rollout failed after 50s: container "web" of Pod "web-7f" restarted 3 times. It started because y. Run: z.',
    );
    const { out, err } = await run("history", "deploy/web");
    expect(err).toBe("");
    const cells = out.split("\n").map((line) => line.split(/ {2,}/).map((cell) => cell.replace(/^\d+s$/, "AGE")));
    expect(cells).toEqual([
      ["REVISION", "AGE", "HASH", "PODS", "STATE", "RESULT", "EDITED BY", "CHANGES"],
      ["1", "AGE", "11111111", "0", "old", "-", "-", "-"],
      ["2", "AGE", "22222222", "0", "old", "complete in 24s", "helm", "page: a"],
      ["", "vault", "secret/db: b"],
      ["", "-", "held by window"],
      ["3", "AGE", "22222222", "0", "old", "-", "-", "pod template"],
      [
        "4",
        "AGE",
        "33333333",
        "0",
        "old",
        'failed: container "web" of Pod "web-7f" restarted 3 times',
        "helm",
        "page: c",
      ],
      ["5", "AGE", "11111111", "1", "rolling out", "-", "-", "recorded"],
      [""],
    ]);
    expect((await history())[1]?.rollout?.end).toMatchObject({ result: "complete", why: null });
  });

  it("shows a rollout with an unchanged hash, which is not an edit of the pod template", async () => {
    const { createRevision, history } = await scene();
    const causeAt = (seconds: number) =>
      writeCause(hash1, { at: Date.now() - seconds * 1_000, why: "returned", edits: [], heldBy: undefined });
    await createRevision(1, hash1, undefined, causeAt(300));
    await createRevision(2, hash1, undefined, causeAt(200));
    expect((await history()).map(({ rollout }) => rollout?.why)).toEqual(["returned", "returned"]);
  });

  it.each([
    ["replicasets", "403 Forbidden"],
    ["pods", "403 Forbidden"],
    ["configmaps", "403 Forbidden"],
    ["events", "you do not have permission to list events in "],
  ])("is incomplete without permission to read %s", async (resource, why) => {
    const { run } = await threeRevisions();
    const namespace = `history-${scenes}`;
    const match = ({ path }: { readonly path: string }) => path.includes(`${namespace}/${resource}`);
    sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    const { code, out, err } = await run("history", "deploy/web");
    sandbox.faults.clear();
    expect(code).toBe(3);
    expect(err).toMatch(/^(warning|error): [^\n]*\n$/);
    expect(err).toContain(why);
    expect(out === "").toBe(resource === "replicasets");
  });

  it("reads ControllerRevisions of a StatefulSet", async () => {
    const { run, createWorkload, read, namespace } = await scene();
    await createWorkload("statefulsets/db");
    const { uid } = (await read("statefulsets/db")).metadata;
    const response = await fetch(`${sandbox.url}/apis/apps/v1/namespaces/${namespace}/controllerrevisions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        metadata: {
          name: "db-5d8c7f9b6d",
          labels: { app: "db" },
          ownerReferences: [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "db", uid, controller: true }],
        },
        data: { spec: { template: { metadata: { annotations: { "wave.pusher.com/config-hash": hash2 } } } } },
        revision: 7,
      }),
    });
    expect(response.status).toBe(201);
    expect((await run("history", "sts/db")).out).toMatch(/^7 +\d+s +22222222 +0 +rolling out +- +- +-$/m);
  });

  it.each([
    { args: ["deploy/gone"], code: 1, message: /^error: deployment "gone" not found in namespace "history-\d+" / },
    { args: ["web"], code: 2, message: /^error: "web" has no kind; use KIND\/NAME, for example deployment\/web\n$/ },
    { args: [], code: 2, message: /^error: no workload named; / },
    {
      args: ["cronjobs.batch/nightly"],
      code: 1,
      message: /^error: Wave does not roll cronjobs\.batch in this cluster\./,
    },
  ])("rejects $args in one line", async ({ args, code, message }) => {
    const { run } = await scene();
    const ended = await run("history", ...args);
    expect(ended).toMatchObject({ code, out: "" });
    expect(ended.err).toMatch(message);
  });
});
