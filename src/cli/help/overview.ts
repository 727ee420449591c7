// `wave help`: the overview of all commands, and topics that belong to no single command.

import { workloadStates } from "../cluster/states/state-rows.ts";
import { exitCodeMeanings } from "../command/command.ts";
import { docsAddress, docsPages, meaningLines, paragraphLines } from "../command/help.ts";
import { joined } from "../output/table.ts";

type Commands = Readonly<Record<string, { readonly group: string; readonly summary: string }>>;

/** Returns the text of `wave help`: the commands by group. */
export function overview(groups: readonly string[], commands: Commands): string {
  const lines = [
    "Wave restarts Kubernetes workloads when the ConfigMaps and Secrets that their Pods read have changed.",
    "",
    "Usage: wave COMMAND [flags]",
  ];
  for (const group of groups) {
    const members = Object.entries(commands).filter(([, command]) => command.group === group);
    lines.push("", `${group}:`, ...members.map(([name, { summary }]) => `  ${name.padEnd(12)}${summary}`));
  }
  lines.push(
    "",
    "Help for a command: wave COMMAND --help, or --help-all for every flag.",
    `Help topics: ${ownTopics.map((topic) => `wave help ${topic}`).join(", ")}`,
  );
  return joined(lines);
}

const ownTopics = ["exit-codes", "states", "docs"];

/** The topics of `wave help TOPIC`: those of commands, and one for each page of the docs, each with a function that returns its text. */
export const helpTopics: Readonly<Record<string, () => string>> = {
  "exit-codes": () =>
    joined([
      "Exit codes of all commands:",
      "",
      ...meaningLines(exitCodeMeanings),
      "",
      ...paragraphLines(
        "If a missing permission hides part of the answer, the code is never 0. It is 1 if the answer is already no, otherwise 3.",
      ),
    ]),
  states: () => {
    const lines = Object.entries(workloadStates).flatMap(([state, { means, next }]) => [
      ...meaningLines({ [state.padEnd(9)]: means }),
      ...(next === "" ? [] : meaningLines({ [" ".repeat(9)]: `Next: ${next}` })),
    ]);
    return joined(["States of workloads, as wave list and wave explain show them:", "", ...lines]);
  },
  docs: () => joined(["Pages of the docs. For an address: wave help PAGE", "", ...meaningLines(docsPages)]),
  ...Object.fromEntries(
    Object.entries(docsPages).map(([page, about]) => {
      return [page, () => joined([about, docsAddress(page as keyof typeof docsPages)])];
    }),
  ),
};
