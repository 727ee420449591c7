import { type DialectSettings, dialects } from "../../rollout/dialects/settings.ts";
import { bool, type Flag, words } from "./flag-types.ts";
import type { FlagValues } from "./parse-flags.ts";

const group = "Other controllers' annotations and flags";

/** Flags of Reloader's that have no effect here, and why: taken, so that nobody's arguments need be edited. */
export const meaningless = {
  "reload-strategy": { placeholder: "WORD", why: "Wave has one way, the hash in an annotation of the pod template" },
  "is-Argo-Rollouts": { placeholder: "BOOL", why: "Wave rolls Deployments, StatefulSets and DaemonSets" },
  "enable-csi-integration": { placeholder: undefined, why: "Wave rolls for ConfigMaps and Secrets" },
  "ignored-workload-types": { placeholder: "WORD,…", why: "Wave leaves Jobs and CronJobs alone" },
  "sync-after-restart": { placeholder: undefined, why: "Wave finds out by itself what changed while it did not run" },
  "enable-pprof": { placeholder: undefined, why: "Wave is no Go program" },
  "pprof-addr": { placeholder: "ADDRESS", why: "Wave is no Go program" },
} as const;

type Meaningless = keyof typeof meaningless;

/** The flags that say whose annotations are understood, and those of Stakater's Reloader that mean something here, one row a flag. */
export const dialectFlags = {
  dialects: words({
    group,
    of: dialects,
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
  "enable-ha": bool({ group, default: false, help: "As in Reloader: the same as --leader-election." }),
  ...withoutMeaning(),
};

/** What they were given; undefined where Wave's own annotations alone are understood. */
export function dialectSettings(
  values: Pick<
    FlagValues<typeof dialectFlags>,
    "dialects" | "auto-reload-all" | "reload-on-create" | "reload-on-delete"
  >,
): DialectSettings | undefined {
  const understood = values.dialects ?? ["wave"];
  if (understood.every((dialect) => dialect === "wave")) return undefined;
  return {
    understood,
    autoReloadAll: values["auto-reload-all"],
    reloadOnCreate: values["reload-on-create"],
    reloadOnDelete: values["reload-on-delete"],
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
