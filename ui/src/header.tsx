import type { ClusterHeader } from "../../src/cli/ui/model.ts";
import { usePage } from "./context.ts";
import { Mark } from "./parts/mark.tsx";
import { Ago } from "./parts/times.tsx";
import type { Tone } from "./states.ts";

/** Shows each cluster beside the others: whether the page reads it, and who works in it. */
export function Header() {
  const { source } = usePage();
  const { state, at } = source.stream.value;
  const clusters = Object.values(source.model.value.clusters);
  return (
    <header>
      <div class="brand">
        <svg viewBox="0 0 32 20" width="32" height="20" aria-hidden="true">
          <path d="M2 13c4-12 10-12 14-1s10 7 14-4" />
        </svg>
        Wave
      </div>
      {state === "lost" && (
        <p class="banner" role="alert">
          <Mark state="failed" tone="red" />
          <span>
            The connection to wave ui is lost.{" "}
            {at !== null && (
              <>
                The page shows the state of <Ago at={at} />.{" "}
              </>
            )}
            The page connects again by itself. If this takes long, run wave ui again.
          </span>
        </p>
      )}
      <div class="clusters">
        {clusters.map((cluster) => (
          <Cluster key={cluster.id} cluster={cluster} />
        ))}
      </div>
    </header>
  );
}

function Cluster({ cluster }: { readonly cluster: ClusterHeader }) {
  const { context, connection, readAt, leader, standbys, webhook, notifications, doctor, hold, notes } = cluster;
  return (
    <section class={`cluster ${connection.state}`} aria-label={`Context ${context}`}>
      <h2>{context}</h2>
      {connection.state !== "connected" && (
        <p class="lost">
          <Mark
            state={connection.state === "lost" ? "failed" : "due"}
            tone={connection.state === "lost" ? "red" : "cyan"}
          />
          <span>
            {connection.state === "lost" ? "Lost" : "Connecting"}
            {connection.error !== null && `: ${connection.error.replace(/\.$/, "")}`}.{" "}
            {readAt !== null && (
              <>
                Last read <Ago at={readAt} />.
              </>
            )}
          </span>
        </p>
      )}
      {hold !== null && (
        <p class="lost">
          <Mark state="held" tone="yellow" />
          <span>Every rollout is on hold: {hold}</span>
        </p>
      )}
      <ul class="facts">
        {leader === null ? (
          <Fact tone="yellow" state="unknown" text="no leader" />
        ) : (
          <li>
            <Mark state={leader.isFresh ? "current" : "failed"} tone={leader.isFresh ? "green" : "red"} />
            <span title={leader.identity}>
              leader <span class="identity">{leader.identity}</span>
              {!leader.isFresh && (
                <>
                  , renewed <Ago at={leader.renewedAt} />
                </>
              )}
            </span>
          </li>
        )}
        <Fact
          tone={standbys > 0 ? "green" : "dim"}
          state={standbys > 0 ? "current" : "ignored"}
          text={standbys === 1 ? "1 standby" : `${standbys} standbys`}
        />
        <Fact {...webhookMarks[webhook]} text={`webhook ${webhook}`} />
        <Fact {...notificationMarks[notifications]} text={`notifications ${notifications}`} />
        {doctor === null && <Fact tone="dim" state="ignored" text="doctor is running" />}
        {doctor?.length === 0 && <Fact tone="green" state="current" text="doctor finds nothing" />}
        <Findings title="doctor" findings={doctor ?? []} />
        <Findings title="not read" findings={notes} />
      </ul>
    </section>
  );
}

/** Shows lines that a person reads, behind their number. */
function Findings({ title, findings }: { readonly title: string; readonly findings: readonly string[] }) {
  if (findings.length === 0) return null;
  return (
    <li>
      <details class="findings">
        <summary>
          <Mark state="waiting" tone="yellow" />
          {title}: {findings.length}
        </summary>
        <ul>
          {findings.map((finding) => (
            <li key={finding}>{finding}</li>
          ))}
        </ul>
      </details>
    </li>
  );
}

interface FactMark {
  readonly tone: Tone;
  readonly state: string;
}

const webhookMarks: Readonly<Record<ClusterHeader["webhook"], FactMark>> = {
  ready: { tone: "green", state: "current" },
  failing: { tone: "red", state: "failed" },
  absent: { tone: "dim", state: "ignored" },
  unknown: { tone: "yellow", state: "unknown" },
};

const notificationMarks: Readonly<Record<ClusterHeader["notifications"], FactMark>> = {
  configured: { tone: "green", state: "current" },
  absent: { tone: "dim", state: "ignored" },
  unknown: { tone: "yellow", state: "unknown" },
};

function Fact({ tone, state, text }: FactMark & { readonly text: string }) {
  return (
    <li>
      <Mark state={state} tone={tone} />
      {text}
    </li>
  );
}
