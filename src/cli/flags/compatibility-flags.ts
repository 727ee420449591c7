import { type CompatibilitySettings, compatibility, type Filters } from "../../domain/compatibility/settings.ts";
import type { ConfigKind } from "../../domain/references/references.ts";
import { type LabelSelector, parseLabelSelector } from "../../domain/syntax/label-selector.ts";
import { bool, type Flag, namespaces, words } from "./flag-types.ts";
import type { FlagValues } from "./parse-flags.ts";

const group = "Other controllers' annotations and flags";

/** Flags of Reloader's that have no effect here, and why: taken, so that nobody's arguments need be edited. */
export const meaningless = {
  "reload-strategy": { placeholder: "WORD", why: "Wave has one way, the hash in an annotation of the pod template" },
  "sync-after-restart": { placeholder: undefined, why: "Wave finds out by itself what changed while it did not run" },
  "enable-pprof": { placeholder: undefined, why: "Wave is no Go program" },
  "pprof-addr": { placeholder: "ADDRESS", why: "Wave is no Go program" },
} as const;

type Meaningless = keyof typeof meaningless;

/** The flags that say whose annotations are understood, and those of Stakater's Reloader that mean something here, one row a flag. */
export const compatibilityFlags = {
  compatibility: words({
    group,
    of: compatibility,
    shownDefault: "wave",
    help: "Whose annotations are understood: Wave's own, SAP pod-reloader's, Stakater Reloader's. Not while that one still runs: both would roll.",
  }),
  "auto-reload-all": bool({
    group,
    default: false,
    help: "As in Reloader: a workload that says nothing in its annotations is taken to have said auto.",
  }),
  "reload-on-create": bool({
    group,
    default: false,
    help: "As in Reloader: roll also where an object merely appears that only its annotations name.",
  }),
  "reload-on-delete": bool({
    group,
    default: false,
    help: "As in Reloader: the same where one disappears.",
  }),
  "namespaces-to-ignore": {
    ...namespaces({ group, help: "As in Reloader: nothing is rolled in these namespaces." }),
    shownDefault: undefined,
  },
  "namespace-selector": selector(
    "As in Reloader: nothing is rolled in namespaces but those with these labels. Also key:value and key:*.",
  ),
  "resource-label-selector": selector(
    "As in Reloader: ConfigMaps and Secrets count only with these labels. Also key:value and key:*.",
  ),
  "resources-to-ignore": ignoredKind({
    group,
    help: "As in Reloader: objects of this kind do not count.",
  }),
  "enable-csi-integration": bool({
    group,
    default: false,
    help: "As in Reloader, and for every compatibility mode: what SecretProviderClasses fetch counts, as the Secrets Store CSI driver tells of it.",
  }),
  "enable-ha": bool({ group, default: false, help: "As in Reloader: the same as --leader-election." }),
  ...withoutMeaning(),
};

/** What they were given; undefined where Wave's own annotations alone are understood and nothing is left out. */
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

/** Undefined where they leave nothing out: then nothing is asked of labels. */
function filtersOf(filters: Filters): Filters | undefined {
  const { ignoredNamespaces, namespaces: labels, configs, ignoredKinds } = filters;
  const none = labels === undefined && configs === undefined && ignoredNamespaces.length + ignoredKinds.length === 0;
  return none ? undefined : filters;
}

function selector(help: string): Flag<LabelSelector | undefined> {
  return {
    group,
    help,
    placeholder: "SELECTOR",
    default: undefined,
    shownDefault: undefined,
    allowed: 'a label selector, such as "team=a,tier in (web,db),!old"',
    parse: parseLabelSelector,
  };
}

/** Both together would leave nothing to roll for; there, too, they are refused. */
function ignoredKind(row: Pick<Flag<unknown>, "group" | "help">): Flag<readonly ConfigKind[] | undefined> {
  const kinds = new Map<string, readonly ConfigKind[]>([
    ["configmaps", ["ConfigMap"]],
    ["secrets", ["Secret"]],
  ]);
  return {
    ...row,
    placeholder: "configmaps|secrets",
    default: undefined,
    shownDefault: undefined,
    allowed: "one of configmaps, secrets",
    parse: (value) => kinds.get(value.toLowerCase()),
  };
}

/** One line for each flag that was given and has no effect here, with why. */
export function withoutEffect(given: ReadonlyMap<string, unknown>): readonly string[] {
  return Object.entries(meaningless)
    .filter(([name]) => given.has(name))
    .map(([name, { why }]) => `--${name} has no effect: ${why}`);
}

function withoutMeaning(): Readonly<Record<Meaningless, Flag<unknown>>>;
function withoutMeaning(): Readonly<Record<string, Flag<unknown>>> {
  return Object.fromEntries(
    Object.entries(meaningless).map(([name, { placeholder, why }]) => {
      const help = `As in Reloader, without effect: ${why}.`;
      const flag: Flag<unknown> = {
        group,
        help,
        placeholder,
        default: undefined,
        shownDefault: undefined,
        allowed: "any text",
        parse: (value) => value,
      };
      return [name, flag];
    }),
  );
}
