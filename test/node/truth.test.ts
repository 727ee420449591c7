import { beforeAll, expect, it } from "vitest";
import type { Explanation } from "../../src/cli/cluster/explanation/explanation.ts";
import { helm } from "../admission/admitted.ts";
import { until } from "../control-plane/wave-process.ts";
import { makeNamespace, type WorkloadOptions, workload, workloadPath } from "../end-to-end/objects.ts";
import { waveEvents } from "../end-to-end/state.ts";
import { type Ended, runWave } from "../support/cli/terminal.ts";
import { admits, helmWave, leader, makeSystem, nginx, type Pod, podsOf, rolledOut, system } from "./installed.ts";
import { pagesOf, readsEverywhere, refresh, restartContainer } from "./reading-pods.ts";
import { describeOnNode } from "./suite.ts";

/** Returns a pod spec that reads the key `page` of the ConfigMap "page" as a variable. */
const readsVariable = (command = "exec sleep infinity") => ({
  containers: [
    {
      name: "app",
      image: nginx,
      command: ["sh", "-c", command],
      env: [{ name: "PAGE", valueFrom: { configMapKeyRef: { name: "page", key: "page" } } }],
    },
  ],
});

const endsWithBadPage = '[ "$PAGE" != bad ] && exec sleep infinity; exit 1';

/** Waits for longer than the margin of clocks: a Pod that starts before or after is surely older or newer. */
const apart = (since = Date.now()) =>
  until("the margin of clocks", async () => Date.now() > since + 7_000 || undefined);

const isReady = ({ status }: Pod) => status.conditions?.some((each) => each.type === "Ready" && each.status === "True");
const nameOf = ({ metadata }: Pod) => metadata.name;

