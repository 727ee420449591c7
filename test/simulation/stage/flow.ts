import { Readable } from "node:stream";
import type { Json } from "../../../sandbox/objects/json.ts";
import { expired } from "../../../sandbox/objects/status-error.ts";
import type { ApiReply } from "../../../sandbox/requests/api-call.ts";
import type { Exchange, TransportRequest, TransportResponse } from "../../../src/kube/http/transport.ts";
import type { SentWrite, Writer } from "../record.ts";
import type { Cluster } from "./cluster.ts";
import { pathAsTaken } from "./path-as-taken.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import { type Ban, banned, offersNoStreams, type Refusal, refusalOf, unlisted } from "./refusals.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Trace } from "./trace.ts";
import { WatchLine } from "./watch-line.ts";
import type { RequestFault, WatchFault, Weather } from "./weather.ts";

/** The endpoints of a network. */
export interface NetworkOptions {
  readonly scheduler: Scheduler;
  readonly cluster: Cluster;
  readonly process: SimulatedProcess;
  /** The machine of the process; faults use this name. */
  readonly replica: string;
  readonly weather: Weather;
  readonly random: Random;
  readonly trace: Trace;
  /** The current leadership number of the process. */
  readonly term: () => number | undefined;
}

/** The path of a request. */
interface Way {
  readonly passes: boolean;
  readonly ban: Ban | undefined;
}

type Reply = ApiReply | Refusal;

/** One request from a process to the API server, and its answer, with their faults. */
export class Flow implements Exchange {
  readonly response: Promise<TransportResponse>;
  readonly #options: NetworkOptions;
  readonly #way: Way;
  readonly #request: TransportRequest;
  readonly #onOver: () => void;
  readonly #answer = Promise.withResolvers<TransportResponse>();
  readonly #fault: RequestFault | undefined;
  readonly #faults: ReadonlySet<WatchFault>;
  #body: Readable | undefined;
  /** When the API server answered. */
  #answeredAt = 0;
  #line: WatchLine | undefined;
  #over = false;
  #sent: SentWrite | undefined;
  /** The request or its answer was lost in a partition. */
  #swallowed = false;

