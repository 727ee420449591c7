import { type CompatibilitySettings, compatibilities, type Filters } from "../../domain/compatibility/directive.ts";
import { resourceName } from "../../domain/model/kind-row.ts";
import { builtInKinds } from "../../domain/model/kinds/apps-kinds.ts";
import { parseRequestedKind, type RequestedKind, requestedKindForms } from "../../domain/model/kinds/requested-kind.ts";
import type { ConfigKind } from "../../domain/references/references.ts";
import { type LabelSelector, readLabelSelector } from "../../domain/syntax/label-selector.ts";
import { logMessages } from "../../telemetry/logging/log-messages.ts";
import { bool, type Flag, namespaces, words } from "./flag-types.ts";
import type { FlagValues } from "./parse-flags.ts";

const group = "Compatibility";

/** Flags of Reloader without effect in Wave. Wave accepts them, so that existing arguments keep working. */
export const flagsWithoutEffect = {
  "reload-strategy": ignored("WORD"),
  "sync-after-restart": ignored(undefined),
  "enable-pprof": ignored(undefined),
  "pprof-addr": ignored("ADDRESS"),
};

/** The log levels of Reloader that Wave does not have, and the level of Wave that writes as much. */
const reloaderLevels: ReadonlyMap<string, string> = new Map([
  ["trace", "debug"],
  ["warning", "warn"],
  ["fatal", "error"],
  ["panic", "error"],
]);

/** Returns a flag for log levels that also accepts the levels of Reloader, so that existing arguments keep working. */
export function withReloaderLevels<V>(flag: Flag<V>): Flag<V> {
  return { ...flag, parse: (text) => flag.parse(reloaderLevels.get(text) ?? text) };
}

/** The flags for annotations of other controllers, and the flags of Stakater Reloader, one row a flag. */
export const compatibilityFlags = {
  compatibility: words({
    group,
    of: compatibilities,
    shownDefault: "wave",
    help: "Controllers whose annotations Wave honors: Wave, SAP pod-reloader, Stakater Reloader. Stop the other controller first: otherwise both restart the same workloads.",
  }),
  "auto-reload-all": bool({
    group,
    default: false,
    help: "Reloader flag. Treat workloads without a Reloader annotation as if they had `auto`.",
  }),
  "reload-on-create": {
    ...bool({
      group,
      default: false,
      help: "Reloader flag. Also roll when an object is created, if only the annotations of Reloader name the object.",
    }),
    mayTakeWord: true,
  },
  "reload-on-delete": {
    ...bool({
      group,
      default: false,
      help: "Reloader flag. Also roll when an object is deleted, if only the annotations of Reloader name the object.",
    }),
    mayTakeWord: true,
  },
  "namespaces-to-ignore": {
    ...pflagList(namespaces({ group, help: "Reloader flag. Namespaces in which Wave rolls nothing." }), []),
    shownDefault: undefined,
  },
  "namespace-selector": selector(
    "Reloader flag. Roll only in namespaces with these labels. Also accepts key:value and key:*.",
  ),
  "resource-label-selector": selector(
    "Reloader flag. Track only ConfigMaps and Secrets with these labels. Also accepts key:value and key:*.",
  ),
  "resources-to-ignore": pflagList(
    ignoredKind({
      group,
      help: "Reloader flag. Do not track objects of this kind.",
    }),
    [],
  ),
  "enable-csi-integration": bool({
    group,
    default: false,
    help: "Reloader flag, for every compatibility mode. Track what SecretProviderClasses fetch, as the Secrets Store CSI driver reports it.",
  }),
  "enable-ha": bool({ group, default: false, help: "Reloader flag. Same as --leader-election." }),
  ...flagsWithoutEffect,
};

