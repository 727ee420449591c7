import {
  type RecordedReplacement,
  type ReplacementRecord,
  recordedReplacement,
} from "../../domain/model/job-replacement.ts";
import { jobReplacementLabel } from "../../domain/references/annotations.ts";
import { errorTextWithoutValues } from "../../kube/api/api-failure.ts";
import { type KubeObject, resourcePath, resources } from "../../kube/api/resources.ts";
import { getIfExists, listMetadata } from "../../kube/reads/reads.ts";
import { sleep } from "../../lib/clock.ts";
import type { ControllerPermits } from "../../runtime/write-permits.ts";
import { logMessages } from "../../telemetry/logging/log-messages.ts";
import type { LeaderController, LeaderParts } from "../leader-context.ts";
import { createReplacement, deleteRecord } from "./replace.ts";

type JobReplacementsOptions = LeaderParts<"client" | "policy" | "clock" | "log" | "leadership" | "permits", "kinds">;

const sweepMs = 30_000;
/** Finds the records, in pages. */
const records = { labelSelector: `${jobReplacementLabel}=true`, limit: 20 };
/** The records of one namespace that a sweep creates. Anyone who may create Jobs can create any number of records. */
const perNamespace = 20;
/** After this time, the write that stored the record has ended, and its Job was not deleted. In milliseconds. */
const staleMs = 300_000;

/** Creates the Jobs of records that are left: after a crash, or while the API server rejects the Job. */
export class JobReplacements implements LeaderController {
  readonly #options: JobReplacementsOptions;
  readonly #signal: AbortSignal;
  readonly #permits: ControllerPermits;
  /** When each record was seen first, by uid. */
  #seen = new Map<string, number>();

  constructor(options: JobReplacementsOptions) {
    this.#options = options;
    this.#signal = options.leadership.stop;
    this.#permits = options.permits.of("housekeeping", { flowOf: (namespace) => namespace });
  }

  /** Makes no request if Wave does not roll Jobs. */
  async run(): Promise<void> {
    const { caches, clock, leadership, log } = this.#options;
    while (!this.#signal.aborted && leadership.valid()) {
      if (caches.kinds().some(({ strategy }) => strategy === "replacement")) {
        await this.#sweep().catch((error: unknown) => {
          if (!this.#signal.aborted) log.warn(logMessages.jobNotReplaced, { error: errorTextWithoutValues(error) });
        });
      }
      await sleep(clock, sweepMs, this.#signal).catch(() => {});
    }
  }

  async #sweep(): Promise<void> {
    const seen = new Map<string, number>();
    for (const namespace of this.#options.policy.namespaces ?? [undefined]) {
      const left = new Map<string, number>();
      const path = resourcePath(resources.jobs, { namespace });
      for await (const metadata of listMetadata(this.#options.client, path, records, this.#signal)) {
        if (this.#signal.aborted || !this.#options.leadership.valid()) return;
        const at = this.#seen.get(metadata.uid ?? "") ?? this.#options.clock.monotonic();
        seen.set(metadata.uid ?? "", at);
        const count = left.get(metadata.namespace ?? "") ?? 0;
        left.set(metadata.namespace ?? "", count + 1);
        if (count < perNamespace) await this.#finish(metadata, at);
      }
    }
    this.#seen = seen;
  }

  /** Creates the Job of a record, and deletes the record. A failure is reported and tried again in the next sweep. */
  async #finish({ namespace = "", name }: KubeObject["metadata"], seenAt: number): Promise<void> {
    const { client, clock, log } = this.#options;
    let replacement: RecordedReplacement | undefined;
    try {
      const path = resourcePath(resources.jobs, { namespace, name });
      const record = await getIfExists<KubeObject & ReplacementRecord>(client, { path, signal: this.#signal });
      replacement = record && recordedReplacement(record);
      if (replacement === undefined || !(await this.#permits.wait(namespace))) return;
      const result = await createReplacement(client, namespace, replacement);
      const isRunning = clock.monotonic() - seenAt < staleMs;
      if (result.type === "kept" && (result.isDeleting || isRunning)) return;
      await deleteRecord(client, namespace, replacement);
      if (result.type === "created") log.info("created a Job again", { namespace, job: replacement.name });
    } catch (error) {
      if (this.#signal.aborted) return;
      log.warn(logMessages.jobNotReplaced, {
        namespace,
        job: replacement?.name ?? name,
        error: errorTextWithoutValues(error),
      });
    }
  }
}
