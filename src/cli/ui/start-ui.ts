import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Clock, sleep } from "../../lib/clock.ts";
import type { Cluster } from "../command/cluster-command.ts";
import { CommandFailure, commandErrorTexts } from "../command/command.ts";
import { ClusterFeed } from "./cluster-feed.ts";
import { readDetails } from "./details.ts";
import { followDoctor } from "./follow-doctor.ts";
import { ModelStream } from "./model-stream.ts";
import { type PageFile, startPageServer } from "./page-server.ts";
import type { UiCall } from "./ui-flags.ts";
import { clusterId } from "./workload-rows.ts";

/** A cluster of the page, and the name of its context. */
export interface UiMember {
  readonly cluster: Cluster;
  readonly context: string;
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
export async function startUi({
  call,
  members,
  files,
  diagnoses = true,
  clock,
  signal: stop,
}: {
  readonly call: UiCall;
  readonly members: readonly UiMember[];
  /** The files of the page, by their names. */
  readonly files: ReadonlyMap<string, PageFile>;
  /** Whether the checks of `wave doctor` run. Default: true. */
  readonly diagnoses?: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}): Promise<Ui> {
  const failed = new AbortController();
  const signal = AbortSignal.any([stop, failed.signal]);
  const onBug = (error: unknown) => failed.abort(error);
  const stream = new ModelStream(clock);
  const { port, contexts } = call.values;
  const feeds = new Map(
    members.map(({ cluster, context }) => {
      const contextFlag = contexts === undefined ? "" : ` --context ${inShell(context)}`;
      return [clusterId(context), new ClusterFeed({ call, cluster, context, contextFlag, stream, clock, signal })];
    }),
  );
  const details = readDetails(feeds, clock);
  const server = await startPageServer({ port, files, stream, details, onBug });
  const work = [...feeds.values()].flatMap((feed) => [feed.run(), ...(diagnoses ? [followDoctor(feed)] : [])]);
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

/** The files of the page, by their names below the token. "" is the page itself. */
const files = [
  { name: "", file: "page.html", type: "text/html; charset=utf-8" },
  { name: "page.js", file: "page.js", type: "text/javascript; charset=utf-8" },
  { name: "page.css", file: "page.css", type: "text/css; charset=utf-8" },
] as const;

/** Where the files are: beside the bundle. If Wave runs from its sources: where the bundle would be. */
const folders = [new URL("./", import.meta.url), new URL("../../../dist/", import.meta.url)];

/** Reads the page. Throws a CommandFailure if it was not built. */
export async function readPageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  for (const folder of folders) {
    if (!existsSync(new URL(files[0].file, folder))) continue;
    const read = files.map(async ({ name, file, type }) => {
      return [name, { type, body: await readFile(new URL(file, folder)) }] as const;
    });
    return new Map(await Promise.all(read));
  }
  throw new CommandFailure(commandErrorTexts.noPage);
}

/** The program that opens a file in the browser of the user. */
const opener = process.platform === "darwin" ? "open" : "xdg-open";

/** How long the browser may take to read the file, in milliseconds. */
const readMs = 60_000;

/**
 * Opens an address in the browser of the user; returns false if there is none. Other users of the machine see the arguments of each process,
 * but not a file of this user. So the browser gets the address, which has the token, by a file that only this user may read.
 */
export async function openBrowser(url: string): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "wave-ui-"));
  const file = join(folder, "open.html");
  await writeFile(
    file,
    `<!doctype html><meta http-equiv="refresh" content="0; url=${url}"><a href="${url}">Wave</a>\n`,
    {
      mode: 0o600,
    },
  );
  const remove = () => rm(folder, { recursive: true, force: true });
  const child = spawn(opener, [pathToFileURL(file).href], { stdio: "ignore", detached: true });
  child.unref();
  try {
    await once(child, "spawn");
  } catch {
    await remove();
    return false;
  }
  setTimeout(() => void remove(), readMs).unref();
  return true;
}
