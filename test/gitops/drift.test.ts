import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { podsToBe, reads, type Scene, startScene } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { ofKind, rendered } from "../deploy/rendered.ts";
import { workload, workloadKinds } from "../end-to-end/objects.ts";
import { getWorkload, newHash, recordedHash, revisionsToBe, settledRevisions } from "../end-to-end/state.ts";
import { differs, tools } from "./drift.ts";
import { missingTools } from "./missing-tools.ts";
import { schedulerOwners } from "./scheduler-owners.ts";

interface Configuration {
  readonly metadata: { name: string };
  readonly webhooks: { namespaceSelector?: object }[];
}

const ns = "gitops";
const schedulingHeldNs = "gitops-on-hold";
const missing = missingTools();

describe.skipIf(missing !== undefined)(`drift${missing === undefined ? "" : ` (${missing})`}`, () => {
  describeOnControlPlane("for tools of GitOps", (cluster) => {
    let scene: Scene;
    let schedulingHeld: Scene;
    beforeAll(async () => {
      scene = await startScene(cluster, ns, { webhooks: false });
      schedulingHeld = await startScene(cluster, schedulingHeldNs, { webhooks: true });
    });
    afterAll(async () => {
      await scene?.wave.stop();
      await schedulingHeld?.wave.stop();
    });
    const apply = (args: readonly string[], object: unknown) =>
      cluster.kubectl([...args, "-f", "-"], JSON.stringify(object));
    const cases = tools.flatMap((tool, index) => workloadKinds.map(({ kind }) => ({ ...tool, kind, index })));

    it.for(cases)(
      "$tool: Wave's writes to a $kind cause no drift, and stay when the manifest is applied again",
      async (tool) => {
        const name = `${tool.kind.toLowerCase()}-${tool.index}`;
        const object = workload(name, reads(name), { kind: tool.kind });
        Object.assign(object.metadata, { namespace: ns });
        await scene.namespace.configMap(name, { a: "1" });
        await apply(tool.apply, object);
        let hash = await newHash(cluster, ns, tool.kind, name);
        expect(await differs(cluster, tool, object)).toBe("in sync");
        for (const a of ["2", "3"]) {
          await scene.namespace.edit("ConfigMap", name, { a });
          hash = await newHash(cluster, ns, tool.kind, name, hash);
        }
        expect(await differs(cluster, tool, object)).toBe("in sync");

        const made = await settledRevisions(cluster, ns, tool.kind, name);
        await apply(tool.apply, object);
        await scene.caughtUp();
        expect(await recordedHash(cluster, ns, tool.kind, name)).toBe(hash);
        await revisionsToBe(cluster, ns, tool.kind, name, made);
        expect(await differs(cluster, tool, object)).toBe("in sync");
      },
    );

    it.for(tools.map((tool, index) => ({ ...tool, index })))(
      "$tool: Wave's writes to its webhook configuration cause no drift, and stay",
      async (tool) => {
        const [installed] = ofKind("MutatingWebhookConfiguration", await rendered(cluster, "webhooks.enabled=true"));
        const object = structuredClone(installed) as unknown as Configuration;
        object.metadata.name = `gitops-${tool.index}`;
        // No webhook of this test receives a request.
        for (const webhook of object.webhooks) webhook.namespaceSelector = { matchLabels: { nobody: "has-it" } };
        await apply(tool.apply, object);
        const kubeconfig = readFileSync(cluster.kubeconfig, "utf8");
        const authority = kubeconfig.match(/certificate-authority-data: (\S+?)\}?\n/)?.[1] ?? "";
        // As src/webhook/certificates/registration.ts does.
        const filled = object.webhooks.flatMap((_, at) => [
          { op: "add", path: `/webhooks/${at}/clientConfig/caBundle`, value: authority },
          { op: "add", path: `/webhooks/${at}/clientConfig/service/path`, value: "/mutate/secret" },
        ]);
        const name = `mutatingwebhookconfiguration/${object.metadata.name}`;
        await cluster.kubectl(["patch", name, "--type=json", "--field-manager=wave", "-p", JSON.stringify(filled)]);
        expect(await differs(cluster, tool, object)).toBe("in sync");
        await apply(tool.apply, object);
        expect(await cluster.kubectl(["get", name, "-o", "jsonpath={..clientConfig}"])).toContain(authority);
        expect(await differs(cluster, tool, object)).toBe("in sync");
        await cluster.kubectl(["delete", name]);
      },
    );

    it.for(tools.map((tool, index) => ({ ...tool, index })))(
      "$tool: a manual edit of a field of the manifest is reported",
      async (tool) => {
        const name = `edited-${tool.index}`;
        const object = workload(name, reads(name), { spec: { minReadySeconds: 1 } });
        Object.assign(object.metadata, { namespace: ns });
        await apply(tool.apply, object);
        await scene.namespace.merge(`/apis/apps/v1/namespaces/${ns}/deployments/${name}`, {
          spec: { minReadySeconds: 2 },
        });
        expect(await differs(cluster, tool, object)).toMatch(/^out of sync\n.*minReadySeconds/s);
      },
    );

    it.for(tools.map((tool, index) => ({ ...tool, index })))(
      "$tool: a scheduling hold causes no drift, unless the manifest names a scheduler",
      async (tool) => {
        const deployment = (name: string, podSpec: object) => {
          const object = workload(name, { ...reads(name), ...podSpec });
          Object.assign(object.metadata, { namespace: schedulingHeldNs });
          return object;
        };
        const silent = deployment(`silent-${tool.index}`, {});
        const named = deployment(`named-${tool.index}`, { schedulerName: "default-scheduler" });
        for (const object of [silent, named]) {
          await apply(tool.apply, object);
          await podsToBe(schedulingHeld, object.metadata.name, "Pending");
        }
        expect(await differs(cluster, tool, silent)).toBe("in sync");
        const told = await differs(cluster, tool, named);
        // A dry run calls Wave, which sets the scheduling hold there too.
        expect(told).toMatch(tool.rule === "client" || tool.rule === "structured" ? /^out of sync/ : /^in sync/);

        // A correction changes nothing: the response is the same.
        await apply(tool.apply, named);
        const { spec } = await getWorkload(cluster, schedulingHeldNs, "Deployment", named.metadata.name);
        expect(spec.template.spec.schedulerName).toBe("wave.pusher.com/invalid");
        for (const object of [silent, named]) {
          await schedulingHeld.namespace.configMap(object.metadata.name, { a: "1" });
          await newHash(cluster, schedulingHeldNs, "Deployment", object.metadata.name);
          expect(await differs(cluster, tool, object)).toBe("in sync");
          await revisionsToBe(cluster, schedulingHeldNs, "Deployment", object.metadata.name, 2);
          // Wave does not keep the scheduler that it restored: it gives the field up right after its write.
          await until("Wave to give the scheduler up", async () =>
            (await schedulerOwners(cluster, schedulingHeldNs, object.metadata.name)).includes("wave")
              ? undefined
              : true,
          );
          const other = deployment(object.metadata.name, { schedulerName: "other" });
          await apply(
            tool.apply.filter((flag) => flag !== "--force-conflicts"),
            other,
          );
          expect(await differs(cluster, tool, other)).toBe("in sync");
        }
      },
    );
  });
});
