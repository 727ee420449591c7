import { table } from "./report.ts";
import { measureTrace, type TraceStep } from "./trace.ts";

/** The numbers of other Deployments that are compared. */
const sizes = [100, 5_000];

/** Where the time of one edit goes. */
export async function reportTrace(say: (line: string) => void): Promise<readonly string[]> {
  const columns: (readonly TraceStep[])[] = [];
  for (const others of sizes) {
    const steps = await measureTrace(others);
    for (const { step, p50, p99 } of steps) say(`${others} others: ${p50.toFixed(2)} / ${p99.toFixed(2)} ms, ${step}`);
    columns.push(steps);
  }
  const rows = (columns[0] ?? []).map(({ step }, index) => [
    step,
    ...columns.map((steps) => `${steps[index]?.p50.toFixed(2)} / ${steps[index]?.p99.toFixed(2)}`),
  ]);
  return table(["step", ...sizes.map((others) => `p50 / p99 with ${others} others, ms`)], rows);
}
