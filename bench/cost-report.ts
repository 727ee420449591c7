import { type Cost, measureCosts } from "./cost.ts";
import { table } from "./report.ts";

const sizes = [10, 100, 1_000, 10_000];

/** What one event of a large object costs the event loop, and how that grows. */
export async function reportCost(say: (line: string) => void): Promise<readonly string[]> {
  const costs = await measureCosts(sizes, ({ what, entries, bytes, parse, total }) =>
    say(
      `${entries} ${what} (${(bytes / 1024).toFixed(0)} KiB): ${total.toFixed(1)} ms, of it parsed ${parse.toFixed(1)}`,
    ),
  );
  const rows = [...Map.groupBy(costs, ({ what }) => what)].map(([what, ofOne]) => [
    what,
    ...ofOne.map(({ total }) => total.toFixed(1)),
    `${((ofOne.at(-1)?.bytes ?? 0) / 1024).toFixed(0)} KiB, ${(ofOne.at(-1)?.parse ?? 0).toFixed(1)} ms`,
    slope(ofOne).toFixed(2),
  ]);
  const header = ["entries", ...sizes.map((size) => `${size}, ms`), "size of the largest, time to parse it", "slope"];
  return table(header, rows);
}

/** By how many powers of ten the cost grows with each of the entries, by least squares: 1 is linear, 2 is quadratic. */
function slope(costs: readonly Cost[]): number {
  const points = costs.map(({ entries, total }) => [Math.log(entries), Math.log(total)] as const);
  const mean = (of: 0 | 1) => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const both = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  return both / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
}
