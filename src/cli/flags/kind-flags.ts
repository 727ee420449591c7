import { builtInKinds } from "../../domain/model/built-in-kinds.ts";
import { resourceName } from "../../domain/model/kind-row.ts";
import { readWantedKind, type WantedKind, wantedKindForms } from "../../domain/model/kinds/requested-kind.ts";
import { bool, type Flag, words } from "./flag-types.ts";
import type { FlagValues } from "./parse-flags.ts";

const argoRollouts = "rollouts.argoproj.io";

/** What of Wave's there is where Reloader has it, one row a flag. */
const group = "Other controllers' annotations and flags";

/** The kinds of workload that are rolled besides Deployments, StatefulSets and DaemonSets. */
export const workloadKindsFlag: Flag<readonly WantedKind[] | undefined> = {
  group: "Rollouts",
  help: "Kinds to roll besides Deployments, StatefulSets and DaemonSets, wherever they are there: docs/kinds.md.",
  placeholder: "KIND,…",
  default: undefined,
  shownDefault: undefined,
  allowed: `a comma-separated list, each ${wantedKindForms}`,
  parse: (value) => {
    const kinds = value.split(",").map(readWantedKind);
    return kinds.every((kind) => kind !== undefined) ? eachOnce(kinds) : undefined;
  },
};

/** Flags of Stakater's Reloader that say the same. */
export const kindFlagsOfReloader = {
  "is-Argo-Rollouts": {
    ...bool({ group, default: false, help: `As in Reloader: the same as --workload-kinds=${argoRollouts}.` }),
    placeholder: "true|false",
  },
  "ignored-workload-types": words({
    group,
    of: ["jobs", "cronjobs"],
    help: "As in Reloader: these are left alone, also where --workload-kinds names them.",
  }),
};

/** Every flag that says which kinds are rolled. */
export const kindFlags = { "workload-kinds": workloadKindsFlag, ...kindFlagsOfReloader };

/** The kinds that are rolled besides the built-in ones; undefined where there are none. */
export function wantedKinds(values: FlagValues<typeof kindFlags>): readonly WantedKind[] | undefined {
  const argo = values["is-Argo-Rollouts"] ? readWantedKind(argoRollouts) : undefined;
  const ignored = (values["ignored-workload-types"] ?? []).map((plural) => `${plural}.batch`);
  const left = eachOnce([...(values["workload-kinds"] ?? []), ...(argo ? [argo] : [])]).filter(
    ({ id }) => !ignored.includes(id),
  );
  return left.length === 0 ? undefined : left;
}

/** By what they are called, the built-in ones left out: those are rolled anyway. */
function eachOnce(kinds: readonly WantedKind[]): readonly WantedKind[] {
  const builtIn = builtInKinds.map(resourceName);
  const byId = new Map(kinds.toReversed().map((kind) => [kind.id, kind]));
  return [...byId.values()].toReversed().filter(({ id }) => !builtIn.includes(id));
}
