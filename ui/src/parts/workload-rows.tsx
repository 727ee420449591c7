import type { WorkloadRow } from "../../../src/cli/ui/model.ts";
import { toneOfRow } from "../states.ts";
import { Command } from "./command.tsx";
import { StateName } from "./mark.tsx";
import { Rows } from "./rows.tsx";
import { Ago, Left } from "./times.tsx";
import { WorkloadLink } from "./workload-link.tsx";

/** Shows a row for each workload: the state, the sentence, and the command to copy. */
export function WorkloadRows({ label, rows }: { readonly label: string; readonly rows: readonly WorkloadRow[] }) {
  return (
    <Rows label={label} items={rows} keyOf={({ id }) => id}>
      {(row) => <WorkloadLine row={row} />}
    </Rows>
  );
}

function WorkloadLine({ row }: { readonly row: WorkloadRow }) {
  const { state, because, message, since, until, command } = row;
  return (
    <article class={`workload ${toneOfRow(row)}`}>
      <div class="line">
        <StateName state={state} because={because} tone={toneOfRow(row)} />
        <WorkloadLink id={row.id} withNamespace />
        <span class="quiet">
          {row.pods !== null && `${row.pods.ready}/${row.pods.total} ready`}
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
      </div>
      <p class="message" title={message}>
        {message}
      </p>
      {command !== null && <Command text={command} />}
    </article>
  );
}
