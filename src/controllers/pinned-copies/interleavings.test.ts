import { describe, expect, it } from "vitest";
import { templateOf } from "../../../sandbox/controllers/pods.ts";
import { resources } from "../../../sandbox/objects/resources.ts";
import { startApiServer } from "../../../sandbox/requests/api-server.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { memoryClient } from "../../../test/support/memory-client.ts";
import { toConfig } from "../../domain/config/digest.ts";
import { viewOfReferences } from "../../domain/config/view-of-references.ts";
import { kinds } from "../../domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../domain/model/workload.ts";
import { collectCopies, unusedMs } from "../../domain/pinning/collect.ts";
import { pinsOf } from "../../domain/pinning/pod-pins.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { storeCopies } from "../../pinning/store-copies.ts";
import { soleLeadership } from "../../runtime/write-permits.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { planSweep } from "./read-uses.ts";
import { writeCopy } from "./write-copies.ts";

const deployments = "/apis/apps/v1/namespaces/default/deployments";
const configMaps = "/api/v1/namespaces/default/configmaps";
const signal = new AbortController().signal;

/** A mistake that a test makes on purpose. */
type Mistake = "no wait" | "old uses" | "no precondition";

/** One actor whose next request waits for its turn. */
interface Actor {
  readonly name: string;
  next: (() => void) | undefined;
  /** Whether the next request reads. */
  reads: boolean;
  hasBegun: boolean;
  isDone: boolean;
  /** An actor that does the same and begins earlier: the orders in which it begins later are these orders with the names exchanged. */
  readonly twin: Actor | undefined;
}

/**
 * One run of several actors on one API server, in an order of requests that `choices` gives. All other requests than those for ConfigMaps
 * and Deployments are answered at once: nothing writes these objects.
 */
class Run {
  readonly clock = new FakeClock();
  readonly server = startApiServer({ controllers: false, clock: this.clock });
  readonly direct = memoryClient(this.server);
  /** The number of choices at each step. */
  readonly widths: number[] = [];
  readonly log: string[] = [];
  readonly #choices: readonly number[];
  readonly #actors: Actor[] = [];
  #failure: unknown;

  constructor(choices: readonly number[]) {
    this.#choices = choices;
  }

  /** Starts an actor, which gets a client of its own. Returns the actor. */
  start(name: string, run: (client: ApiClient) => Promise<void>, twin?: Actor): Actor {
    const actor: Actor = { name, next: undefined, reads: false, hasBegun: false, isDone: false, twin };
    this.#actors.push(actor);
    const turn = ({ method, path }: ApiRequest) => {
      if (!path.startsWith(deployments) && !path.startsWith(configMaps)) return Promise.resolve();
      actor.reads = method === "GET";
      return new Promise<void>((resolve) => {
        actor.next = () => {
          this.log.push(`${name}: ${method} ${path}`);
          resolve();
        };
      });
    };
    const end = () => {
      actor.isDone = true;
    };
    run(memoryClient(this.server, turn)).then(end, (error: unknown) => {
      this.#failure ??= error;
      end();
    });
    return actor;
  }

