import { useComputed } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Batch, Change, Failure } from "../../../src/cli/ui/model.ts";
import { usePage } from "../context.ts";
import { Command } from "../parts/command.tsx";
import { ScopeFields } from "../parts/filters.tsx";
import { Mark, StateName } from "../parts/mark.tsx";
import { PodLegend, Pods } from "../parts/pods.tsx";
import { Ago, Clock, Left } from "../parts/times.tsx";
import { ObjectLink, WorkloadLink } from "../parts/workload-link.tsx";
import { isHalt, type Tone, toneOfRow } from "../states.ts";

/** How a change is shown, in the order of the cards. */
const looks: Readonly<Record<Change["state"], { readonly mark: string; readonly tone: Tone }>> = {
  stuck: { mark: "stuck", tone: "yellow" },
  halted: { mark: "halted", tone: "red" },
  soaking: { mark: "due", tone: "cyan" },
  rolling: { mark: "rolling", tone: "cyan" },
  waiting: { mark: "held", tone: "yellow" },
  complete: { mark: "current", tone: "green" },
};

const order = Object.keys(looks);

/** The most that the view shows, so that a change of thousands of workloads stays readable. */
const most = { changes: 60, batches: 12, workloads: 30 };

/** Shows a card for each change: what was edited, and the workloads that roll because of it in the order of their batches. */
export function RollingNow() {
  const { source, navigation } = usePage();
  const changes = useComputed(() => {
    const { cluster, namespace } = navigation.place.value;
    return Object.values(source.model.value.changes)
      .filter(
        (change) =>
          (cluster === "" || change.cluster === cluster) && (namespace === "" || change.namespace === namespace),
      )
      .sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state) || (b.editedAt ?? 0) - (a.editedAt ?? 0));
  });
  return (
    <>
      <ScopeFields withText={false} />
      {changes.value.length === 0 ? <p class="empty">Nothing is rolling.</p> : <PodLegend />}
      <div class="cards">
        {changes.value.slice(0, most.changes).map((change) => (
          <ChangeCard key={change.id} change={change} />
        ))}
      </div>
      <More count={changes.value.length - most.changes} noun="changes" />
    </>
  );
}

/** Shows one change. A complete change is one line that opens. */
function ChangeCard({ change }: { readonly change: Change }) {
  const { state, cluster, namespace, object } = change;
  const { tone } = looks[state];
  const label = `Change of ${namespace}/${object}`;
  if (state === "complete")
    return (
      <section class={`card ${tone}`} aria-label={label}>
        <details>
          <summary>
            <ChangeTitle change={change} />
          </summary>
          <p class="message">
            <ObjectLink cluster={cluster} namespace={namespace} object={object} />
          </p>
          <Batches change={change} />
        </details>
      </section>
    );
  return (
    <section class={`card ${tone}`} aria-label={label}>
      <h2>
        <ChangeTitle change={change} />
      </h2>
      <p class="message">{change.message}</p>
      <Soak change={change} />
      {change.failure !== null && <FailureFacts failure={change.failure} />}
      <Batches change={change} />
    </section>
  );
}

function ChangeTitle({ change }: { readonly change: Change }) {
  const { state, cluster, namespace, object, keys, editor, editedAt } = change;
  const workloads = change.batches.reduce((sum, batch) => sum + batch.workloads.length, 0);
  return (
    <span class="title">
      <span class={`state ${looks[state].tone}`}>
        <Mark state={looks[state].mark} tone={looks[state].tone} />
        {state}
      </span>{" "}
      <span class="object">
        <span class="namespace">{namespace}/</span>
        {state === "complete" ? object : <ObjectLink cluster={cluster} namespace={namespace} object={object} />}
      </span>{" "}
      {keys.length > 0 && <span class="keys">{keys.join(", ")}</span>}{" "}
      {editor !== null && <span class="quiet">by {editor}</span>}{" "}
      {editedAt !== null && (
        <span class="quiet">
          <Ago at={editedAt} />
        </span>
      )}{" "}
      {state === "complete" && <span class="quiet">{workloads === 1 ? "1 workload" : `${workloads} workloads`}</span>}
    </span>
  );
}

