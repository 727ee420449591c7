import { once } from "node:events";
import { type Clock, sleep } from "../../lib/clock.ts";
import type { Cluster } from "../command/cluster-command.ts";
import { ClusterFeed } from "./cluster-feed.ts";
import { readDetails } from "./details.ts";
import { followDoctor } from "./follow-doctor.ts";
import { clusterId } from "./ids.ts";
import { ModelStream } from "./model-stream.ts";
import { type PageFile, startPageServer } from "./page-server.ts";
import type { UiCall } from "./ui-flags.ts";

/** A cluster of the page, and the name of its context. */
export interface UiMember {
  readonly cluster: Cluster;
  readonly context: string;
}

/** The input of {@link startUi}. */
interface UiOptions {
  readonly call: UiCall;
  readonly members: readonly UiMember[];
  /** The files of the page, by their names. */
  readonly files: ReadonlyMap<string, PageFile>;
  /** Whether the checks of `wave doctor` run. Default: true. */
  readonly diagnoses?: boolean;
  readonly clock: Clock;
  /** Ends the page. */
  readonly signal: AbortSignal;
}

/** A page that is being served. */
export interface Ui {
  /** The address with the token. */
  readonly url: string;
  /** Resolves when the signal is aborted and everything is closed. Rejects for a bug. */
  readonly ended: Promise<void>;
}

/** Returns a word for a shell, in quotation marks if it has other characters than names usually have. */
function inShell(word: string): string {
  return /^[\w.:@/+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Time between two signs of life of a stream, in milliseconds. */
const beatMs = 15_000;

/** Serves the page. Rejects if the port is in use. */
export async function startUi({ call, members, files, diagnoses = true, clock, signal: stop }: UiOptions): Promise<Ui> {
  const failed = new AbortController();
  const signal = AbortSignal.any([stop, failed.signal]);
  const onBug = (error: unknown) => failed.abort(error);
  const stream = new ModelStream(clock);
  const { namespace, contexts } = call.values;
  const feeds = new Map(
    members.map(({ cluster, context }) => {
      const contextFlag = contexts === undefined ? "" : ` --context ${inShell(context)}`;
      const feed = new ClusterFeed({ call, cluster, context, namespace, contextFlag, stream, clock, signal });
      return [clusterId(context), { feed, cluster, contextFlag, namespace }] as const;
    }),
  );
  const details = readDetails({ feeds, clock });
  const server = await startPageServer({
    port: call.values.port,
    files,
    stream,
    details,
    onBug,
  });
  const work = [...feeds.values()].flatMap(({ feed, cluster }) => [
    feed.run(),
    ...(diagnoses ? [followDoctor({ call, cluster, feed, clock, signal })] : []),
  ]);
  const beat = async () => {
    while (!signal.aborted) {
      await sleep(clock, beatMs, signal).catch(() => {});
      stream.beat();
    }
  };
  for (const each of [...work, beat()]) each.catch(onBug);
  const end = async () => {
    if (!signal.aborted) await once(signal, "abort");
    await server.close();
    await Promise.allSettled(work);
    if (failed.signal.aborted) throw failed.signal.reason;
  };
  return { url: server.url, ended: end() };
}
