import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { invalidScheduler } from "../../src/domain/model/scheduling-hold.ts";
import { helm } from "../admission/admitted.ts";
import { type AnyObject, type Cluster, connect } from "../control-plane/cluster.ts";
import { type ControlPlane, readAuditLog, startControlPlane } from "../control-plane/control-plane.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { installDriver } from "../csi/driver.ts";
import { container, makeNamespace, type Namespace, workload, workloadKinds } from "../end-to-end/objects.ts";
import { newHash, waveEvents } from "../end-to-end/state.ts";
import { define, make, nextHash, playedKinds } from "../kinds/kinds.ts";
import { compareWithUse, grantsOf } from "./grants.ts";
import { agedAuthority, certificateFiles, type Replica, startReplica } from "./installed.ts";
import { chart, manifestsIn } from "./rendered.ts";

interface StoredSecret extends AnyObject {
  readonly data: Readonly<Record<string, string>>;
}

/** Short durations, so that the first replica soon leads with the Lease that it creates, and leads again after it lost it. */
const shortTerms = { leaseDuration: "6s" };
const envFrom = [{ configMapRef: { name: "app" } }, { secretRef: { name: "app" } }];
const widgets = playedKinds.find(({ plural }) => plural === "widgets") as (typeof playedKinds)[number];
const reads = { containers: [{ ...container, envFrom }] };
const hashKeySecret = "wave-hash-key";
const webhooks = { enabled: true };

/** A release, and the values that determine its permissions. */
interface Mode {
  readonly name: string;
  readonly webhooks?: object;
  /** "files": from another program. Default: from Wave. */
  readonly certificates?: "files";
  readonly hashKeySecret?: string;
  readonly leaderElection?: object;
  readonly [value: string]: unknown;
}

