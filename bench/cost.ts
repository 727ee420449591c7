import { fork } from "node:child_process";
import { once } from "node:events";
import { type Config, type ConfigObject, sameConfig, toConfig } from "../src/domain/config/digest.ts";
import type { Lookup } from "../src/domain/config/view-of-references.ts";
import { sameWorkload } from "../src/domain/model/cached-workload.ts";
import { kinds } from "../src/domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../src/domain/model/workload.ts";
import type { WorkloadObject } from "../src/domain/model/workload-references.ts";
import { patchFor } from "../src/domain/patch/workload-patch.ts";
import type { Policy } from "../src/domain/policy/policy.ts";
import { configKey } from "../src/domain/references/references.ts";
import { planRollout } from "../test/support/domain/decisions.ts";
import { unpaced } from "../test/support/domain/objects.ts";
import { type LargeObject, largeObjects } from "./large-objects.ts";
import { waveEnv, waveFlags } from "./wave-node.ts";

/** What one event costs the event loop, in milliseconds, from the bytes of its line to the concluded plan. */
export interface Cost {
  readonly what: string;
  readonly entries: number;
  /** The length of the line in bytes. */
  readonly bytes: number;
  /** Parsing the line alone, which is not Wave's code. */
  readonly parse: number;
  /** All of it: parsed, transformed, compared with what was held, planned. */
  readonly total: number;
}

/** Measures every large object at every size, each in a process of its own with the flags that bin/wave has. */
export async function measureCosts(sizes: readonly number[], done: (cost: Cost) => void): Promise<readonly Cost[]> {
  const costs: Cost[] = [];
  for (const what of Object.keys(largeObjects)) {
    for (const entries of sizes) {
      const cost = await inChild(what, entries);
      costs.push(cost);
      done(cost);
    }
  }
  return costs;
}

async function inChild(what: string, entries: number): Promise<Cost> {
  const child = fork(import.meta.filename, [what, `${entries}`], {
    execArgv: [...waveFlags],
    env: waveEnv,
  });
  const [cost] = await once(child, "message");
  return cost as Cost;
}

const policy: Policy = {
  crossNamespace: "granted",
  namespaces: undefined,
  schedulingHold: true,
  pacing: unpaced,
};

function measure(what: string, entries: number): Cost {
  const made = largeObjects[what]?.(entries);
  if (made === undefined) throw new Error(`no large object is called "${what}"`);
  const event = what.includes("of a ConfigMap") ? configEvent(made) : workloadEvent(made);
  const runs = Array.from({ length: entries >= 1000 ? 7 : 25 }, () => event.run());
  // The least: what others do on the machine only adds.
  const least = (of: (run: Run) => number) => Math.min(...runs.map(of));
  return {
    what,
    entries,
    bytes: event.line.length,
    parse: least((run) => run.parse),
    total: least((run) => run.total),
  };
}

interface Run {
  readonly parse: number;
  readonly total: number;
}

interface Event {
  readonly line: Buffer;
  readonly run: () => Run;
}

/** The workload changes: it is read from the line, compared and planned. */
function workloadEvent(large: LargeObject): Event {
  const line = lineOf(large.workload);
  const lookup = lookupOf([large.configMap, ...large.others].map((object) => toConfig("ConfigMap", object)));
  const held = toWorkload(kinds.Deployment, parsed(line));
  const run = () =>
    timed(line, (object: WorkloadObject) => {
      const workload = toWorkload(kinds.Deployment, object);
      sameWorkload(held, workload);
      patchFor(workload, planRollout(workload, lookup, policy));
    });
  return { line, run };
}

/** A ConfigMap changes: it is read from the line, compared, and its reader is planned. */
function configEvent(large: LargeObject): Event {
  const line = lineOf(large.configMap);
  const workload = toWorkload(kinds.Deployment, large.workload);
  const held = toConfig("ConfigMap", parsed(line));
  const before = planRollout(workload, lookupOf([held]), policy);
  const run = () =>
    timed(line, (object: ConfigObject) => {
      const config = toConfig("ConfigMap", object);
      sameConfig(held, config);
      const plan = planRollout(workload, lookupOf([config]), policy, "view" in before ? before.view : undefined);
      patchFor(workload, plan);
    });
  return { line, run };
}

function timed<T>(line: Buffer, act: (object: T) => void): Run {
  const begun = performance.now();
  const object = parsed<T>(line);
  const parse = performance.now() - begun;
  act(object);
  return { parse, total: performance.now() - begun };
}

function lineOf(object: object): Buffer {
  return Buffer.from(JSON.stringify({ type: "MODIFIED", object }));
}

function parsed<T>(line: Buffer): T {
  return JSON.parse(line.toString()).object;
}

function lookupOf(configs: readonly Config[]): Lookup {
  const byKey = new Map(configs.map((config) => [configKey(config), config]));
  return (kind, namespace, name) => byKey.get(configKey({ kind, namespace, name }));
}

if (import.meta.main) {
  process.send?.(measure(process.argv[2] ?? "", Number(process.argv[3])));
  process.disconnect();
}
