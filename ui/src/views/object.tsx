import { usePage } from "../context.ts";
import { Mark } from "../parts/mark.tsx";
import { WorkloadLink } from "../parts/workload-link.tsx";
import { NotLoaded, useLoaded } from "./loaded.tsx";
import { Table } from "./workload.tsx";

/** Shows who reads a ConfigMap or Secret, and what an edit would roll. */
export function ObjectView() {
  const { source, navigation } = usePage();
  const { cluster, namespace, object } = navigation.place.value;
  const changes = source.model.value.changes;
  const detail = useLoaded(
    () => source.loadObject({ cluster, namespace, object }),
    [cluster, namespace, object, changes],
  );
  return (
    <>
      <p class="quiet">
        namespace {namespace}, context {source.model.value.clusters[cluster]?.context ?? cluster}
      </p>
      <NotLoaded {...detail} />
      {detail.value !== undefined && (
        <>
          <p class="message">{detail.value.state}</p>
          <section class="part">
            <h2>Readers</h2>
            <Table
              label="Readers"
              heads={["Workload", "Keys", "An edit", "Hold"]}
              empty="No workload that has opted in reads it."
            >
              {detail.value.readers.map(({ workload, name, keys, edit, hold }) => (
                <tr key={workload}>
                  <th scope="row">
                    {workload in source.model.value.workloads ? <WorkloadLink id={workload} /> : name}
                  </th>
                  <td>{keys === "all" ? "all" : keys.join(", ")}</td>
                  <td>{edit}</td>
                  <td>
                    {hold !== null && <Mark state="held" tone="yellow" />} {hold ?? "none"}
                  </td>
                </tr>
              ))}
            </Table>
          </section>
          {detail.value.notOptedIn.length > 0 && (
            <section class="part">
              <h2>Read it, but have not opted in</h2>
              <ul class="plain">
                {detail.value.notOptedIn.map((name) => (
                  <li key={name}>{name}</li>
                ))}
              </ul>
            </section>
          )}
        </>
      )}
    </>
  );
}
