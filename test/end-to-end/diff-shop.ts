/** The manifests of a shop, as a team keeps them in Git. */
export type Shop = readonly Manifest[];

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  spec?: Spec;
}

interface Spec {
  readonly template: {
    readonly metadata: { readonly labels: Record<string, string>; annotations?: Record<string, string> };
    readonly spec: PodSpec;
  };
  readonly [field: string]: unknown;
}

interface PodSpec {
  readonly containers: Container[];
  volumes: object[];
  [field: string]: unknown;
}

interface Container {
  image: string;
  env: object[];
  [field: string]: unknown;
}

/** Returns the next whole number below `sides`. */
export type Roll = (sides: number) => number;

/** Returns a generator of numbers that depend only on a seed (mulberry32). */
export function dice(seed: number): Roll {
  let state = seed >>> 0;
  return (sides) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * sides);
  };
}

const names = ["a", "b", "c"];

/** Three ConfigMaps, three Secrets, and workloads that read them in different ways. */
export function firstShop(): Shop {
  const configMaps = names.map((name) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name },
    data: { x: "1", y: "1" },
  }));
  const secrets = names.map((name) => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name },
    stringData: { x: "1", y: "1" },
  }));
  const volume = (name: string, source: object) => ({ name, ...source });
  return [
    ...configMaps,
    ...secrets,
    workload("Deployment", "all", { envFrom: [{ configMapRef: { name: "a" } }, { secretRef: { name: "b" } }] }),
    workload("Deployment", "one", { env: [fromKey("X", "configMapKeyRef", "a", "x"), { name: "PLAIN", value: "1" }] }),
    workload("StatefulSet", "files", { volumeMounts: [{ name: "files", mountPath: "/files" }] }, [
      volume("files", { configMap: { name: "b", items: [{ key: "y", path: "y" }], defaultMode: 0o644 } }),
    ]),
    workload("DaemonSet", "projected", { volumeMounts: [{ name: "all", mountPath: "/all", readOnly: false }] }, [
      volume("all", {
        projected: { sources: [{ secret: { name: "c" } }, { configMap: { name: "c", optional: true } }] },
      }),
    ]),
    workload("Deployment", "unread", {}),
  ];
}

function fromKey(variable: string, kind: string, name: string, key: string): object {
  return { name: variable, valueFrom: { [kind]: { name, key, optional: true } } };
}

function workload(kind: string, name: string, container: object, volumes: object[] = []): Manifest {
  return {
    apiVersion: "apps/v1",
    kind,
    metadata: { name, annotations: { "wave.pusher.com/update-on-config-change": "true" } },
    spec: {
      ...(kind === "StatefulSet" ? { serviceName: "none" } : {}),
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          terminationGracePeriodSeconds: 0,
          hostNetwork: false,
          containers: [
            {
              name: "app",
              image: "nginx",
              env: [],
              ports: [{ containerPort: 80 }],
              resources: { requests: { cpu: "100m", memory: "1024Mi" } },
              readinessProbe: { tcpSocket: { port: 80 }, initialDelaySeconds: 0 },
              ...container,
            },
          ],
          volumes,
        },
      },
    },
  };
}

/** One way to edit the manifests. */
export interface Edit {
  readonly name: string;
  readonly apply: (shop: Shop, roll: Roll) => Shop;
}

const pick = <T>(all: readonly T[], roll: Roll): T => all[roll(all.length)] as T;
const configs = (shop: Shop) => shop.filter(({ spec }) => spec === undefined);
const workloads = (shop: Shop) => shop.filter(({ spec }) => spec !== undefined);

function edit(name: string, change: (shop: Shop, roll: Roll) => void): Edit {
  return {
    name,
    apply: (shop, roll) => {
      change(shop, roll);
      return shop;
    },
  };
}

function onContainer(name: string, change: (container: Container, roll: Roll, pod: PodSpec) => void): Edit {
  return edit(name, (shop, roll) => {
    const pod = pick(workloads(shop), roll).spec?.template.spec;
    const container = pod?.containers[0];
    if (pod && container) change(container, roll, pod);
  });
}

const textsOf = (manifest: Manifest) => manifest.data ?? manifest.stringData ?? {};

/** Typical edits of manifests. Workloads read most of the edited parts, but not all, and some edits do not change the meaning. */
export const edits: readonly Edit[] = [
  edit("another value", (shop, roll) => {
    const manifest = pick(configs(shop), roll);
    const texts = textsOf(manifest);
    const value = String(roll(3));
    const isEncoded = manifest.kind === "Secret" && manifest.data !== undefined;
    texts[pick(Object.keys(texts), roll)] = isEncoded ? Buffer.from(value).toString("base64") : value;
  }),
  edit("one key more", (shop, roll) => {
    textsOf(pick(configs(shop), roll))[`z${roll(3)}`] = "MQ==";
  }),
  edit("one key less", (shop, roll) => {
    const texts = textsOf(pick(configs(shop), roll));
    const extra = Object.keys(texts).find((key) => key.startsWith("z"));
    if (extra !== undefined) delete texts[extra];
  }),
  edit("a label of a ConfigMap", (shop, roll) => {
    pick(configs(shop), roll).metadata.labels = { seen: String(roll(9)) };
  }),
  edit("a Secret in base64", (shop, roll) => {
    const manifest = pick(configs(shop), roll);
    if (manifest.stringData === undefined) return;
    const encoded = Object.entries(manifest.stringData).map(([key, text]) => [
      key,
      Buffer.from(text).toString("base64"),
    ]);
    manifest.data = Object.fromEntries(encoded);
    delete manifest.stringData;
  }),
  edit("a label of a workload", (shop, roll) => {
    pick(workloads(shop), roll).metadata.labels = { seen: String(roll(9)) };
  }),
  edit("an annotation of a pod template", (shop, roll) => {
    const metadata = pick(workloads(shop), roll).spec?.template.metadata;
    if (metadata) metadata.annotations = { checksum: String(roll(3)) };
  }),
  onContainer("another image", (container, roll) => {
    container.image = `nginx:1.${roll(3)}`;
  }),
  onContainer("quantities in another form", (container) => {
    container.resources = { requests: { cpu: 0.1, memory: "1Gi" } };
  }),
  onContainer("one variable more", (container, roll) => {
    container.env = [...container.env.slice(0, 3), { name: `V${roll(100)}`, value: "" }];
  }),
  onContainer("one variable less", (container) => {
    container.env = container.env.slice(1);
  }),
  onContainer("variables in another order", (container) => {
    container.env = container.env.toReversed();
  }),
  onContainer("a reference more", (container, roll) => {
    const name = pick(names, roll);
    container.env = [
      ...container.env.filter((each) => !("name" in each && each.name === "MORE")),
      fromKey("MORE", "configMapKeyRef", name, "y"),
    ];
  }),
  onContainer("no probe", (container) => {
    delete container.readinessProbe;
  }),
  onContainer("what is so anyway", (container, _roll, pod) => {
    container.stdin = false;
    container.imagePullPolicy ??= container.image === "nginx" ? "Always" : "IfNotPresent";
    pod.restartPolicy = "Always";
    pod.tolerations = [];
  }),
];
