import { updateOnConfigChange } from "../references/annotations.ts";
import { extraReferences } from "../references/extra-references.ts";
import type { Warning } from "../references/warning.ts";
import { quoted } from "../syntax/wording.ts";
import {
  type Asked,
  type Dialect,
  type DialectSettings,
  type DialectSource,
  dialects,
  excludesNothing,
} from "./directive.ts";
import { type OfNamespace, type OptIn, readOptIn } from "./opt-in.ts";
import { askedBySap } from "./sap.ts";
import { stakaterAuto } from "./stakater.ts";
import { askedByStakater } from "./stakater-directives.ts";

/** What decides, besides the workload's own annotations, what is asked for. */
export interface Asking {
  /** What a Namespace decides, by its name. */
  readonly ofNamespace?: OfNamespace;
  /** Undefined: Wave's own annotations alone are understood. */
  readonly dialects?: DialectSettings | undefined;
  /** Whether volumes of SecretProviderClasses are references, in every dialect. Default: no. */
  readonly providerClasses?: boolean | undefined;
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
    stakater: askedByStakater,
  };

/** Everything that its Pods read, and what it names besides, is required. */
function askedByWave({ namespace, annotations }: DialectSource, { ofNamespace }: Asking): Asked {
  const optIn = readOptIn(annotations, namespace, ofNamespace);
  const { references, mistakes } = extraReferences(optIn.state === "in" ? annotations : {}, namespace);
  return {
    dialect: "wave",
    optIn,
    fromPodSpec: { ConfigMap: "all", Secret: "all", SecretProviderClass: "all" },
    named: references,
    patterns: [],
    excluded: excludesNothing,
    minIntervalMs: undefined,
    mistakes,
  };
}

/**
 * What the dialects ask for that opt it in; undefined where none does, and where Wave's own annotations alone are
 * understood.
 */
export function askersOf(source: DialectSource, asking: Asking): readonly Asked[] | undefined {
  if (asking.dialects === undefined) return undefined;
  const asked = askedOf(source, asking).filter(({ optIn }) => optIn.state === "in");
  return asked.length > 0 ? asked : undefined;
}

/** Whether a workload has opted in by any dialect: one who asks for it in one of them has it, whatever others say. */
export function optInOf(asked: readonly Asked[]): OptIn {
  const optIns = asked.map(({ optIn }) => optIn);
  return (
    optIns.find(({ state }) => state === "in") ?? optIns.find(({ state }) => state === "unclear") ?? { state: "out" }
  );
}

/** A warning for whoever opts a workload in by one dialect and out by another. */
export function contradictions({ annotations }: DialectSource, asked: readonly Asked[]): readonly Warning[] {
  const [those, others] = [
    asked.filter(({ optIn }) => optIn.state === "in"),
    asked.filter(({ optIn }) => optIn.state !== "in"),
  ];
  if (those.length === 0) return [];
  const names = those.map(({ dialect }) => dialectTitles[dialect]).join(" and ");
  return others.flatMap(({ dialect }) => {
    const annotation = optingIn[dialect];
    const says = annotation && annotations[annotation];
    if (!annotation || !says) return [];
    const message = `annotation ${annotation}: ${quoted(says)} does not opt it in, and the annotations of ${names} do: it is rolled for what those ask for; remove one of them`;
    return [{ reason: "InvalidAnnotation", message }];
  });
}

/** By which a dialect opts in or out by saying so, where it has such a one. */
const optingIn: Readonly<Record<Dialect, string | undefined>> = {
  wave: updateOnConfigChange,
  sap: undefined,
  stakater: stakaterAuto,
};

/** What a dialect is called in messages. */
export const dialectTitles: Readonly<Record<Dialect, string>> = {
  wave: "Wave",
  sap: "SAP's pod-reloader",
  stakater: "Stakater's Reloader",
};
