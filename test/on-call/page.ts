import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Exchange, exchangesOf, type Fence, fencesOf, root } from "../docs/fences.ts";

/** A section of the page: the steps of a person on call in one night. */
export interface Walk {
  readonly title: string;
  /** The alert that woke the person. */
  readonly alert: string;
  readonly blocks: readonly Fence[];
  readonly exchanges: readonly Exchange[];
}

/** Returns the walks of a page, in order: one for each heading of the second level with an alert. */
export function walksOf(page: string): readonly Walk[] {
  const lines = readFileSync(join(root, page), "utf8").split("\n");
  const starts = [...lines.keys()].filter((index) => lines[index]?.startsWith("## "));
  const sections = starts.map((start, order) => {
    const end = starts[order + 1] ?? lines.length;
    const blocks = fencesOf(page).filter(({ at }) => {
      const line = Number(at.match(/\d+$/)?.[0]);
      return line > start && line <= end;
    });
    const alert =
      lines
        .slice(start, end)
        .join("\n")
        .match(/^\*\*Alert\*\* \[(\w+)\]/m)?.[1] ?? "";
    return { title: lines[start]?.slice(3) ?? "", alert, blocks, exchanges: blocks.flatMap(exchangesOf) };
  });
  return sections.filter(({ alert }) => alert !== "");
}

/** Returns the commands in the table of symptoms of a page, in order. */
export function commandsBySymptom(page: string): readonly string[] {
  const rows = readFileSync(join(root, page), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| "));
  return rows.flatMap((row) =>
    Array.from(row.replaceAll("\\|", "|").matchAll(/`((?:wave|kubectl|helm) [^`]+)`/g), ([, command = ""]) => command),
  );
}
