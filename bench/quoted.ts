import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A sentence of a page; `#` is a figure of docs/performance.md. */
interface Quote {
  readonly page: string;
  readonly sentence: string;
  readonly figures: () => readonly string[];
}

const folder = join(import.meta.dirname, "..");

/** Everything that other pages quote from docs/performance.md. */
const quotes: readonly Quote[] = [
  {
    page: "README.md",
    sentence:
      "with 50,000 Secrets and 2,000 workloads, Wave uses # MiB of memory. An edit reaches its Deployment in # ms (p50) and 1,000 Deployments in # s. The API server alone needs # s",
    figures: () => {
      const [, , , resident] = row("memory", "50000", "2000");
      const [, p50] = row("latency");
      const [, wave, bare] = row("fan-out", "1000");
      return [Number(resident).toFixed(0), p50 ?? "", seconds(wave), seconds(bare)];
    },
  },
  {
    page: "docs/high-availability.md",
    sentence: "handover: at most 2 s | # and # s",
    figures: () => row("high-availability", "SIGTERM").slice(2, 4).map(seconds),
  },
  {
    page: "docs/high-availability.md",
    sentence: "the Lease expires: at most 17 s | # and # s",
    figures: () => row("high-availability", "SIGKILL").slice(2, 4).map(seconds),
  },
  {
    page: "docs/comparison.md",
    sentence: "hands over in # s",
    figures: () => [seconds(row("high-availability", "SIGTERM")[2])],
  },
  {
    page: "docs/comparison.md",
    sentence:
      "one edit, an edit for 500 Deployments, memory | # ms, # s, # MiB | # ms, # s, # MiB | not measured | # ms, # s, # MiB",
    figures: () =>
      ["Wave", "Wave in Go (`WAVE_IN_GO`: ./cmd/manager)", "Reloader (`RELOADER`: .)"].flatMap((name) => {
        const [, oneEdit = "", fanOut, resident = ""] = row("peers", name);
        return [oneEdit, seconds(fanOut), resident];
      }),
  },
];

const seconds = (milliseconds: string | undefined) => (Number(milliseconds) / 1000).toFixed(1);

/** Cells of the first row of numbers in a part of docs/performance.md, of those that begin with these. */
function row(part: string, ...first: readonly string[]): readonly string[] {
  const text = readFileSync(join(folder, "docs/performance.md"), "utf8");
  const lines = text.slice(text.indexOf(`<!-- ${part} -->`), text.indexOf(`<!-- end of ${part} -->`)).split("\n");
  const rows = lines.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const found = rows.find(
    (cells) => first.every((cell, at) => cells[at] === cell) && cells.some((cell) => /^\d/.test(cell)),
  );
  if (found === undefined) throw new Error(`docs/performance.md: ${part} has no row ${first.join(", ")}`);
  return found;
}

/** The pages that quote figures, as they are to be: their texts by their paths. Throws where a sentence is not there. */
export function quotingPages(): ReadonlyMap<string, string> {
  const pages = new Map<string, string>();
  for (const { page, sentence, figures } of quotes) {
    const text = pages.get(page) ?? readFileSync(join(folder, page), "utf8");
    const parts = sentence.split("#").map((part) => RegExp.escape(part).replaceAll("\\x20", "\\s+"));
    const pattern = new RegExp(parts.map((part) => `(${part})`).join("[\\d.,]+"));
    if (!pattern.test(text)) throw new Error(`${page} does not say: ${sentence}`);
    const values = figures();
    pages.set(
      page,
      text.replace(pattern, (_, ...said: string[]) => parts.map((_part, at) => said[at] + (values[at] ?? "")).join("")),
    );
  }
  return pages;
}

/** Writes them. */
export function writeQuotes(): void {
  for (const [page, text] of quotingPages()) writeFileSync(join(folder, page), text);
}