/** Returns the settings that these flags give; undefined for Wave's own annotations without filters. */
export function compatibilitySettings(
  values: Omit<FlagValues<typeof compatibilityFlags>, "enable-ha" | keyof typeof flagsWithoutEffect>,
): CompatibilitySettings | undefined {
  const understood = values.compatibility ?? ["wave"];
  const filters = filtersOf({
    ignoredNamespaces: values["namespaces-to-ignore"] ?? [],
    namespaces: values["namespace-selector"],
    configs: values["resource-label-selector"],
    ignoredKinds: values["resources-to-ignore"] ?? [],
  });
  if (filters === undefined && understood.every((compatibility) => compatibility === "wave")) return undefined;
  return {
    understood,
    autoReloadAll: values["auto-reload-all"],
    reloadOnCreate: values["reload-on-create"],
    reloadOnDelete: values["reload-on-delete"],
    ...(filters && { filters }),
  };
}

/** Returns undefined if the filters exclude nothing: then labels are not evaluated. */
function filtersOf(filters: Filters): Filters | undefined {
  const { ignoredNamespaces, namespaces: labels, configs, ignoredKinds } = filters;
  const none = labels === undefined && configs === undefined && ignoredNamespaces.length + ignoredKinds.length === 0;
  return none ? undefined : filters;
}

function selector(help: string): Flag<LabelSelector | undefined> {
  const flag: Flag<LabelSelector | undefined> = {
    group,
    help,
    placeholder: "SELECTOR",
    default: undefined,
    allowed: 'a label selector, such as "team=a,tier in (web,db),!old"',
    parse: readLabelSelector,
  };
  return pflagList(flag, []);
}

/** Refuses both kinds together, as Reloader does: nothing would be left to track. */
function ignoredKind(row: Pick<Flag<unknown>, "group" | "help">): Flag<readonly ConfigKind[] | undefined> {
  const kinds = new Map<string, readonly ConfigKind[]>([
    ["configmaps", ["ConfigMap"]],
    ["secrets", ["Secret"]],
  ]);
  return {
    ...row,
    placeholder: "{configmaps|secrets}",
    completes: [...kinds.keys()],
    default: undefined,
    allowed: "one of configmaps, secrets",
    parse: (value) => kinds.get(value.toLowerCase()),
  };
}

/** Returns one line for each given flag without effect. */
export function withoutEffectLines(given: ReadonlyMap<string, unknown>): readonly string[] {
  return Object.keys(flagsWithoutEffect)
    .filter((name) => given.has(name))
    .map(logMessages.flagIdle);
}

function ignored(placeholder: string | undefined): Flag<unknown> {
  return {
    group,
    help: "Reloader flag without effect.",
    hasNoEffect: true,
    placeholder,
    default: undefined,
    allowed: "any text",
    parse: (value) => value,
  };
}

const argoRollouts = "rollouts.argoproj.io";

/** The flag with the workload kinds that Wave rolls in addition to the built-in kinds. */
export const workloadKindsFlag: Flag<readonly RequestedKind[] | undefined> = {
  group: "Rollouts",
  help: "Additional workload kinds, for example rollouts.argoproj.io. Kinds that the cluster does not have are skipped. See wave help kinds.",
  placeholder: "KIND,...",
  isList: true,
  default: undefined,
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

/**
 * Returns a flag of Reloader with the list syntax of pflag: quoted fields, an empty value, and several flags that add up. Existing arguments
 * of Reloader then keep their meaning. `none` is the value of an empty list.
 */
function pflagList<V>(flag: Flag<V>, none: NonNullable<V>): Flag<V> {
  return {
    ...flag,
    repeats: ",",
    parse: (text) => {
      const fields = csvFields(text)?.filter((field) => field.trim() !== "");
      if (fields === undefined) return undefined;
      return fields.length === 0 ? none : flag.parse(fields.join(","));
    },
  };
}

/**
 * Returns the fields of one line of comma-separated values, as pflag reads a list: a field in double quotes may contain commas, and `""` in it
 * is one quotation mark (https://pkg.go.dev/encoding/csv). An empty text has no fields. Returns undefined if quotation marks are misplaced.
 */
export function csvFields(text: string): readonly string[] | undefined {
  if (text === "") return [];
  const fields: string[] = [];
  const form = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;
  for (;;) {
    const match = form.exec(text);
    if (match === null) return undefined;
    const [, quoted, plain = "", end] = match;
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "") return fields;
  }
}
