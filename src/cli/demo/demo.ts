// `wave demo`. The only folder of the command line that may use the sandbox.
import { once } from "node:events";
import { systemClock } from "../../lib/clock.ts";
import { createLogger, type Logger } from "../../telemetry/logging/log.ts";
import { errorText } from "../../telemetry/logging/log-messages.ts";
import {
  argumentErrorTexts,
  errorLine,
  exitCodes,
  reportFailure,
  sharedExitCodes,
  type Terminal,
  version,
} from "../command/command.ts";
import { type CommandCall, flagCommand } from "../command/help.ts";
import { bool, UsageError } from "../flags/flag-types.ts";
import { runFlags } from "../flags/run-flags.ts";
import { hasColors } from "../output/table.ts";
import { type DemoCluster, openNamespace, openSandbox, startWave } from "./demo-cluster.ts";
import { runUiDemo } from "./demo-ui.ts";
import { createNarrator, Interrupted, type Narrator, untilInterrupted } from "./narrator.ts";
import { observe } from "./observer.ts";
import { runStory } from "./story.ts";

const group = "Cluster";

const flags = {
  keep: bool({
    group: "Duration",
    default: false,
    help: "Keep everything running after the demo, with a kubeconfig for experiments, until Ctrl-C.",
  }),
  ui: bool({
    group: "Duration",
    default: false,
    help: "Serve the page of wave ui for a shop whose configuration keeps changing, until Ctrl-C.",
  }),
  kubeconfig: {
    ...runFlags.kubeconfig,
    group,
    help: "Run the demo on the cluster of this kubeconfig, in a temporary namespace.",
  },
  context: {
    ...runFlags.context,
    group,
    help: "Run the demo on the cluster of this context, in a temporary namespace.",
  },
};

/** `wave demo`. No variable selects a cluster: the first command of a new user must not touch a real cluster by surprise. */
export const demo = flagCommand({
  flags,
  readsVariables: false,
  help: {
    usage: "wave demo [flags]",
    description: "Show in a few seconds which edits of ConfigMaps and Secrets make Wave restart a workload.",
    examples: [
      ["wave demo", "without a cluster"],
      ["wave demo --ui", "watch rollouts on a page in your browser"],
      ["wave demo --keep", "then try kubectl yourself"],
      ["wave demo --kubeconfig ~/.kube/config", "on your cluster"],
    ],
    details: [
      "By default, the demo runs Wave on a small Kubernetes API server inside this process. It deploys nginx with a ConfigMap, edits the ConfigMap, and shows which Pods are replaced and why.",
      "Only --kubeconfig and --context select a real cluster. The variable KUBECONFIG does not. The demo has no --server, --token or --as: its own API server needs none, and the demo prints kubectl commands for your cluster.",
    ],
    exits: {
      [exitCodes.done]: "Every step had the expected result.",
      [exitCodes.no]: "A step had an unexpected result.",
      ...sharedExitCodes,
      130: "Ctrl-C ended the demo.",
    },
  },
  surplus: argumentErrorTexts.surplusOfDemo,
  run: runDemo,
});

/**
 * Runs Wave and shows what it does. Resolves with 0 if every step had the expected result; otherwise with 1 and one line on
 * standard error; after a signal with 128 plus the number of the signal. The demo always removes what it created.
 */
async function runDemo({ values, terminal }: CommandCall<typeof flags>): Promise<number> {
  using interruption = untilInterrupted();
  const { signal } = interruption;
  const { keep, kubeconfig, context } = values;
  const { env, homeDir } = terminal;
  const options = { kubeconfig, context, env, homeDir, signal };
  const isInProcess = kubeconfig === undefined && context === undefined;
  if (values.ui && (!isInProcess || keep)) throw new UsageError(argumentErrorTexts.uiOfDemo);
  const open = isInProcess ? openSandbox : openNamespace;
  try {
    if (values.ui) return await runUiDemo(options, terminal);
    const stage = await open(options);
    const result = await perform(stage, keep, terminal, signal).catch((error: unknown) => failure(error, terminal));
    return await leave(stage, result, terminal);
  } catch (error) {
    return failure(error, terminal);
  }
}

