import type { Json } from "../../sandbox/objects/json.ts";
import { answerCall } from "../../sandbox/requests/api-call.ts";
import { startApiServer } from "../../sandbox/requests/api-server.ts";
import { FakeClock } from "../support/fake-clock.ts";
import type { Api, BatchSettings, HistoryEntry, Recording, StoredObject } from "./record.ts";

/** An in-memory API server with a recorded history, without Wave and without faults. */
export interface SmallStage {
  readonly clock: FakeClock;
  readonly history: readonly HistoryEntry[];
  /** Sends requests as people do, one at a time. */
  readonly api: Api;
  /** Sends requests as the process `replica` of Wave. */
  readonly wave: (replica: string) => Api;
  /** The writes so far, in the form that the judge needs. */
  readonly recording: (settings: BatchSettings, calmAt: number) => Recording;
}

/** The default settings of Wave in tests. */
export const someSettings: BatchSettings = {
  webhooks: false,
  schedulingHold: true,
  crossNamespace: "granted",
  namespaces: undefined,
  updateRate: 1000,
  updateBurst: 100,
  syncPeriodMs: 0,
  pacing: undefined,
};

/** Starts an API server, which creates names from `random`. */
export function startSmallStage(random: () => number): SmallStage {
  const clock = new FakeClock();
  let uids = 0;
  const server = startApiServer({ clock, random, uuid: () => `uid-${++uids}` });
  const history: HistoryEntry[] = [];
  let by: HistoryEntry["by"] = { actor: "cluster" };
  server.registry.storage.subscribe(({ revision, resource, before, after }) => {
    const states = [before, after].map((object) => object as unknown as StoredObject | undefined);
    const [was, is] = states;
    history.push({
      at: clock.monotonic(),
      rv: revision,
      type: before === undefined ? "ADDED" : after === undefined ? "DELETED" : "MODIFIED",
      resource: resource.plural,
      ...(was && { before: was }),
      ...(is && { after: is }),
      by,
    });
  });

  const apiOf = (writer: HistoryEntry["by"], defaultManager: string): Api => ({
    async request(method, path, { query = {}, body, contentType = "application/json", manager = defaultManager } = {}) {
      const call = {
        method,
        path,
        query: new URLSearchParams({ fieldManager: manager, ...query }),
        header: (name: string) => (name === "content-type" ? contentType : ""),
        body: async () => body as Json | undefined,
      };
      by = writer;
      try {
        const reply = await answerCall(server, call);
        return reply.type === "answer" ? { status: reply.status, body: reply.body } : { status: 200, body: undefined };
      } finally {
        by = { actor: "cluster" };
      }
    },
  });

  return {
    clock,
    history,
    api: apiOf({ actor: "world" }, "kubectl"),
    wave: (replica) => apiOf({ actor: "wave", replica, fieldManager: "wave" }, "wave"),
    recording: (settings, calmAt) => {
      const endAt = clock.monotonic();
      return {
        seed: 0,
        epoch: clock.wall() - endAt,
        settings,
        history,
        reviews: [],
        lives: [],
        sent: [],
        calmAt,
        rightAt: [endAt],
        endAt,
        unlisted: undefined,
      };
    },
  };
}
