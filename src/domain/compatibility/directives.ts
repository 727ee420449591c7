import { updateOnConfigChange } from "../references/annotations.ts";
import { extraReferences } from "../references/extra-references.ts";
import type { Warning } from "../references/warning.ts";
import { quoted } from "../syntax/wording.ts";
import {
  type Asked,
  type Compatibility,
  type CompatibilitySettings,
  type CompatibilitySource,
  compatibility,
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
  readonly compatibility?: CompatibilitySettings | undefined;
  /** Whether volumes of SecretProviderClasses are references, in every dialect. Default: no. */
  readonly providerClasses?: boolean | undefined;
}

/** What the annotations of a workload ask for, in each dialect that is understood. */
export function askedOf(source: CompatibilitySource, asking: Asking): readonly Asked[] {
  const settings = asking.compatibility;
  if (settings === undefined) return [askedByWave(source, asking)];
  const understood = compatibility.filter((compatibility) => settings.understood.includes(compatibility));
  return understood.map((compatibility) => askedBy[compatibility](source, asking, settings));
}

const askedBy: Readonly<
  Record<Compatibility, (source: CompatibilitySource, asking: Asking, settings: CompatibilitySettings) => Asked>
> = {
  wave: askedByWave,
  sap: askedBySap,
  stakater: askedByStakater,
};

/** Everything that its Pods read, and what it names besides, is required. */
function askedByWave({ namespace, annotations }: CompatibilitySource, { ofNamespace }: Asking): Asked {
  const optIn = readOptIn(annotations, namespace, ofNamespace);
  const { references, mistakes } = extraReferences(optIn.state === "in" ? annotations : {}, namespace);
  return {
    compatibility: "wave",
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
export function askersOf(source: CompatibilitySource, asking: Asking): readonly Asked[] | undefined {
  if (asking.compatibility === undefined) return undefined;
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
export function contradictions({ annotations }: CompatibilitySource, asked: readonly Asked[]): readonly Warning[] {
  const [those, others] = [
    asked.filter(({ optIn }) => optIn.state === "in"),
    asked.filter(({ optIn }) => optIn.state !== "in"),
  ];
  if (those.length === 0) return [];
  const names = those.map(({ compatibility }) => compatibilityTitles[compatibility]).join(" and ");
  return others.flatMap(({ compatibility }) => {
    const annotation = optingIn[compatibility];
    const says = annotation && annotations[annotation];
    if (!annotation || !says) return [];
    const message = `annotation ${annotation}: ${quoted(says)} does not opt it in, and the annotations of ${names} do: it is rolled for what those ask for; remove one of them`;
    return [{ reason: "InvalidAnnotation", message }];
  });
}

/** By which a dialect opts in or out by saying so, where it has such a one. */
const optingIn: Readonly<Record<Compatibility, string | undefined>> = {
  wave: updateOnConfigChange,
  sap: undefined,
  stakater: stakaterAuto,
};

/** What a dialect is called in messages. */
export const compatibilityTitles: Readonly<Record<Compatibility, string>> = {
  wave: "Wave",
  sap: "SAP's pod-reloader",
  stakater: "Stakater's Reloader",
};
