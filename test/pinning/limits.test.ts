import { afterAll, beforeAll, expect, it } from "vitest";
import { copyLimits } from "../../src/domain/pinning/collect.ts";
import { rolledOut, type Scene, startScene } from "../admission/admitted.ts";
import type { Cluster } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { getWorkload, newHash, recordedHash, waveEvents } from "../end-to-end/state.ts";
import { pointsPods } from "./pointed.ts";
import { applyPointingPolicy, createPinned, pagesRead } from "./scenarios.ts";

const args = ["--pin-config"];
const kind = "Deployment";

describeOnControlPlane("a pinned workload whose copies cannot be stored", (cluster) => {
  const scenes: Scene[] = [];
  const start = async (ns: string, webhooks: boolean) => {
    const scene = await startScene(cluster, ns, { webhooks, args });
    scenes.push(scene);
    await applyPointingPolicy(cluster, ns);
    await pointsPods(cluster, ns);
    await createPinned(scene, kind, "web");
    const pinned = async () =>
      (await getWorkload(cluster, ns, kind, "web")).spec.template.metadata.annotations?.["wave.pusher.com/pinned"];
    const edit = async (page: string) => {
      const before = await recordedHash(cluster, ns, kind, "web");
      await scene.namespace.edit("ConfigMap", "web", { page });
      await newHash(cluster, ns, kind, "web", before);
      await rolledOut(scene, kind, "web");
      return { pages: await pagesRead(scene, "web"), pinned: await pinned() };
    };
    const warning = (cause: string) =>
      until(`Warning Unpinned of ${cause}`, async () =>
        (await waveEvents(cluster, ns, "web")).find(
          ({ reason, message }) => reason === "Unpinned" && message.includes(cause),
        ),
      );
    return { scene, edit, warning };
  };
  const copyPath = (ns: string) => `/api/v1/namespaces/${ns}/configmaps`;
  const fill = async (ns: string) => {
    const metadata = (name: string) => ({ name, labels: { "wave.pusher.com/pinned-copy": "true" } });
    for (let i = 0; i < copyLimits.objects; i++)
      await cluster.api("POST", copyPath(ns), { metadata: metadata(`full-${i}`), immutable: true });
  };
  const empty = async (ns: string) => {
    for (let i = 0; i < copyLimits.objects; i++) await cluster.api("DELETE", `${copyPath(ns)}/full-${i}`);
  };
  let shared: Awaited<ReturnType<typeof start>>;
  const ns = "pinned-limit";
  beforeAll(async () => {
    shared = await start(ns, false);
  });
  afterAll(async () => {
    for (const { wave } of scenes) await wave.stop();
  });

  it("reads live configuration because of a quota, with a Warning, and is pinned again after it", async () => {
    const { edit, warning } = shared;
    const quota = `/api/v1/namespaces/${ns}/resourcequotas`;
    await cluster.api("POST", quota, { metadata: { name: "few" }, spec: { hard: { "count/configmaps": "1" } } });
    await until("the quota to be counted", async () => {
      const { status } = await cluster.api<{ status?: { hard?: object } }>("GET", `${quota}/few`);
      return status?.hard;
    });
    expect(await edit("over quota")).toEqual({ pages: ["over quota"], pinned: undefined });
    await warning("exceeded quota");
    await cluster.api("DELETE", `${quota}/few`);
    expect(await edit("after quota")).toMatchObject({ pages: ["after quota"], pinned: expect.any(String) });
  });

  it("rolls although an admission policy denies the mark and the creation of copies, with a Warning, and is pinned again after it", async () => {
    const { scene, edit, warning } = shared;
    const first = await edit("before policy");
    const copy = `${first.pinned}`.split("=")[1];
    await edit("unused");
    await scene.namespace.merge(`${copyPath(ns)}/web`, { metadata: { labels: { team: "shop" } } });
    const unused = { "wave.pusher.com/unused-since": new Date().toISOString() };
    await scene.namespace.merge(`${copyPath(ns)}/${copy}`, { metadata: { annotations: unused } });
    const remove = await requireTeam(cluster, ns);
    expect(await edit("before policy")).toEqual({ pages: ["before policy"], pinned: undefined });
    await warning("cannot be used");
    expect(await edit("of policy")).toEqual({ pages: ["of policy"], pinned: undefined });
    await warning("cannot be stored");
    await remove();
    expect(await edit("after policy")).toMatchObject({ pages: ["after policy"], pinned: expect.any(String) });
  });

  it("reads live configuration above the limit of a namespace, with a Warning, and is pinned again below it", async () => {
    const { scene, edit, warning } = shared;
    await fill(ns);
    await scene.caughtUp();
    expect(await edit("over limit")).toEqual({ pages: ["over limit"], pinned: undefined });
    await warning("200 or 20 MiB");
    await empty(ns);
    await scene.caughtUp();
    expect(await edit("below limit")).toMatchObject({ pages: ["below limit"], pinned: expect.any(String) });
  });

  it("gets the warning of the webhook above the limit", async () => {
    const ofWebhook = `${ns}-webhook`;
    const { scene } = await start(ofWebhook, true);
    await fill(ofWebhook);
    await scene.namespace.configMap("other", { page: "1" });
    await scene.caughtUp();
    const manifest = {
      apiVersion: "apps/v1",
      kind,
      metadata: {
        name: "other",
        annotations: { "wave.pusher.com/update-on-config-change": "true", "wave.pusher.com/pin-config": "true" },
      },
      spec: {
        selector: { matchLabels: { app: "other" } },
        template: {
          metadata: { labels: { app: "other" } },
          spec: { containers: [{ name: "app", image: "app", envFrom: [{ configMapRef: { name: "other" } }] }] },
        },
      },
    };
    const { spec } = await cluster.api<typeof manifest>(
      "POST",
      `/apis/apps/v1/namespaces/${ofWebhook}/deployments`,
      manifest,
    );
    expect(spec.template.metadata).toMatchObject({
      annotations: { "wave.pusher.com/config-hash": expect.any(String) },
    });
    expect(spec.template.metadata).not.toHaveProperty(["annotations", "wave.pusher.com/pinned"]);
  });
});

/** Makes an admission policy for which the ConfigMaps of a namespace need a label. Resolves to a function that removes the policy. */
async function requireTeam(cluster: Cluster, ns: string): Promise<() => Promise<void>> {
  const name = "team";
  const group = "/apis/admissionregistration.k8s.io/v1";
  const [policies, bindings] = [`${group}/validatingadmissionpolicies`, `${group}/validatingadmissionpolicybindings`];
  await cluster.api("POST", policies, {
    metadata: { name },
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["configmaps"] },
        ],
      },
      validations: [{ expression: "has(object.metadata.labels) && 'team' in object.metadata.labels" }],
    },
  });
  await cluster.api("POST", bindings, {
    metadata: { name },
    spec: {
      policyName: name,
      validationActions: ["Deny"],
      matchResources: { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": ns } } },
    },
  });
  const isDenied = () =>
    cluster.api("POST", `/api/v1/namespaces/${ns}/configmaps?dryRun=All`, { metadata: { name: "probe" } }).then(
      () => false,
      () => true,
    );
  await until("the policy", async () => ((await isDenied()) ? true : undefined));
  return async () => {
    await cluster.api("DELETE", `${bindings}/${name}`);
    await cluster.api("DELETE", `${policies}/${name}`);
    await until("the end of the policy", async () => ((await isDenied()) ? undefined : true));
  };
}
