import { describe, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { explainScene } from "../../../test/support/cli/explain.ts";
import { inDefault } from "../../../test/support/cli/web.ts";
import { updateOnConfigChange } from "../../domain/references/annotations.ts";

const sandbox = await startSandbox({ controllers: false });
const { cluster, explain, explainJson } = explainScene(sandbox);

describe("wave explain", () => {
  it("shows a workload without a hash, what it reads, and what Wave does", async () => {
    await cluster.createConfigMap("page", { "index.html": "hello" });
    await cluster.createSecret({ password: "hunter2" });
    await cluster.createWeb();
    const { code, out, err } = await explain();
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.replace(/v2:[0-9a-f]{64}/, "v2:<hash>")).toBe(
      [
        "Deployment default/web",
        "",
        "Now          Wave records the hash of its configuration, which replaces its Pods once",
        "Why          no hash is recorded yet",
        "Pods         there are no Pods",
        "Recorded     no hash",
        "Current      v2:<hash>",
        "If it stays  Wave does not run or may not write it: see its log and the Events of this workload",
        "",
        "READS           STATE    KEYS          AS     NEEDED    THROUGH",
        "Secret db       present  password      env    required  spec.template.spec.containers[0].env[0].valueFrom.secretKeyRef",
        "ConfigMap page  present  (the object)  -      required  spec.template.spec.volumes[0].configMap",
        "ConfigMap page  present  index.html    files  optional  spec.template.spec.volumes[0].configMap",
        "",
      ].join("\n"),
    );
  });

  it("says the same in JSON", async () => {
    await cluster.createConfigMap("page", { unread: "hello" });
    await cluster.createSecret({ password: "hunter2" });
    await cluster.createWeb(undefined, { paused: true });
    const page = {
      kind: "ConfigMap",
      namespace: "default",
      name: "page",
      path: "spec.template.spec.volumes[0].configMap",
    };
    const trackedBy = [{ compatibility: "wave", by: "wave.pusher.com/update-on-config-change" }];
    expect(await explainJson()).toEqual({
      version: 1,
      workload: { kind: "Deployment", namespace: "default", name: "web" },
      optIn: "in",
      rolledBy: "template",
      compatibility: ["wave"],
      state: "due",
      because: "firstHash",
      message: "no hash is recorded yet",
      kubernetes: null,
      since: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      outcome: "firstHash",
      due: null,
      hold: null,
      pods: { total: 0, current: 0 },
      policy: [],
      reason: "no hash is recorded yet",
      recordedHash: null,
      recordedUnder: null,
      currentHash: expect.stringMatching(/^v2:[0-9a-f]{64}$/),
      schedulingHold: "open",
      references: [
        {
          kind: "Secret",
          namespace: "default",
          name: "db",
          path: "spec.template.spec.containers[0].env[0].valueFrom.secretKeyRef",
          reads: "env",
          keys: ["password"],
          optional: false,
          state: "present",
          absentKeys: [],
          trackedBy,
        },
        { ...page, reads: "existence", keys: [], optional: false, state: "present", absentKeys: [], trackedBy },
        {
          ...page,
          reads: "files",
          keys: ["index.html"],
          optional: true,
          state: "present",
          absentKeys: ["index.html"],
          trackedBy,
        },
      ],
      limitExceeded: null,
      missing: [],
      unread: [],
      warnings: [],
      notes: ["it is paused: Kubernetes replaces its Pods when it is resumed"],
    });
  });

  it("finds a workload up to date once its hash is recorded, and out of date once a key that it reads is edited", async () => {
    await cluster.createConfigMap("page", { "index.html": "hello", unread: "1" });
    await cluster.createSecret({ password: "hunter2" });
    await cluster.createWeb();
    const { currentHash } = await explainJson();
    await cluster.recordHash(currentHash);
    expect((await explain()).out).toContain("\nNow          Wave does nothing: it is up to date\n");
    await cluster.call("PATCH", inDefault("configmaps/page"), { data: { unread: "2" } });
    expect(await explainJson()).toMatchObject({ outcome: "current", currentHash, recordedHash: currentHash });
    await cluster.call("PATCH", inDefault("configmaps/page"), { data: { "index.html": "bye" } });
    expect((await explain()).out).toContain(
      "\nNow          Wave rolls it out: its Pods are replaced\nWhy          its configuration is not what its hash was made from\n",
    );
    const changed = await explainJson();
    expect(changed).toMatchObject({ outcome: "roll", recordedHash: currentHash });
    expect(changed.currentHash).not.toBe(currentHash);
  });

  it("names what is missing, object and key", async () => {
    await cluster.createSecret({ user: "root" });
    await cluster.createWeb();
    const { code, out } = await explain();
    expect(code).toBe(0);
    expect(out).toBe(
      [
        "Deployment default/web",
        "",
        "Now          Wave waits: it keeps the Pods that it has until nothing is missing",
        'Why          waiting for ConfigMap "page" and Secret "db" (key "password")',
        "Recorded     no hash",
        "Current      none while something is missing",
        "",
        "READS           STATE           KEYS          AS     NEEDED    THROUGH",
        "Secret db       lacks password  password      env    required  spec.template.spec.containers[0].env[0].valueFrom.secretKeyRef",
        "ConfigMap page  absent          (the object)  -      required  spec.template.spec.volumes[0].configMap",
        "ConfigMap page  absent          index.html    files  optional  spec.template.spec.volumes[0].configMap",
        "",
        "Missing",
        '  ConfigMap "page"',
        '  Secret "db", key "password"',
        "",
      ].join("\n"),
    );
    expect(await explainJson()).toMatchObject({
      outcome: "waiting",
      currentHash: null,
      missing: [
        { kind: "ConfigMap", namespace: "default", name: "page" },
        { kind: "Secret", namespace: "default", name: "db", key: "password" },
      ],
    });
  });

  it("shows what a workload reads that has not opted in, and how to opt it in", async () => {
    await cluster.createConfigMap("page", { "index.html": "hello" });
    await cluster.createWeb({});
    const { out } = await explain();
    expect(out).toContain("Now          Wave leaves it alone\nWhy          has not opted in\n");
    expect(out).toContain(
      "To opt in    kubectl -n default annotate deployment/web wave.pusher.com/update-on-config-change=true --overwrite\n",
    );
    expect(out).toMatch(/^ConfigMap page {2}present {2}index\.html/m);
    expect(out).toMatch(/^Secret db {7}absent {3}password/m);
  });

  it("tells what to write where the opt-in is not understood", async () => {
    await cluster.createWeb({ [updateOnConfigChange]: "yes" });
    const explanation = await explainJson();
    expect(explanation).toMatchObject({ optIn: "unclear", outcome: "ignore", currentHash: null });
    expect(explanation.warnings).toEqual([
      { reason: "InvalidAnnotation", message: expect.stringContaining('write "true" to opt in') },
    ]);
  });
});