describeOnNode("the truth about Pods", (node) => {
  beforeAll(async () => {
    const { cluster } = node();
    const namespace = await makeNamespace(cluster, "probe");
    await namespace.configMap("page", { page: "good" });
    await makeSystem(cluster);
    // Longer than three restarts of a container take.
    await helmWave(cluster, "install", "soak=240s");
    await admits(cluster, "probe", workload("probe", readsVariable()));
    await leader(cluster);
  });

  /** A namespace with a good page, and the commands of Wave. */
  async function scene(ns: string) {
    const { cluster } = node();
    const namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("page", { page: "good" });
    const kubectl = (...args: readonly string[]) => cluster.kubectl(["-n", ns, ...args]);
    const wave = (...args: readonly string[]): Promise<Ended> =>
      runWave([...args, "-n", ns], { KUBECONFIG: cluster.kubeconfig, PATH: process.env.PATH ?? "" });
    const pods = (name: string) => podsOf(cluster, ns, `app=${name}`);
    const create = async (name: string, replicas: number, podSpec: object, options: WorkloadOptions = {}) => {
      const { spec, ...rest } = options;
      await namespace.create(workload(name, { ...podSpec }, { ...rest, spec: { replicas, ...spec } }));
      await rolledOut(cluster, ns, `deployment/${name}`);
      return pods(name);
    };
    return {
      namespace,
      kubectl,
      wave,
      pods,
      create,
      edit: (page: string) => namespace.edit("ConfigMap", "page", { page }),
      annotate: (name: string, annotations: Record<string, string | null>) =>
        namespace.merge(workloadPath(ns, "Deployment", name), { metadata: { annotations } }),
      page: async (pod: Pod) => (await kubectl("exec", nameOf(pod), "--", "sh", "-c", "echo $PAGE")).trim(),
      event: (name: string, reason: string) =>
        until(`Event ${reason} of ${name}`, async () =>
          (await waveEvents(cluster, ns, name)).find((event) => event.reason === reason),
        ),
      events: async (name: string, reason: string) =>
        (await waveEvents(cluster, ns, name)).filter((event) => event.reason === reason),
      explained: async (name: string): Promise<Explanation> =>
        JSON.parse((await wave("explain", `deployment/${name}`, "-ojson")).out),
      /** Waits until a workload has so many Pods, all ready. */
      ready: (name: string, count: number) =>
        until(`${count} ready Pods of ${name}`, async () => {
          const all = await pods(name);
          return all.length === count && all.every(isReady) ? all : undefined;
        }),
    };
  }

  it.concurrent("replaces Pods of which one started between a bad edit and its revert", async () => {
    const { create, edit, event, events, kubectl, ready, page, annotate, wave, explained } = await scene("taken-back");
    const first = { annotations: { "wave.pusher.com/priority": "1" } };
    await create("canary", 1, readsVariable(endsWithBadPage), first);
    const others = await create("api", 1, readsVariable());
    const before = await create("web", 3, readsVariable());
    await apart();
    await edit("bad");
    await event("web", "RolloutHalted");
    await apart();
    const [lost] = before.map(nameOf);
    await kubectl("delete", "pod", lost ?? "");
    const mixed = (await ready("web", 3)).find((pod) => !before.some((each) => nameOf(each) === nameOf(pod))) as Pod;
    expect(await page(mixed)).toBe("bad");
    // The hold keeps the repair away while the test looks at the state between.
    await annotate("web", { "wave.pusher.com/hold": "true" });
    await edit("good");
    const revertedAt = Date.now();
    await until("the mixed Pod in the list", async () =>
      /^deployment\/web +held +2\/3 +3\/3 /m.test((await wave("list")).out) ? true : undefined,
    );
    expect(await wave("wait", "deployment/web", "--timeout=0")).toMatchObject({
      code: 1,
      err: expect.stringContaining("held (hold)"),
    });
    // An annotation that Wave writes raises the generation, and the Deployment counts as rolling for a moment.
    const { pods } = await until("the explanation of the mixed Pod", async () => {
      const explanation = await explained("web");
      return explanation.state === "held" ? explanation : undefined;
    });
    expect(pods).toMatchObject({ total: 3, current: 2 });
    expect((await ready("web", 3)).map(nameOf)).toContain(nameOf(mixed));
    await apart(revertedAt);
    await annotate("web", { "wave.pusher.com/hold": null });
    const isRolling = (message: unknown) => `${message}`.endsWith("may run configuration that was reverted.");
    await until("the rollout", async () =>
      (await events("web", "ConfigChanged")).some(({ message }) => isRolling(message)) ? true : undefined,
    );
    expect(await wave("wait", "deployment/web", "--timeout=240s")).toMatchObject({ code: 0 });
    const after = await ready("web", 3);
    expect(after.map(nameOf)).not.toContain(nameOf(mixed));
    for (const pod of after) expect(await page(pod)).toBe("good");
    expect((await ready("api", 1)).map(nameOf)).toEqual(others.map(nameOf));
  });

  it.concurrent("counts the Pods and containers that read a held edit already", async () => {
    const ns = "held";
    const { create, edit, event, kubectl, ready, page, annotate, wave, explained } = await scene(ns);
    const { cluster } = node();
    const before = await create("web", 3, readsVariable());
    const [mounts] = (await create("files", 1, readsEverywhere("page"))) as [Pod];
    for (const name of ["web", "files"]) await annotate(name, { "wave.pusher.com/hold": "true" });
    await apart();
    await edit("new");
    for (const name of ["web", "files"]) await event(name, "RolloutHeld");
    await apart();
    expect((await explained("web")).heldChange).toMatchObject({ total: 3, rolled: 0, startedSince: 0, env: 3 });
    const [deleted, restarted, kept] = before as [Pod, Pod, Pod];
    await kubectl("delete", "pod", nameOf(deleted));
    await restartContainer(node(), restarted);
    const after = await ready("web", 3);
    const added = after.find((pod) => !before.some((each) => nameOf(each) === nameOf(pod))) as Pod;
    await refresh(cluster, ns, nameOf(mounts));
    // What the Pods really read.
    for (const pod of [added, restarted]) expect(await page(pod)).toBe("new");
    expect(await page(kept)).toBe("good");
    expect(await pagesOf(cluster, ns, nameOf(mounts))).toMatchObject({ env: "good", volume: "new" });
    const { state, heldChange, notes } = await explained("web");
    expect({ state, heldChange }).toMatchObject({
      state: "held",
      heldChange: { total: 3, rolled: 0, startedSince: 2, env: 1 },
    });
    expect(notes.join("\n")).toContain(
      "0 of 3 Pods were rolled for the held change. 2 started since the change and read it already.",
    );
    expect((await explained("files")).heldChange).toMatchObject({ total: 1, rolled: 0, startedSince: 0, files: 1 });
    expect((await wave("list")).out).toMatch(/^deployment\/web +held +0\/3 +3\/3 +hold /m);
  });

  it.concurrent("fails a canary whose containers end again and again, although its Pods were available", async () => {
    const { create, edit, event, pods, wave, explained } = await scene("crash-loop");
    await create("canary", 2, readsVariable(endsWithBadPage), { annotations: { "wave.pusher.com/priority": "1" } });
    const before = await create("web", 2, readsVariable());
    await edit("bad");
    await event("web", "RolloutHalted");
    expect(await explained("canary")).toMatchObject({ state: "failed" });
    expect((await wave("list")).out).toMatch(/^deployment\/canary +failed /m);
    expect((await wave("wait", "deployment/canary", "--timeout=0")).err).toMatch(/restarted \d+ times/);
    expect((await pods("web")).map(nameOf).sort()).toEqual(before.map(nameOf).sort());
  });

  // It waits for the whole soak time.
  it.concurrent("restarts at the opt-in only a workload whose containers read an earlier page", async () => {
    const ns = "opts-in";
    const { kubectl, create, edit, page, pods, annotate, wave } = await scene(ns);
    const out = { annotations: { "wave.pusher.com/update-on-config-change": "false" } };
    const optIn = (name: string) => annotate(name, { "wave.pusher.com/update-on-config-change": "true" });
    const revisions = async (name: string) =>
      (await kubectl("get", "replicasets", "-l", `app=${name}`, "-oname")).trim().split("\n").length;
    const early = await create("early", 1, readsVariable(), out);
    const again = await create("again", 1, readsVariable(), out);
    const files = await create("files", 1, readsEverywhere("page"), out);
    await edit("new");
    await apart();
    const late = await create("late", 1, readsVariable(), out);
    for (const [pod] of [again, files] as [Pod][]) await restartContainer(node(), pod);
    // A container that has started again has read its variables, and perhaps not its files.
    await until("the new variables beside the files", async () => {
      const pages = await pagesOf(node().cluster, ns, nameOf(files[0] as Pod)).catch(() => undefined);
      return pages?.env === "new" ? true : undefined;
    });
    await optIn("files");
    expect(await wave("wait", "deployment/files", "--timeout=240s")).toMatchObject({ code: 0 });
    expect(await revisions("files")).toBe(2);
    // The first of them have nothing to wait for. A rollout of the last one is a canary.
    for (const name of ["late", "again", "early"]) {
      await optIn(name);
      expect(await wave("wait", `deployment/${name}`, "--timeout=240s")).toMatchObject({ code: 0 });
      expect(await Promise.all((await pods(name)).filter(isReady).map(page))).toEqual(["new"]);
    }
    expect(await revisions("early")).toBe(2);
    expect((await pods("early")).map(nameOf)).not.toEqual(early.map(nameOf));
    for (const [name, kept] of Object.entries({ late, again })) {
      expect(await revisions(name)).toBe(1);
      expect((await pods(name)).map(nameOf)).toEqual(kept.map(nameOf));
    }
  }, 600_000);

  it.concurrent("does not restart a Pod that has waited for its ConfigMap without a scheduling hold", async () => {
    const ns = "waited";
    const { namespace, kubectl, ready, page, wave } = await scene(ns);
    await kubectl("delete", "configmap", "page");
    await apart();
    const annotations = { "wave.pusher.com/scheduling-hold": "off" };
    await namespace.create(workload("web", readsVariable(), { annotations }));
    const reason = "jsonpath={.items[*].status.containerStatuses[*].state.waiting.reason}";
    await until("the Pod that waits", async () =>
      (await kubectl("get", "pods", "-l", "app=web", "-o", reason)) === "CreateContainerConfigError" ? true : undefined,
    );
    await namespace.configMap("page", { page: "created" });
    const [pod] = (await ready("web", 1)) as [Pod];
    expect(await wave("wait", "deployment/web", "--timeout=60s")).toMatchObject({ code: 0 });
    expect(await page(pod)).toBe("created");
    expect((await ready("web", 1)).map(nameOf)).toEqual([nameOf(pod)]);
    expect((await kubectl("get", "replicasets", "-oname")).trim().split("\n")).toHaveLength(1);
  });

  // Removes the Wave that the other cases need.
  it("releases the Pods that wait for configuration when Wave is uninstalled", async () => {
    const { cluster } = node();
    const ns = "stranded";
    const namespace = await makeNamespace(cluster, ns);
    await namespace.create(workload("web", readsVariable()));
    const waiting = await until("the Pod", async () => (await podsOf(cluster, ns, "app=web"))[0]);
    expect(waiting).toMatchObject({ spec: { schedulerName: "wave.pusher.com/invalid" }, status: { phase: "Pending" } });
    await helm(cluster, ["uninstall", "wave", "-n", system, "--wait", "--timeout", "240s"]);
    await namespace.configMap("page", { page: "late" });
    await rolledOut(cluster, ns, "deployment/web");
    const [pod, ...others] = await until("one ready Pod", async () => {
      const all = await podsOf(cluster, ns, "app=web");
      return all.length === 1 && all.every(isReady) ? all : undefined;
    });
    expect(others).toEqual([]);
    expect(pod && (await cluster.kubectl(["-n", ns, "exec", nameOf(pod), "--", "sh", "-c", "echo $PAGE"]))).toBe(
      "late\n",
    );
  });
});
