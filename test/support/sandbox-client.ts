import { onTestFinished } from "vitest";
import { type Sandbox, type SandboxOptions, startSandbox } from "../../sandbox/sandbox.ts";

/** Starts a sandbox that ends with its test. */
export async function start(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox(options);
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** The path of the ConfigMaps in the namespace `default`. */
export const configMaps = "/api/v1/namespaces/default/configmaps";

/** Creates an object as the client `tester`. */
export function create(sandbox: Sandbox, path: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json", "user-agent": "tester/1" };
  return fetch(sandbox.url + path, { method: "POST", headers, body: JSON.stringify(body) });
}

/** The fields of a line of a watch that tests read. */
export interface Line {
  readonly type: string;
  readonly object: {
    readonly code?: number;
    readonly metadata: { readonly name?: string; readonly resourceVersion?: string };
  };
}

/** Yields the lines of a watch on ConfigMaps until the watch ends or breaks. */
export async function* watch(sandbox: Sandbox, query: string): AsyncGenerator<Line, void> {
  const response = await fetch(`${sandbox.url}${configMaps}?watch=1&${query}`);
  let rest = "";
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    const lines = (rest + Buffer.from(chunk).toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line) as Line;
  }
}
