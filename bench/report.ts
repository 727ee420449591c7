import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";

/** Lines of Markdown are put where the page has markers with the name of their part. */
export type Report = (part: string, lines: readonly string[]) => void;

const page = join(import.meta.dirname, "../bench/README.md");

/** Writes into bench/README.md, with the command, the date and the machine. */
export function reporter(): Report {
  return (part, lines) => {
    const text = readFileSync(page, "utf8");
    const [begin, end] = [`<!-- ${part} -->\n`, `<!-- end of ${part} -->`];
    const [before, rest] = cut(text, begin);
    const [, after] = cut(rest, end);
    const machine = `${availableParallelism()} cores (${cpus()[0]?.model ?? "unknown"})`;
    const made = `\`npm run bench -- ${part}\`, ${new Date().toISOString().slice(0, 10)}, ${machine}, Node ${process.versions.node}`;
    writeFileSync(page, `${before}${begin}\n${made}:\n\n${lines.join("\n")}\n\n${end}${after}`);
  };
}

function cut(text: string, at: string): readonly [string, string] {
  const index = text.indexOf(at);
  if (index === -1) throw new Error(`${page} has no marker ${at.trim()}`);
  return [text.slice(0, index), text.slice(index + at.length)];
}

/** A Markdown table. */
export function table(header: readonly string[], rows: readonly (readonly (string | number)[])[]): readonly string[] {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)];
}
