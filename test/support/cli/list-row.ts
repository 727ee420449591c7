import type { ListRow } from "../../../src/cli/list/list-output.ts";

/** Returns a row of `wave list`: a Deployment in namespace shop. */
export function listRow(name: string, state: ListRow["state"], changes: Partial<ListRow> = {}): ListRow {
  const none = { because: null, message: null, kubernetes: null, until: null, pods: null, pinning: null };
  const hashes = {
    rolledBack: [],
    heldChange: null,
    recordedHash: null,
    recordedConfig: null,
    currentHash: null,
    compatibility: [],
    judgedAt: null,
  };
  return { kind: "Deployment", namespace: "shop", name, state, since: null, ...none, ...hashes, ...changes };
}
