import { useComputed } from "@preact/signals";
import { usePage } from "../context.ts";
import { FilterBar } from "../parts/filters.tsx";
import { WorkloadRows } from "../parts/workload-rows.tsx";
import { byName, passes } from "../states.ts";

/** Shows all workloads that have opted in. */
export function Workloads() {
  const { source, navigation } = usePage();
  const all = useComputed(() => byName(source.model.value.workloads));
  const rows = useComputed(() => all.value.filter((row) => passes(row, navigation.place.value)));
  return (
    <>
      <FilterBar rows={all.value} />
      <WorkloadRows label="Workloads" rows={rows.value} />
      {rows.value.length === 0 && (
        <p class="empty">{all.value.length === 0 ? "No workload has opted in." : "No row matches the filters."}</p>
      )}
    </>
  );
}
