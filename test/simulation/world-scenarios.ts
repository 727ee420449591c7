import type { Dice } from "./dice.ts";
import type { BatchSettings, Pacing } from "./record.ts";

/** The size of a world and its frequent actions. */
export interface Shape {
  readonly name: string;
  readonly namespaces: readonly string[];
  readonly workloads: number;
  /** The number of ConfigMaps and Secrets that may exist in each namespace. */
  readonly configs: number;
  /** The probability that a workload names objects of other namespaces, and that a named object exists. */
  readonly crossing: number;
  /** The weight of each action by its name; absent: the default weight of the action. */
  readonly weights: Readonly<Record<string, number>>;
  /** Whether some workloads are pinned. */
  readonly pinned?: boolean;
  /** Whether the Pods of some workloads crash for a reason of their own. */
  readonly broken?: boolean;
  /** Whether some Deployments are validators. */
  readonly validators?: boolean;
  /** The settings of Wave that the scenario requires; the seed chooses the others. */
  readonly settings: Partial<BatchSettings>;
}

/** For each kind of trouble, a world in which it is frequent. */
export const shapes: readonly Shape[] = [
  {
    name: "few objects, many edits",
    namespaces: ["one"],
    workloads: 3,
    configs: 2,
    crossing: 0,
    weights: { edit: 60, "edit what nobody reads": 8 },
    settings: {},
  },
  {
    name: "many readers of few objects",
    namespaces: ["one"],
    workloads: 12,
    configs: 1,
    crossing: 0,
    weights: { edit: 20 },
    settings: {},
  },
  {
    name: "helm",
    namespaces: ["one", "two"],
    workloads: 4,
    configs: 3,
    crossing: 0,
    weights: { "helm upgrade": 40, edit: 5 },
    settings: { webhooks: true },
  },
  {
    name: "grants",
    namespaces: ["one", "two", "three"],
    workloads: 6,
    configs: 2,
    crossing: 0.8,
    weights: { "give or take a grant": 25, "delete configuration": 10, "create configuration": 12 },
    settings: { crossNamespace: "granted" },
  },
  {
    name: "schedulingHolds",
    namespaces: ["one"],
    workloads: 5,
    configs: 3,
    crossing: 0,
    weights: {
      "delete configuration": 20,
      "create configuration": 20,
      "touch the scheduling hold": 20,
      "create a workload": 12,
    },
    settings: { webhooks: true, schedulingHold: true },
  },
  {
    name: "people",
    namespaces: ["one", "two"],
    workloads: 5,
    configs: 3,
    crossing: 0.2,
    weights: { "rollout undo": 30, "edit the template": 20, "strip the hash": 10, "opt in or out": 15 },
    settings: {},
  },
  {
    name: "extras",
    namespaces: ["one"],
    workloads: 5,
    configs: 4,
    crossing: 0.4,
    weights: { "change the extras": 40, edit: 40 },
    settings: { webhooks: false },
  },
  {
    name: "coming and going",
    namespaces: ["one", "two", "three"],
    workloads: 6,
    configs: 2,
    crossing: 0.3,
    weights: {
      "delete a namespace": 6,
      "create a namespace": 12,
      "recreate configuration": 15,
      "create a workload": 12,
    },
    settings: {},
  },
];

/** The scenario in which pacing has most work. */
const pacedShapes: readonly Shape[] = [
  {
    name: "one change for all",
    namespaces: ["one", "two"],
    workloads: 10,
    configs: 1,
    crossing: 0.3,
    weights: { edit: 20, "bad edit": 8, "good edit": 12, "strip the hash": 0, "rollout undo": 0 },
    settings: { webhooks: false, namespaces: undefined },
  },
  {
    name: "people who hold",
    namespaces: ["one", "two"],
    workloads: 4,
    configs: 2,
    crossing: 0,
    weights: {
      edit: 20,
      "hold or mode": 15,
      approve: 20,
      "lift what holds": 15,
      window: 6,
      "opt a namespace in or out": 6,
    },
    settings: {},
  },
];

/**
 * Returns a scenario with workloads that are pinned. It has no `rollout undo`: Wave does not roll again to what was rolled back, and the
 * judge does not know this rule.
 */
export function withPins(shape: Shape, isPaced: boolean): Shape {
  const { edit = 15 } = shape.weights;
  // A held change meets other edits of the pod template.
  const held = isPaced && { "hold or mode": 15, "edit the template": 30 };
  return { ...shape, pinned: true, weights: { ...shape.weights, edit: 2 * edit, "rollout undo": 0, ...held } };
}

/** Returns a scenario and the settings with which Wave starts in it. */
export function chooseScenario(
  dice: Dice,
  pacing?: Pacing,
): { readonly shape: Shape; readonly settings: BatchSettings } {
  const shape = dice.oneOf(pacing === undefined ? shapes : [...shapes, ...pacedShapes, ...pacedShapes]) ?? shapes[0];
  if (shape === undefined) throw new Error("there is no shape of a world");
  const some = shape.namespaces.length > 1 && dice.chance(0.3);
  const settings: BatchSettings = {
    webhooks: dice.chance(0.5),
    schedulingHold: dice.chance(0.7),
    crossNamespace: dice.pick("granted", "granted", "granted", "any", "none"),
    namespaces: some ? shape.namespaces.slice(0, dice.pick(-1, undefined)) : undefined,
    updateRate: dice.pick(1000, 1000, 20),
    updateBurst: 100,
    // Usually never, so that a full resync cannot hide a missed trigger.
    syncPeriodMs: dice.pick(0, 0, 0, 60_000),
    pacing,
    ...shape.settings,
  };
  return { shape, settings };
}
