// `wave ui`. Serves a page on 127.0.0.1. This folder makes the model of the page; ui/ has the page.
import { systemClock } from "../../lib/clock.ts";
import { errorText } from "../../telemetry/logging/log-messages.ts";
import { clusterCommand, loadCluster, openCluster } from "../command/cluster-command.ts";
import {
  argumentErrorTexts,
  CommandFailure,
  commandErrorTexts,
  errorLine,
  exitCodes,
  noteLine,
  reportFailure,
} from "../command/command.ts";
import { chosenCluster } from "../flags/connection-flags.ts";
import { UsageError } from "../flags/flag-types.ts";
import { openBrowser, readPageFiles, startUi, type UiMember } from "./start-ui.ts";
import { type UiCall, uiFlags } from "./ui-flags.ts";

/** Shows the workloads of clusters on a page in a browser, until Ctrl-C. Writes nothing to the clusters. */
export const uiCommand = clusterCommand({
  name: "ui",
  flags: uiFlags,
  help: {
    usage: "wave ui [flags]",
    description: "Show on a page in your browser what needs you, what rolls, and why. The page changes nothing.",
    examples: [
      ["wave ui --open", "all namespaces, in your browser"],
      ["wave ui -n shop", "one namespace"],
      ["wave ui --contexts=prod-eu,prod-us", "several clusters side by side"],
    ],
    usualFlags: ["namespace", "contexts", "port", "open"],
    details: [
      "The page uses your permissions. Only this machine can reach it, and only with the token in the address that the command prints.",
      "The page shows names and keys of ConfigMaps and Secrets, never a value.",
    ],
    exits: { [exitCodes.no]: "The port is in use." },
  },
  surplus: argumentErrorTexts.surplusOfUi,
  read: (call) => {
    const { contexts } = call.values;
    if (contexts !== undefined)
      for (const flag of ["context", "server"])
        if (call.given.get(flag)?.source.startsWith("-")) throw new UsageError(argumentErrorTexts.contextOfFleet(flag));
    return { withoutCluster: () => runUi(call) };
  },
});

/** Serves the page until the process ends. */
async function runUi(call: UiCall): Promise<number> {
  const { values, terminal } = call;
  try {
    const [members, files] = await Promise.all([openMembers(call), readPageFiles()]);
    const ui = await startUi({ call, members, files, clock: systemClock, signal: new AbortController().signal });
    terminal.write(`${ui.url}\n`);
    if (values.open && !(await openBrowser(ui.url))) terminal.writeError(noteLine(noBrowser));
    await ui.ended;
    return exitCodes.done;
  } catch (error) {
    const failure = reportFailure(asFailure(error, values.port), undefined);
    if (failure === undefined) throw error;
    terminal.writeError(errorLine(failure.line));
    return failure.code;
  }
}

const noBrowser = "No browser was found. Open the address yourself.";

/** Opens a connection for each context that the flags choose, without a request. */
export function openMembers(call: UiCall): Promise<readonly UiMember[]> {
  const { contexts, context } = call.values;
  return Promise.all((contexts ?? [context]).map((each) => openMember(call, each)));
}

async function openMember(call: UiCall, context: string | undefined): Promise<UiMember> {
  const config = await loadCluster(chosenCluster({ ...call.values, context }), call.terminal);
  const named = /^context (.+) of /s.exec(config.source)?.[1];
  return { cluster: await openCluster("ui", config, call.values), context: context ?? named ?? config.server.host };
}

/** Returns a failure for a port that cannot be used; otherwise the error. */
function asFailure(error: unknown, port: number): unknown {
  if (!(error instanceof Error && "syscall" in error && error.syscall === "listen")) return error;
  return new CommandFailure(commandErrorTexts.portInUse(port, errorText(error)));
}
