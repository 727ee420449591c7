import type { JsonPatchOperation } from "../../src/domain/syntax/json.ts";
import { ApiError } from "../../src/kube/api/api-failure.ts";
import type { KubeObject } from "../../src/kube/api/resources.ts";
import type { ApiRequest } from "../../src/kube/http/api-request.ts";
import type { ApiClient } from "../../src/kube/http/client.ts";

/** An API server for tests that stores objects by path in memory, with optimistic concurrency and without watches. */
export class MemoryApi implements ApiClient {
  readonly objects = new Map<string, KubeObject>();
  /** Every successful write, such as "POST /path". */
  readonly writes: string[] = [];
  /** Awaited before and after each request, so that a test decides the order of requests. */
  pause: () => Promise<void> = async () => {};
  /** Called after each write. */
  onWrite: () => void = () => {};
  readonly #waiting = new Set<(value: unknown) => void>();
  #revision = 0;

  async request<T>(request: ApiRequest): Promise<T> {
    await this.pause();
    const answer = structuredClone(this.#answer(request));
    await this.pause();
    return answer as T;
  }

  /** Yields after each write, from now until the signal. */
  async *changes(signal: AbortSignal): AsyncGenerator<undefined> {
    let seen = this.writes.length;
    while (!signal.aborted) {
      if (seen < this.writes.length) {
        seen = this.writes.length;
        yield undefined;
        continue;
      }
      const { promise, resolve } = Promise.withResolvers<unknown>();
      this.#waiting.add(resolve);
      signal.addEventListener("abort", resolve, { once: true });
      await promise;
      signal.removeEventListener("abort", resolve);
      this.#waiting.delete(resolve);
    }
  }

  stream(): Promise<never> {
    return Promise.reject(new Error("there are no watches here"));
  }

  async close(): Promise<void> {}

  #answer({ method, path, body }: ApiRequest): unknown {
    const before = this.objects.get(path);
    if (method === "POST") {
      const created = body as KubeObject;
      const at = `${path}/${created.metadata.name}`;
      if (this.objects.has(at)) throw failure(method, path, 409, "AlreadyExists");
      return this.#write(method, at, { ...created, metadata: { ...created.metadata, uid: `uid-${this.#revision}` } });
    }
    if (before === undefined) throw failure(method, path, 404, "NotFound");
    switch (method) {
      case "GET":
        return before;
      case "DELETE":
        this.objects.delete(path);
        this.#wrote(method, path);
        return before;
      case "PUT": {
        const changed = body as KubeObject;
        if (changed.metadata.uid !== before.metadata.uid) throw failure(method, path, 409, "Conflict");
        if (changed.metadata.resourceVersion !== before.metadata.resourceVersion) {
          throw failure(method, path, 409, "Conflict");
        }
        return this.#write(method, path, changed);
      }
      case "PATCH":
        return this.#write(method, path, patched(before, body as readonly JsonPatchOperation[], path));
    }
  }

  #write(method: string, path: string, object: KubeObject): KubeObject {
    this.#revision++;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#revision) } };
    this.objects.set(path, stored);
    this.#wrote(method, path);
    return stored;
  }

  #wrote(method: string, path: string): void {
    this.writes.push(`${method} ${path}`);
    this.onWrite();
    for (const resolve of this.#waiting) resolve(undefined);
  }
}

/** Applies "test", "add" and "replace" to members of objects and to elements of arrays. */
function patched(object: KubeObject, patch: readonly JsonPatchOperation[], path: string): KubeObject {
  const copy = structuredClone(object);
  for (const operation of patch) {
    const names = operation.path.split("/").slice(1);
    const last = names.pop() ?? "";
    const parent = names.reduce<Record<string, unknown>>((at, name) => at[name] as Record<string, unknown>, {
      ...copy,
    });
    if (operation.op === "remove") delete parent[last];
    else if (operation.op !== "test") parent[last] = operation.value;
    else if (parent[last] !== operation.value) throw failure("PATCH", path, 422, "Invalid");
  }
  return copy;
}

function failure(method: string, path: string, status: number, reason: string): ApiError {
  return new ApiError({ request: `${method.toLowerCase()} ${path}`, status, reason, serverMessage: "" });
}
