import { isOlderThan } from "../kept-seeds.ts";
import type { StoredObject } from "../record.ts";
import type { Random } from "./random.ts";

/** How long copies that nothing uses exist at most in a run, in milliseconds, and some time for faults. */
export const collectedMs = 150_000;

/** Whether workloads are pinned: in half of the runs, but in no older run that is kept. */
export function choosePinning(random: Random, seed: number, isPaced: boolean): boolean {
  return random.chance(0.5) && !isOlderThan(seed, isPaced ? "pins with pacing" : "pins and broken workloads");
}

/** The fields of a pod spec that name a ConfigMap. */
const references = ["configMap", "configMapRef", "configMapKeyRef"];

/** Returns a new Pod as the admission policy of the chart stores it: its references name the copies of its annotation. */
export function pointed(pod: StoredObject): StoredObject {
  const text = pod.metadata.annotations?.["wave.pusher.com/pinned"];
  if (text === undefined) return pod;
  const copies = new Map(text.split(",").map((pin) => pin.split("=", 2) as [string, string]));
  const visit = (value: unknown, field: string): unknown => {
    if (Array.isArray(value)) return value.map((each) => visit(each, ""));
    if (typeof value !== "object" || value === null) return value;
    const inside = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, visit(each, name)]));
    const copy = references.includes(field) ? copies.get(String(inside.name)) : undefined;
    return copy === undefined ? inside : { ...inside, name: copy };
  };
  return { ...pod, spec: visit(pod.spec, "") };
}
