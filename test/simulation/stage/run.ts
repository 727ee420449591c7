import { webhookConfiguration } from "../../../src/webhook/certificates/configuration.ts";
import { judge } from "../judge.ts";
import { mixedAtEnd } from "../judge-containers.ts";
import { judgeEnd } from "../judge-end.ts";
import { lastWaitEnd } from "../judge-pace.ts";
import { isOlderThan } from "../kept-seeds.ts";
import type { BatchSettings, Life, Recording } from "../record.ts";
import { createWorld } from "../world.ts";
import { AlertSource, chooseGate } from "./alert-source.ts";
import { Alerted } from "./alerted.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { Director } from "./director.ts";
import { emptied } from "./emptied.ts";
import { Encore } from "./encore.ts";
import { chooseControllerDelay, chooseFull, chooseRestarts, fillNodes, Nodes } from "./nodes.ts";
import { chooseBroken, choosePacing, chooseValidators } from "./pacing.ts";
import { choosePinning, collectedMs } from "./pinning.ts";
import { Random } from "./random.ts";
import { canBeRefused, playRefused } from "./refused.ts";
import { waveNamespace } from "./replica.ts";
import { canReturn, chooseReturns, Returned } from "./returned.ts";
import { Scheduler } from "./scheduler.ts";
import { canBeStuck, playStuck } from "./stuck.ts";
import { TakenBack } from "./taken-back.ts";
import { Trace } from "./trace.ts";
import { Weather } from "./weather.ts";
import { WebhookService } from "./webhook-service.ts";
import { chooseWidgets, findingMs } from "./widgets.ts";

/** The result of one seed. */
export interface Outcome {
  readonly recording: Recording;
  /** Empty if everything is correct. */
  readonly violations: readonly string[];
  /** The amount of activity. */
  readonly events: number;
  /** The outcomes of plans and the reasons of holds that replicas logged, such as `outcome roll` and `hold window`. */
  readonly reached: ReadonlySet<string>;
}

/** The maximum time until everything is correct after the last fault. */
const calmMs = 30_000;

/** The process that creates the very first Lease leads after the Lease has existed for its duration. */
const firstLeaseMs = 15_000;

/** The same with pacing: a rollout waits for a node and for other workloads, and after consecutive rollouts for 11 minutes or longer. */
const pacedCalmMs = 320_000;
const intervalMs = 640_000;
/** The soak time with an alert gate, in milliseconds: longer than the time between two queries. */
const gatedSoakMs = 60_000;
/** How long a node may be full after the last fault, in milliseconds. */
const longestFullMs = 120_000;

/** The same for mixed Pods: files of a Pod may be old for two minutes, and an interval between rollouts is up to five minutes. */
const podsRightMs = 600_000;

/** Kubernetes kills a Pod that has not ended this long after its signal to stop. */
const stopMs = 30_000;

/**
 * Plays one seed from beginning to end: complete replicas of Wave against an in-memory API server, in virtual time. The same
 * seed always plays in the same way. `write` receives a line for everything that happens.
 */
