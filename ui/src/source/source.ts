import type { ReadonlySignal } from "@preact/signals";
import type { Model, ObjectDetail, TimelineEntry, WorkloadDetail } from "../../../src/cli/ui/model.ts";

/** An object of a cluster, as `configmap/NAME` or `secret/NAME`. */
export interface ObjectName {
  readonly cluster: string;
  readonly namespace: string;
  readonly object: string;
}

/** Whether updates arrive. `at` is the time of the last update in milliseconds since the epoch; null before the first. */
export interface Stream {
  readonly state: "connecting" | "live" | "lost";
  readonly at: number | null;
}

/** Where the views get what they show. The page reads from `wave ui`; another program supplies its own source. */
export interface Source {
  readonly model: ReadonlySignal<Model>;
  readonly stream: ReadonlySignal<Stream>;
  readonly loadWorkload: (id: string) => Promise<WorkloadDetail>;
  readonly loadObject: (name: ObjectName) => Promise<ObjectDetail>;
  /** Loads what happened since a time in milliseconds since the epoch; in all namespaces if the namespace is "". */
  readonly loadTimeline: (since: number, namespace: string) => Promise<readonly TimelineEntry[]>;
}
