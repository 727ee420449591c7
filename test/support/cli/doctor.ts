import type { Diagnosis } from "../../../src/cli/doctor/doctor-output.ts";
import { updateOnConfigChange } from "../../../src/domain/references/annotations.ts";
import { type CommandScene, commandScene } from "./commands.ts";

/** A cluster for `wave doctor`. */
export interface DoctorScene extends CommandScene {
  readonly namespace: string;
  /** Creates the Deployment of a Wave for this namespace, with additional flags. */
  readonly createWave: (...flags: readonly string[]) => Promise<void>;
  readonly diagnosed: (...args: readonly string[]) => Promise<Diagnosis>;
  /** Returns the findings of one check: `problem: waiting for …`. */
  readonly found: (check: string) => Promise<readonly string[]>;
}

/** Returns a function that creates scenes in a sandbox, each in its own namespace, with a workload that has the hash of `page`. */
export function doctorScenes(sandbox: Parameters<typeof commandScene>[0], prefix: string): () => Promise<DoctorScene> {
  let scenes = 0;
  return async () => {
    const namespace = `${prefix}-${++scenes}`;
    const cluster = commandScene(sandbox, namespace);
    await cluster.createNamespace(namespace);
    await cluster.createConfigMap("page", "1");
    await cluster.createWorkload("deployments/web");
    await cluster.roll("deployments/web");
    await cluster.toBe("deployments/web", "current");
    const createWave: DoctorScene["createWave"] = async (...flags) => {
      const containers = [{ name: "wave", image: "wave", args: ["run", `--namespaces=${namespace}`, ...flags] }];
      await cluster.createWorkload("deployments/wave", {
        annotations: { [updateOnConfigChange]: undefined },
        labels: { "app.kubernetes.io/name": "wave" },
        spec: { template: { metadata: { labels: { app: "wave" } }, spec: { containers } } },
      });
    };
    const diagnosed: DoctorScene["diagnosed"] = async (...args) => {
      const { out } = await cluster.run("doctor", "-o", "json", ...args);
      return JSON.parse(out);
    };
    const found: DoctorScene["found"] = async (check) =>
      (await diagnosed()).findings
        .filter((each) => each.check === check)
        .map(({ severity, what }) => `${severity}: ${what}`);
    return { ...cluster, namespace, createWave, diagnosed, found };
  };
}
