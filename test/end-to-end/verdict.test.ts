import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { parseVerdict } from "../../src/domain/plan/verdict.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess, wave as waveCommand } from "../control-plane/wave-process.ts";
import { container, makeNamespace, type Namespace, workload, workloadPath } from "./objects.ts";
import { recordedHash } from "./state.ts";

const ns = "verdict";
const system = "verdict-system";

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

describeOnControlPlane("a user without permission to read Secrets", (cluster) => {
  let folder: string;
  let namespace: Namespace;
  let running: WaveProcess;
  const users: Record<string, string> = {};
  const run = (kubeconfig: string, ...args: readonly string[]): Promise<Ended> =>
    new Promise((resolve) => {
      const flags = ["--kubeconfig", kubeconfig, "-n", ns, `--leader-election-namespace=${system}`];
      const child = execFile(waveCommand, [...args, ...flags], (_error, out, err) =>
        resolve({ code: child.exitCode ?? -1, out, err }),
      );
    });

  const read = ["get", "list", "watch"];
  /** Creates an account with these Roles and returns its kubeconfig. */
  const account = async (name: string, rules: readonly object[] | "view"): Promise<string> => {
    const inIt = (...args: string[]) => cluster.kubectl(["-n", ns, ...args]);
    await inIt("create", "serviceaccount", name);
    const role = rules === "view" ? ["--clusterrole=view"] : [`--role=${name}`];
    if (rules !== "view")
      await cluster.api("POST", `/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles`, {
        metadata: { name },
        rules,
      });
    const binding = rules === "view" ? "clusterrolebinding" : "rolebinding";
    await inIt("create", binding, name, ...role, `--serviceaccount=${ns}:${name}`);
    const token = (await inIt("create", "token", name)).trim();
    const admin = parse(readFileSync(cluster.kubeconfig, "utf8"));
    const path = join(folder, name);
    await writeFile(path, JSON.stringify({ ...admin, users: [{ name: "admin", user: { token } }] }));
    return path;
  };

  const deployment = (name: string, annotations: Record<string, string> = {}) => {
    const template = { containers: [{ ...container, envFrom: [{ secretRef: { name } }] }] };
    return namespace.create(workload(name, { terminationGracePeriodSeconds: 0, ...template }, { annotations }));
  };
  const secret = (name: string, value: string) => ({
    kind: "Secret",
    metadata: { name },
    stringData: { password: value },
  });
  const path = (name: string) => workloadPath(ns, "Deployment", name);
  const publishedOf = async (name: string) =>
    parseVerdict((await cluster.api("GET", path(name))).metadata.annotations?.["wave.pusher.com/state"]);
  /** Returns the state and the reason in `wave list`, by name. */
  const list = async (kubeconfig: string) => {
    const { out, code, err } = await run(kubeconfig, "list");
    const rows = out.trim().split("\n").slice(1);
    const cells = rows.map((line) => line.split(/ {3,}/));
    return {
      code,
      err,
      states: Object.fromEntries(cells.map(([name = "", state, , , reason]) => [name, `${state} ${reason}`])),
    };
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "wave-verdict-"));
    namespace = await makeNamespace(cluster, ns);
    await makeNamespace(cluster, system);
    const lease = {
      apiGroups: ["coordination.k8s.io"],
      resources: ["leases"],
      resourceNames: ["wave"],
      verbs: ["get"],
    };
    const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${system}`;
    await cluster.api("POST", `${roles}/roles`, { metadata: { name: "wave-lease-reader" }, rules: [lease] });
    await cluster.kubectl([
      ...["-n", system, "create", "rolebinding", "wave-lease-reader", "--role=wave-lease-reader"],
      "--group=system:authenticated",
    ]);
    const own = { apiGroups: [""], resources: ["namespaces"], verbs: ["get"] };
    const apps = { apiGroups: ["apps"], resources: ["deployments", "statefulsets", "daemonsets"], verbs: read };
    users.viewer = await account("viewer", "view");
    users.pipeline = await account("pipeline", [apps, own, { apiGroups: [""], resources: ["pods"], verbs: ["list"] }]);
    users.developer = await account("developer", [
      { ...apps, verbs: ["*"] },
      own,
      { apiGroups: [""], resources: ["pods", "configmaps", "events"], verbs: ["*"] },
    ]);
    const flags = [`--namespaces=${ns}`, "--settle=0", "--soak=500ms", "--rollout-timeout=45s"];
    const election = [
      "--leader-election",
      `--leader-election-namespace=${system}`,
      "--leader-election-lease-duration=6s",
    ];
    running = await startWave(["--kubeconfig", cluster.kubeconfig, ...flags, ...election], { paced: true });
    for (const name of ["current", "held", "shared"]) await namespace.create(secret(name, "1"));
    await deployment("current");
    await deployment("held");
    const shared = (name: string, priority: string) => {
      const template = { containers: [{ ...container, envFrom: [{ secretRef: { name: "shared" } }] }] };
      const annotations = { "wave.pusher.com/priority": priority };
      return namespace.create(workload(name, { terminationGracePeriodSeconds: 0, ...template }, { annotations }));
    };
    await shared("canary", "1");
    await shared("follower", "0");
    for (const name of ["current", "held", "canary", "follower"])
      await until(`the hash of ${name}`, () => recordedHash(cluster, ns, "Deployment", name));
    const { code, err } = await run(
      cluster.kubeconfig,
      "wait",
      ...["current", "held", "canary", "follower"].map((n) => `deployment/${n}`),
    );
    expect([code, err]).toEqual([0, expect.anything()]);
  });
  afterAll(async () => {
    await running?.stop();
    await rm(folder, { recursive: true });
  });

  it("gets the verdict of Wave, which includes every change before the command, and `unknown` if no Wave runs", async () => {
    // The API server rejects new Pods, and not for a quota: the rollout of the canary makes no progress, and fails.
    const limits = [{ type: "Pod", min: { memory: "1Gi" } }];
    await cluster.api("POST", `/api/v1/namespaces/${ns}/limitranges`, {
      metadata: { name: "large" },
      spec: { limits },
    });
    const small = { apiVersion: "v1", kind: "Pod", metadata: { name: "small" }, spec: { containers: [container] } };
    await until("the limit", () =>
      cluster.api("POST", `/api/v1/namespaces/${ns}/pods?dryRun=All`, small).then(
        () => undefined,
        (error) => (`${error}`.includes("minimum memory usage") ? true : undefined),
      ),
    );
    await namespace.merge(path("held"), { metadata: { annotations: { "wave.pusher.com/hold": "true" } } });
    const secretPath = (name: string) => `/api/v1/namespaces/${ns}/secrets/${name}`;
    const edit = (name: string) => namespace.merge(secretPath(name), { stringData: { password: "2" } });
    await edit("held");
    await edit("shared");
    // The state is not published yet.
    const early = run(users.pipeline as string, "wait", "deployment/held", "--timeout=70s");
    const current = run(users.pipeline as string, "wait", "deployment/current", "--timeout=70s");
    expect(await run(users.pipeline as string, "wait", "deployment/held", "--timeout=0")).toMatchObject({ code: 3 });
    expect((await current).err).toBe("");
    expect(await current).toMatchObject({ code: 0, out: expect.stringContaining("1 of 1 Pod") });
    for (const user of Object.values(users)) {
      const { states } = await list(user);
      expect(states["deployment/current"]).toMatch(/^current by Wave, \d+s ago$/);
    }
    await until("the wait", async () => ((await publishedOf("follower"))?.reason === "batch" ? true : undefined));
    for (const user of Object.values(users)) {
      const { states } = await list(user);
      expect(states["deployment/held"]).toMatch(/^held hold \(by Wave, \d+s ago\)$/);
      expect(states["deployment/canary"]).toMatch(/^rolling /);
      expect(states["deployment/follower"]).toMatch(/^held batch \(by Wave, \d+s ago\)$/);
    }
    expect(await early).toMatchObject({ code: 1, err: expect.stringContaining("still held (hold) after 1m10s") });
    await until("the halt", async () => ((await publishedOf("follower"))?.reason === "halted" ? true : undefined));
    for (const user of Object.values(users)) {
      const { states, code, err } = await list(user);
      expect({ code, err, states }).toMatchObject({
        code: 0,
        err: expect.stringMatching(/^(warning: Cannot read the flags of the running Wave: .*\n)?$/),
        states: { "deployment/follower": expect.stringMatching(/^held halted \(by Wave, \d+s ago\)$/) },
      });
      expect(states["deployment/canary"]).toMatch(/^failed /);
      const explained = await run(user, "explain", "deployment/follower");
      expect(explained).toMatchObject({
        code: 0,
        out: expect.stringMatching(/State +held \(halted\), by Wave, \d+s ago\n/),
      });
      expect(explained.out).toContain("wave resume");
    }
    const halted = await Promise.all(
      Object.values(users).map((user) => run(user, "wait", "deployment/follower", "--timeout=2m")),
    );
    for (const each of halted) expect(each).toMatchObject({ code: 1, err: expect.stringContaining("held (halted)") });
    await running.stop();
    for (const user of Object.values(users)) {
      const { states, code } = await list(user);
      expect(code).toBe(3);
      expect(states["deployment/current"]).toMatch(/^unknown forbidden$/);
      const explained = await run(user, "explain", "deployment/current");
      expect(explained).toMatchObject({
        code: 3,
        out: expect.stringContaining("No Wave runs: Lease wave in verdict-system"),
      });
      expect(await run(user, "wait", "deployment/current")).toMatchObject({ code: 3 });
    }
  });
});
