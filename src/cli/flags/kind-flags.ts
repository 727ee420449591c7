import { resourceName } from "../../domain/model/kind-row.ts";
import { builtInKinds } from "../../domain/model/kinds/apps-kinds.ts";
import { parseRequestedKind, type RequestedKind, requestedKindForms } from "../../domain/model/kinds/requested-kind.ts";
import { bool, type Flag, words } from "./flag-types.ts";
import type { FlagValues } from "./parse-flags.ts";
import { pflagList } from "./pflag-list.ts";

const argoRollouts = "rollouts.argoproj.io";

const group = "Compatibility";

/** The flag with the workload kinds that Wave rolls in addition to the built-in kinds. */
export const workloadKindsFlag: Flag<readonly RequestedKind[] | undefined> = {
  group: "Rollouts",
  help: "Additional workload kinds, for example rollouts.argoproj.io. Kinds that the cluster does not have are skipped. See wave help kinds.",
  placeholder: "KIND,...",
  isList: true,
  default: undefined,
  shownDefault: undefined,
  allowed: `a comma-separated list, each ${requestedKindForms}`,
  parse: (value) => {
    const kinds = value.split(",").map(parseRequestedKind);
    return kinds.every((kind) => kind !== undefined) ? eachOnce(kinds) : undefined;
  },
};

/** Flags of Stakater Reloader that choose workload kinds. */
export const reloaderKindFlags = {
  "is-Argo-Rollouts": {
    ...bool({ group, default: false, help: `Reloader flag. Same as --workload-kinds=${argoRollouts}.` }),
    placeholder: "{true|false}",
  },
  "ignored-workload-types": pflagList(
    words({
      group,
      of: ["jobs", "cronjobs"],
      help: "Reloader flag. Kinds that Wave does not roll, even if --workload-kinds names them.",
    }),
    [],
  ),
};

/** Every flag that chooses workload kinds. */
export const kindFlags = { "workload-kinds": workloadKindsFlag, ...reloaderKindFlags };

/** Returns the workload kinds in addition to the built-in kinds; undefined if there are none. */
export function wantedKinds(values: FlagValues<typeof kindFlags>): readonly RequestedKind[] | undefined {
  const argo = values["is-Argo-Rollouts"] ? parseRequestedKind(argoRollouts) : undefined;
  const ignored = (values["ignored-workload-types"] ?? []).map((plural) => `${plural}.batch`);
  const left = eachOnce([...(values["workload-kinds"] ?? []), ...(argo ? [argo] : [])]).filter(
    ({ id }) => !ignored.includes(id),
  );
  return left.length === 0 ? undefined : left;
}

/** Returns each kind once, without the built-in kinds, which Wave rolls anyway. */
function eachOnce(kinds: readonly RequestedKind[]): readonly RequestedKind[] {
  const builtIn = builtInKinds.map(resourceName);
  const byId = new Map(kinds.toReversed().map((kind) => [kind.id, kind]));
  return [...byId.values()].toReversed().filter(({ id }) => !builtIn.includes(id));
}