  /** Lets the actors send their requests one by one until all are done. Calls `check` after each. */
  async play(check: () => void): Promise<void> {
    // The order of reads that follow each other makes no difference. So an actor does not read just after a read of an actor that started later.
    let reader = -1;
    for (;;) {
      for (let turns = 0; this.#actors.some(({ isDone, next }) => !isDone && next === undefined); turns++) {
        if (turns > 1000) throw new Error(`an actor does not go on: ${this.log.join(", ")}`);
        await immediate();
      }
      const waiting = this.#actors.filter(({ isDone, twin }) => !isDone && twin?.hasBegun !== false);
      if (this.#failure !== undefined) throw this.#failure;
      if (waiting.length === 0) return;
      const others = waiting.filter((actor) => !actor.reads || this.#actors.indexOf(actor) >= reader);
      const ready = others.length > 0 ? others : waiting;
      const actor = ready[this.#choices[this.widths.length] ?? 0];
      this.widths.push(ready.length);
      reader = actor?.reads ? this.#actors.indexOf(actor) : -1;
      const { next } = actor ?? {};
      if (actor !== undefined) Object.assign(actor, { next: undefined, hasBegun: true });
      next?.();
      await immediate();
      check();
    }
  }
}

function immediate(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Calls `play` with every sequence of choices. Returns the number of runs. */
async function everyOrder(play: (choices: readonly number[]) => Promise<readonly number[]>): Promise<number> {
  let choices: readonly number[] | undefined = [];
  let runs = 0;
  while (choices !== undefined) {
    const widths: readonly number[] = await play(choices);
    runs++;
    const taken = widths.map((_, i) => choices?.[i] ?? 0);
    const last = widths.findLastIndex((width, i) => (taken[i] ?? 0) + 1 < width);
    choices = last === -1 ? undefined : [...taken.slice(0, last), (taken[last] ?? 0) + 1];
  }
  return runs;
}

const containers = [{ name: "main", image: "nginx", envFrom: [{ configMapRef: { name: "page" } }] }];

/** A ConfigMap, a stored copy of it, and two Deployments that read it. `before` names the copy, `after` does not. */
async function scene({ direct, clock }: Pick<Run, "direct" | "clock">) {
  const { request } = direct;
  await request({ method: "POST", path: configMaps, body: { metadata: { name: "page" }, data: { a: "1" } } });
  for (const name of ["before", "after"]) {
    const annotations = { "wave.pusher.com/update-on-config-change": "true", "wave.pusher.com/pin-config": "true" };
    const labels = { app: name };
    const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
    await request({ method: "POST", path: deployments, body: { metadata: { name, annotations }, spec } });
  }
  const store = async (name: string, client: ApiClient) => {
    const deployment = await request<object>({ method: "GET", path: `${deployments}/${name}` });
    const page = toConfig("ConfigMap", await request({ method: "GET", path: `${configMaps}/page` }));
    const workload = toWorkload(kinds.Deployment, { ...kinds.Deployment, ...deployment } as never);
    const references = workload.references.filter(({ kind }) => kind === "ConfigMap");
    const { entries } = viewOfReferences(references, () => page);
    const source = { namespace: "default", name: "page", references, tracked: references, entries };
    const stored = await storeCopies(workload, [source], {
      client,
      lookup: () => page,
      isAlive: async () => true,
      copiesIn: () => [],
    });
    if (stored.type !== "stored") throw new Error(stored.type);
    await pin(client, name, stored.pinned);
  };
  await store("before", direct);
  return { store, sweeps: (mistake?: Mistake) => sweeper(clock, mistake) };
}

async function pin(client: ApiClient, name: string, pinned: string | undefined): Promise<void> {
  const annotations = { "wave.pusher.com/pinned": pinned ?? null };
  const contentType = "application/merge-patch+json";
  const body = { spec: { template: { metadata: { annotations } } } };
  await client.request({ method: "PATCH", path: `${deployments}/${name}`, contentType, body });
}

/** Returns the sweep of one collector. */
function sweeper(clock: FakeClock, mistake: Mistake | undefined): (client: ApiClient) => Promise<void> {
  const leadership = soleLeadership(signal);
  const moment = () => ({ now: clock.wall(), unseenMs: () => 0, ...(mistake === "no wait" && { waitMs: 0 }) });
  let first: Awaited<ReturnType<typeof planSweep>>["uses"] | undefined;
  return async (client) => {
    const listing = { client, clock, log: silentLogger, signal };
    const read = await planSweep("default", [kinds.Deployment], listing, moment);
    first ??= read.uses;
    const { actions } = mistake === "old uses" ? collectCopies(read.copies, first, moment()) : read.plan;
    for (const action of actions) {
      if (mistake === "no precondition" && action.type === "delete") {
        await client.request({ method: "DELETE", path: `${configMaps}/${action.copy.name}` }).catch(() => {});
      } else await writeCopy("default", action, { client, clock, leadership });
    }
  };
}

/** Fails if a Deployment names a copy that does not exist. */
function copiesExist({ server, log }: Run): void {
  const { storage } = server.registry;
  const copies = new Set(storage.list(resources.configMaps, "default").map(({ metadata }) => metadata.name));
  for (const deployment of storage.list(resources.deployments, "default")) {
    const pins = pinsOf(templateOf(deployment)) ?? new Map<string, string>();
    for (const copy of pins.values()) {
      if (!copies.has(copy)) throw new Error(`${copy} does not exist:\n${log.join("\n")}`);
    }
  }
}

/**
 * Plays one order of: a collector that sweeps twice with an hour in between, a workload that stops using the copy, and another one that
 * starts to use it, in this hour or in the next. No request takes an hour.
 */
async function playSweeps(starts: "first hour" | "second hour", choices: readonly number[], mistake?: Mistake) {
  const run = new Run(choices);
  const { store, sweeps } = await scene(run);
  const sweep = sweeps(mistake);
  const start = () => run.start("workload", (client) => store("after", client));
  run.start("owner", (client) => pin(client, "before", undefined));
  run.start("collector", async (client) => {
    await sweep(client);
    if (mistake === "no wait") await sweep(client);
  });
  if (starts === "first hour") start();
  await run.play(() => copiesExist(run));
  await run.clock.advance(unusedMs);
  run.start("collector", sweep);
  if (starts === "second hour") start();
  await run.play(() => copiesExist(run));
  return run.widths;
}

/** Plays one order of two collectors, which both find the mark an hour old, and a workload that takes the copy into use. */
async function playTwoLeaders(choices: readonly number[], mistake?: Mistake) {
  const run = new Run(choices);
  const { store, sweeps } = await scene(run);
  await pin(run.direct, "before", undefined);
  await sweeps()(run.direct);
  await run.clock.advance(unusedMs);
  const old = run.start("old leader", sweeps(mistake));
  run.start("new leader", sweeps(mistake), old);
  run.start("workload", (client) => store("after", client));
  await run.play(() => copiesExist(run));
  return run.widths;
}

describe("in every order of requests, a copy that a template names exists", () => {
  it("when a workload takes the copy into use while it is marked", async () => {
    expect(await everyOrder((choices) => playSweeps("first hour", choices))).toBeGreaterThan(50);
  });

  it("when a workload takes the copy into use while it is deleted", async () => {
    expect(await everyOrder((choices) => playSweeps("second hour", choices))).toBeGreaterThan(30);
  });

  it("when two collectors delete, because the leadership changed", { timeout: 600_000 }, async () => {
    expect(await everyOrder((choices) => playTwoLeaders(choices))).toBeGreaterThan(200);
  });
});

describe("an order with a lost copy is found", () => {
  it.each<[string, (choices: readonly number[]) => Promise<readonly number[]>]>([
    ["if the collector does not wait", (choices) => playSweeps("first hour", choices, "no wait")],
    ["if the collector does not read the uses again", (choices) => playSweeps("first hour", choices, "old uses")],
    ["if the deletion has no precondition", (choices) => playTwoLeaders(choices, "no precondition")],
  ])("%s", async (_what, play) => {
    await expect(everyOrder(play)).rejects.toThrow("does not exist");
  });
});
