import type { Replica } from "./replica.ts";

/** The metrics of work that is still to be done: 0 if nothing has happened for a while. */
const nothingLeft = [
  "wave_queue_depth",
  "wave_write_permits_waiting",
  "wave_events_waiting",
  'wave_workloads{state="due"}',
  'wave_workloads{state="refused"}',
  'wave_workloads{state="bug"}',
];

/** Returns the work that is left at the end, one line each. */
export function emptied(replicas: readonly Replica[]): string[] {
  return replicas.flatMap(({ process, metrics }) => {
    const lines = metrics.render().split("\n");
    const gauge = (series: string) => Number(lines.find((line) => line.startsWith(`${series} `))?.split(" ")[1] ?? 0);
    const left = nothingLeft.filter((series) => gauge(series) !== 0);
    const wrong = left.map((series) => `${process.name} has ${series} ${gauge(series)} at the end`);
    // A persistent problem of a workload is reported again at some time: at most one timer each.
    const concerned = lines.filter((line) => line.startsWith("wave_workloads{"));
    const workloads = concerned.reduce((sum, line) => sum + Number(line.split(" ")[1]), 0);
    const delayed = gauge("wave_queue_delayed");
    return delayed <= workloads ? wrong : [...wrong, `${process.name} has ${delayed} keys delayed at the end`];
  });
}
