import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./fences.ts";

const read = (page: string) => readFileSync(join(root, page), "utf8").replace(/\s+/g, " ");

/** The cells of the row of docs/performance.md that begins so, within what a part of the bench writes. */
function row(part: string, ...first: readonly string[]): readonly string[] {
  const text = readFileSync(join(root, "docs/performance.md"), "utf8");
  const lines = text.slice(text.indexOf(`<!-- ${part} -->`), text.indexOf(`<!-- end of ${part} -->`)).split("\n");
  const cells = lines.map((line) => line.split("|").map((cell) => cell.trim()));
  const found = cells.find((row) => first.every((cell, index) => row[index + 1] === cell));
  if (found === undefined) throw new Error(`docs/performance.md: ${part} has no row ${first.join(", ")}`);
  return found.slice(1);
}

const seconds = (milliseconds: string | undefined) => (Number(milliseconds) / 1000).toFixed(1);

describe("figures are those of the last bench", () => {
  it("in README.md", () => {
    const [, , , resident] = row("memory", "50000", "2000");
    const [, p50] = row("latency", "300");
    const [, wave, bare] = row("fan-out", "1000");
    expect(read("README.md")).toContain(
      `with 50,000 Secrets and 2,000 workloads it takes ${Math.round(Number(resident))} MiB; an edit reaches its Deployment in ${p50} ms (p50), and 1,000 Deployments in ${seconds(wave)} s where the API server itself needs ${seconds(bare)} s`,
    );
  });

  it("in docs/high-availability.md", () => {
    const [, , p50, most] = row("high-availability", "SIGTERM");
    const [, , killed, killedMost] = row("high-availability", "SIGKILL");
    const page = read("docs/high-availability.md");
    expect(page).toContain(`2 s at most | ${seconds(p50)} and ${seconds(most)} s |`);
    expect(page).toContain(
      `17 s at most | ${Math.round(Number(killed) / 1000)} and ${Math.round(Number(killedMost) / 1000)} s |`,
    );
  });

  it("in docs/comparison.md", () => {
    const [, , , resident] = row("memory", "20000", "2000");
    const [, , p50] = row("high-availability", "SIGTERM");
    expect(read("docs/comparison.md")).toContain(`20,000 Secrets of 4 KiB | ${Math.round(Number(resident))} MiB |`);
    expect(read("docs/comparison.md")).toContain(`hands over in ${seconds(p50)} s`);
  });
});
