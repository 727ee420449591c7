import type { Style } from "../output/paint.ts";

/** What becomes of a workload when the manifests are applied. */
export const diffEffects = {
  roll: "Wave replaces its Pods",
  held: "Wave would replace its Pods, and something holds that",
  template: "its Pods are replaced anyway: the manifests change its pod template",
  waits: "something that its Pods require would be missing: it keeps the Pods that it has",
  new: "it is created: where webhooks are on its first Pods have its hash, else they are replaced once",
  starts: "its Pods wait for their configuration, and start",
  note: "what its Pods see is noted beside it; no Pod is replaced",
  spared: "what is due now would be no longer: its Pods see that configuration",
  tooLarge: "it would ask for more than one object may cost",
  unknown: "it hangs on what you may not read",
} as const;

/** One of them. */
export type DiffEffect = keyof typeof diffEffects;

/** Those with which Pods of the cluster are replaced, at once or some time. */
export const replacing: ReadonlySet<DiffEffect> = new Set<DiffEffect>(["roll", "held", "template"]);

/** How they look in a terminal. */
export const effectStyles: Readonly<Record<DiffEffect, Style>> = {
  roll: "cyan",
  held: "yellow",
  template: "cyan",
  waits: "red",
  new: "green",
  starts: "green",
  note: "dim",
  spared: "green",
  tooLarge: "red",
  unknown: "yellow",
};
