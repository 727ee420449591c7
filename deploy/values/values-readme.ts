import type { Value } from "./value.ts";

/** Returns the README of the chart: how to install it, and a table of its values by section. */
export function valuesReadme(values: readonly Value[], introduction: string): string {
  const sections = [...Map.groupBy(values, ({ section }) => section)];
  const tables = sections.map(([name, rows]) =>
    [`### ${name}`, "| value | default | description |", "|---|---|---|", ...rows.map(row)].join("\n"),
  );
  return `${introduction.trim()}\n\n## Values\n${tables.join("\n\n")}\n`;
}

function row({ path, default: value, help }: Value): string {
  return `| \`${path}\` | \`${JSON.stringify(value)}\` | ${help.replaceAll("|", "\\|")} |`;
}
