// The table of all commands. It imports a command only when it runs.
import { type Command, exitCodes, version } from "./command/command.ts";

/** The groups of commands, in the order of `wave help`. */
export const commandGroups = ["Inspect", "Control", "Pipelines", "Install"] as const;

/** A command as `wave help` lists it. */
interface ListedCommand {
  readonly group: (typeof commandGroups)[number];
  /** Starts with a capital verb and makes sense alone. */
  readonly summary: string;
  /** Imports the command. Only the called command is imported: the controller does not need the memory of the others. */
  readonly load: () => Promise<Command>;
}

/** Every command except `help`, by its name, in the order of `wave help`. */
export const commands: Readonly<Record<string, ListedCommand>> = {
  list: {
    group: "Inspect",
    summary: "List workloads with their state and why",
    load: async () => (await import("./list/list.ts")).listCommand,
  },
  explain: {
    group: "Inspect",
    summary: "Explain what Wave does with one workload, and why",
    load: async () => (await import("./explain/explain.ts")).explainCommand,
  },
  history: {
    group: "Inspect",
    summary: "Show what changed in each revision of a workload",
    load: async () => (await import("./history/history.ts")).historyCommand,
  },
  ui: {
    group: "Inspect",
    summary: "Show everything on a page in your browser",
    load: async () => (await import("./ui/ui.ts")).uiCommand,
  },
  timeline: {
    group: "Inspect",
    summary: "Show what happened: edits, rollouts, holds, halts and leaders",
    load: async () => (await import("./timeline/timeline.ts")).timelineCommand,
  },
  doctor: {
    group: "Inspect",
    summary: "Find what keeps Wave from rolling workloads, and how to fix it",
    load: async () => (await import("./doctor/doctor.ts")).doctor,
  },
  hold: {
    group: "Control",
    summary: "Hold rollouts of a workload, a Namespace or a ConfigMap",
    load: async () => (await import("./hold/hold.ts")).holdCommand,
  },
  release: {
    group: "Control",
    summary: "Remove a hold",
    load: async () => (await import("./release/release.ts")).releaseCommand,
  },
  approve: {
    group: "Control",
    summary: "Approve the current configuration of a workload",
    load: async () => (await import("./approve/approve.ts")).approveCommand,
  },
  resume: {
    group: "Control",
    summary: "Continue a change that failed rollouts have halted",
    load: async () => (await import("./resume/resume.ts")).resumeCommand,
  },
  roll: {
    group: "Control",
    summary: "Roll a workload now, without waiting for its window or for others",
    load: async () => (await import("./roll/roll.ts")).rollCommand,
  },
  diff: {
    group: "Pipelines",
    summary: "Show which workloads would roll if you applied manifests",
    load: async () => (await import("./diff/diff.ts")).diff,
  },
  wait: {
    group: "Pipelines",
    summary: "Wait until all Pods run with the current configuration",
    load: async () => (await import("./wait/wait.ts")).waitCommand,
  },
  run: {
    group: "Install",
    summary: "Run the controller",
    load: async () => (await import("./run/run-outside.ts")).runOutside,
  },
  migrate: {
    group: "Install",
    summary: "Preview what rolls when Wave takes over from another controller",
    load: async () => (await import("./migrate/migrate.ts")).migrate,
  },
  demo: {
    group: "Install",
    summary: "Demonstrate Wave in a few seconds, without a cluster",
    load: async () => (await import("./demo/demo.ts")).demo,
  },
  completion: {
    group: "Install",
    summary: "Print the completion script for a shell",
    load: async () => (await import("./completion/completion.ts")).completion,
  },
  version: {
    group: "Install",
    summary: "Print the version",
    load: async () => async (_args, terminal) => {
      terminal.write(`wave ${version()}\n`);
      return exitCodes.done;
    },
  },
};
