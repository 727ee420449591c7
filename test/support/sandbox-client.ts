import { onTestFinished } from "vitest";
import { type Sandbox, type SandboxOptions, startSandbox } from "../../sandbox/sandbox.ts";

/** A sandbox that ends with the test that started it. */
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

/** One line of a watch, as far as tests read it. */
export interface Line {
  readonly type: string;
  readonly object: {
    readonly code?: number;
    readonly metadata: { readonly name?: string; readonly resourceVersion?: string };
  };
}

/** The lines of a watch on ConfigMaps until it ends or breaks. */
export async function* watch(sandbox: Sandbox, query: string): AsyncGenerator<Line, void> {
  const response = await fetch(`${sandbox.url}${configMaps}?watch=1&${query}`);
  let rest = "";
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    const lines = (rest + Buffer.from(chunk).toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line) as Line;
  }
}
