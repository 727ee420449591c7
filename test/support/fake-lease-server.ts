import type { Lease } from "#kubernetes";
import { ApiError, ConnectionError } from "../../src/kube/api/api-failure.ts";
import type { ApiRequest } from "../../src/kube/http/api-request.ts";
import type { ApiClient } from "../../src/kube/http/client.ts";
import { createRequestGuard } from "../../src/kube/http/open-request.ts";
import type { Clock } from "../../src/lib/clock.ts";

/** One Lease as the API server stores it, with optimistic concurrency. For tests only. */
export class FakeLeaseServer {
  lease: Lease | undefined;
  /** Every request that reached the server, such as "GET 200". */
  readonly answers: string[] = [];
  /** Answers every request with this status while it is set. */
  refuse: { readonly status: number; readonly reason: string } | undefined;
  #version = 0;

  /** Deletes the Lease, as `kubectl delete lease` does. */
  delete(): void {
    this.lease = undefined;
  }

  /** Writes the Lease, as any other client does. */
  write(spec: Lease["spec"]): void {
    this.#store(spec ?? {}, this.lease?.metadata?.uid);
  }

  /** Returns the answer of the API server; throws its failures. */
  answer({ method, body }: Pick<ApiRequest, "method" | "body">): Lease {
    try {
      const lease = this.#answer(method, body as Lease);
      this.answers.push(`${method} 200`);
      return structuredClone(lease);
    } catch (error) {
      if (error instanceof ApiError) this.answers.push(`${method} ${error.status}`);
      throw error;
    }
  }

  #answer(method: string, body: Lease): Lease {
    if (this.refuse !== undefined) throw failure(method, this.refuse.status, this.refuse.reason);
    switch (method) {
      case "GET":
        if (this.lease === undefined) throw failure(method, 404, "NotFound");
        return this.lease;
      case "POST":
        if (this.lease !== undefined) throw failure(method, 409, "AlreadyExists");
        return this.#store(body.spec ?? {}, undefined);
      case "PUT": {
        const { uid, resourceVersion } = body.metadata ?? {};
        if (resourceVersion === undefined) throw failure(method, 422, "Invalid");
        // As measured on kube-apiserver 1.36: a PUT without a uid creates the deleted Lease again.
        if (this.lease === undefined && uid === undefined) return this.#store(body.spec ?? {}, undefined);
        const stored = this.lease?.metadata;
        if (stored === undefined || (uid ?? stored.uid) !== stored.uid || resourceVersion !== stored.resourceVersion) {
          throw failure(method, 409, "Conflict");
        }
        if (JSON.stringify(this.lease?.spec) === JSON.stringify(body.spec) && this.lease !== undefined)
          return this.lease;
        return this.#store(body.spec ?? {}, stored.uid);
      }
      default:
        throw failure(method, 405, "MethodNotAllowed");
    }
  }

  #store(spec: NonNullable<Lease["spec"]>, uid: string | undefined): Lease {
    const resourceVersion = String(++this.#version);
    const metadata = { namespace: "wave", name: "wave", uid: uid ?? `uid-${resourceVersion}`, resourceVersion };
    this.lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
    return this.lease;
  }
}

/** What the connection of one process does with requests. */
export interface Network {
  /** Milliseconds that a request takes to the server; its answer takes the same time. */
  delayMs: () => number;
  /** While true, no request arrives. Requests are lost, or arrive after the repair if `delivers` is true. */
  cut: boolean;
  readonly delivers: () => boolean;
}

/**
 * Returns a client whose requests travel over `network`. They end at their deadline or with their signal, as those of
 * `ApiClient` do. A request that was sent may still arrive at any later time.
 */
export function fakeClient(server: FakeLeaseServer, clock: Clock, network: Network): Pick<ApiClient, "request"> {
  const travel = (arrive: () => void) => {
    clock.timer(network.delayMs(), () => {
      if (!network.cut) arrive();
      else if (network.delivers()) travel(arrive);
    });
  };
  return {
    request: <T>({ method, body, timeoutMs = 30_000, signal }: ApiRequest) =>
      new Promise<T>((resolve, reject) => {
        const guard = createRequestGuard(clock, timeoutMs, signal);
        guard.onCancel((reason) => reject(guard.isAbortedByCaller() ? reason : new ConnectionError(reason.message)));
        const settle = (how: () => void) =>
          travel(() => {
            guard.release();
            how();
          });
        const sent = structuredClone({ method, body });
        travel(() => {
          try {
            const lease = server.answer(sent);
            settle(() => resolve(lease as T));
          } catch (error) {
            settle(() => reject(error));
          }
        });
      }),
  };
}

function failure(method: string, status: number, reason: string): ApiError {
  return new ApiError({ request: `${method} leases/wave in wave`, status, reason, serverMessage: "by the test" });
}
