import type { Workload } from "../model/workload.ts";
import type { HashKeys } from "../policy/hash-key.ts";
import { configKey } from "../references/references.ts";
import { type Change, changesBetween } from "./changes.ts";
import { type ConfigView, viewOf } from "./hash.ts";
import { standsFor } from "./recorded.ts";
import type { NotedClasses } from "./recorded-classes.ts";
import { recordedConfigFor } from "./recorded-config.ts";
import type { Counted } from "./tracked-references.ts";
import { limitExceededBy, viewThrough } from "./view.ts";

/** What the Pods of a workload see: what counts, and all of it. */
export interface Views {
  readonly counted: ConfigView;
  /** The same where everything counts; undefined where it is more than a budget allows to look at. */
  readonly everything: ConfigView | undefined;
  /**
   * What counts, of SecretProviderClasses those that are noted: not what is known of others only now, and also what no longer
   * counts. Undefined where that is the same.
   */
  readonly asNoted: ConfigView | undefined;
  /** The keys of the objects that do not count. */
  readonly leftOut: Counted["leftOut"];
}

/** What new Pods would see. `counted` has the hash of everything where that is another one. */
export function viewsThrough(
  { references, all, leftOut, lookup }: Counted,
  keys: HashKeys | undefined,
  noted: NotedClasses,
): Views {
  const { view: counted, asNoted } = withClasses(references, lookup, keys, noted);
  if (leftOut.size === 0) return { counted, everything: counted, asNoted, leftOut };
  const everything = limitExceededBy(all, lookup) === undefined ? viewThrough(all, lookup, keys?.current) : undefined;
  const differs = everything !== undefined && everything.hash !== counted.hash;
  return {
    counted: differs ? { ...counted, everything: everything.hash } : counted,
    everything,
    asNoted,
    leftOut,
  };
}

/** What the references show, with what is to be noted of SecretProviderClasses; and the same of those that are noted. */
function withClasses(
  references: Counted["references"],
  lookup: Counted["lookup"],
  keys: HashKeys | undefined,
  { isUnnoted, dropped, toNote }: NotedClasses,
): { readonly view: ConfigView; readonly asNoted: ConfigView | undefined } {
  const view = viewThrough(references, lookup, keys?.current);
  const [classes, gone] = [toNote(references), dropped(references)];
  if (classes === undefined && gone.length === 0) return { view, asNoted: undefined };
  const known = view.entries.filter((entry) => !isUnnoted(entry));
  const isSame = known.length === view.entries.length && gone.length === 0;
  return { view: { ...view, classes }, asNoted: isSame ? undefined : viewOf([...known, ...gone], keys?.current) };
}

/**
 * The view of what counts, where the recorded hash differs from it only because other objects count by now (some are
 * ignored or excluded, or no longer are), while Pods see what they saw. Undefined where they see something else, or
 * nobody can tell.
 *
 * `seen` is what the recorded hash stands for. Where it is known, an object that has changed since and does not count
 * is passed over: Pods go on with what they have of it, and are replaced when it counts again.
 */
export function toggled(
  workload: Workload,
  { counted, everything, leftOut }: Views,
  seen: ConfigView | undefined,
  keys: HashKeys | undefined,
): ConfigView | undefined {
  const noted = notedOfEverything(workload);
  if (noted === undefined) return undefined;
  const isOfAll = leftOut.size === 0 && noted.in !== "everything";
  if (!isOfAll && everything !== undefined && standsFor(noted.hash, everything, keys)) return counted;
  const unseen = leftOut.size > 0 ? { ...counted, everything: noted.hash } : counted;
  // The hash was written for the very same, before the baseline was noted, and could not be written again.
  const { recordedHash = "" } = workload;
  if (noted.in !== "template" && recordedHash === counted.hash) return unseen;
  if (noted.in === "everything" && standsFor(recordedHash, counted, keys)) return unseen;
  const left = (change: Change) => leftOut.has(configKey(change));
  if (seen === undefined || !changesBetween(seen, counted).every(left)) return undefined;
  return unseen;
}

/**
 * The view of what counts, to be noted under the current key. It keeps the noted hash of everything, although some of
 * that may have changed since.
 */
export function notedAnew(workload: Workload, { counted, everything }: Views, keys: HashKeys | undefined): ConfigView {
  const noted = notedOfEverything(workload);
  if (noted === undefined || (everything !== undefined && standsFor(noted.hash, everything, keys))) return counted;
  return { ...counted, everything: noted.hash };
}

interface Noted {
  readonly hash: string;
  /** Noted as that of everything, or what counted when all did, in the baseline or the pod template. */
  readonly in: "everything" | "recordedConfig" | "template";
}

/** The hash of all that its Pods are taken to see. */
function notedOfEverything({ recordedHash, recordedConfig }: Workload): Noted | undefined {
  const noted = recordedConfigFor(recordedHash ?? "", recordedConfig);
  if (noted === undefined) return recordedHash === undefined ? undefined : { hash: recordedHash, in: "template" };
  if (noted.everything === undefined) return { hash: noted.hash, in: "recordedConfig" };
  return { hash: noted.everything, in: "everything" };
}
