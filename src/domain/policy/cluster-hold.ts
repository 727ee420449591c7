import { holdCluster } from "../references/annotations.ts";

/** A hold of every rollout of one Wave, which a person sets in an emergency. */
export interface ClusterHold {
  /** The Namespace of Wave, which has the annotation. */
  readonly namespace: string;
  /** The reason that the person gave; "" if there is none. */
  readonly reason: string;
}

/** Limit of the characters of a reason. It becomes a part of an Event on each due workload. */
const maxReason = 200;

/**
 * Returns the reason of a hold of every rollout, from the annotations of a Namespace; undefined if there is no hold. Every text except
 * "false" holds: in an emergency, a wrong value must not let anything roll.
 */
export function readClusterHold(annotations: Readonly<Record<string, string>> | null | undefined): string | undefined {
  const text = annotations?.[holdCluster]?.trim();
  if (text === undefined || text === "" || text === "false") return undefined;
  return text === "true" ? "" : text.slice(0, maxReason);
}
