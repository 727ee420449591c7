import type { Asker } from "../../domain/compatibility/directive-sources.ts";
import type { UntrackedReason } from "../../domain/config/tracked-references.ts";
import { type Lookup, missingFrom } from "../../domain/config/view.ts";
import type { Reference } from "../../domain/references/references.ts";
import type { ReadConfig } from "./read-configs.ts";

/** One way in which the Pods of a workload read an object, and what is there. */
export interface ExplainedReference extends Reference {
  /**
   * "refused": of another namespace, and not granted; "ignored": itself says that it does not count; "excluded": the workload
   * or its Namespace says so; "unmarked": it searches for what is marked, and this is not; "unselected": flags leave it out. Else as {@link ReadConfig}.
   */
  readonly state: ReadConfig["state"] | "refused" | UntrackedReason;
  /** Which dialects lead to it, and by what; none where the workload has not opted in. */
  readonly askedBy: readonly Asker[];
  /** Which of its named keys the object lacks. */
  readonly absentKeys: readonly string[];
}

/** A reference, with what of it is there. */
export function explainedReference(
  reference: Reference,
  state: ExplainedReference["state"],
  lookup: Lookup,
): Omit<ExplainedReference, "askedBy"> {
  const { kind, namespace, name, path, reads, keys, optional } = reference;
  const lacking = state === "present" ? missingFrom([{ ...reference, optional: false }], lookup) : [];
  const absentKeys = lacking.flatMap(({ key }) => key ?? []);
  return { kind, namespace, name, path, reads, keys, optional, state, absentKeys };
}