export async function simulate(seed: number, write?: (line: string) => void): Promise<Outcome> {
  const random = new Random(seed);
  const scheduler = new Scheduler();
  const trace = new Trace(scheduler, write);
  const violations: string[] = [];
  const violated = (what: string) => {
    trace.line("", () => `VIOLATION ${what}`);
    violations.push(what);
  };
  const onRejection = (error: unknown) => {
    violated(`unhandled rejection: ${error instanceof Error ? error.stack : String(error)}`);
  };
  process.on("unhandledRejection", onRejection);
  try {
    const machines = ["a", "b", "c"].slice(0, random.whole(2, 3));
    const { pacing: chosen, epoch } = choosePacing(random.stream("pacing"));
    // Without halts, the others roll although the canary failed.
    const gateRequired = chosen?.haltAfterFailures ? chooseGate(random.stream("gate"), seed) : undefined;
    const pacing = chosen && gateRequired !== undefined ? { ...chosen, soakMs: gatedSoakMs } : chosen;
    const calmAfter = random.between(20_000, 90_000);
    const weather = new Weather(random.stream("weather"), {
      calmAt: pacing === undefined ? calmAfter : 3 * calmAfter,
      replicas: machines,
    });
    trace.line("", () => weather.describe());
    const webhooks = new WebhookService({ scheduler, weather, random: random.stream("webhooks"), trace });
    const historySize = random.pick([30, 200, 5_000]);
    const widgetsFrom = chooseWidgets(random.stream("kinds"), weather.calmAt);
    const caller = webhooks.caller;
    const controllerDelayMs = chooseControllerDelay(random.stream("controllers"), seed);
    const cluster = startCluster({
      ...{ scheduler, random, webhooks: caller, historySize, epoch, widgetsFrom, controllerDelayMs, trace },
    });
    webhooks.revision = () => cluster.server.registry.storage.revision;
    const { api, history } = cluster;
    const paced = pacing && { pacing, wall: () => epoch + scheduler.now };
    const worldRandom = random.stream("world").next;
    const pinned = choosePinning(random.stream("pinning"), seed, pacing !== undefined);
    const broken = pacing !== undefined && chooseBroken(random.stream("broken"), seed);
    const validators = pacing !== undefined && chooseValidators(random.stream("validators"), seed);
    const releases = random.stream("releases").chance(0.5) && !isOlderThan(seed, "other releases");
    const returns = pacing !== undefined && chooseReturns(random.stream("returns"), seed);
    const has = { widgets: widgetsFrom !== undefined, pinned, broken, validators, releases, returns, gateRequired };
    const world = createWorld({ api, random: worldRandom, sleep: scheduler.sleep, history, paced, ...has });
    const { settings } = world;
    trace.line("", () => JSON.stringify(settings));
    const restarts = chooseRestarts(random.stream("restarts"), seed);
    // With a wrong clock, Wave does not know exactly what containers have read, and which of a failure and a decision came first.
    const hasRightClocks = (restarts || returns) && random.stream("right clocks").chance(0.6);
    const reached = new Set<string>();
    const alerts = new AlertSource(scheduler, random.stream("alerts"));
    void alerts.trouble(weather.calmAt - 1_000);
    const stage = {
      alerts,
      scheduler,
      cluster,
      weather,
      webhooks,
      random,
      trace,
      settings,
      hasRightClocks,
      reached,
      violated,
    };
    const director = new Director(stage, machines);
    const nodes = restarts ? new Nodes(stage) : undefined;
    const play = director.play(world, () => install(cluster, settings, random.chance(0.8)));
    play.catch((error: unknown) =>
      violated(`the stage broke: ${error instanceof Error ? error.stack : String(error)}`),
    );
    void nodes?.trouble(weather.calmAt);
    if (chooseFull(random.stream("is full"), seed))
      void fillNodes(stage, weather.calmAt, pacing === undefined ? 0 : longestFullMs);
    await scheduler.runUntil(weather.calmAt);
    const calmAt = scheduler.now;
    trace.line("", () => "calm");
    director.calm();
    world.rest();
    /** Advances for this time. With pacing, then advances until everything is correct, within a limit. */
    const becomeRight = async (leastMs: number) => {
      // With a wrong clock, a soak time, a wait and a timeout may each be longer by the error of the clock, one after the other.
      const { lives } = director;
      const waitsUntil = Math.max(scheduler.now + intervalMs, lastWaitEnd({ history, lives, settings }));
      const end = waitsUntil + pacedCalmMs + 3 * longestWallOff(lives);
      await scheduler.runUntil(scheduler.now + leastMs);
      while (pacing !== undefined && scheduler.now < end && !isRight())
        await scheduler.runUntil(scheduler.now + 30_000);
    };
    const isRight = () => {
      const { lives } = director;
      const unlisted = cluster.unlisted?.namespace;
      return judgeEnd({ history, settings, rightAt: [scheduler.now], unlisted, epoch, lives }).length === 0;
    };
    const hasLease = history.some(({ resource }) => resource === "leases");
    await becomeRight(calmMs + (has.widgets ? findingMs : 0) + (hasLease ? 0 : firstLeaseMs));
    const rightAt = [scheduler.now];
    if (pacing !== undefined) {
      trace.line("", () => "everything is released");
      const released = world.release();
      await scheduler.runUntil(scheduler.now + 5_000);
      await released;
      await becomeRight(calmMs);
      rightAt.push(scheduler.now);
    }
    const encore = new Encore({ ...stage, replicas: director.replicas, becomeRight });
    rightAt.push(...(await encore.play(world)));
    const recorded = (right: readonly number[], podsRightAt: readonly number[]): Recording => {
      const { lives } = director;
      const containers = nodes && { starts: nodes.starts, rightAt: podsRightAt };
      const unlisted = cluster.unlisted?.namespace;
      const { sent, gapsAt } = cluster;
      const told = { reviews: webhooks.reviews, sent, lives, unlisted, gapsAt };
      return { seed, epoch, settings, history, calmAt, rightAt: right, endAt: scheduler.now, containers, ...told };
    };
    const podsRightAt: number[] = [];
    const changeLeader = (how: "crash" | "stop") => director.changeLeader(how);
    if (nodes !== undefined) {
      const becomePodsRight = async () => {
        await becomeRight(calmMs);
        const { lives } = director;
        const end = Math.max(scheduler.now + podsRightMs, lastWaitEnd({ history, lives, settings }) + calmMs);
        while (scheduler.now < end && mixedAtEnd(recorded([], [scheduler.now])).length > 0)
          await scheduler.runUntil(scheduler.now + 15_000);
      };
      const takenBack = new TakenBack({ ...stage, nodes, changeLeader, becomeRight: becomePodsRight });
      podsRightAt.push(...(await takenBack.play()));
      rightAt.push(scheduler.now);
    }
    const scripted = { ...stage, replicas: () => director.replicas, changeLeader };
    const isScripted = pacing !== undefined && canReturn(settings);
    const playsRefused = validators && !isOlderThan(seed, "refused content") && canBeRefused(settings);
    const playsStuck = pacing !== undefined && canBeStuck({ seed, settings });
    weather.isScripted = playsStuck || playsRefused || (isScripted && (returns || gateRequired !== undefined));
    const returned = returns && isScripted ? await new Returned(scripted, pacing).play() : [];
    const alerted =
      gateRequired !== undefined && isScripted
        ? { rounds: await new Alerted(scripted, pacing).play(), answers: alerts.answers }
        : undefined;
    const stuck = playsStuck ? await playStuck(scripted, pacing) : [];
    if (playsRefused && pacing !== undefined) await playRefused(scripted, pacing);
    if (pinned) await scheduler.runUntil(scheduler.now + collectedMs);
    const endAt = scheduler.now;
    const recording = { ...recorded(rightAt, podsRightAt), returned, alerted, stuck };
    violations.push(...emptied(director.replicas), ...judge(recording));
    director.stop();
    await scheduler.runUntil(endAt + stopMs);
    const late = director.replicas.filter(({ isOver }) => !isOver).map(({ process: { name } }) => name);
    violations.push(...late.map((name) => `${name} has not ended ${stopMs} ms after it was told to`));
    cluster.server.stop();
    return { recording, violations, events: scheduler.happened, reached };
  } finally {
    process.off("unhandledRejection", onRejection);
  }
}

/** A slow clock makes its process wait longer. If a clock is further behind, the process treats the clock of the API server as wrong. */
const mostWallOffMs = 600_000;

function longestWallOff(lives: readonly Life[]): number {
  const off = lives.filter(({ to }) => to === undefined).map(({ wallOffMs }) => wallOffMs);
  return Math.min(mostWallOffMs, Math.max(0, ...off));
}

/** Returns what the chart installs. With `before`, also what an earlier Wave has left, so that no process has to wait to lead. */
async function install(
  { api }: Cluster,
  { webhooks, namespaces, workloadKinds }: BatchSettings,
  before: boolean,
): Promise<void> {
  await api.request("POST", "/api/v1/namespaces", { body: { metadata: { name: waveNamespace } } });
  if (before) {
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${waveNamespace}/leases`;
    const spec = { holderIdentity: "", leaseDurationSeconds: 1, leaseTransitions: 0 };
    await api.request("POST", leases, { body: { metadata: { name: "wave" }, spec } });
  }
  if (!webhooks) return;
  const clientConfig = { service: { name: "wave", namespace: waveNamespace } };
  const body = webhookConfiguration({ name: "wave", clientConfig, namespaces, workloadKinds });
  await api.request("POST", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", { body });
}
