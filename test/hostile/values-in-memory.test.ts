import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, connect } from "../control-plane/cluster.ts";
import { type ControlPlane, missingControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { freePort, startWave, type WaveProcess } from "../control-plane/wave-process.ts";
import { container, makeNamespace, type Namespace, workload } from "../end-to-end/objects.ts";
import { newHash, recordedHash } from "../end-to-end/state.ts";
import { foundInMemory } from "./process-memory.ts";

const ns = "memory";

const servers = [
  ["sends lists as streams", []],
  ["sends lists in pages", ["--feature-gates=WatchList=false"]],
] as const;

describe.skipIf(missingControlPlane() !== undefined).each(servers)(
  "the memory of Wave, when the API server %s,",
  (_, apiServerFlags) => {
    let plane: ControlPlane | undefined;
    let cluster: Cluster;
    let namespace: Namespace;
    let wave: WaveProcess;
    const values = new Map<string, string>();
    const envFrom = ["small", "large-4", "applied"].map((name) => ({ secretRef: { name } }));

    /** Returns a value that the memory must not contain. */
    const secret = (name: string) => {
      const value = randomBytes(18).toString("hex");
      values.set(name, value);
      return value;
    };
    const apply = (name: string) =>
      cluster.kubectl(
        ["-n", ns, "apply", "-f", "-"],
        JSON.stringify({
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: "applied" },
          stringData: { a: secret(name) },
        }),
      );

    /** Expects that the memory contains no value any more. Wave overwrites the last ones within 3 s, or later on a busy machine. */
    const expectNone = () =>
      expect.poll(() => foundInMemory(wave.process.pid ?? 0, values), { interval: 1_000, timeout: 60_000 }).toEqual([]);

    /** Edits a Secret, and waits until Wave has seen the edit. */
    const edited = async (edit: () => Promise<unknown>) => {
      const before = await recordedHash(cluster, ns, "Deployment", "app");
      await edit();
      await newHash(cluster, ns, "Deployment", "app", before);
    };

    beforeAll(async () => {
      plane = await startControlPlane({ workloads: false, apiServerFlags });
      cluster = connect(plane);
      namespace = await makeNamespace(cluster, ns);
      await namespace.secret("small", { a: secret("listed"), b: `line\n"${secret("listed between quotes")}"\n` });
      for (let index = 0; index < 5; index++)
        await namespace.secret(`large-${index}`, { a: secret(`listed large ${index}`).repeat(5_000 * (index + 1)) });
      await apply("listed and applied");
      await namespace.create(workload("app", { containers: [{ ...container, envFrom }] }));
      const address = `127.0.0.1:${await freePort()}`;
      const webhook = [`--webhook-bind-address=${address}`, `--webhook-url=https://${address}`];
      wave = await startWave([`--kubeconfig=${plane.kubeconfig}`, "--enable-webhooks", ...webhook]);
    });
    afterAll(async () => {
      await wave?.stop();
      cluster?.close();
      await plane?.stop();
    });

    it("has no value of a Secret after lists", async () => {
      await newHash(cluster, ns, "Deployment", "app");
      await expectNone();
    });

    it("has no value of a Secret after edits", async () => {
      for (let edit = 0; edit < 5; edit++)
        await edited(() =>
          namespace.edit("Secret", "small", { a: secret(`edit ${edit}`), c: `\n${secret(`edit ${edit} of a line`)}` }),
        );
      await edited(() => namespace.edit("Secret", "large-4", { a: secret("large edit").repeat(25_000) }));
      await edited(() => apply("applied again"));
      await expectNone();
    });

    it("has no value of a Secret after reviews, for which Wave reads Secrets", async () => {
      for (let index = 0; index < 3; index++) {
        await namespace.create(workload(`created-${index}`, { containers: [{ ...container, envFrom }] }));
        expect(await recordedHash(cluster, ns, "Deployment", `created-${index}`)).toMatch(/^v2/);
      }
      await expectNone();
    });
  },
);
