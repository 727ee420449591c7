import { useComputed } from "@preact/signals";
import type { WorkloadRow } from "../../../src/cli/ui/model.ts";
import { usePage } from "../context.ts";
import { hrefOf } from "../place.ts";
import { groupByState, passes, toneOfRow } from "../states.ts";
import { StateName } from "./mark.tsx";

/** Shows the number of rows in each state, each a link that shows only these rows, and the fields that filter by name. */
export function FilterBar({ rows }: { readonly rows: readonly WorkloadRow[] }) {
  const { navigation } = usePage();
  const place = navigation.place.value;
  const counts = groupByState(rows.filter((row) => passes(row, place, true)));
  return (
    <div class="filters">
      <ul class="counters" aria-label="States">
        {Array.from(counts, ([key, [first, ...others]]) => {
          const isChosen = key === place.state || first?.state === place.state;
          return (
            first !== undefined && (
              <li key={key}>
                <a
                  class={`counter ${toneOfRow(first)}`}
                  href={hrefOf({ ...place, state: isChosen ? "" : key })}
                  aria-current={isChosen ? "true" : undefined}
                >
                  <strong>{others.length + 1}</strong>
                  <StateName state={first.state} because={first.because} tone={toneOfRow(first)} />
                </a>
              </li>
            )
          );
        })}
      </ul>
      <ScopeFields />
    </div>
  );
}

/** The fields for the context, the namespace and a text. */
export function ScopeFields({ withText = true }: { readonly withText?: boolean }) {
  const { source, navigation } = usePage();
  const { cluster, namespace, state, text } = navigation.place.value;
  const clusters = Object.values(source.model.value.clusters);
  const namespaces = useComputed(() =>
    [...new Set(Object.values(source.model.value.workloads).map((row) => row.namespace))].sort(),
  );
  const isFiltered = cluster !== "" || namespace !== "" || state !== "" || text !== "";
  return (
    <form role="search" onSubmit={(event) => event.preventDefault()}>
      {clusters.length > 1 && (
        <label>
          Context
          <select value={cluster} onChange={(event) => navigation.adjust({ cluster: event.currentTarget.value })}>
            <option value="">all</option>
            {clusters.map(({ id, context }) => (
              <option key={id} value={id}>
                {context}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        Namespace
        <select value={namespace} onChange={(event) => navigation.adjust({ namespace: event.currentTarget.value })}>
          <option value="">all</option>
          {/* A namespace of the address may have no workload any more. */}
          {[...new Set([...namespaces.value, namespace])].filter(Boolean).map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {withText && (
        <label class="wide">
          Text
          <input
            type="search"
            value={text}
            placeholder="name, namespace, ConfigMap, message"
            onInput={(event) => navigation.adjust({ text: event.currentTarget.value })}
          />
        </label>
      )}
      {isFiltered && (
        <button type="button" onClick={() => navigation.adjust({ cluster: "", namespace: "", state: "", text: "" })}>
          Remove filters
        </button>
      )}
    </form>
  );
}
