import { useComputed } from "@preact/signals";
import { usePage } from "../context.ts";
import { FilterBar } from "../parts/filters.tsx";
import { Mark } from "../parts/mark.tsx";
import { WorkloadRows } from "../parts/workload-rows.tsx";
import { byName, byUrgency, passes } from "../states.ts";

/** Shows the workloads that need a person, the most urgent first. */
export function NeedsMe() {
  const { source, navigation } = usePage();
  const all = useComputed(() => byUrgency(byName(source.model.value.workloads)));
  const rows = useComputed(() => all.value.filter((row) => passes(row, navigation.place.value)));
  const total = Object.keys(source.model.value.workloads).length;
  if (all.value.length === 0)
    return (
      <p class="empty">
        <Mark state="current" /> No workload needs you. {total === 1 ? "1 workload has" : `${total} workloads have`}{" "}
        opted in.
      </p>
    );
  return (
    <>
      <FilterBar rows={all.value} />
      <WorkloadRows label="Workloads that need a person" rows={rows.value} />
      {rows.value.length === 0 && <p class="empty">No row matches the filters.</p>}
    </>
  );
}
