import { type CompatibilitySettings, compatibilities, type Filters } from "../../domain/compatibility/directive.ts";
import type { ConfigKind } from "../../domain/references/references.ts";
import { type LabelSelector, readLabelSelector } from "../../domain/syntax/label-selector.ts";
import { logMessages } from "../../telemetry/logging/log-messages.ts";
import { bool, type Flag, namespaces, words } from "./flag-types.ts";
import type { FlagValues } from "./parse-flags.ts";
import { pflagList } from "./pflag-list.ts";

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
  values: Pick<
    FlagValues<typeof compatibilityFlags>,
    | "compatibility"
    | "auto-reload-all"
    | "reload-on-create"
    | "reload-on-delete"
    | "namespaces-to-ignore"
    | "namespace-selector"
    | "resource-label-selector"
    | "resources-to-ignore"
  >,
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
    shownDefault: undefined,
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
    shownDefault: undefined,
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
    shownDefault: undefined,
    allowed: "any text",
    parse: (value) => value,
  };
}
