import type { Plane } from "./plane.ts";

/** Every watch of the API server that was too slow, also the bench's own. */
export async function closedAsTooSlow({ client }: Plane): Promise<number> {
  await using body = await client.stream({ method: "GET", path: "/metrics" });
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return sum(Buffer.concat(chunks).toString(), "apiserver_terminated_watchers_total");
}

/** Of all series of a metric in the text of a scrape, of those whose labels contain `label`. */
export function sum(metrics: string, name: string, label = ""): number {
  return metrics
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => line.includes(label))
    .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}
