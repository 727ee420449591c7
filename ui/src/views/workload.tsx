import type { ComponentChildren } from "preact";
import type { WorkloadDetail, WorkloadRow } from "../../../src/cli/ui/model.ts";
import { usePage } from "../context.ts";
import { Command } from "../parts/command.tsx";
import { StateName } from "../parts/mark.tsx";
import { Pods } from "../parts/pods.tsx";
import { Age, Ago, Left } from "../parts/times.tsx";
import { ObjectLink } from "../parts/workload-link.tsx";
import { meaningOf, nextOf, toneOfRow } from "../states.ts";
import { NotLoaded, useLoaded } from "./loaded.tsx";

/** Shows why a workload runs what it runs. */
export function WorkloadView() {
  const { source, navigation } = usePage();
  const { id } = navigation.place.value;
  const row = source.model.value.workloads[id];
  if (row !== undefined) return <LoadedWorkload row={row} />;
  return <p class="empty">No workload with this address is opted in. It was deleted, or it opted out.</p>;
}

function LoadedWorkload({ row }: { readonly row: WorkloadRow }) {
  const { source } = usePage();
  // The row is another object after each difference of the workload.
  const detail = useLoaded(() => source.loadWorkload(row.id), [row]);
  return (
    <>
      <Summary row={row} />
      <NotLoaded {...detail} />
      {detail.value !== undefined && <Detail row={row} detail={detail.value} />}
    </>
  );
}

function Summary({ row }: { readonly row: WorkloadRow }) {
  const { source } = usePage();
  const { state, because, message, since, until, command } = row;
  const next = nextOf(state);
  return (
    <section class={`card ${toneOfRow(row)}`} aria-label="State">
      <p class="line">
        <StateName state={state} because={because} tone={toneOfRow(row)} />
        <span class="quiet">
          namespace {row.namespace}, context {source.model.value.clusters[row.cluster]?.context ?? row.cluster}
          {since !== null && (
            <>
              {" "}
              · <Ago at={since} />
            </>
          )}
          {until !== null && (
            <>
              {" "}
              · ends in <Left at={until} />
            </>
          )}
        </span>
      </p>
      <p class="message">{message === "" ? meaningOf(state) : message}</p>
      {next !== "" && <p class="quiet">{next}</p>}
      {command !== null && <Command text={command} />}
      <Pods pods={row.pods} podList={row.podList} />
    </section>
  );
}

function Detail({ row, detail }: { readonly row: WorkloadRow; readonly detail: WorkloadDetail }) {
  const { pods, references, holds, history, explanation } = detail;
  return (
    <>
      {holds.length > 0 && (
        <Part title="Holds">
          <ul class="plain">
            {holds.map(({ text, command }) => (
              <li key={text}>
                <p class="message">{text}</p>
                {command !== null && <Command text={command} />}
              </li>
            ))}
          </ul>
        </Part>
      )}
      <Part title="Pods">
        <Table label="Pods" heads={["Pod", "Content", "Proof", "Revision", "Age", "Restarts"]} empty="No Pod exists.">
          {pods.map((pod) => (
            <tr key={pod.name}>
              <th scope="row">
                <Pods pods={null} podList={[pod]} /> {pod.name}
              </th>
              <td>{pod.content}</td>
              <td>{pod.proof}</td>
              <td>{pod.revision ?? "unknown"}</td>
              <td>
                <Age since={pod.createdAt} />
              </td>
              <td>{pod.restarts}</td>
            </tr>
          ))}
        </Table>
      </Part>
      <Part title="Reads">
        <Table
          label="Objects that the Pods read"
          heads={["Path", "Object", "Keys", "State"]}
          empty="The Pods read no object."
        >
          {references.map(({ path, object, keys, state }) => (
            <tr key={`${path} ${object}`}>
              <th scope="row">
                <code>{path}</code>
              </th>
              <td>
                <ObjectLink cluster={row.cluster} namespace={row.namespace} object={object} />
              </td>
              <td>{keys === "all" ? "all" : keys.join(", ")}</td>
              <td>{state}</td>
            </tr>
          ))}
        </Table>
      </Part>
      <Part title="History">
        <Table
          label="Revisions"
          heads={["Revision", "Created", "Cause", "Result"]}
          empty="Kubernetes keeps no revision."
        >
          {history.map(({ revision, createdAt, isCurrent, cause, result }) => (
            <tr key={revision} class={isCurrent ? "chosen" : ""}>
              <th scope="row">
                {revision}
                {isCurrent && " (current)"}
              </th>
              <td>{createdAt === null ? "unknown" : <Ago at={createdAt} />}</td>
              <td>{cause ?? "unknown"}</td>
              <td>{result ?? "unknown"}</td>
            </tr>
          ))}
        </Table>
      </Part>
      <details class="part">
        <summary>wave explain</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls what has the focus. */}
        <pre tabIndex={0}>{explanation}</pre>
      </details>
    </>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="part">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** Shows a table that scrolls on a narrow screen; a sentence if it has no rows. */
export function Table({ label, heads, empty, children }: TableProps) {
  if (children.length === 0) return <p class="quiet">{empty}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls what has the focus.
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

interface TableProps {
  readonly label: string;
  readonly heads: readonly string[];
  readonly empty: string;
  readonly children: readonly ComponentChildren[];
}
