import { expect, it } from "vitest";
import { ConnectionError } from "../kube/errors.ts";
import { defaultPolicy, workload } from "../rollout/test-objects.ts";
import { createLiveReads } from "./live-reads.ts";

it("where an object cannot be read, no other is begun for that workload: it may name a thousand", async () => {
  const sources = Array.from({ length: 100 }, (_, index) => ({ configMapRef: { name: `config-${index}` } }));
  const asked: string[] = [];
  const request = async <T>({ path }: { path: string }): Promise<T> => {
    asked.push(path);
    if (asked.length === 1) throw new ConnectionError("broken");
    return JSON.parse(JSON.stringify({ metadata: { namespace: "default", name: path.split("/").at(-1) } }));
  };
  const reads = createLiveReads({
    client: { request },
    policy: defaultPolicy,
    cached: () => undefined,
    signal: new AbortController().signal,
  });
  const reader = workload({ pod: { containers: [{ name: "web", envFrom: sources }] } });
  await expect(reads.lookup(reader)).rejects.toThrow("broken");
  const begun = asked.length;
  await new Promise((resolve) => setImmediate(resolve));
  expect([begun, asked.length]).toEqual([4, 4]);
});
