import type { Container, PodSpec } from "#kubernetes";

/** A Pod that is created, and how it looks after it was pointed at its copies. */
export interface PinnedPodCase {
  readonly title: string;
  /** The annotation with the pins. */
  readonly pinned: string;
  /** Other annotations. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly created: PodSpec;
  readonly pointed: PodSpec;
}

/** Returns the name that a reference to a ConfigMap has: its own, or that of its copy. */
type Naming = (source: string) => string;

const container: Container = { name: "app", image: "app" };
const copies: Readonly<Record<string, string>> = {
  web: "web-0123456789",
  page: "page-0123456789abcdef0123",
  "a.b": "a.b-00000000ff",
};
const pinned = "a.b=a.b-00000000ff,page=page-0123456789abcdef0123,web=web-0123456789";
const live: Naming = (source) => source;
const copy: Naming = (source) => copies[source] ?? source;

/** Returns a case in which names are all that differs. */
function renamed(title: string, spec: (of: Naming) => Partial<PodSpec>, more: Partial<PinnedPodCase> = {}) {
  return { title, pinned, created: pod(spec(live)), pointed: pod(spec(copy)), ...more };
}

/** Returns a case in which the Pod stays as it is. */
function unchanged(title: string, spec: Partial<PodSpec>, more: Partial<PinnedPodCase> = {}) {
  return { title, pinned, created: pod(spec), pointed: pod(spec), ...more };
}

function pod(spec: Partial<PodSpec>): PodSpec {
  return { automountServiceAccountToken: false, containers: [container], ...spec };
}

const app = (fields: Partial<Container>): Container => ({ ...container, ...fields });
const env = (name: string, from: object) => ({ name, valueFrom: { configMapKeyRef: { key: "k", ...from } } });
const from = (configMapRef: object, prefix?: string) => ({ configMapRef, ...(prefix && { prefix }) });

/** One reference of each kind to `web`. */
const everywhere = (of: Naming): Partial<PodSpec> => ({
  containers: [app({ env: [env("A", { name: of("web") })], envFrom: [from({ name: of("web") })] })],
  volumes: [
    { name: "v", configMap: { name: of("web") } },
    { name: "p", projected: { sources: [{ configMap: { name: of("web") } }] } },
  ],
});

const longName = `a${"b".repeat(252)}`;
const longCopy = `${longName.slice(0, 242)}-0123456789`;
const malformed: readonly (readonly [string, string])[] = [
  ["is empty", ""],
  ["has an entry without a copy", "web=web-0123456789,page"],
  ["names an object that is not a copy", "web=web"],
  ["names the copy of another source", "web=page-0123456789"],
  ["has a source twice", "web=web-0123456789,web=web-abcdef0123"],
  ["has a copy of a copy", "web=web-0123456789,web-0123456789=web-0123456789-0123456789"],
  ["has upper-case names", "Web=Web-0123456789"],
  ["has upper-case digits", "web=web-ABCDEF0123"],
  ["ends with a comma", "web=web-0123456789,"],
  ["ends with a line break", "web=web-0123456789\n"],
  ["has spaces", "web=web-0123456789, page=page-0123456789"],
  ["has two equals signs", "web=web-0123456789=x"],
  ["has other letters", "web=web-0123456789,wéb=wéb-0123456789"],
  ["has no source", "=-0123456789"],
  ["has a word in place of digits", "web=web-Absent"],
  ["has a name that no object can have", "web..a=web..a-0123456789"],
  ["is above the limit", `web=web-0123456789${",page=page-0123456789".repeat(1000)}`],
  ["has 250,000 characters", `web=web-0123456789,${"a".repeat(250_000)}`],
  ["has a source with 254 characters", `web=web-0123456789,${longName}b=${longCopy}`],
  ["has a copy with 254 characters", `web=web-0123456789,${longName}=${longName.slice(0, 243)}-0123456789`],
];

/** Cases that the domain, the policy of the API server and the webhook must decide in the same way. */
export const pinnedPodCases: readonly PinnedPodCase[] = [
  renamed("a volume with items and subPath", (of) => ({
    containers: [app({ volumeMounts: [{ name: "v", mountPath: "/v", subPath: "a", readOnly: true }] })],
    volumes: [
      { name: "e", emptyDir: {} },
      { name: "v", configMap: { name: of("web"), items: [{ key: "k", path: "a", mode: 256 }], defaultMode: 288 } },
      { name: "o", configMap: { name: of("page"), optional: true } },
    ],
  })),
  renamed("a projected volume with other sources", (of) => ({
    volumes: [
      {
        name: "p",
        projected: {
          defaultMode: 288,
          sources: [
            { secret: { name: "web" } },
            { configMap: { name: of("web"), items: [{ key: "k", path: "a" }], optional: false } },
            { downwardAPI: { items: [{ path: "d", fieldRef: { fieldPath: "metadata.name" } }] } },
            { serviceAccountToken: { path: "t" } },
            { configMap: { name: of("a.b"), optional: true } },
          ],
        },
      },
    ],
  })),
  renamed("variables of the environment", (of) => ({
    containers: [
      app({
        env: [
          { name: "PLAIN", value: "web" },
          env("A", { name: of("web") }),
          env("A", { name: of("page"), optional: true }),
          { name: "S", valueFrom: { secretKeyRef: { name: "web", key: "k" } } },
          { name: "F", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
        ],
      }),
      app({ name: "other" }),
      app({ name: "third", env: [env("B", { name: of("web"), optional: false })] }),
    ],
  })),
  renamed("envFrom with a prefix", (of) => ({
    containers: [
      app({
        envFrom: [
          { secretRef: { name: "web" } },
          from({ name: of("web") }, "P_"),
          from({ name: of("web"), optional: true }),
          from({ name: "live" }, "L_"),
        ],
      }),
    ],
  })),
  renamed("init containers and sidecars", (of) => ({
    initContainers: [
      app({ name: "init", env: [env("A", { name: of("web") })] }),
      app({ name: "sidecar", restartPolicy: "Always", envFrom: [from({ name: of("page") })] }),
    ],
  })),
  renamed("references that are not pinned", (of) => ({
    ...everywhere(of),
    initContainers: [
      app({ name: "i", env: [env("A", { name: "live" })], envFrom: [from({ name: "live", optional: true })] }),
    ],
  })),
  renamed("the longest names", (of) => everywhere((name) => (of(name) === name ? longName : longCopy)), {
    pinned: `${longName}=${longCopy}`,
  }),
  renamed("a Pod without volumes and environment", () => ({})),
  renamed("empty lists and a projected volume without sources", (of) => ({
    containers: [app({ env: [], envFrom: [from({ name: of("web") })], volumeMounts: [] })],
    initContainers: [],
    volumes: [
      { name: "n", projected: {} as never },
      { name: "z", projected: { sources: [] } },
    ],
  })),
  renamed("pins in another order, one of which nothing references", everywhere, {
    pinned: "web=web-0123456789,other=other-0123456789,a=a-0123456789",
  }),
  renamed(
    "ConfigMaps that are never pinned",
    (of) => ({ containers: [app({ envFrom: [from({ name: of("web") })] })] }),
    {
      pinned: "kube-root-ca.crt=kube-root-ca.crt-0123456789,web=web-0123456789",
      created: pod({
        containers: [app({ envFrom: [from({ name: "web" })] })],
        volumes: [{ name: "v", configMap: { name: "kube-root-ca.crt" } }],
      }),
      pointed: pod({
        containers: [app({ envFrom: [from({ name: "web-0123456789" })] })],
        volumes: [{ name: "v", configMap: { name: "kube-root-ca.crt" } }],
      }),
    },
  ),
  renamed("1,000 variables", (of) => ({
    containers: [
      app({ env: Array.from({ length: 1000 }, (_, i) => env(`V${i}`, { name: of(i % 3 ? "web" : "page") })) }),
    ],
  })),
  ...malformed.map(([title, text]) => unchanged(`an annotation that ${title}`, everywhere(live), { pinned: text })),
];
