import { updateOnConfigChange } from "../annotations.ts";
import { extraReferences } from "../extra-references.ts";
import { type OfNamespace, type OptIn, readOptIn } from "../opt-in.ts";
import type { Warning } from "../warning.ts";
import { type Asked, type Dialect, type DialectSettings, type DialectSource, dialects } from "./dialect.ts";
import { askedBySap } from "./sap.ts";
import { askedByStakater } from "./stakater.ts";

/** What decides besides the workload's own annotations what is asked for. */
export interface Asking {
  /** What a Namespace decides, by its name. */
  readonly ofNamespace?: OfNamespace;
  /** Undefined: Wave's own annotations alone are understood. */
  readonly dialects?: DialectSettings | undefined;
}

/** What the annotations of a workload ask for, in each dialect that is understood. */
export function askedOf(source: DialectSource, asking: Asking): readonly Asked[] {
  const settings = asking.dialects;
  if (settings === undefined) return [askedByWave(source, asking)];
  const understood = dialects.filter((dialect) => settings.understood.includes(dialect));
  return understood.map((dialect) => askedBy[dialect](source, asking, settings));
}

const askedBy: Readonly<Record<Dialect, (source: DialectSource, asking: Asking, settings: DialectSettings) => Asked>> =
  {
    wave: askedByWave,
    sap: askedBySap,
    stakater: (source, _asking, settings) => askedByStakater(source, settings),
  };

/** Everything that its Pods read, and what it names besides, is required. */
function askedByWave({ namespace, annotations }: DialectSource, { ofNamespace }: Asking): Asked {
  const optIn = readOptIn(annotations, namespace, ofNamespace);
  const { references, mistakes } = extraReferences(annotations, namespace);
  return {
    dialect: "wave",
    optIn,
    fromPodSpec: { ConfigMap: "all", Secret: "all" },
    named: references,
    patterns: [],
    excluded: { ConfigMap: [], Secret: [] },
    minIntervalMs: undefined,
    mistakes: optIn.state === "in" ? mistakes : [],
  };
}

/** Whether a workload has opted in by any dialect: one who asks for it in one of them has it, whatever others say. */
export function optInOf(asked: readonly Asked[]): OptIn {
  const optIns = asked.map(({ optIn }) => optIn);
  return (
    optIns.find(({ state }) => state === "in") ?? optIns.find(({ state }) => state === "unclear") ?? { state: "out" }
  );
}

/** What a person should know who wrote one thing in one dialect and another in another. */
export function contradictions({ annotations }: DialectSource, asked: readonly Asked[]): readonly Warning[] {
  const others = asked.filter(({ dialect, optIn }) => dialect !== "wave" && optIn.state === "in");
  const says = annotations[updateOnConfigChange];
  if (others.length === 0 || says !== "false") return [];
  const names = others.map(({ dialect }) => titles[dialect]).join(" and ");
  const message = `annotation ${updateOnConfigChange}: "false" opts it out, and the annotations of ${names} opt it in: it is rolled for what those ask for; remove one of them`;
  return [{ reason: "InvalidAnnotation", message }];
}

/** What a dialect is called in messages. */
export const titles: Readonly<Record<Dialect, string>> = {
  wave: "Wave",
  sap: "SAP's pod-reloader",
  stakater: "Stakater's Reloader",
};
