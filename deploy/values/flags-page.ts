import type { Flag } from "../../src/cli/flags/flag-types.ts";
import { type FlagTable, variableOf } from "../../src/cli/flags/parse-flags.ts";
import { formatList } from "../../src/domain/syntax/names.ts";
import type { FlagValue } from "./flag-values.ts";

/** Returns docs/flags.md: the flags of `wave run` by group, with the value of the chart if it has another name than the flag. */
export function flagsPage(flags: FlagTable, values: readonly FlagValue[], introduction: string): string {
  const groups = [...Map.groupBy(Object.entries(flags), ([, flag]) => flag.group)];
  const tables = groups.map(([group, rows]) =>
    [
      `## ${group}`,
      ...(group === "Compatibility"
        ? [`All flags after the first one are flags of Reloader. ${ignoredFlags(rows)}\n`]
        : []),
      "| flag | default | description | chart value |",
      "|---|---|---|---|",
      ...rows
        .filter(([, { hasNoEffect }]) => !hasNoEffect)
        .map(([name, flag]) => row(name, flag, values.find((value) => value.flag === name)?.path)),
    ].join("\n"),
  );
  return `${introduction.trim()}\n\n${tables.join("\n\n")}\n`;
}

function row(name: string, flag: Flag<unknown>, path: string | undefined): string {
  const placeholder = flag.placeholder === undefined ? "" : ` ${flag.placeholder}`;
  const cells = [
    `\`--${name}${placeholder}\``,
    flag.shownDefault ?? (flag.placeholder === undefined ? "off" : ""),
    // The group says it for all of its flags, except those with another help.
    flag.help.replace(/^Reloader flag\. /, ""),
    path === undefined ? "none" : path === camelCase(name) ? "" : `\`${path}\``,
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** Returns the sentence that names the flags without effect. */
function ignoredFlags(rows: readonly (readonly [string, Flag<unknown>])[]): string {
  const names = rows.filter(([, { hasNoEffect }]) => hasNoEffect).map(([name]) => `\`--${name}\``);
  return `Wave also accepts ${formatList(names, names.length, String)}, which have no effect.`;
}

/** Returns the usual name of the chart value of a flag: `updateRate` for `update-rate`. */
function camelCase(flag: string): string {
  return flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** An example of the environment variable of a flag, for the introduction of the page. */
export const exampleVariable = `\`${variableOf("update-rate")}\` for \`--update-rate\``;
