import { expect, it, onTestFinished } from "vitest";
import { reads } from "../admission/admitted.ts";
import { readAuditLog } from "../control-plane/control-plane.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { container, makeNamespace, workload, workloadPath } from "../end-to-end/objects.ts";
import { recordedHash } from "../end-to-end/state.ts";
import { parseExposition } from "../support/parse-exposition.ts";
import { besieged, during, expectPeace } from "./siege.ts";
import { stranger } from "./stranger.ts";

const dryRun = "?dryRun=All";
const noPods = { spec: { replicas: 0 } };

describeOnControlPlane("the admission webhook, which every client in the cluster can reach,", (cluster) => {
  void cluster;
  const siege = besieged({ webhooks: true });
  let made = 0;

  /** Creates a workload of the victim and expects its hash at the creation, as on any day. */
  async function isAdmitted(): Promise<void> {
    const { namespace } = siege().victim;
    const name = `created-${made++}`;
    await namespace.create(workload(name, reads("app"), noPods));
    expect(await recordedHash(siege().cluster, "victim", "Deployment", name)).toMatch(/^v2/);
  }

  /** Returns what Wave read since `from`, according to the audit log of the API server. */
  async function readsSince(from: Date): Promise<readonly string[]> {
    const { cluster: admin } = siege();
    // This request is sent after all others, so it is the last in the log.
    const mark = `mark-${made++}`;
    await admin.api("GET", `/api/v1/namespaces/${mark}/configmaps/${mark}`).catch(() => {});
    const since = await until("the audit log to be written", async () => {
      const events = readAuditLog(admin.auditLog);
      return events.some(({ objectRef }) => objectRef?.name === mark) ? events : undefined;
    });
    return since
      .filter(({ verb, userAgent }) => verb === "get" && userAgent?.startsWith("wave/"))
      .filter(({ objectRef }) => objectRef?.resource === "secrets" || objectRef?.resource === "configmaps")
      .filter(({ requestReceivedTimestamp }) => new Date(requestReceivedTimestamp) >= from)
      .map(({ objectRef }) => `${objectRef?.namespace}/${objectRef?.name}`);
  }

  it("rejects clients that do not know its path, and uses no memory for them", async () => {
    const outsider = stranger(siege().webhookPort);
    onTestFinished(outsider.close);
    const object = workload("spy", reads("app"));
    const asked = { uid: "1", operation: "CREATE", kind: { group: "apps", version: "v1", kind: "Deployment" } };
    const review = JSON.stringify({
      apiVersion: "admission.k8s.io/v1",
      kind: "AdmissionReview",
      request: { ...asked, namespace: "victim", name: "spy", object },
    });
    const outcome = await during(siege(), async () => {
      for (const path of ["/mutate", "/mutate-apps-v1-deployment", "/mutate/", `/mutate/${"0".repeat(32)}`, "/"]) {
        expect([0, 404], path).toContain(await outsider.post(path, review));
      }
      const garbage = `[${"{},".repeat(2_700_000)}{}]`;
      await Promise.all(Array.from({ length: 4 }, () => outsider.post("/mutate", garbage)));
    });
    expectPeace(outcome);
  });

  it("keeps working while strangers hold 400 connections with unfinished requests", async () => {
    const outsider = stranger(siege().webhookPort);
    onTestFinished(outsider.close);
    const head =
      "POST /mutate HTTP/1.1\r\nhost: wave\r\ncontent-type: application/json\r\ncontent-length: 8000000\r\n\r\n";
    const unfinished = head + "[".repeat(7_999_999);
    const outcome = await during(siege(), async () => {
      await Promise.all(Array.from({ length: 400 }, () => outsider.linger()));
      await Promise.all(Array.from({ length: 16 }, () => outsider.linger(unfinished)));
      for (let i = 0; i < 5; i++) await isAdmitted();
    });
    expectPeace(outcome);
  });

  it("reads only granted objects, and at most 64 objects for one review", async () => {
    const { tenant, cluster: admin } = siege();
    const elsewhere = await makeNamespace(admin, "elsewhere");
    await elsewhere.secret("s-0", { key: "secret" });
    const from = new Date();
    const foreign = Array.from({ length: 12_000 }, (_, i) => `elsewhere/s-${i}`).join(",");
    const own = Array.from({ length: 3_000 }, (_, i) => `own-${i}`).join(",");
    const outcome = await during(siege(), async () => {
      for (const annotation of [foreign, own]) {
        const annotations = { "wave.pusher.com/extra-secrets": annotation };
        const object = workload("greedy", { containers: [container] }, { annotations, ...noPods });
        await tenant.cluster.api("POST", `${workloadPath("tenant", "Deployment")}${dryRun}`, object);
      }
      await isAdmitted();
    });
    expectPeace(outcome);
    const read = await readsSince(from);
    expect(read.filter((name) => name.startsWith("elsewhere/"))).toEqual([]);
    expect(read.filter((name) => name.startsWith("tenant/")).length).toBeLessThanOrEqual(64);
  });

  const env = (count: number, entry: (index: number) => object) => ({
    env: Array.from({ length: count }, (_, index) => ({ name: `V${index}`, ...entry(index) })),
  });
  const secret = (index: number) => ({ secretKeyRef: { name: `s-${index}`, key: "x".repeat(100), optional: true } });
  it.each([
    ["1.4 MB in one text", "200", { args: ["x".repeat(1_400_000)] }],
    ["a text of two-byte characters", "200", { args: [`€${"x".repeat(2_700_000)}`] }],
    ["a text that JSON makes six times as long", "200", { args: ["<".repeat(600_000)] }],
    ["a text that JSON makes too long", "413", { args: ["<".repeat(2_800_000)] }],
    ["10,000 variables", "200", env(10_000, () => ({ value: "x".repeat(100) }))],
    ["6,000 references", "200", env(6_000, (index) => ({ valueFrom: secret(index) }))],
  ])("takes little memory by Deployments with %s, 20 at one time", async (_what, code, bulk) => {
    const { tenant, wave } = siege();
    const answers = async () => {
      const { samples = [] } = parseExposition(await wave.metrics()).get("wave_webhook_requests_total") ?? {};
      return samples.find(({ labels }) => labels.code === code)?.value ?? 0;
    };
    const before = await answers();
    const object = workload("large", { containers: [{ ...container, ...bulk }] }, noPods);
    const create = () => tenant.cluster.api("POST", `${workloadPath("tenant", "Deployment")}${dryRun}`, object);
    const outcome = await during(siege(), async () => {
      for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 20 }, create));
    });
    expect(await answers()).toBeGreaterThan(before);
    expect(outcome.resident, "MiB resident").toBeLessThan(115);
    // The API server decides when the victim is served: it must also read and write 60 such objects.
    expect(outcome.edits).toBeGreaterThan(0);
    expect(outcome.changesOfLeader, "changes of leader").toBe(0);
  });

  it("uses little memory for reviews that read 40 ConfigMaps of 1 MB", async () => {
    const { tenant } = siege();
    const names = Array.from({ length: 40 }, (_, index) => `large-${index}`);
    for (const name of names) await tenant.namespace.configMap(name, { a: "x".repeat(1_000_000) });
    const envFrom = names.map((name) => ({ configMapRef: { name } }));
    const object = workload("reader", { containers: [{ ...container, envFrom }] }, noPods);
    const create = () => tenant.cluster.api("POST", `${workloadPath("tenant", "Deployment")}${dryRun}`, object);
    const outcome = await during(siege(), async () => {
      for (let round = 0; round < 5; round++) await Promise.all([create(), create()]);
    });
    expectPeace(outcome);
  });

  it("is not delayed by an annotation that the API server rejects afterwards for its length", async () => {
    const { tenant } = siege();
    const outcome = await during(siege(), async () => {
      for (let i = 0; i < 5; i++) {
        const annotations = { [`wave.pusher.com/${"x".repeat(500_000)}`]: "" };
        const object = workload("long", { containers: [container] }, { annotations, ...noPods });
        const created = tenant.cluster.api("POST", workloadPath("tenant", "Deployment"), object);
        await expect(created).rejects.toThrow(/422/);
      }
      await isAdmitted();
    });
    expectPeace(outcome);
  });

  it("schedules a pending Pod when its ConfigMap exists, even if other pending Pods have invented owners", async () => {
    const { tenant, victim, cluster: admin } = siege();
    const held = { schedulerName: "wave.pusher.com/invalid", containers: [container] };
    for (const kind of ["constructor", "__proto__", "StatefulSet"]) {
      const owner = { apiVersion: "apps/v1", kind, name: "toString", uid: "0", controller: true };
      const metadata = { name: `made-up-${kind.toLowerCase().replaceAll("_", "x")}`, ownerReferences: [owner] };
      await tenant.cluster.api("POST", "/api/v1/namespaces/tenant/pods", { metadata, spec: held });
    }
    const spec = { replicas: 1, serviceName: "none", podManagementPolicy: "OrderedReady" };
    await victim.namespace.create(workload("late", reads("late"), { kind: "StatefulSet", spec }));
    const pod = () => admin.api("GET", "/api/v1/namespaces/victim/pods/late-0");
    await until("its Pod to be held", pod);
    const outcome = await during(siege(), async () => {
      await victim.namespace.configMap("late", { a: "1" });
      await until("its Pod to run", async () =>
        ((await pod()).status as { phase?: string }).phase === "Running" ? true : undefined,
      );
    });
    expectPeace(outcome);
  });
});