// A separate API server: a Wave in all namespaces would roll the workloads of other suites.
describeOnControlPlane("the roles of the chart", () => {
  let plane: ControlPlane;
  let cluster: Cluster;
  beforeAll(async () => {
    // If lists are not streamed, as in Kubernetes 1.30, they need a separate permission.
    plane = await startControlPlane({ apiServerFlags: ["--feature-gates=WatchList=false"] });
    cluster = connect(plane);
    await installDriver(cluster);
  });
  afterAll(async () => {
    cluster?.close();
    await plane?.stop();
  });

  describe.for<Mode>([
    { name: "everywhere" },
    { name: "unelected", replicas: 1, leaderElection: { enabled: false } },
    { name: "some", namespaces: ["some-shop"] },
    { name: "asked", webhooks },
    { name: "some-asked", webhooks, namespaces: ["some-asked-shop"] },
    { name: "keyed", hashKeySecret },
    { name: "classes", enableCsiIntegration: true },
    { name: "all", webhooks, hashKeySecret, accountPolicy: { enabled: true } },
    { name: "files", webhooks, certificates: "files" },
    { name: "kinds", workloadKinds: [widgets.flag], accountPolicy: { enabled: true } },
    { name: "owning", ownerReferences: true, accountPolicy: { enabled: true } },
    { name: "migrating", migrateLegacy: true, namespaces: ["migrating-shop"] },
  ])("in mode $name", ({ name, certificates, ...mode }) => {
    const ns = `${name}-shop`;
    const elects = mode.leaderElection === undefined;
    const keepsAuthority = mode.webhooks !== undefined && certificates === undefined;
    const values = { leaderElection: { ...shortTerms, ...mode.leaderElection }, ...mode };
    let shop: Namespace;
    let wave: Replica;
    let folder: string | undefined;
    const secret = (of: string) => cluster.api<StoredSecret>("GET", `/api/v1/namespaces/${name}/secrets/${of}`);

    beforeAll(async () => {
      shop = await makeNamespace(cluster, ns);
      await makeNamespace(cluster, name);
      if (keepsAuthority) await cluster.kubectl(["apply", "-f", "-"], JSON.stringify(agedAuthority(name)));
      await shop.configMap("app", { a: "1" });
      await shop.secret("app", { a: "1" });
      const annotations = { "wave.pusher.com/scheduling-disabled": "" };
      const held = { ...reads, schedulerName: invalidScheduler };
      const optedOut = { ...annotations, "wave.pusher.com/update-on-config-change": "false" };
      for (const { kind } of workloadKinds) {
        await shop.create(workload("app", reads, { kind }));
        // Wave restores the scheduler from the stored object, because an edit of annotations does not change the generation.
        await shop.create(workload("opted-out", held, { kind, annotations: optedOut }));
      }
      if (mode.workloadKinds !== undefined) {
        await define(cluster, widgets);
        await make(cluster, widgets, ns, "app");
        await make(cluster, widgets, ns, "opted-out", { annotations: optedOut, podSpec: held });
      }
      if (mode.migrateLegacy) await leaveBehind();
      // The state after a Wave held the Pods and was then removed.
      const spec = { podManagementPolicy: "OrderedReady" };
      await shop.create(workload("held", held, { kind: "StatefulSet", annotations, spec }));
      // Kubernetes cannot create its Pod, and only Events show why.
      await shop.create(workload("refused", { ...reads, serviceAccountName: "none" }, { kind: "StatefulSet" }));
      await until("the Pod that is held", () => cluster.api("GET", `/api/v1/namespaces/${ns}/pods/held-0`));
      const set = Object.entries(values).flatMap(([key, value]) => ["--set-json", `${key}=${JSON.stringify(value)}`]);
      if (certificates) {
        folder = await mkdtemp(join(tmpdir(), "wave-certificates-"));
        for (const [file, text] of Object.entries(certificateFiles(name))) await writeFile(join(folder, file), text);
        set.push("--set", `webhooks.tlsDirectory=${folder}`);
      }
      await helm(cluster, ["install", name, chart, "-n", name, ...set]);
      wave = await startReplica(cluster, { name, namespace: name, values: [] });
    });
    afterAll(async () => {
      await wave?.stop("SIGKILL");
      if (folder !== undefined) await rm(folder, { recursive: true });
    });

    it("match the requests of Wave: none is forbidden, and each permission is used", async () => {
      for (const { kind } of workloadKinds) {
        const first = await newHash(cluster, ns, kind, "app");
        await shop.edit("Secret", "app", { a: `${kind} 2` });
        const second = await newHash(cluster, ns, kind, "app", first);
        await shop.edit("Secret", "app", { a: `${kind} 3` });
        await newHash(cluster, ns, kind, "app", second);
      }
      if (mode.workloadKinds !== undefined) await nextHash(cluster, widgets, ns, "app");
      await until("an Event that is counted again", async () =>
        (await waveEvents(cluster, ns, "app")).some(({ count = 1 }) => count > 1) ? true : undefined,
      );
      if (elects) await loseLease();
      if (mode.hashKeySecret) {
        await cluster.kubectl([
          "-n",
          name,
          "annotate",
          "secret",
          hashKeySecret,
          "wave.pusher.com/rotate-hash-key=true",
        ]);
        await until("a rotated key", async () => (await secret(hashKeySecret)).data.previous);
      }
      if (keepsAuthority) {
        const authority = `${name}-webhook-authority`;
        await until("the next authority", async () => (await secret(authority)).data["next.crt"]);
        await cluster.kubectl(["-n", name, "delete", "secret", authority]);
        await until("another authority", () => secret(authority));
      }
      const grants = grantsOf(manifestsIn(await helm(cluster, ["get", "manifest", name, "-n", name])));
      const user = `system:serviceaccount:${name}:${name}`;
      const compared = () => compareWithUse(readAuditLog(plane.auditLog), user, grants);
      // The API server writes the audit log in batches. The comparison below names a permission without a request.
      const complete = async () => (compared().unused.length === 0 ? true : undefined);
      await until("all to be used", complete, 120_000).catch(() => undefined);
      expect(compared(), wave.log().slice(-5_000)).toEqual({ forbidden: [], unused: [] });
    });

    /** The objects that an early Wave in Go left. */
    async function leaveBehind() {
      const { metadata } = await cluster.api("GET", `/apis/apps/v1/namespaces/${ns}/deployments/app`);
      const owner = { apiVersion: "apps/v1", kind: "Deployment", name: "app", uid: metadata.uid };
      for (const path of ["configmaps/app", "secrets/app"]) {
        const patch = { metadata: { ownerReferences: [owner] } };
        await shop.merge(`/api/v1/namespaces/${ns}/${path}`, patch);
      }
      const finalizers = ["wave.pusher.com/finalizer"];
      await shop.merge(`/apis/apps/v1/namespaces/${ns}/deployments/app`, { metadata: { finalizers } });
    }

    /** Changes the holder of the Lease: the leader stops, leads again, and writes the Event again. */
    async function loseLease() {
      const path = `/apis/coordination.k8s.io/v1/namespaces/${name}/leases/${name}`;
      const holder = async () =>
        (await cluster.api<AnyObject & { spec: { holderIdentity?: string } }>("GET", path)).spec.holderIdentity;
      const before = await holder();
      const spec = { holderIdentity: "other", leaseDurationSeconds: 1, renewTime: "2026-01-01T00:00:00.000000Z" };
      await cluster.api("PATCH", path, { spec }, "application/merge-patch+json");
      await until("it to lead again", async () => ((await holder()) === before ? true : undefined));
    }
  });
});
