import { describe, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { explainScene } from "../../../test/support/cli/explain.ts";
import { inDefault } from "../../../test/support/cli/web.ts";
import { updateOnConfigChange } from "../../domain/references/annotations.ts";

const sandbox = await startSandbox({ controllers: false });
const { cluster, explain, explainJson } = explainScene(sandbox);

describe("wave explain", () => {
  it("shows the state, the next step and the references of a workload without a hash", async () => {
    await cluster.createConfigMap("page", { "index.html": "hello" });
    await cluster.createSecret({ password: "hunter2" });
    await cluster.createWeb();
    const { code, out, err } = await explain();
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.replace(/v2:[0-9a-f]{64}/, "v2:<hash>")).toBe(
      [
        "Deployment default/web",
        "",
        "State        due",
        "Now          Wave records the first hash. Kubernetes replaces the Pods once.",
        "Why          No hash is recorded yet.",
        "Pods         There are no Pods.",
        "Next step    Wait some seconds. If the state stays due, read the Events of the workload, then run wave doctor.",
        "Recorded     no hash",
        "Current      v2:<hash>",
        "",
        "OBJECT          STATE    KEYS        READ AS    NEEDED    FIELD",
        "Secret db       present  password    env        required  spec.template.spec.containers[0].env[0].valueFrom.secretKeyRef",
        "ConfigMap page  present  -           existence  required  spec.template.spec.volumes[0].configMap",
        "ConfigMap page  present  index.html  files      optional  spec.template.spec.volumes[0].configMap",
        "",
      ].join("\n"),
    );
  });

  it("prints the same as JSON", async () => {
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
      strategy: "template",
      compatibility: ["wave"],
      state: "due",
      because: "firstHash",
      message: "no hash is recorded yet",
      kubernetes: null,
      since: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      outcome: "firstHash",
      judgedAt: null,
      due: null,
      hold: null,
      pods: { total: 0, current: 0, ready: 0, notReadyReasons: [], restarts: 0, terminatingOld: 0 },
      pinning: null,
      rolledBack: [],
      batch: null,
      heldChange: null,
      keptPods: "The workload is paused. Kubernetes replaces the Pods after it is resumed.",
      policy: [],
      reason: "no hash is recorded yet",
      recordedHash: null,
      recordedConfig: null,
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
      notes: ["The workload is paused. Kubernetes replaces the Pods after it is resumed."],
    });
  });

  it("reports a recorded hash as current, and as outdated after an edit of a tracked key", async () => {
    await cluster.createConfigMap("page", { "index.html": "hello", unread: "1" });
    await cluster.createSecret({ password: "hunter2" });
    await cluster.createWeb();
    const { currentHash } = await explainJson();
    await cluster.recordHash(currentHash);
    expect((await explain()).out).toContain("\nNow          Nothing to do. The workload is up to date.\n");
    await cluster.call("PATCH", inDefault("configmaps/page"), { data: { unread: "2" } });
    expect(await explainJson()).toMatchObject({ outcome: "current", currentHash, recordedHash: currentHash });
    await cluster.call("PATCH", inDefault("configmaps/page"), { data: { "index.html": "bye" } });
    expect((await explain()).out).toContain(
      "\nNow          Wave updates the hash, but no Pod is replaced yet. The workload is scaled to zero. There are no Pods to replace.\nWhy          The configuration differs from the recorded hash.\n",
    );
    const changed = await explainJson();
    expect(changed).toMatchObject({ outcome: "roll", recordedHash: currentHash });
    expect(changed.currentHash).not.toBe(currentHash);
  });

  it("names each missing object and key", async () => {
    await cluster.createSecret({ user: "root" });
    await cluster.createWeb();
    const { code, out } = await explain();
    expect(code).toBe(0);
    expect(out).toBe(
      [
        "Deployment default/web",
        "",
        "State        waiting (missing)",
        "Now          Waiting. Running Pods are not changed.",
        'Why          Waiting for ConfigMap "page" and Secret "db" (key "password").',
        "Next step    Create the missing object or key.",
        "Recorded     no hash",
        "Current      no hash while something is missing",
        "",
        "Missing:",
        '  ConfigMap "page"',
        '  Secret "db", key "password"',
        "",
        "OBJECT          STATE           KEYS        READ AS    NEEDED    FIELD",
        "Secret db       lacks password  password    env        required  spec.template.spec.containers[0].env[0].valueFrom.secretKeyRef",
        "ConfigMap page  absent          -           existence  required  spec.template.spec.volumes[0].configMap",
        "ConfigMap page  absent          index.html  files      optional  spec.template.spec.volumes[0].configMap",
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

  it("shows the references of a workload that has not opted in, and the command to opt in", async () => {
    await cluster.createConfigMap("page", { "index.html": "hello" });
    await cluster.createWeb({});
    const { out } = await explain();
    expect(out).toContain("Now          Wave ignores this workload.\nWhy          The workload has not opted in.\n");
    expect(out).toContain(
      "To opt in    kubectl -n default annotate deployment/web wave.pusher.com/update-on-config-change=true --overwrite\n",
    );
    expect(out).toMatch(/^ConfigMap page {2}present {2}index\.html/m);
    expect(out).toMatch(/^Secret db {7}absent {3}password/m);
  });

  it("warns about an invalid opt-in annotation, with the values to write", async () => {
    await cluster.createWeb({ [updateOnConfigChange]: "yes" });
    const explanation = await explainJson();
    expect(explanation).toMatchObject({ optIn: "unclear", outcome: "ignore", currentHash: null });
    expect(explanation.warnings).toEqual([
      { reason: "InvalidAnnotation", message: expect.stringContaining('Write "true" to opt in') },
    ]);
  });
});
