import type { Style } from "../output/paint.ts";

/** The effects of the manifests on a workload, with their meanings. */
export const diffEffects = {
  roll: "Wave rolls the workload.",
  held: "A rollout becomes due, but a hold applies.",
  template: "The manifests change the pod template, so Kubernetes replaces the Pods in any case.",
  waiting: "Something that the Pods require is missing. Running Pods are not changed.",
  created:
    "The workload is new. Without webhooks, Wave replaces its first Pods once if they may read an earlier configuration.",
  starts: "The configuration of pending Pods becomes complete, so they start.",
  recorded: "Wave records the current configuration without a restart.",
  notDue: "A rollout that is due now is no longer needed.",
  overLimit: "The workload exceeds a limit of Wave, so Wave does not roll it.",
  unknown: "You do not have permission to read something that the effect depends on.",
} as const;

/** The effect of the manifests on one workload. */
export type DiffEffect = keyof typeof diffEffects;

/** The effects that replace existing Pods, now or later. */
export const replacing: ReadonlySet<DiffEffect> = new Set<DiffEffect>(["roll", "held", "template"]);

/** The color of each effect in the table of `wave diff`. */
export const effectStyles: Readonly<Record<DiffEffect, Style>> = {
  roll: "cyan",
  held: "yellow",
  template: "cyan",
  waiting: "red",
  created: "green",
  starts: "green",
  recorded: "dim",
  notDue: "green",
  overLimit: "red",
  unknown: "yellow",
};
