import type { Flag } from "../../src/cli/flags/flag-types.ts";
import { type FlagTable, variableOf } from "../../src/cli/flags/parse-flags.ts";
import type { FlagValue } from "./flag-values.ts";

/** docs/flags.md: the flags of `wave run` by their groups, with the variable and the value of the chart that stand for each. */
export function flagsPage(flags: FlagTable, values: readonly FlagValue[], introduction: string): string {
  const groups = [...Map.groupBy(Object.entries(flags), ([, flag]) => flag.group)];
  const tables = groups.map(([group, rows]) =>
    [
      `## ${group}`,
      "| flag | default | what | value of the chart |",
      "|---|---|---|---|",
      ...rows.map(([name, flag]) => row(name, flag, values.find((value) => value.flag === name)?.path)),
    ].join("\n"),
  );
  return `${introduction.trim()}\n\n${tables.join("\n\n")}\n`;
}

function row(name: string, flag: Flag<unknown>, path: string | undefined): string {
  const placeholder = flag.placeholder === undefined ? "" : ` ${flag.placeholder}`;
  const cells = [
    `\`--${name}${placeholder}\``,
    flag.shownDefault ?? (flag.placeholder === undefined ? "off" : ""),
    flag.help,
    path === undefined ? "" : `\`${path}\``,
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** The name of the variable that stands for a flag, for the page's introduction. */
export const exampleVariable = `\`${variableOf("update-rate")}\` for \`--update-rate\``;
