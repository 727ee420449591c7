import { randomUUID } from "node:crypto";
import type { ConfigMap, Deployment, Secret } from "#kubernetes";
import { updateOnConfigChange } from "../../domain/references/annotations.ts";
import { type KubeObject, type Resource, resourcePath, resources } from "../../kube/api/resources.ts";
import { systemClock } from "../../lib/clock.ts";
import type { DemoCluster } from "./demo-cluster.ts";
import { describeChange, type Narrator, shortHash } from "./narrator.ts";
import { eventOn, hashOf, type Observer, type RolledOutDeployment, replicaSetsOf, rolledOut } from "./observer.ts";

interface StoryContext {
  readonly stage: DemoCluster;
  readonly observer: Observer;
  readonly narrator: Narrator;
  readonly signal: AbortSignal;
}

/**
 * Runs four steps. Each step ends when its result is observed in the cluster. Rejects with one line that names the step if the result
 * differs or does not arrive in time, and with the reason of the signal if it aborts.
 */
export async function runStory(cast: StoryContext): Promise<{ readonly edits: number; readonly rollouts: number }> {
  const first = await step(cast, 1, "Opt a Deployment in", () => optIn(cast));
  const replicaSets = replicaSetsOf(cast.observer, "web").length;
  const second = await step(cast, 2, "Edit the page: Wave must replace the Pod", () => editPage(cast, first));
  await step(cast, 3, "Edit a key that no Pod reads: nothing must happen", () => editNotes(cast, second));
  await step(cast, 4, "Create the optional Secret: Wave must replace the Pod", () => createToken(cast, second));
  const rollouts = replicaSetsOf(cast.observer, "web").length - replicaSets;
  if (rollouts !== 2) throw new Error(`expected 2 rollouts of Deployment web, got ${rollouts}`);
  return { edits: 3, rollouts };
}

async function step<T>(
  { narrator, signal }: StoryContext,
  number: number,
  title: string,
  act: () => Promise<T>,
): Promise<T> {
  narrator.step(number, title);
  try {
    const result = await act();
    narrator.paragraph();
    return result;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw new Error(`step ${number}`, { cause: error });
  }
}

async function optIn(cast: StoryContext): Promise<RolledOutDeployment> {
  const { narrator, observer } = cast;
  narrator.command(kubectl(cast, "apply -f examples/nginx.yaml"));
  narrator.why(
    "nginx mounts index.html of ConfigMap web-page by subPath. Kubernetes never updates such a file in a running Pod.",
    "nginx also reads the optional Secret web-token, which does not exist yet.",
    `The annotation ${updateOnConfigChange}: "true" on the Deployment opts in to Wave.`,
  );
  await create(cast, resources.configMaps, page);
  await create(cast, resources.deployments, web);
  const hash = await observer.until("the hash of Deployment web", () => hashOf(observer, "web"));
  const now = await observer.until("Pods with this hash", () => rolledOut(observer, "web", hash));
  narrator.seen("hash", shortHash(hash), "the digest of what its Pods read");
  narrator.seen("ReplicaSet", now.replicaSet);
  narrator.seen("Pod", now.pods.join(", "));
  return now;
}

async function editPage(cast: StoryContext, before: RolledOutDeployment): Promise<RolledOutDeployment> {
  cast.narrator.command(kubectl(cast, "edit configmap web-page"), "change index.html");
  return roll(cast, before, () => editConfigMap(cast, { "index.html": "<h1>Hello again</h1>\n" }));
}

async function createToken(cast: StoryContext, before: RolledOutDeployment): Promise<RolledOutDeployment> {
  cast.narrator.command(kubectl(cast, "create secret generic web-token --from-file=token"));
  return roll(cast, before, () => create(cast, resources.secrets, token()));
}

/** Runs an action that must replace the Pods of the Deployment, and shows the rollout. */
async function roll(
  cast: StoryContext,
  before: RolledOutDeployment,
  act: () => Promise<void>,
): Promise<RolledOutDeployment> {
  const { narrator, observer } = cast;
  const seen = new Set(observer.events.values().map(({ metadata }) => metadata.resourceVersion));
  const from = systemClock.monotonic();
  await act();
  const hash = await observer.until("another hash of Deployment web", () => {
    const current = hashOf(observer, "web");
    return current === before.hash ? undefined : current;
  });
  const tookMs = Math.max(1, Math.round(systemClock.monotonic() - from));
  narrator.seen(
    "hash",
    describeChange(shortHash(before.hash), shortHash(hash)),
    `${tookMs} ms after the edit, with --settle=0`,
  );
  const reason = "ConfigChanged";
  const message = await observer.until(`an Event ${reason} on Deployment web`, () =>
    eventOn(observer, "web", reason, seen),
  );
  narrator.seen("Event", reason, message);
  const after = await observer.until("Pods with this hash", () => rolledOut(observer, "web", hash));
  narrator.seen("ReplicaSet", describeChange(before.replicaSet, after.replicaSet));
  narrator.seen("Pod", describeChange(before.pods.join(", "), after.pods.join(", ")));
  return after;
}

