import { systemClock } from "../../lib/clock.ts";
import { createLogger } from "../../telemetry/logging/log.ts";
import { openCluster } from "../command/cluster-command.ts";
import type { Terminal } from "../command/command.ts";
import { exitCodes } from "../command/exit-codes.ts";
import { parseFlags } from "../flags/parse-flags.ts";
import { hasColors } from "../output/paint.ts";
import { openBrowser, readPageFiles, startUi } from "../ui/start-ui.ts";
import { uiFlags } from "../ui/ui-flags.ts";
import { type DemoClusterOptions, openSandbox } from "./demo-cluster.ts";
import { DemoShop } from "./demo-shop.ts";
import { Interrupted } from "./interrupt.ts";
import { createNarrator } from "./narrator.ts";
import { startWave } from "./start-wave.ts";

/** How Wave paces the shop: as by default, but faster, because a person watches. */
const pacing = ["--settle=500ms", "--soak=5s", "--max-concurrent-rollouts=2"];

/** So that the page shows a leader. */
const election = ["--leader-election", "--leader-election-namespace=default", "--leader-election-lease-duration=3s"];

/** How long a Pod of the demo takes to become ready and to stop, in milliseconds. */
const podDelayMs = 1_500;

/**
 * Serves the page of `wave ui` for a shop in this process, whose configuration changes again and again, until a signal arrives. Resolves
 * with the exit code.
 */
export async function runUiDemo(options: DemoClusterOptions, terminal: Terminal): Promise<number> {
  const files = await readPageFiles();
  const shop = new DemoShop();
  const stage = await openSandbox(options, { podDelayMs, crashes: shop.crashes });
  const failed = new AbortController();
  const over = AbortSignal.any([options.signal, failed.signal]);
  const fail = (error: unknown) => failed.abort(error);
  const color = hasColors(terminal.env, terminal.outputToTerminal);
  const log = createLogger({ format: "text", clock: systemClock, write: terminal.writeError, color, level: "error" });
  const wave = startWave([...stage.waveFlags, ...election, ...pacing], terminal, log, fail);
  try {
    const call = uiCall([...stage.kubectlFlags, ...pacing], terminal);
    const cluster = await openCluster("ui", stage.config, {});
    const members = [{ cluster, context: "demo" }];
    const ui = await startUi({ call, members, files, diagnoses: false, clock: systemClock, signal: over });
    ui.ended.catch(fail);
    const { paragraph } = createNarrator(terminal.write, color);
    paragraph(
      "A small shop runs on a Kubernetes API server inside this process. No real cluster is used. Its configuration changes every few seconds, and one change is bad.",
      "Open this page:",
      `  ${ui.url}`,
      "Press Ctrl-C to stop and to remove everything.",
    );
    if (terminal.outputToTerminal) await openBrowser(ui.url);
    const context = { client: stage.client, clock: systemClock, signal: over };
    try {
      await shop.build(context);
      await shop.edit(context);
    } catch (error) {
      if (!over.aborted) throw error;
    }
    await ui.ended.catch(() => {});
    await cluster.client.close();
    if (over.reason instanceof Interrupted) return exitCodes.done;
    throw over.reason;
  } finally {
    fail(new Error("the demo ended"));
    await wave.stop();
    await stage.close();
  }
}

function uiCall(args: readonly string[], terminal: Terminal) {
  const parsed = parseFlags(uiFlags, args, {});
  if (parsed.action !== "run") throw new Error(`not flags of wave ui: ${args.join(" ")}`);
  return { ...parsed, terminal };
}
