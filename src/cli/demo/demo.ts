import { once } from "node:events";
import { quoted } from "../../domain/syntax/wording.ts";
import { systemClock } from "../../lib/clock.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { createLogger, type Logger } from "../../telemetry/logging/log.ts";
import type { Terminal } from "../command/command.ts";
import { reportFailure } from "../command/command-failure.ts";
import { exitCodes } from "../command/exit-codes.ts";
import { version } from "../command/version.ts";
import { parseFlags } from "../flags/parse-flags.ts";
import { UsageError } from "../flags/usage-error.ts";
import { hasColors } from "../output/paint.ts";
import { startWave } from "./start-wave.ts";
import { demoFlags, demoHelp } from "./demo-flags.ts";
import { Interrupted, untilInterrupted } from "./interrupt.ts";
import { createNarrator, type Narrator } from "./narrator.ts";
import { observe } from "./observer.ts";
import { openNamespace, openSandbox, type DemoCluster } from "./demo-cluster.ts";
import { runStory } from "./story.ts";

/**
 * `wave demo`: tells what Wave does while it does it. Resolves with 0 when everything happened as told, with 1 and one
 * line on standard error where it did not, with 128 and the signal's number where it was ended early. What it made is
 * removed in each case.
 */
export async function demo(args: readonly string[], terminal: Terminal): Promise<number> {
  // No variable chooses a cluster: the first thing that a new user runs must not surprise one.
  const request = parseFlags(demoFlags, args, {});
  if (request.action === "help") {
    terminal.write(demoHelp());
    return exitCodes.done;
  }
  if (request.action === "version") {
    terminal.write(`wave ${version()}\n`);
    return exitCodes.done;
  }
  const [extra] = request.positionals;
  if (extra !== undefined) throw new UsageError(`${quoted(extra)} is not a flag`);
  using interruption = untilInterrupted();
  const { signal } = interruption;
  const { keep, kubeconfig, context } = request.values;
  const { env, homeDir } = terminal;
  const options = {
    kubeconfig,
    context,
    env,
    homeDir,
    clock: systemClock,
    userAgent: `wave-demo/${version()}`,
    signal,
  };
  const open = kubeconfig === undefined && context === undefined ? openSandbox : openNamespace;
  try {
    const stage = await open(options);
    const told = await perform(stage, keep, terminal, signal).catch((error: unknown) => failure(error, terminal));
    return await leave(stage, told, terminal);
  } catch (error) {
    return failure(error, terminal);
  }
}

/** The story from its first line to its last; resolves with 0. */
async function perform(stage: DemoCluster, keep: boolean, terminal: Terminal, signal: AbortSignal): Promise<number> {
  const failed = new AbortController();
  const over = AbortSignal.any([signal, failed.signal]);
  const color = hasColors(terminal.env, terminal.outputToTerminal);
  const narrator = createNarrator(terminal.write, color);
  const from = systemClock.monotonic();
  narrator.paragraph(
    `Wave ${version()} replaces Pods exactly when the ConfigMaps and Secrets that they see have changed.`,
    ...stage.description,
  );
  const log = createLog(terminal, color);
  const wave = startWave(stage.waveFlags, terminal, log, (error) => failed.abort(error));
  const watching = new AbortController();
  try {
    const { client, namespace, stepMs } = stage;
    const watch = AbortSignal.any([over, watching.signal]);
    const observer = observe({ client, namespace, stepMs, clock: systemClock, log, signal: watch });
    const ending = await runStory({ stage, observer, narrator, clock: systemClock, signal: over });
    const seconds = ((systemClock.monotonic() - from) / 1000).toFixed(1);
    narrator.paragraph(
      `${ending.edits} changes, ${ending.rollouts} of which the Pods could see: ${ending.rollouts} rollouts. ${seconds} s.`,
    );
    watching.abort();
    if (keep) await play(stage, narrator, log, over);
    else tellWhatNext(narrator);
    return exitCodes.done;
  } finally {
    watching.abort();
    await wave.stop();
  }
}

interface SwitchedLogger extends Logger {
  /** From now on what Wave does is shown too, not only what hinders it. */
  readonly showAll: () => void;
}

/** During the story the story says what Wave does: its log speaks only of trouble. */
function createLog(terminal: Terminal, color: boolean): SwitchedLogger {
  const options = { format: "text", clock: systemClock, write: terminal.write, color } as const;
  const all = createLogger({ ...options, level: "info" });
  const { warn, error } = all;
  let shown = false;
  return {
    debug: () => {},
    info: (message, fields) => (shown ? all.info(message, fields) : undefined),
    warn,
    error,
    showAll: () => {
      shown = true;
    },
  };
}

/** Leaves everything running for a person to try, until it is interrupted. */
async function play(stage: DemoCluster, narrator: Narrator, log: SwitchedLogger, over: AbortSignal): Promise<void> {
  const kubectl = ["kubectl", ...stage.kubectlFlags, ...stage.namespaceFlags].join(" ");
  const explain = ["bin/wave explain deployment/web", ...stage.kubectlFlags, ...stage.namespaceFlags].join(" ");
  narrator.paragraph(
    "Everything keeps running. Try in another terminal:",
    `  ${kubectl} get pods --watch`,
    `  ${kubectl} edit configmap web-page`,
    `  ${kubectl} delete secret web-token`,
    `  ${kubectl} describe deployment web`,
    `  ${explain}`,
    "Ctrl-C ends and removes it all. What Wave does until then:",
  );
  log.showAll();
  if (!over.aborted) await once(over, "abort");
  if (!(over.reason instanceof Interrupted)) throw over.reason;
}

function tellWhatNext(narrator: Narrator): void {
  narrator.paragraph(
    "Next",
    "  bin/wave demo --keep                      leaves all this running, for you and kubectl",
    "  bin/wave demo --kubeconfig FILE           the same on a cluster of yours, in a namespace that is removed again",
    "  bin/wave explain deployment/NAME -n NS    what a workload's Pods see, and what Wave would do with it",
    "  bin/wave run                              Wave for the cluster of your kubeconfig",
  );
}

/** Removes the stage; resolves with the exit code. */
async function leave(stage: DemoCluster, told: number, terminal: Terminal): Promise<number> {
  if (stage.namespaceFlags.length > 0)
    terminal.write(`Removing namespace ${stage.namespace}, which takes a cluster some seconds …\n`);
  try {
    await stage.close();
    return told;
  } catch (error) {
    const code = failure(error, terminal);
    return told === 0 ? code : told;
  }
}

function failure(error: unknown, terminal: Terminal): number {
  if (error instanceof Interrupted) {
    terminal.writeError(`wave demo: ${error.message}\n`);
    return error.exitCode;
  }
  terminal.writeError(`wave demo: ${errorText(error)}\n`);
  return reportFailure(error, undefined)?.code ?? exitCodes.no;
}