  /** Sends the request. `onOver` is called when the request has no further effect. */
  constructor(options: NetworkOptions, way: Way, request: TransportRequest, onOver: () => void) {
    const { weather, replica, scheduler } = options;
    this.#options = options;
    this.#way = way;
    this.#request = request;
    this.#onOver = onOver;
    this.response = this.#answer.promise;
    this.#fault = weather.requestFault(
      replica,
      scheduler.now,
      request.method === "PATCH" && isOfWorkload(request.path),
    );
    this.#faults = request.longLived ? weather.watchFaults(replica, scheduler.now) : new Set();
    if (this.#fault !== undefined) this.#trace(() => `meets ${this.#fault}`);
    if (this.#faults.size > 0) this.#trace(() => `meets ${[...this.#faults].join(" ")}`);
    this.#send();
  }

  /** The client cancels it. */
  readonly cancel = (reason: Error): void => this.#finish(reason);

  /** The connection breaks. */
  fail(error: Error): void {
    if (this.#over) return;
    this.#trace(() => `failed: ${error.message}`);
    this.#finish(error);
  }

  /** A storm starts: it may affect a watch that was healthy until now. */
  storm(): void {
    const { weather, replica, scheduler } = this.#options;
    const faults = this.#line === undefined ? new Set<WatchFault>() : weather.watchFaults(replica, scheduler.now);
    if (faults.size > 0) this.#trace(() => `meets ${[...faults].join(" ")}`);
    this.#line?.afflict(faults);
  }

  /** All faults end: a request that would never be answered is reset. */
  calm(): void {
    const unanswered = this.#fault === "hangs" || this.#swallowed || this.#line?.isSilent;
    if (unanswered) this.fail(new Error("the connection was reset"));
  }

  /** The request has no further effect. */
  #end(): void {
    this.#over = true;
    this.#line?.close();
    this.#onOver();
  }

  #finish(error: Error): void {
    if (this.#over) return;
    this.#end();
    if (this.#sent !== undefined) this.#sent.unanswered = true;
    if (this.#body === undefined) this.#answer.reject(error);
    else this.#body.destroy(error);
  }

  #send(): void {
    const { scheduler, weather, random, process, cluster } = this.#options;
    const { method, path } = this.#request;
    const fault = this.#fault;
    if (
      method !== "GET" &&
      (isOfWorkload(path) || /\/pods\//.test(path) || (method === "DELETE" && /\/configmaps\//.test(path)))
    ) {
      this.#sent = { at: scheduler.now, replica: process.name, what: `${method} ${path}`, unanswered: false };
      cluster.sent.push(this.#sent);
    }
    const slowMs = fault === "slow" ? random.between(500, 8_000) : 0;
    if (fault === "lost") {
      scheduler.after(weather.latency(), () => process.enter(() => this.fail(new Error("the connection was reset"))));
    } else if (fault !== "hangs" || random.chance(0.5)) {
      const writer = this.#writer();
      scheduler.after(weather.latency() + slowMs, () => void this.#arrive(writer));
    }
  }

  async #arrive(writer: Writer): Promise<void> {
    const { cluster, random, process } = this.#options;
    const fault = this.#fault;
    if (this.#isSwallowed()) return;
    const refusal = this.#refusal();
    // An etcd that did not answer in time may have stored the write.
    if (refusal !== undefined && !(fault === "etcd500" && random.chance(0.5))) return this.#back(refusal);
    const { method, headers, body } = this.#request;
    const { forgotten } = cluster.server.registry.storage;
    const path = pathAsTaken(this.#request.path, { doubled: this.#faults.has("doubled"), forgotten, random });
    const reply = await cluster.answer({ method, path, headers, body: parsed(body) }, writer);
    this.#answeredAt = this.#options.scheduler.now;
    if (fault === "answerLost") process.enter(() => this.fail(new Error("the connection was reset")));
    else this.#back(refusal ?? reply);
  }

  #isSwallowed(): boolean {
    this.#swallowed ||= !this.#way.passes;
    return this.#swallowed;
  }

  #refusal(): Refusal | undefined {
    const { weather, random } = this.#options;
    const { method, path } = this.#request;
    const verdict = banned(method, path, this.#way.ban) ?? unlisted(path, this.#options.cluster.unlisted);
    if (verdict !== undefined) return verdict;
    if (!weather.offersStreams && path.includes("sendInitialEvents=true")) return offersNoStreams;
    return this.#fault === undefined ? undefined : refusalOf(this.#fault, method, random);
  }

  #back(reply: Reply): void {
    const { scheduler, weather, process, random } = this.#options;
    if (this.#fault === "hangs" || this.#isSwallowed()) return;
    const slowMs = this.#fault === "slow" && random.chance(0.5) ? random.between(0, 5_000) : 0;
    scheduler.after(weather.latency() + slowMs, () => process.enter(() => this.#answered(reply)));
  }

  #answered(reply: Reply): void {
    if (this.#over || this.#isSwallowed()) return;
    if ("type" in reply && reply.type === "watch") {
      this.#startWatch(reply);
      return;
    }
    const { status, body } = reply;
    this.#trace(() => `${status}`);
    const text = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
    const truncated = this.#fault === "truncated";
    this.#body = new Readable({ read: () => {} });
    this.#body.push(truncated ? text.subarray(0, Math.floor(text.length / 2)) : text);
    this.#body.push(null);
    this.#end();
    if (status === 200 && !truncated && !text.includes('"continue":')) this.#listed(this.#answeredAt);
    if (this.#sent !== undefined) this.#sent.unanswered = truncated || status >= 500;
    const headers = {
      "content-type": "application/json",
      date: new Date(this.#options.cluster.epoch + this.#answeredAt).toUTCString(),
      ...("headers" in reply ? reply.headers : {}),
    };
    this.#answer.resolve({ status, headers, body: this.#body, isComplete: () => !truncated });
  }

  #startWatch({ start }: Extract<ApiReply, { type: "watch" }>): void {
    const { random } = this.#options;
    const body = new Readable({ read: () => {} });
    this.#body = body;
    const reader = {
      chunk: (bytes: Buffer) => void body.push(bytes),
      end: () => void body.push(null),
      fail: (error: Error) => this.fail(error),
    };
    const at = this.#options.scheduler.now;
    this.#line = new WatchLine({ ...this.#options, reader, onListed: () => this.#listed(at) });
    this.#line.afflict(this.#faults);
    const forgotten = this.#faults.has("expired") && /[?&]resourceVersion=[1-9]/.test(this.#request.path);
    if (forgotten && random.chance(0.5)) {
      this.#line.send(JSON.stringify({ type: "ERROR", object: expired("too old resource version").body() }));
      this.#line.end();
    } else this.#line.stop = start(this.#line);
    this.#answer.resolve({ status: 200, headers: {}, body, isComplete: () => true });
  }

  /** The process has received a list. `at`: when the server made it. */
  #listed(at: number): void {
    const { listedAt } = this.#options.process;
    const [, namespace = "", plural] =
      /^\/api\/v1(?:\/namespaces\/([^/]+))?\/(configmaps|secrets)\?(?!.*labelSelector)/.exec(this.#request.path) ?? [];
    const key = `${plural}/${namespace}`;
    if (this.#request.method === "GET" && plural !== undefined && !listedAt.has(key)) listedAt.set(key, at);
  }

  #writer(): Writer {
    const { process, scheduler, term } = this.#options;
    const fieldManager = /[?&]fieldManager=([^&]*)/.exec(this.#request.path)?.[1];
    const current = term();
    return {
      actor: "wave",
      replica: process.name,
      sentAt: scheduler.now,
      ...(current !== undefined && { term: current }),
      ...(fieldManager !== undefined && { fieldManager }),
    };
  }

  #trace(what: () => string): void {
    const { trace, process } = this.#options;
    if (!process.isDead) trace.line(process.name, () => `${this.#request.method} ${this.#request.path} ${what()}`);
  }
}

function isOfWorkload(path: string): boolean {
  return path.startsWith("/apis/apps/") || path.startsWith("/apis/example.com/");
}

function parsed(body: Buffer | undefined): Json | undefined {
  return body === undefined ? undefined : (JSON.parse(body.toString()) as Json);
}
