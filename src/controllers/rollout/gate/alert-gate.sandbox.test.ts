import { expect, it, onTestFinished } from "vitest";
import { startSandbox } from "../../../../sandbox/sandbox.ts";
import { unpaced } from "../../../../test/support/domain/objects.ts";
import { eventually } from "../../../../test/support/eventually.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { TestCluster, workload } from "../../../../test/support/fake-cluster.ts";
import { plainPolicy } from "../../../../test/support/leading-cluster.ts";
import { soleLeadership } from "../../../runtime/write-permits.ts";

const hash = "wave.pusher.com/config-hash";
const failedAlert = "wave.pusher.com/failed-alert";
const pacing = { ...unpaced, maxConcurrent: 50, soakMs: 120_000, haltAfterFailures: 3 };

/** Two complete Deployments that read one ConfigMap, the alerts that fire in their namespace, and a leader with a gate. */
async function scene() {
  const clock = new FakeClock();
  const state = { alerts: [] as string[], queries: 0 };
  const query = async () => {
    state.queries++;
    return new Map(state.alerts.length === 0 ? [] : [["default", state.alerts]]);
  };
  const alertGate = { query, isRequired: false, onResult: () => {}, onAway: () => {} };
  const server = await startSandbox({ controllers: false, clock });
  const cluster = new TestCluster(server.url, { policy: { ...plainPolicy, pacing }, alertGate }, clock);
  await cluster.create("ConfigMap", { metadata: { name: "web" }, data: { a: "1" } });
  const names = ["a", "b"] as const;
  for (const name of names) await cluster.create("Deployment", workload(name));
  await cluster.list();
  let stop = new AbortController();
  let done = cluster.controller.run(soleLeadership(stop.signal));
  /** Ends the leadership. The next one remembers nothing. */
  const restart = async () => {
    stop.abort();
    await done;
    stop = new AbortController();
    done = cluster.controller.run(soleLeadership(stop.signal));
  };
  onTestFinished(async () => {
    stop.abort();
    await done;
    cluster.close();
    await server.close();
  });
  const deployment = async (name: string) => (await cluster.get("Deployment", name)) as never as Deployment;
  const hashes = async () =>
    new Map(
      await Promise.all(
        names.map(async (name) => [name, (await deployment(name)).spec.template.metadata.annotations?.[hash]] as const),
      ),
    );
  /** Lets the time pass, and shows the caches what was written. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 5_000) {
      await clock.advance(5_000);
      for (const name of names) await cluster.show("Deployment", name);
    }
  };
  const messages = (reason: string) =>
    cluster.events.filter((event) => event.reason === reason).map(({ message }) => message);
  const edit = async (a: string) => {
    await cluster.edit("ConfigMap", "web", { data: { a } });
    await cluster.show("ConfigMap", "web");
  };
  for (const name of names) {
    await eventually(async () => expect((await hashes()).get(name)).toBeDefined());
    await cluster.completeRollout(name);
  }
  await pass(700_000);
  cluster.events.length = 0;
  return { cluster, state, restart, deployment, hashes, pass, messages, edit };
}

interface Deployment {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: { readonly template: { readonly metadata: { readonly annotations?: Record<string, string> } } };
}

it("an alert holds a change, and one that begins in the soak of the canary halts it for good, also for the next leader", async () => {
  const { cluster, state, restart, deployment, hashes, pass, messages, edit } = await scene();
  const idle = state.queries;
  await pass(300_000);
  expect(state.queries).toBe(idle);

  state.alerts = ["Errors"];
  const before = await hashes();
  await edit("2");
  await eventually(() => expect(messages("RolloutHeld")).toHaveLength(2));
  expect(messages("RolloutHeld")[0]).toContain('alert "Errors" fires in namespace "default"');
  expect(await hashes()).toEqual(before);

  state.alerts = [];
  await pass(20_000);
  await eventually(async () => expect((await hashes()).get("a")).not.toBe(before.get("a")));
  await cluster.completeRollout("a");
  await pass(20_000);
  expect((await hashes()).get("b")).toBe(before.get("b"));

  state.alerts = ["Other"];
  await pass(20_000);
  await eventually(() =>
    expect(messages("RolloutFailed")).toEqual([expect.stringContaining('alert "Other" began to fire')]),
  );
  await eventually(async () => expect((await deployment("a")).metadata.annotations?.[failedAlert]).toMatch(/ Other$/));

  // The annotation raised the generation.
  await cluster.completeRollout("a");
  state.alerts = [];
  await restart();
  await pass(600_000);
  await eventually(() => expect(messages("RolloutHalted").length).toBeGreaterThan(0));
  expect((await hashes()).get("b")).toBe(before.get("b"));
  expect(cluster.metrics.render()).toContain("wave_rollouts_failed 1\n");

  // While only a person can go on, Wave queries nothing, and a new plan neither ends the halt nor reports it again.
  await pass(60_000);
  const [queries, reported] = [state.queries, messages("RolloutHalted").length];
  await cluster.edit("Deployment", "b", { metadata: { labels: { edited: "1" } } });
  await cluster.completeRollout("b");
  await pass(60_000);
  expect([state.queries, messages("RolloutHalted").length]).toEqual([queries, reported]);

  const resumed = { "wave.pusher.com/resumed": new Date(cluster.clock.wall()).toISOString() };
  await cluster.edit("Deployment", "a", { metadata: { annotations: resumed } });
  await cluster.completeRollout("a");
  await pass(200_000);
  await eventually(async () => expect((await hashes()).get("b")).toBe((await hashes()).get("a")));
});

it("no workload follows a canary that failed by an alert, also before the caches show the failure", async () => {
  const { cluster, state, hashes, pass, messages, edit } = await scene();
  const before = await hashes();
  await edit("2");
  await pass(5_000);
  await eventually(async () => expect((await hashes()).get("a")).not.toBe(before.get("a")));
  await cluster.completeRollout("a");
  await pass(20_000);
  state.alerts = ["Errors"];
  const beginsAt = state.queries;
  while (state.queries === beginsAt) await cluster.clock.advance(1_000);
  await eventually(() => expect(messages("RolloutFailed")).toHaveLength(1));
  state.alerts = [];
  // No watch event: the caches lag behind the annotation that Wave has written.
  for (let passed = 0; passed < 200; passed++) await cluster.clock.advance(1_000);
  await eventually(() => expect(messages("RolloutHalted").length).toBeGreaterThan(0));
  expect((await hashes()).get("b")).toBe(before.get("b"));
});
