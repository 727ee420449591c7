import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A sentence of a page; `#` is a figure of bench/README.md. */
interface Quote {
  readonly page: string;
  readonly sentence: string;
  readonly figures: () => readonly string[];
}

const folder = join(import.meta.dirname, "..");

/** Everything that other pages quote from bench/README.md. */
const quotes: readonly Quote[] = [
  {
    page: "README.md",
    sentence: "With 50,000 Secrets and 2,000 workloads, Wave uses # MiB of memory at rest, and # MiB at its peak",
    figures: memoryOfLargest,
  },
  {
    page: "docs/production.md",
    sentence: "50,000 Secrets and 2,000 workloads: # MiB at rest, with a peak of # MiB",
    figures: memoryOfLargest,
  },
  {
    page: "docs/production.md",
    sentence: "# MiB of memory for a leader with webhooks in an empty cluster",
    figures: () => row("image", "leader, with webhooks").slice(1, 2),
  },
  {
    page: "docs/production.md",
    sentence: "with 500 edits per second, the peak is # MiB",
    figures: () => [Number(row("load", "50000", "5000")[7]).toFixed(0)],
  },
  {
    page: "docs/production.md",
    sentence: "500 edits per second cost # % of one core with 1,000 workloads, and # % with 5,000",
    figures: () =>
      [
        ["10000", "1000"],
        ["50000", "5000"],
      ].map(
        (size) =>
          row("load", ...size)
            .at(-1)
            ?.replace(" %", "") ?? "",
      ),
  },
  {
    page: "docs/production.md",
    sentence: "a review takes # ms (p50). A `create` takes # ms instead of # ms (p50)",
    figures: () =>
      ["at rest, 1 workload", "create, admitted by Wave", "create, the workload opted out"].map(
        (name) => row("admission", name, "1")[2] ?? "",
      ),
  },
  {
    page: "docs/production.md",
    sentence: "handover: at most 2 s | # and # s",
    figures: () => row("high-availability", "SIGTERM").slice(2, 4).map(seconds),
  },
  {
    page: "docs/production.md",
    sentence: "the Lease expires: at most 17 s | # and # s",
    figures: () => row("high-availability", "SIGKILL").slice(2, 4).map(seconds),
  },
  {
    page: "docs/production.md",
    sentence:
      "the patch of a workload follows # ms (p50) after the API server has stored an edit. An edit for 500 Deployments takes # s",
    figures: () => [row("latency", "300")[1] ?? "", seconds(row("fan-out", "500")[1])],
  },
  {
    page: "docs/comparison.md",
    sentence: "The next leader writes # s (p50) after SIGTERM, and # s after a node fails",
    figures: () => ["SIGTERM", "SIGKILL"].map((signal) => seconds(row("high-availability", signal)[2])),
  },
  {
    page: "docs/comparison.md",
    sentence: "at least 400 s: 100 at once, then 1 per second | not measured | # s",
    figures: () => [seconds(row("reloader", "Reloader")[2])],
  },
  {
    page: "docs/comparison.md",
    sentence: "image, gzipped | # MiB",
    figures: () => row("image", "image for amd64").slice(3),
  },
  ...["Wave", "Wave in Go"].map((name) => ({
    page: "docs/comparison.md",
    sentence: `| ${name} | # ms | # s | # s | # MiB |`,
    figures: () => {
      const [, , oneEdit = "", fanOut, start = "", , resident = ""] = row("peers", name, "800");
      return [oneEdit, seconds(fanOut), start, resident];
    },
  })),
  ...[
    ["one edit", "one edit, p50"],
    ["an edit for 500 Deployments", "an edit for 500 Deployments"],
    ["CPU time of the first writes", "CPU time of 800 first writes"],
    ["anonymous memory", "anonymous memory at the end"],
  ].map(([said, measured = ""]) => ({
    page: "docs/comparison.md",
    sentence: `${said} # to #`,
    figures: () => row("pairs", measured).slice(1),
  })),
];

const seconds = (milliseconds: string | undefined) => (Number(milliseconds) / 1000).toFixed(1);

/** Returns the resident memory of the largest measured cluster at rest, and its peak, in MiB. */
function memoryOfLargest(): readonly string[] {
  const [, , , resident, , peak] = row("memory", "50000", "2000");
  return [resident, peak].map((mib) => Number(mib).toFixed(0));
}

/** Cells of the first row of numbers in a part of bench/README.md, of those that begin with these. */
function row(part: string, ...first: readonly string[]): readonly string[] {
  const text = readFileSync(join(folder, "bench/README.md"), "utf8");
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
  if (found === undefined) throw new Error(`bench/README.md: ${part} has no row ${first.join(", ")}`);
  return found;
}

/** The pages that quote figures, as they are to be: their texts by their paths. Throws where a sentence is not there. */
export function quotingPages(): ReadonlyMap<string, string> {
  const pages = new Map<string, string>();
  for (const { page, sentence, figures } of quotes) {
    const text = pages.get(page) ?? readFileSync(join(folder, page), "utf8");
    const parts = sentence.split("#").map((part) => RegExp.escape(part).replaceAll("\\x20", "\\s+"));
    const pattern = new RegExp(parts.map((part) => `(${part})`).join(String.raw`\d+(?:,\d{3})*(?:\.\d+)?`));
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
