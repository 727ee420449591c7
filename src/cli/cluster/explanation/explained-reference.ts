import type { DirectiveSource } from "../../../domain/compatibility/directive-sources.ts";
import type { UntrackedReason } from "../../../domain/config/tracked-references.ts";
import { type Lookup, missingFrom } from "../../../domain/config/view-of-references.ts";
import type { Reference } from "../../../domain/references/references.ts";
import type { ReadConfig } from "../read/configs.ts";

/** One way in which the Pods of a workload read an object, with the current state of the object. */
export interface ExplainedReference extends Reference {
  /**
   * "refused": in another namespace that does not share it. "ignored": the object has the annotation `ignore`. "excluded": the
   * workload or its Namespace excludes it. "unmarked": the workload only follows marked objects, and this object has no mark.
   * "unselected": flags of Wave leave it out. "held": the object exists, and a person holds its changes. Otherwise the state of {@link ReadConfig}.
   */
  readonly state: ReadConfig["state"] | "held" | "refused" | UntrackedReason;
  /** The annotations that make Wave follow the object, by compatibility; empty if the workload has not opted in. */
  readonly trackedBy: readonly DirectiveSource[];
  /** The named keys that the object does not have. */
  readonly absentKeys: readonly string[];
}

/** Returns the state of an object that was read; "held" if a person holds its changes. */
export function heldOrRead(found: ReadConfig | undefined): ReadConfig["state"] | "held" {
  if (found?.state === "present" && found.config.directive === "hold") return "held";
  return found?.state ?? "absent";
}

/** Returns a reference with the state of its object and the keys that the object lacks. */
export function explainedReference(
  reference: Reference,
  state: ExplainedReference["state"],
  lookup: Lookup,
): Omit<ExplainedReference, "trackedBy"> {
  const { kind, namespace, name, path, reads, keys, optional } = reference;
  const lacking =
    state === "present" || state === "held" ? missingFrom([{ ...reference, optional: false }], lookup) : [];
  const absentKeys = lacking.flatMap(({ key }) => key ?? []);
  return { kind, namespace, name, path, reads, keys, optional, state, absentKeys };
}
