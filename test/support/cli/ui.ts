import { request } from "node:http";
import { parseArguments } from "../../../src/cli/flags/parse-flags.ts";
import type { Model, Update } from "../../../src/cli/ui/model.ts";
import { startUi, type Ui } from "../../../src/cli/ui/start-ui.ts";
import { openMembers } from "../../../src/cli/ui/ui.ts";
import { uiFlags } from "../../../src/cli/ui/ui-flags.ts";
import { systemClock } from "../../../src/lib/clock.ts";

/** A page that a test serves, with a small page in place of that of `ui/`. */
export interface TestUi extends Ui, AsyncDisposable {
  /** Sends a request as it is, without the corrections of a browser. */
  readonly send: (path: string, options?: SentRequest) => Promise<SentAnswer>;
  readonly open: () => EventReader;
}

/** A request of a test. */
export interface SentRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The answer to a request. */
export interface SentAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Serves the page of `wave ui` in this process, as with these flags and variables. */
export async function testUi(args: readonly string[], env: Readonly<Record<string, string>>): Promise<TestUi> {
  const parsed = parseArguments(uiFlags, args, env);
  const terminal = {
    env,
    homeDir: undefined,
    program: "wave",
    input: async function* () {},
    write: () => {},
    writeError: () => {},
    outputToTerminal: false,
    outputColumns: undefined,
    errorsToTerminal: false,
    live: undefined,
  } as const;
  const call = { ...parsed, terminal };
  const members = await openMembers(call);
  const files = new Map([["", { type: "text/html; charset=utf-8", body: "<!doctype html>" }]]);
  const stop = new AbortController();
  const ui = await startUi({ call, members, files, clock: systemClock, signal: stop.signal });
  const readers: EventReader[] = [];
  const { hostname, port, pathname: root } = new URL(ui.url);
  return {
    ...ui,
    send: (path, { method = "GET", headers = {} } = {}) =>
      new Promise((resolve, reject) => {
        const sent = request({ hostname, port, path, method, headers, agent: false }, (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: Buffer.concat(chunks).toString(),
            }),
          );
        });
        sent.on("error", reject).end();
      }),
    open: () => {
      const reader = new EventReader(`http://${hostname}:${port}${root}events`);
      readers.push(reader);
      return reader;
    },
    [Symbol.asyncDispose]: async () => {
      for (const each of readers) each.close();
      stop.abort();
      await ui.ended;
      await Promise.all(members.map(({ cluster }) => cluster.client.close()));
    },
  };
}

/** Reads the stream like the page: keeps the model, and applies each difference. */
export class EventReader {
  readonly #stop = new AbortController();
  readonly #checks = new Set<() => void>();
  /** Everything that was received. */
  text = "";
  model: Model | undefined;
  /** How many updates were a whole model. */
  wholeModels = 0;
  /** The status of the response. */
  readonly status: Promise<number>;

  constructor(url: string) {
    const response = fetch(url, { signal: this.#stop.signal });
    this.status = response.then(({ status }) => status);
    void response.then((each) => this.#read(each)).catch(() => {});
  }

  close(): void {
    this.#stop.abort();
  }

  /** Resolves with the first defined result for the model. */
  until<T>(probe: (model: Model) => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const check = () => {
        const found = this.model && probe(this.model);
        if (found === undefined) return;
        this.#checks.delete(check);
        resolve(found);
      };
      this.#checks.add(check);
      check();
    });
  }

  async #read({ body }: Response): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of body ?? []) {
      const received = decoder.decode(chunk, { stream: true });
      this.text += received;
      const events = `${rest}${received}`.split("\n\n");
      rest = events.pop() ?? "";
      for (const event of events) this.#apply(JSON.parse(event.slice(event.indexOf("data: ") + 6)));
      for (const check of [...this.#checks]) check();
    }
  }

  #apply(update: Update): void {
    if (update.type === "model") {
      this.model = update.model;
      this.wholeModels++;
      return;
    }
    const rows = Object.entries(update.rows).map(([table, changed]) => {
      const before = Object.entries(this.model?.[table as keyof Model] ?? {});
      const after = new Map<string, unknown>([...before, ...Object.entries(changed)]);
      for (const [id, row] of after) if (row === null) after.delete(id);
      return [table, Object.fromEntries(after)];
    });
    this.model = { ...(this.model as Model), ...Object.fromEntries(rows) };
  }
}