/** Runs all steps of the demo; resolves with 0. */
async function perform(stage: DemoCluster, keep: boolean, terminal: Terminal, signal: AbortSignal): Promise<number> {
  const failed = new AbortController();
  const over = AbortSignal.any([signal, failed.signal]);
  const color = hasColors(terminal.env, terminal.outputToTerminal);
  const narrator = createNarrator(terminal.write, color);
  const from = systemClock.monotonic();
  narrator.paragraph(
    `Wave ${version()} restarts workloads when the configuration that their Pods read has changed.`,
    "This demo edits a ConfigMap and a Secret and shows which edits restart a Pod, and which do not.",
    ...stage.description,
  );
  const log = createLog(terminal, color);
  const wave = startWave(stage.waveFlags, terminal, log, (error) => failed.abort(error));
  const watching = new AbortController();
  try {
    const { client, namespace, stepMs } = stage;
    const watch = AbortSignal.any([over, watching.signal]);
    const observer = observe({ client, namespace, stepMs, clock: systemClock, log, signal: watch });
    const ending = await runStory({ stage, observer, narrator, signal: over });
    const seconds = ((systemClock.monotonic() - from) / 1000).toFixed(1);
    narrator.paragraph(
      `Done in ${seconds} s: ${ending.edits} changes, ${ending.rollouts} of them visible to the Pod, ${ending.rollouts} rollouts.`,
    );
    watching.abort();
    if (keep) await play(stage, narrator, log, over);
    else showNextSteps(narrator);
    return exitCodes.done;
  } finally {
    watching.abort();
    await wave.stop();
  }
}

interface SwitchedLogger extends Logger {
  /** Also writes the messages of level info from now on. */
  readonly showAll: () => void;
}

/** Returns a logger that writes only warnings and errors until `showAll` is called: during the steps, the narrator shows what happens. */
function createLog(terminal: Terminal, color: boolean): SwitchedLogger {
  const all = createLogger({ format: "text", level: "info", clock: systemClock, write: terminal.write, color });
  let shown = false;
  return {
    ...all,
    info: (message, fields) => (shown ? all.info(message, fields) : undefined),
    showAll: () => {
      shown = true;
    },
  };
}

/** Keeps everything running for experiments until a signal arrives. */
async function play(stage: DemoCluster, narrator: Narrator, log: SwitchedLogger, over: AbortSignal): Promise<void> {
  const kubectl = ["kubectl", ...stage.kubectlFlags, ...stage.namespaceFlags].join(" ");
  const explain = ["bin/wave explain deployment/web", ...stage.kubectlFlags, ...stage.namespaceFlags].join(" ");
  narrator.paragraph(
    "Everything keeps running. Try these commands in another terminal:",
    `  ${kubectl} get pods --watch`,
    `  ${kubectl} edit configmap web-page`,
    `  ${kubectl} delete secret web-token`,
    `  ${kubectl} describe deployment web`,
    `  ${explain}`,
    "Press Ctrl-C to stop and to remove everything. Log of Wave:",
  );
  log.showAll();
  if (!over.aborted) await once(over, "abort");
  if (!(over.reason instanceof Interrupted)) throw over.reason;
}

function showNextSteps(narrator: Narrator): void {
  narrator.paragraph(
    "Next steps",
    "  bin/wave demo --ui                       watch rollouts in your browser",
    "  bin/wave demo --keep                     keep all running, to try kubectl",
    "  bin/wave demo --kubeconfig FILE          run the demo on your own cluster",
    "  bin/wave explain deployment/NAME -n NS   show what Wave would do, and why",
    "  bin/wave run                             run Wave on your cluster",
  );
}

/** Removes everything that the demo created; resolves with the exit code. */
async function leave(stage: DemoCluster, result: number, terminal: Terminal): Promise<number> {
  if (stage.namespaceFlags.length > 0)
    terminal.write(`Removing namespace ${stage.namespace}. This takes some seconds.\n`);
  try {
    await stage.close();
    return result;
  } catch (error) {
    const code = failure(error, terminal);
    return result === 0 ? code : result;
  }
}

function failure(error: unknown, terminal: Terminal): number {
  if (error instanceof Interrupted) {
    terminal.writeError(errorLine(error.message));
    return error.exitCode;
  }
  terminal.writeError(errorLine(errorText(error)));
  return reportFailure(error, undefined)?.code ?? exitCodes.no;
}
