import type { Json, JsonObject } from "../../../sandbox/objects/json.ts";
import type { AdmissionRequest, WebhookCaller } from "../../../sandbox/registry/webhooks.ts";
import { createReviewer } from "../../../src/webhook/review/reviewer.ts";
import { readReview, writeReview } from "../../../src/webhook/server/review.ts";
import type { Webhook, WebhookOptions } from "../../../src/webhook/webhook.ts";
import type { ReviewEntry, StoredObject } from "../record.ts";
import { conditionOf } from "./match-conditions.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Trace } from "./trace.ts";
import type { Weather } from "./weather.ts";

/** How long a replica still serves after its signal to stop. */
const lingerMs = 3_000;

interface Endpoint {
  readonly process: SimulatedProcess;
  readonly review: (body: Buffer) => Promise<string>;
}

interface ServiceOptions {
  readonly scheduler: Scheduler;
  readonly weather: Weather;
  readonly random: Random;
  readonly trace: Trace;
}

/**
 * The Service in front of the webhooks, and the calls of the API server to it. TLS with its certificates and the HTTP server
 * are left out: the bytes of a review reach the reviewer unchanged.
 */
export class WebhookService {
  readonly reviews: ReviewEntry[] = [];
  readonly #endpoints: Endpoint[] = [];
  readonly #options: ServiceOptions;
  /** Returns the revision of the storage. */
  revision: () => number = () => 0;

  constructor(options: ServiceOptions) {
    this.#options = options;
  }

  /** The access for the API server. */
  get caller(): WebhookCaller {
    return {
      call: (_config, review, timeoutMs) => this.#call(review, timeoutMs),
      matches: (expression, request) => conditionOf(expression)(request),
    };
  }

  /** Returns the server for `assemble`: a webhook that is called through this service. */
  readonly createWebhook =
    (process: SimulatedProcess) =>
    (options: WebhookOptions): Webhook => {
      const reviewer = createReviewer(options);
      const review = async (body: Buffer) => {
        const request = readReview(body);
        return writeReview(request.uid, await reviewer(request));
      };
      const run = async (signal: AbortSignal) => {
        const endpoint = { process, review };
        this.#endpoints.push(endpoint);
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        await new Promise<void>((resolve) => void process.clock.timer(lingerMs, resolve));
        this.#endpoints.splice(this.#endpoints.indexOf(endpoint), 1);
      };
      return { ready: () => undefined, port: () => undefined, run };
    };

  /** Removes a dead process: callers notice only at the next call. */
  forget(process: SimulatedProcess): void {
    const place = this.#endpoints.findIndex((endpoint) => endpoint.process === process);
    if (place !== -1) this.#endpoints.splice(place, 1);
  }

  #call(review: JsonObject, timeoutMs: number): Promise<Json> {
    const { scheduler, weather, random, trace } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<Json>();
    if (this.#endpoints.length === 0) return Promise.reject(new Error("connect ECONNREFUSED"));
    const { process, review: ask } = random.pick(this.#endpoints);
    const askedRv = this.revision();
    let late = false;
    const cancel = scheduler.after(timeoutMs, () => {
      late = true;
      reject(new Error("context deadline exceeded"));
    });
    const answered = (text: string) => {
      if (late) return;
      cancel();
      const answer = JSON.parse(text) as { readonly response: ReviewResponse };
      this.reviews.push(entryOf(review, answer.response, process.name, scheduler.now, askedRv, this.revision()));
      trace.line(process.name, () => `answered a review${answer.response.patch === undefined ? "" : " with a patch"}`);
      resolve(answer as unknown as Json);
    };
    const arrive = async () => {
      const text = await ask(Buffer.from(JSON.stringify(review)));
      if (!process.isDead) scheduler.after(weather.latency(), () => answered(text));
    };
    scheduler.after(weather.latency(), () => {
      if (process.isDead) reject(new Error("connect ECONNREFUSED"));
      else process.enter(() => void arrive());
    });
    return promise;
  }
}

interface ReviewResponse {
  readonly patch?: string;
  readonly warnings?: readonly string[];
}

function entryOf(
  review: JsonObject,
  { patch, warnings = [] }: ReviewResponse,
  replica: string,
  at: number,
  askedRv: number,
  answeredRv: number,
): ReviewEntry {
  const request = review.request as unknown as Reviewed;
  const { operation, kind, namespace, name, object, oldObject } = request;
  return {
    at,
    replica,
    operation,
    kind: kind.kind,
    namespace,
    name,
    object,
    ...(oldObject !== null && { oldObject }),
    ...(patch !== undefined && { patch: JSON.parse(Buffer.from(patch, "base64").toString()) as object[] }),
    warnings,
    askedRv,
    answeredRv,
  };
}

interface Reviewed extends Pick<AdmissionRequest, "operation"> {
  readonly kind: { readonly kind: string };
  readonly namespace: string;
  readonly name: string;
  readonly object: StoredObject;
  readonly oldObject: StoredObject | null;
}
