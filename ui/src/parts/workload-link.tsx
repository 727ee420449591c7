import { usePage } from "../context.ts";
import { hrefOf } from "../place.ts";
import { nameOf } from "../states.ts";

/** Shows the name of a workload as a link to what it runs. A workload that is gone has its id as the name. */
export function WorkloadLink({ id, withNamespace = false }: { readonly id: string; readonly withNamespace?: boolean }) {
  const row = usePage().source.model.value.workloads[id];
  if (row === undefined) return <span>{id}</span>;
  return (
    <a class="name" href={hrefOf({ view: "workload", id })}>
      {withNamespace && <span class="namespace">{row.namespace}/</span>}
      {nameOf(row)}
    </a>
  );
}

/** Shows the name of a ConfigMap or Secret as a link to its readers. */
export function ObjectLink({ cluster, namespace, object }: ObjectLinkProps) {
  return (
    <a class="object" href={hrefOf({ view: "object", cluster, namespace, object })} title={`Readers of ${object}`}>
      {object}
    </a>
  );
}

interface ObjectLinkProps {
  readonly cluster: string;
  readonly namespace: string;
  readonly object: string;
}