/**
 * Edits a key that no Pod reads, and proves that Wave has processed the edit. A wait would prove nothing. So the step then creates a second
 * ConfigMap and a Deployment that reads it: Wave receives ConfigMaps in the order of their writes, so when that Deployment has its hash,
 * Wave has also received the edit.
 */
async function editNotes(cast: StoryContext, before: RolledOutDeployment): Promise<void> {
  const { narrator, observer, stage } = cast;
  narrator.command(kubectl(cast, "edit configmap web-page"), "change notes.txt");
  await editConfigMap(cast, { "notes.txt": "No Pod reads this key.\nA second line.\n" });
  await create(cast, resources.configMaps, witnessPage);
  await create(cast, resources.deployments, witness);
  await observer.until("the hash of Deployment witness", () => hashOf(observer, "witness"));
  const path = resourcePath(resources.deployments, { namespace: stage.namespace, name: "web" });
  const { metadata } = await stage.client.request<KubeObject>({ method: "GET", path, signal: cast.signal });
  const current = hashOf(observer, "web");
  const after = rolledOut(observer, "web", before.hash);
  if (metadata.generation !== before.generation || current !== before.hash || after?.replicaSet !== before.replicaSet) {
    throw new Error("Deployment web changed, although no Pod reads the edited key");
  }
  narrator.seen("hash", describeChange(shortHash(before.hash), shortHash(current)));
  narrator.seen("Pod", describeChange(before.pods.join(", "), after.pods.join(", ")));
  narrator.why(
    "Wave has processed the edit: Deployment witness, created after the edit, already has its hash.",
    `Deployment web still has generation ${metadata.generation}, so Wave wrote nothing.`,
  );
}

/** Returns the kubectl command that a person would type. */
function kubectl({ stage }: StoryContext, command: string): string {
  return ["kubectl", ...stage.namespaceFlags, command].join(" ");
}

async function create({ stage, signal }: StoryContext, resource: Resource, body: object): Promise<void> {
  const path = resourcePath(resource, { namespace: stage.namespace });
  await stage.client.request({ method: "POST", path, body, query: { fieldManager: "wave-demo" }, signal });
}

async function editConfigMap({ stage, signal }: StoryContext, data: Readonly<Record<string, string>>): Promise<void> {
  const path = resourcePath(resources.configMaps, { namespace: stage.namespace, name: "web-page" });
  const query = { fieldManager: "wave-demo" };
  await stage.client.request({ method: "PATCH", path, body: { data }, query, signal });
}

/** The ConfigMap of examples/nginx.yaml. It is repeated here because the bundle contains no other files. */
export const page: ConfigMap = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "web-page" },
  data: { "index.html": "<h1>Hello</h1>\n", "notes.txt": "No Pod reads this key.\n" },
};

/** The Deployment of examples/nginx.yaml: reads one key of {@link page} by subPath, and {@link token} if it exists. */
export const web: Deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", annotations: { [updateOnConfigChange]: "true" } },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: {
        containers: [
          {
            name: "nginx",
            image: "nginx:1.29-alpine",
            env: [{ name: "TOKEN", valueFrom: { secretKeyRef: { name: "web-token", key: "token", optional: true } } }],
            volumeMounts: [{ name: "page", mountPath: "/usr/share/nginx/html/index.html", subPath: "index.html" }],
          },
        ],
        volumes: [{ name: "page", configMap: { name: "web-page" } }],
      },
    },
  },
};

/** Returns the optional Secret that {@link web} reads, which the last step creates. Its value is random. */
function token(): Secret {
  return { apiVersion: "v1", kind: "Secret", metadata: { name: "web-token" }, stringData: { token: randomUUID() } };
}

const witnessPage: ConfigMap = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "witness" },
  data: { "witness.txt": "Created after the edit.\n" },
};

/** A Deployment without Pods. It gets its hash only when Wave has received {@link witnessPage}, and all earlier edits. */
const witness: Deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "witness", annotations: { [updateOnConfigChange]: "true" } },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: "witness" } },
    template: {
      metadata: { labels: { app: "witness" } },
      spec: {
        containers: [{ name: "nginx", image: "nginx:1.29-alpine", envFrom: [{ configMapRef: { name: "witness" } }] }],
      },
    },
  },
};
