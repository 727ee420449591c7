import { expect, it, onTestFinished } from "vitest";
import { rolledOut, type Scene, startScene } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { type WorkloadKind, workload, workloadPath } from "../end-to-end/objects.ts";
import { getWorkload, hashInForce, recordedHash, waveEvents } from "../end-to-end/state.ts";
import { startPageKubelet } from "./page-kubelet.ts";
import { pointsPods } from "./pointed.ts";
import { applyPointingPolicy, pagesRead, readsPages } from "./scenarios.ts";

const paces = {
  "at once": [],
  "in batches": ["--max-concurrent-rollouts=50", "--soak=1s"],
};
const cases = [
  { kind: "DaemonSet", pace: "at once" },
  { kind: "DaemonSet", pace: "in batches" },
  { kind: "Deployment", pace: "in batches" },
] as const satisfies readonly Case[];

interface Case {
  readonly kind: WorkloadKind;
  readonly pace: keyof typeof paces;
}

const names = ["a", "b"];

/** Long enough for a good rollout on a busy machine. */
const rolloutTimeout = "12s";

/** Returns a window that opens in twelve hours. */
function closedWindow(): string {
  const hourIn = (hours: number) => `${(new Date().getUTCHours() + hours) % 24}`.padStart(2, "0");
  return `Mon-Sun ${hourIn(12)}:00-${hourIn(13)}:00`;
}

describeOnControlPlane("a canary that fails, with on-failure: return,", (cluster) => {
  it.for(cases)("goes back as a $kind that rolls $pace, although its window has closed", async ({ kind, pace }) => {
    const { scene, canary, good } = await failingCanary("returns-closed", { kind, pace });
    // Times of the API are whole seconds: the annotation is to be later than the rollout.
    const crashedAt = Math.floor(Date.now() / 1000);
    await until("the next second", async () => Date.now() / 1000 >= crashedAt + 1 || undefined);
    const annotations = { "wave.pusher.com/window": closedWindow() };
    await scene.namespace.merge(workloadPath(scene.namespace.name, kind, canary), { metadata: { annotations } });
    await goesBack(scene, kind, canary, good);
  });

  it.for(cases)(
    "goes back as a $kind that rolls $pace, after a second bad edit before the failure",
    async ({ kind, pace }) => {
      const { scene, canary, good } = await failingCanary("returns-twice", { kind, pace });
      await scene.namespace.edit("ConfigMap", "page", { page: "bad", more: "1" });
      await goesBack(scene, kind, canary, good);
    },
  );

  it.for(cases)(
    "goes back as a $kind that rolls $pace, after Wave was killed during its rollout",
    async ({ kind, pace }) => {
      const { scene, canary, good } = await failingCanary("returns-killed", { kind, pace });
      await scene.wave.stop("SIGKILL");
      const again = await scene.startAgain();
      onTestFinished(async () => {
        await again.stop();
      });
      await goesBack(scene, kind, canary, good);
    },
  );

  /** Makes two workloads that read a ConfigMap, and edits it so that the Pods of the first that is rolled crash. */
  async function failingCanary(prefix: string, { kind, pace }: Case) {
    const ns = `${prefix}-${kind.toLowerCase()}-${pace.replace(" ", "-")}`;
    const args = ["--pin-config", `--rollout-timeout=${rolloutTimeout}`, ...paces[pace]];
    const scene = await startScene(cluster, ns, { webhooks: false, args });
    onTestFinished(async () => {
      await scene.wave.stop("SIGKILL");
    });
    await applyPointingPolicy(cluster, ns);
    await pointsPods(cluster, ns);
    const kubelet = await startPageKubelet(cluster, ns);
    onTestFinished(() => kubelet.stop());
    await scene.namespace.configMap("page", { page: "old" });
    const podSpec = { ...readsPages(["page"]), ...kubelet.placement };
    const annotations = { "wave.pusher.com/pin-config": "true", "wave.pusher.com/on-failure": "return" };
    const good = new Map<string, string>();
    for (const name of names) {
      await scene.namespace.create(workload(name, podSpec, { kind, annotations }));
      await until(`pins of ${name}`, async () => {
        const { spec } = await getWorkload(cluster, ns, kind, name);
        return spec.template.metadata.annotations?.["wave.pusher.com/pinned"];
      });
      await rolledOut(scene, kind, name);
      good.set(name, `${await recordedHash(cluster, ns, kind, name)}`);
    }
    await scene.namespace.edit("ConfigMap", "page", { page: "bad" });
    const canary = await until("a canary that crashes", async () => names.find((name) => kubelet.crashes(name)));
    return { scene, canary, good: good.get(canary) };
  }

  /** Waits until all workloads run the content before the edits. In batches, a second edit has a canary of its own. */
  async function goesBack(scene: Scene, kind: WorkloadKind, canary: string, good: string | undefined): Promise<void> {
    const ns = scene.namespace.name;
    const isBack = async () => {
      const all = await Promise.all(names.map((name) => getWorkload(cluster, ns, kind, name)));
      const isRejected = all.some(({ metadata }) => metadata.annotations?.["wave.pusher.com/rejected-configmaps"]);
      return isRejected && all.every((each) => hashInForce(each.metadata, each.spec.template.metadata) === good);
    };
    await until("the return", async () => (await isBack()) || undefined);
    for (const name of names) await rolledOut(scene, kind, name);
    await scene.caughtUp();
    expect(await isBack()).toBe(true);
    for (const name of names) expect(await pagesRead(scene, name)).toEqual(["old"]);
    const returned = (await waveEvents(cluster, ns, canary)).filter(({ reason }) => reason === "RolloutReturned");
    expect(returned).not.toEqual([]);
  }
});
