import { expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { makeNamespace } from "../end-to-end/objects.ts";
import { playedSeed } from "../support/played-seed.ts";
import { faults, seeded, wreakHavoc } from "./chaos.ts";
import { makeEditor } from "./editor.ts";
import { startFleet } from "./fleet.ts";
import { judge, readTimedAuditLog } from "./judge.ts";

/**
 * Runs for a short time with short timings by default. WAVE_CHAOS_SECONDS=300 sets that duration, with the default timings
 * (15, 10 and 2 s).
 */
const seconds = Number(process.env.WAVE_CHAOS_SECONDS ?? 0);
const timings = { lease: seconds > 0 ? 15 : 8 };
const seed = playedSeed();
const ns = "high-availability";

describeOnControlPlane("three replicas whose leader is stopped, killed, suspended and cut off", (cluster) => {
  const say = (line: string) => process.stderr.write(`chaos: ${line}\n`);

  it(
    "never have two writers, lose nothing, and roll each change exactly once",
    async () => {
      say(`WAVE_SEED=${seed}`);
      const random = seeded(seed);
      const namespace = await makeNamespace(cluster, ns);
      const editor = await makeEditor(cluster, namespace, 3, random);
      const fleet = await startFleet({ cluster, namespace: ns, size: 3, timings });
      const end = new AbortController();
      try {
        const editing = editor.run(end.signal);
        const done = await wreakHavoc({ fleet, timings, seconds, random, say }).finally(() => end.abort());
        await editing;
        await editor.settled((2 * timings.lease + 60) * 1_000);
        expect(new Set(done)).toEqual(new Set(faults));

        // One of the three reports that it leads, and the two others report that they do not.
        const leading = async () => {
          const texts = await Promise.all(fleet.replicas.map(({ wave }) => wave.metrics()));
          return texts.map((text) => text.match(/^wave_leader (\d)$/m)?.[1]);
        };
        expect((await leading()).toSorted()).toEqual(["0", "0", "1"]);
        // A standby is ready too: it serves webhooks and its caches are filled.
        expect(await Promise.all(fleet.replicas.map(({ wave }) => wave.readyz()))).toEqual(["ok", "ok", "ok"]);

        // The audit log is written with a delay, so the test sends a request now and waits for it in the log.
        const last = `end-of-${seed}`;
        await cluster.api("GET", `/api/v1/namespaces/${ns}/configmaps/${last}`).catch(() => {});
        await until("the audit log to be written", async () =>
          readTimedAuditLog(cluster.auditLog).some(({ objectRef }) => objectRef?.name === last) ? true : undefined,
        );
        const { terms, late, twoWriters, writes } = judge(readTimedAuditLog(cluster.auditLog), ns);
        const edits = editor.edited.reduce((sum, row) => sum + row.edits, 0);
        say(`${done.length} faults, ${terms.length} terms, ${edits} edits`);
        expect({ late, twoWriters }).toEqual({ late: [], twoWriters: [] });
        expect(terms.length).toBeGreaterThan(done.length);
        // The first hash, and one write for each edit.
        expect(Object.fromEntries(writes)).toEqual(
          Object.fromEntries(editor.edited.map(({ target, edits }) => [target, edits + 1])),
        );
        for (const { hashes, edits } of editor.edited) expect(new Set(hashes).size).toBe(edits + 1);
      } finally {
        end.abort();
        await fleet.close();
      }
    },
    (seconds + 300) * 1_000,
  );
});
