import { useComputed } from "@preact/signals";
import type { Task } from "../../../src/cli/ui/model.ts";
import { usePage } from "../context.ts";
import { Command } from "../parts/command.tsx";
import { ScopeFields } from "../parts/filters.tsx";
import { Mark } from "../parts/mark.tsx";
import { Clock, Left } from "../parts/times.tsx";
import { ObjectLink } from "../parts/workload-link.tsx";

const sections = [
  { type: "approval", title: "Approvals", mark: "unproven", none: "No change waits for an approval." },
  { type: "hold", title: "Holds", mark: "held", none: "No person holds a workload." },
  { type: "window", title: "Windows", mark: "due", none: "No change waits for a window." },
] as const;

/** The number of cards in each column. */
const mostShown = 100;

/** Shows what waits for a person or for a window, with the changes behind it. */
export function WhoMustAct() {
  const { source, navigation } = usePage();
  const tasks = useComputed(() => {
    const { cluster, namespace } = navigation.place.value;
    return Object.values(source.model.value.tasks)
      .filter(
        (task) => (cluster === "" || task.cluster === cluster) && (namespace === "" || task.namespace === namespace),
      )
      .sort(
        (a, b) =>
          (a.until ?? 0) - (b.until ?? 0) || (`${a.namespace}/${a.about}` < `${b.namespace}/${b.about}` ? -1 : 1),
      );
  });
  return (
    <>
      <ScopeFields withText={false} />
      <div class="columns">
        {sections.map(({ type, title, mark, none }) => {
          const shown = tasks.value.filter((task) => task.type === type);
          return (
            <section key={type} aria-label={title}>
              <h2>
                <Mark state={mark} tone={type === "window" ? "cyan" : "yellow"} />
                {title} <span class="number">{shown.length}</span>
              </h2>
              {shown.length === 0 && <p class="quiet">{none}</p>}
              {shown.slice(0, mostShown).map((task) => (
                <TaskCard key={task.id} task={task} />
              ))}
              {shown.length > mostShown && (
                <p class="quiet">and {shown.length - mostShown} more. Choose a namespace.</p>
              )}
            </section>
          );
        })}
      </div>
    </>
  );
}

function TaskCard({ task }: { readonly task: Task }) {
  const { cluster, namespace, about, type, by, reason, changes, until, command } = task;
  return (
    <article class={`card ${type === "window" ? "cyan" : "yellow"}`}>
      <h3>
        {namespace !== "" && <span class="namespace">{namespace}/</span>}
        {about}
      </h3>
      {until !== null && (
        <p class="soak">
          <Clock from={until - 24 * 3_600_000} until={until} />
          <span>
            The window opens in <Left at={until} />.
          </span>
        </p>
      )}
      {(by !== null || reason !== null) && (
        <p class="message">
          {by !== null && <strong>{by}</strong>}
          {by !== null && reason !== null && ": "}
          {reason}
        </p>
      )}
      {type === "hold" && by === null && <p class="quiet">The hold names no person.</p>}
      {changes.length > 0 && (
        <ul class="plain" aria-label="Changes">
          {changes.map(({ object, keys, editor }) => (
            <li key={object}>
              <ObjectLink cluster={cluster} namespace={namespace} object={object} />
              {keys.length > 0 && <span class="keys"> {keys.join(", ")}</span>}
              {editor !== null && <span class="quiet"> by {editor}</span>}
            </li>
          ))}
        </ul>
      )}
      {command !== null && <Command text={command} />}
    </article>
  );
}