/** Shows how long the soak lasts, and which workload all others wait for. */
function Soak({ change: { waitsFor, soakUntil } }: { readonly change: Change }) {
  const { now } = usePage();
  const started = useRef({ until: soakUntil, at: now.peek() });
  if (started.current.until !== soakUntil) started.current = { until: soakUntil, at: now.peek() };
  if (waitsFor === null && soakUntil === null) return null;
  return (
    <p class="soak">
      {soakUntil !== null && <Clock from={started.current.at} until={soakUntil} />}
      <span>
        {waitsFor !== null && (
          <>
            All others wait for <WorkloadLink id={waitsFor} />.{" "}
          </>
        )}
        {soakUntil !== null && (
          <>
            The soak ends in <Left at={soakUntil} />.
          </>
        )}
      </span>
    </p>
  );
}

/** Shows what halted a change, and how to go on. */
function FailureFacts({ failure }: { readonly failure: Failure }) {
  const { workload, pod, container, exitCode, reason, logCommand, podsWithOldContent, podsAtRisk, resumeCommand } =
    failure;
  return (
    <dl class="failure">
      <dt>Failed</dt>
      <dd>
        <WorkloadLink id={workload} />
        {pod !== null && (
          <>
            , Pod <code>{pod}</code>
          </>
        )}
        {container !== null && (
          <>
            , container <code>{container}</code>
          </>
        )}
        {reason !== null && `, ${reason}`}
        {exitCode !== null && (
          <>
            , exit code <strong>{exitCode}</strong>
          </>
        )}
      </dd>
      {logCommand !== null && <dt>Log</dt>}
      {logCommand !== null && (
        <dd>
          <Command text={logCommand} />
        </dd>
      )}
      <dt>Pods</dt>
      <dd>
        <strong>{podsWithOldContent}</strong> run with the old content. <strong>{podsAtRisk}</strong> would read the new
        content if they restart.
      </dd>
      <dt>Continue</dt>
      <dd>
        <Command text={resumeCommand} />
      </dd>
    </dl>
  );
}

/** Shows the batches in their order. Of very many, those that are complete are a number. */
function Batches({ change: { batches } }: { readonly change: Change }) {
  const open = batches.length <= most.batches ? batches : batches.filter((batch) => !isComplete(batch));
  return (
    <>
      <More count={batches.length - open.length} noun="complete batches" />
      <ol class="batches">
        {open.slice(0, most.batches).map((batch) => (
          <li key={batch.number}>
            <h3>
              {batch.number === 0 ? "Canary" : `Batch ${batch.number}`} <span class="quiet">{progress(batch)}</span>
            </h3>
            <ul>
              {batch.workloads.slice(0, most.workloads).map((member) => (
                <Member key={member.id} {...member} />
              ))}
            </ul>
            <More count={batch.workloads.length - most.workloads} noun="workloads" />
          </li>
        ))}
      </ol>
      <More count={open.length - most.batches} noun="batches" />
    </>
  );
}

/** Shows how many are not shown. */
function More({ count, noun }: { readonly count: number; readonly noun: string }) {
  if (count <= 0) return null;
  return (
    <p class="quiet">
      {count} more {noun}
    </p>
  );
}

const memberMarks: Readonly<
  Record<Batch["workloads"][number]["state"], { readonly mark: string; readonly tone: Tone }>
> = {
  waiting: { mark: "held", tone: "dim" },
  rolling: { mark: "rolling", tone: "cyan" },
  complete: { mark: "current", tone: "green" },
  stuck: { mark: "stuck", tone: "yellow" },
  failed: { mark: "failed", tone: "red" },
};

function Member({ id, state }: Batch["workloads"][number]) {
  const row = usePage().source.model.value.workloads[id];
  const { mark, tone } = memberMarks[state];
  return (
    <li class="member">
      <span class={`state ${tone}`}>
        <Mark state={mark} tone={tone} />
        {state}
      </span>
      <WorkloadLink id={id} />
      {row !== undefined && <Pods pods={row.pods} podList={row.podList} />}
      {/* The state of the workload, if it says more than that of the change. */}
      {row?.needsPerson === true && !isHalt(row.because) && state !== "failed" && (
        <StateName state={row.state} because={row.because} tone={toneOfRow(row)} />
      )}
    </li>
  );
}

function isComplete({ workloads }: Batch): boolean {
  return workloads.every(({ state }) => state === "complete");
}

function progress({ workloads }: Batch): string {
  const complete = workloads.filter(({ state }) => state === "complete").length;
  return `${complete} of ${workloads.length} complete`;
}
