import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { invalidScheduler } from "../../src/domain/model/scheduling-hold.ts";
import { helm, reads } from "../admission/admitted.ts";
import { type AnyObject, type Cluster, connect } from "../control-plane/cluster.ts";
import { type ControlPlane, readAuditLog, startControlPlane } from "../control-plane/control-plane.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { makeNamespace, type Namespace, workload } from "../end-to-end/objects.ts";
import { newHash } from "../end-to-end/state.ts";
import { type Release, type Replica, reviewBy, runTestOf, startReplica } from "./installed.ts";
import { chart } from "./rendered.ts";

interface LeaseState extends AnyObject {
  readonly spec?: { readonly holderIdentity?: string; readonly leaseTransitions?: number };
}

interface WebhookState extends AnyObject {
  readonly webhooks: readonly [
    { readonly clientConfig: { readonly caBundle?: string; readonly service: { readonly path?: string } } },
  ];
}

const key = "wave-hash-key";

/** Short durations, so that the first replica soon leads with the Lease that it creates. */
const shortTerms = "leaderElection.leaseDuration=8s";

// A separate API server: a Wave in all namespaces would roll the workloads of other suites.
describeOnControlPlane("Wave installed by its chart", () => {
  let plane: ControlPlane;
  let cluster: Cluster;
  beforeAll(async () => {
    plane = await startControlPlane();
    cluster = connect(plane);
  });
  afterAll(async () => {
    cluster?.close();
    await plane?.stop();
  });

  describe.for<Release & { shop: string; webhooks: boolean }>([
    { name: "wave", namespace: "wave-system", shop: "shop", webhooks: false, values: [] },
    {
      name: "asked",
      namespace: "asked-system",
      shop: "asked-shop",
      webhooks: true,
      values: ["--set", `webhooks.enabled=true,accountPolicy.enabled=true,hashKeySecret=${key},${shortTerms}`],
    },
    {
      name: "limited",
      namespace: "limited-system",
      shop: "limited-shop",
      webhooks: true,
      values: ["--set", `webhooks.enabled=true,namespaces={limited-shop},${shortTerms}`, "--set", "logLevel=debug"],
    },
  ])("as $name with $values", (release) => {
    const { name, namespace, shop, webhooks, values } = release;
    let configuration: Namespace;
    let wave: Replica;
    const lease = () =>
      cluster.api<LeaseState>("GET", `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`);
    const registration = () => {
      const path = `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/${name}-webhook`;
      return cluster.api<WebhookState>("GET", path);
    };
    const keyed = values.some((value) => value.includes(key));
    const keysOfHashes = async () =>
      keyed ? (await cluster.api("GET", `/api/v1/namespaces/${namespace}/secrets/${key}`)).data : undefined;
    const caBundle = async () => (await registration()).webhooks[0].clientConfig.caBundle;
    const calledPath = async () => (await registration()).webhooks[0].clientConfig.service.path;
    const pod = (podName: string) => cluster.api("GET", `/api/v1/namespaces/${shop}/pods/${podName}`);

    beforeAll(async () => {
      configuration = await makeNamespace(cluster, shop);
      await configuration.configMap("app", { a: "1" });
      await configuration.create(workload("app", reads("app")));
      // The state after a Wave held the Pods and was then removed.
      const held = { ...reads("app"), schedulerName: invalidScheduler };
      const spec = { podManagementPolicy: "OrderedReady" };
      const annotations = { "wave.pusher.com/scheduling-disabled": "" };
      await configuration.create(workload("held", held, { kind: "StatefulSet", annotations, spec }));
      await until("the Pod that is held", () => pod("held-0"));
      await helm(cluster, ["install", name, chart, "-n", namespace, "--create-namespace", ...values]);
      wave = await startReplica(cluster, release);
    });
    afterAll(async () => {
      await wave?.stop("SIGKILL");
    });

    it("passes `helm test` only after a replica leads", async () => {
      // One lease duration after it has created the Lease: contributing/adr/0006-leader-election.md.
      await expect(runTestOf(cluster, release)).resolves.toMatch(webhooks ? /leads(.|\n)*registered/ : /leads/);
      expect(await wave.metrics()).toMatch(/^wave_leader 1$/m);
    });

    it("leads with a Lease that it creates itself", async () => {
      expect((await lease()).spec?.holderIdentity).not.toBe("");
    });

    it("rolls a workload", async () => {
      const first = await newHash(cluster, shop, "Deployment", "app");
      await configuration.edit("ConfigMap", "app", { a: "2" });
      await newHash(cluster, shop, "Deployment", "app", first);
    });

    if (webhooks) {
      it("answers the API server with the hash of the stored configuration", async () => {
        const created = workload("new", reads("app"));
        const object = { ...created, metadata: { ...created.metadata, namespace: shop } };
        const trusted = await until("the caBundle", caBundle);
        const service = `${name}-webhook.${namespace}.svc`;
        const kind = { group: "apps", version: "v1", kind: "Deployment" };
        const asked = { uid: "1", operation: "CREATE", kind, namespace: shop, name: "new", object, oldObject: null };
        const { allowed, patch = "" } = await reviewBy(
          wave,
          { service, caBundle: trusted, path: (await calledPath()) ?? "" },
          asked,
        );
        expect(allowed).toBe(true);
        expect(Buffer.from(patch, "base64").toString()).toMatch(/v2(-[0-9a-f]{8})?:[0-9a-f]{64}/);
      });

      it("replaces a pending Pod", async () => {
        await until("the Pod to be a new one that runs", async () =>
          ((await pod("held-0")).status as { phase?: string }).phase === "Running" ? true : undefined,
        );
      });
    }

    it("keeps its leader and the caBundle when the chart is upgraded and rolled back", async () => {
      // Wave would repair both within a moment, but with an additional transition of the Lease and an additional generation.
      const kept = async () => ({
        keys: await keysOfHashes(),
        holder: (await lease()).spec?.holderIdentity,
        transitions: (await lease()).spec?.leaseTransitions,
        ...(webhooks
          ? {
              caBundle: await caBundle(),
              path: await calledPath(),
              generation: (await registration()).metadata.generation,
            }
          : {}),
      });
      const before = await kept();
      const replicas = async () => {
        const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
        return (await cluster.api<{ spec: { replicas: number } }>("GET", path)).spec.replicas;
      };
      await helm(cluster, ["upgrade", name, chart, "-n", namespace, ...values, "--set", "replicas=3"]);
      expect([await replicas(), await kept()]).toEqual([3, before]);
      await helm(cluster, ["rollback", name, "1", "-n", namespace]);
      expect([await replicas(), await kept()]).toEqual([2, before]);
    });

    it("writes nothing into installed objects that a GitOps tool would revert", async () => {
      const manifest = await helm(cluster, ["get", "manifest", name, "-n", namespace]);
      for (const how of [["--server-side", "--force-conflicts", "--field-manager=argocd-controller"], []]) {
        await expect(cluster.kubectl(["diff", ...how, "-f", "-"], manifest)).resolves.toBe("");
      }
    });

    it("receives no Forbidden response", async () => {
      const user = `system:serviceaccount:${namespace}:${name}`;
      const requests = () => readAuditLog(plane.auditLog).filter((event) => event.user.username === user);
      const last = webhooks ? "secrets" : "leases";
      await until("the audit log to be written", async () =>
        requests().some(({ verb, objectRef }) => /create|update/.test(verb) && objectRef?.resource === last)
          ? true
          : undefined,
      );
      expect(requests().filter(({ responseStatus }) => responseStatus?.code === 403)).toEqual([]);
    });

    if (webhooks) {
      it("adds no scheduling hold while it stops, because perhaps no replica lifts the hold", async () => {
        const created = workload("unheld", reads("none"));
        const object = { ...created, metadata: { ...created.metadata, namespace: shop } };
        const kind = { group: "apps", version: "v1", kind: "Deployment" };
        const asked = { uid: "1", operation: "CREATE", kind, namespace: shop, name: "unheld", object, oldObject: null };
        const called = {
          service: `${name}-webhook.${namespace}.svc`,
          caBundle: (await caBundle()) ?? "",
          path: (await calledPath()) ?? "",
        };
        const isHeld = async () => {
          const { patch = "" } = await reviewBy(wave, called, asked);
          return Buffer.from(patch, "base64").toString().includes(invalidScheduler);
        };
        expect(await isHeld()).toBe(true);
        wave.process.kill("SIGTERM");
        await until("reviews without a hold", async () => ((await isHeld()) ? undefined : true), 8_000);
      });
    }

    it("leaves only its Lease, its certificate authority and its hash key after an uninstall", async () => {
      await helm(cluster, ["uninstall", name, "-n", namespace, "--wait"]);
      await wave.stop();
      const label = ["-l", `app.kubernetes.io/instance=${name}`, "-o", "name"];
      const namespaced = "all,leases,serviceaccounts,roles,rolebindings,poddisruptionbudgets,configmaps";
      const everywhere = "clusterroles,clusterrolebindings,mutatingwebhookconfigurations";
      await until("its Pods to end", async () =>
        (await cluster.kubectl(["get", `${namespaced},${everywhere}`, "-A", ...label])) === "" ? true : undefined,
      );
      const left = await cluster.kubectl(["-n", namespace, "get", "leases,secrets", "-o", "name"]);
      const made = [
        `lease.coordination.k8s.io/${name}`,
        ...(webhooks ? [`secret/${name}-webhook-authority`] : []),
        ...(keyed ? [`secret/${key}`] : []),
      ];
      expect(left.trim().split("\n")).toEqual(made);
    });
  });
});
