import { quoted } from "../domain/syntax/wording.ts";
import { errorText } from "../telemetry/logging/error-text.ts";
import { type Command, type Terminal, taking } from "./command/command.ts";
import { exitCodes } from "./command/exit-codes.ts";
import { version } from "./command/version.ts";
import { nearest } from "./flags/nearest.ts";
import { UsageError } from "./flags/usage-error.ts";

interface CommandRow {
  readonly summary: string;
  /** Imported only when it is called: a controller needs not the memory of the other commands. */
  readonly load: () => Promise<Command>;
}

const commands: Readonly<Record<string, CommandRow>> = {
  demo: {
    summary: "show in a few seconds what Wave does; needs no cluster",
    load: async () =>
      taking((await import("./demo/demo.ts")).demo, { flags: (await import("./demo/flags.ts")).demoFlags }),
  },
  run: {
    summary: "watch a cluster and roll workloads when their configuration changes",
    load: async () =>
      taking((await import("./run/run.ts")).run, { flags: (await import("./flags/run-flags.ts")).runFlags }),
  },
  explain: {
    summary: "show what Wave would do with one workload now and why: wave explain deployment/web",
    load: async () => (await import("./explain/explain.ts")).explain,
  },
  list: {
    summary: "show every workload that opted in: state, reason, Pods with the current configuration",
    load: async () => (await import("./list/list.ts")).list,
  },
  diff: {
    summary: "tell which workloads would roll if manifests were applied: wave diff -f FILE",
    load: async () => (await import("./diff/diff.ts")).diff,
  },
  wait: {
    summary: "wait until every Pod of some workloads runs with the current configuration: for pipelines",
    load: async () => (await import("./wait/wait.ts")).wait,
  },
  hold: {
    summary: "hold a workload, a namespace or a ConfigMap: nothing is rolled there until it is released",
    load: async () => (await import("./hold/hold.ts")).hold,
  },
  release: { summary: "take back a hold", load: async () => (await import("./release/release.ts")).release },
  approve: {
    summary: "let the current configuration of a workload be rolled whose mode is approve",
    load: async () => (await import("./approve/approve.ts")).approve,
  },
  resume: {
    summary: "go on with what was halted because workloads failed",
    load: async () => (await import("./resume/resume.ts")).resume,
  },
  doctor: {
    summary: "look for what keeps Wave from rolling workloads, and say what to do",
    load: async () => (await import("./doctor/doctor.ts")).doctor,
  },
  migrate: {
    summary: "tell what would roll if Wave took over from another controller: wave migrate --dry-run -A",
    load: async () => (await import("./migrate/migrate.ts")).migrate,
  },
  completion: {
    summary: "write the script by which a shell completes wave: wave completion bash",
    load: async () => (await import("./completion/completion.ts")).completion,
  },
  help: { summary: "show what a command does and its flags: wave help run", load: async () => help },
  version: {
    summary: "show Wave's version",
    load: async () => async (_args, terminal) => {
      terminal.write(`wave ${version()}\n`);
      return exitCodes.done;
    },
  },
};

function overview(): string {
  const rows = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(12)}${summary}`);
  return [
    "Wave replaces Kubernetes Pods exactly when the ConfigMaps and Secrets that they see have changed.",
    "",
    "Usage: wave COMMAND [flags]",
    "",
    ...rows,
    "",
    '"wave COMMAND --help" shows the flags of a command.',
    "",
  ].join("\n");
}

async function help(args: readonly string[], terminal: Terminal): Promise<number> {
  const [name] = args;
  if (name !== undefined && name !== "help" && !name.startsWith("-"))
    return (await commandNamed(name))(["--help"], terminal);
  terminal.write(overview());
  return exitCodes.done;
}

function commandNamed(name: string): Promise<Command> {
  const row = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (row !== undefined) return row.load();
  const meant = nearest(name, Object.keys(commands));
  throw new UsageError(
    `unknown command ${quoted(name)}; ${meant === undefined ? '"wave help" lists those there are' : `did you mean ${meant}?`}`,
  );
}

/** The exit code of `wave` with these arguments. */
export async function wave(args: readonly string[], caller: Terminal): Promise<number> {
  const terminal = speaking(caller);
  const [first, ...rest] = args;
  if (first === "__complete") return completed(rest, terminal);
  const name = first === undefined || first === "--help" || first === "-h" ? "help" : first;
  try {
    const command = await commandNamed(name === "--version" || name === "-v" ? "version" : name);
    return await command(rest, terminal);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const where = Object.hasOwn(commands, name) ? `wave ${name}` : "wave";
    terminal.writeError(`${where}: ${error.message}\n`);
    return exitCodes.mistake;
  }
}

/** Answers a shell: every command is loaded only when its own flags are asked for. */
async function completed(words: readonly string[], terminal: Terminal): Promise<number> {
  const { complete } = await import("./completion/completion.ts");
  const { shells } = await import("./completion/scripts.ts");
  const summaries = new Map(Object.entries(commands).map(([name, { summary }]) => [name, summary]));
  const load = (name: string) => commandNamed(name);
  return complete(words, { summaries, load, words: { completion: shells, help: [...summaries.keys()] } }, terminal);
}

/** As a plugin of kubectl what it says of commands is what people type there. */
function speaking(terminal: Terminal): Terminal {
  const { program, write, writeError } = terminal;
  if (program === "wave") return terminal;
  const named = [...Object.keys(commands), "COMMAND"].join("|");
  const told = new RegExp(`(?<![\\w./-])wave(?= (?:${named})\\b)|^wave(?=: )`, "g");
  const speak = (text: string) => text.replaceAll(told, program);
  return { ...terminal, write: (text) => write(speak(text)), writeError: (text) => writeError(speak(text)) };
}

/** What is shown of an error that nobody expected: one line, and the stack for those who mend it. */
export function bugText(error: unknown): string {
  return `wave: bug: ${errorText(error)}\n${error instanceof Error ? `${error.stack}\n` : ""}`;
}
