import { parseWorkloadKey } from "../../../domain/model/workload.ts";
import type { ConfigName } from "../../../domain/references/references.ts";
import { formatCount, formatList, quoted } from "../../../domain/syntax/wording.ts";
import type { Logger } from "../../../telemetry/logging/log.ts";
import { logMessages } from "../../../telemetry/logging/log-messages.ts";
import { haltedChangeEvent } from "../report/event-texts.ts";
import { type ConfigEventOptions, postConfigEvent } from "../report/post-config-event.ts";

/** The halted change of an object in one namespace. */
export interface HaltedChange {
  readonly object: ConfigName;
  readonly namespace: string;
  /** The keys of the failed workloads. */
  readonly failed: readonly string[];
}

const shownWorkloads = 5;

/** What {@link reportHalt} needs. */
export interface HaltReportOptions extends ConfigEventOptions {
  readonly log: Logger;
}

/** Reports a halted change by an Event on its object. Never rejects. */
export async function reportHalt(change: HaltedChange, options: HaltReportOptions): Promise<void> {
  const { kind, namespace, name } = change.object;
  const { namespace: workloadsIn, failed } = change;
  options.log.warn(logMessages.changeHalted, { kind, namespace, name, workloadsIn, failed: failed.length });
  await postConfigEvent(change.object, eventOf(change), options);
}

/** Returns the Event. In another namespace it has no names of workloads: the owner of the object may not know them. */
function eventOf({ object, namespace, failed }: HaltedChange) {
  const isElsewhere = object.namespace !== namespace;
  const names = formatList(failed, shownWorkloads, (key) => {
    const { kind, name } = parseWorkloadKey(key);
    return `${kind} ${quoted(name)}`;
  });
  const workloads = isElsewhere || failed.length === 0 ? `${formatCount(failed.length)} workloads` : names;
  return haltedChangeEvent({ object, workloads, namespace: isElsewhere ? namespace : undefined });
}
