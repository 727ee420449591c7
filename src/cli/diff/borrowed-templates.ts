import { readLender, type StoredLender, withTemplateOf } from "../../cache/workloads/template-source-reads.ts";
import { canLend } from "../../domain/config/template-source.ts";
import type { WorkloadObject, WorkloadRow } from "../../domain/model/workload.ts";
import type { ApiClient } from "../../kube/http/client.ts";

/** A Deployment of the manifests, as it is stored and as it would be. */
export interface OverlaidLender {
  /** Undefined: it is not there yet. */
  readonly before: StoredLender | undefined;
  readonly after: StoredLender;
}

/** The Deployments of the manifests, by {@link lenderKey}. */
export type OverlaidLenders = ReadonlyMap<string, OverlaidLender>;

/** Where a Deployment is in {@link OverlaidLenders}. */
export function lenderKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** A workload as it is, which may not be there, and as it would be. */
export interface Sides<B extends WorkloadObject | undefined> {
  readonly before: B;
  readonly after: WorkloadObject;
}

/**
 * A workload before and after with the pod template that its Pods then have. A Deployment that lends it is read once; one of the
 * manifests is not read, and lends what they make of it. Throws what {@link ApiClient.request} throws, besides 404.
 */
export async function withLentTemplates<B extends WorkloadObject | undefined>(
  client: Pick<ApiClient, "request">,
  row: WorkloadRow,
  { before, after }: Sides<B>,
  lenders: OverlaidLenders,
): Promise<Sides<B>> {
  if (row.borrowing === undefined) return { before, after };
  const keyBefore = before && keyOf(row, before);
  const keyAfter = keyOf(row, after);
  const overlaidBefore = keyBefore && lenders.get(keyBefore);
  const lenderBefore = overlaidBefore ? overlaidBefore.before : before && (await readLender(client, row, before));
  const overlaidAfter = keyAfter && lenders.get(keyAfter)?.after;
  const isSame = keyBefore !== undefined && keyBefore === keyAfter;
  const lenderAfter = overlaidAfter || (isSame ? lenderBefore : await readLender(client, row, after));
  const whole = before && withTemplateOf(row, before, lenderBefore);
  const isUnchanged = whole !== undefined && before === after && lenderBefore === lenderAfter;
  return { before: whole, after: isUnchanged ? whole : withTemplateOf(row, after, lenderAfter) };
}

/** Undefined where it borrows nothing that can be lent. */
function keyOf({ borrowing }: WorkloadRow, object: WorkloadObject): string | undefined {
  const lender = borrowing?.lenderOf(object);
  const namespace = object.metadata?.namespace;
  return lender && namespace !== undefined && canLend(lender) ? lenderKey(namespace, lender.name) : undefined;
}
