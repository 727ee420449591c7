import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import { root } from "../docs/fences.ts";
import { makeNamespace, namespaceAs, workload } from "../end-to-end/objects.ts";
import { getWorkload, waveEvents } from "../end-to-end/state.ts";
import { podsOf, rolledOut } from "./installed.ts";
import { programsImage } from "./node.ts";
import { describeOnNode } from "./suite.ts";

/** A program of the table in docs/safe-changes.md, with the file that it reads. */
interface Program {
  /** Its row of the table. */
  readonly row: string;
  readonly folder: string;
  readonly file: string;
  /** How a Pod that serves users starts. */
  readonly serves: string;
  /** Returns the content of the file. Edits are good content with another number. */
  readonly good: (edit: number) => string;
  readonly bad: string;
  /** Whether the check is the container that goes on, and not an init container. */
  readonly checksInContainer?: true;
  /** Other files of the folder that the check needs. */
  readonly others?: Record<string, string>;
}

const programs: readonly Program[] = [
  {
    row: "nginx",
    folder: "/etc/nginx/conf.d",
    file: "site.conf",
    serves: "exec nginx -g 'daemon off;'",
    good: (edit) => `server { listen 8080; return 200 "${edit}"; }\n`,
    bad: "server { listen 8080; retrun 200; }\n",
    checksInContainer: true,
  },
  {
    row: "HAProxy",
    folder: "/etc/haproxy",
    file: "haproxy.cfg",
    serves: "exec haproxy -W -db -f /etc/haproxy/haproxy.cfg",
    good: (edit) =>
      `# ${edit}\ndefaults\n  mode http\n  timeout connect 1s\n  timeout client 1s\n  timeout server 1s\nfrontend web\n  bind :8080\n  default_backend app\nbackend app\n  server one 127.0.0.1:8081\n`,
    bad: "frontend web\n  bind :8080\n  default_backend gone\n",
  },
  {
    row: "Prometheus",
    folder: "/etc/prometheus",
    file: "prometheus.yml",
    serves: "exec prometheus --config.file=/etc/prometheus/prometheus.yml --storage.tsdb.path=/tmp/data",
    good: (edit) => `global: { scrape_interval: ${10 + edit}s }\n`,
    bad: "global: { scrape_interval: often }\n",
  },
  {
    row: "Java",
    folder: "/etc/app",
    file: "app.properties",
    serves: "exec sleep infinity",
    good: (edit) => `workers=${edit}\n`,
    bad: "workers=\\u12\n",
    others: {
      "Check.java":
        'class Check { public static void main(String[] args) throws Exception { var read = new java.util.Properties(); read.load(new java.io.FileReader(args[0])); Integer.parseInt(read.getProperty("workers")); } }',
    },
  },
];

/** Returns the command that checks the configuration, from the page that users read. */
function checkOf(row: string): string {
  const page = readFileSync(join(root, "docs/safe-changes.md"), "utf8");
  return page.match(new RegExp(`^\\| ${row}[^|]*\\| \`([^\`]+)\``, "m"))?.[1] ?? expect.fail(`no row ${row}`);
}

// Runs the recipes of docs/safe-changes.md with the programs themselves.
describeOnNode(
  "a validator",
  (node) => {
    let wave: WaveProcess;
    beforeAll(async () => {
      wave = await startWave(["--kubeconfig", node().cluster.kubeconfig], { paced: true });
    });
    afterAll(() => wave?.stop());

    it.concurrent.for(programs)(
      "lets no Pod that serves users read a file that $row rejects",
      async (program, { expect }) => {
        const { row, folder, file, serves, good, bad, others, checksInContainer } = program;
        const { cluster } = node();
        const ns = row.toLowerCase();
        const namespace = await makeNamespace(cluster, ns);
        const kubectl = (...args: readonly string[]) => cluster.kubectl(["-n", ns, ...args]);
        const configMap = (content: string) => namespace.edit("ConfigMap", "config", { [file]: content });
        await namespace.configMap("config", { ...others, [file]: good(0) });
        const container = (name: string, command: string, edit = 0) => ({
          ...{ name, image: "localhost/programs:1", workingDir: folder, command: ["sh", "-c", command] },
          ...{ env: [{ name: "EDIT", value: `${edit}` }], volumeMounts: [{ name: "config", mountPath: folder }] },
        });
        const volumes = [{ name: "config", configMap: { name: "config" } }];
        const waits = "exec sleep infinity";
        const checks = (edit: number) =>
          checksInContainer
            ? { containers: [container("check", `${checkOf(row)} && ${waits}`, edit)], volumes }
            : {
                initContainers: [container("check", checkOf(row), edit)],
                containers: [container("wait", waits)],
                volumes,
              };
        await namespace.create(workload("web", { containers: [container("web", serves)], volumes }));
        await namespace.create(workload("check", checks(0), { annotations: { "wave.pusher.com/validator": "true" } }));
        for (const name of ["web", "check"]) await rolledOut(cluster, ns, `deployment/${name}`);
        const serving = async () => (await podsOf(cluster, ns, "app=web")).map(({ metadata }) => metadata.uid).sort();
        const first = await serving();
        const isHalted = (count: number) =>
          until(`halt ${count} of web`, async () => {
            const events = await waveEvents(cluster, ns, "web");
            const halts = events.filter(({ reason }) => reason === "RolloutHalted");
            return halts.reduce((sum, each) => sum + (each.count ?? 1), 0) >= count ? true : undefined;
          });
        const isRolled = (before: readonly string[]) =>
          until("other Pods of web", async () => {
            const now = await serving();
            return now.length > 0 && now.every((uid) => !before.includes(uid)) ? now : undefined;
          });
        const revision = async () => (await getWorkload(cluster, ns, "Deployment", "check")).metadata.generation;

        // A bad edit.
        await configMap(bad);
        await isHalted(1);
        expect(await serving()).toEqual(first);

        // It is taken back.
        await configMap(good(0));
        await kubectl("wait", "deployment/check", "--for=condition=Available", "--timeout=120s");
        await rolledOut(cluster, ns, "deployment/check");
        expect(await serving()).toEqual(first);

        // A good edit.
        await configMap(good(1));
        const second = await isRolled(first);
        await rolledOut(cluster, ns, "deployment/web");

        // A bad edit in the same apply as a new pod template of the validator.
        const before = await revision();
        const template = (edit: number) =>
          namespaceAs(cluster, ns).merge(`/apis/apps/v1/namespaces/${ns}/deployments/check`, {
            spec: { template: { spec: checks(edit) } },
          });
        await Promise.all([configMap(bad), template(1)]);
        await isHalted(2);
        expect(await revision()).not.toBe(before);
        expect(await serving()).toEqual(second);

        // The same with a good edit.
        await Promise.all([configMap(good(2)), template(2)]);
        await isRolled(second);
      },
    );
  },
  [programsImage],
);
