// What a cluster looks like in which every view of the page has something to show. Times are relative to the start.
import type {
  Change,
  Model,
  ObjectDetail,
  PodSquare,
  Task,
  TimelineEntry,
  WorkloadDetail,
  WorkloadRow,
} from "../../src/cli/ui/model.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** A model with a workload in each state, a change in each state and a task of each type, at a time. */
export function recordedModel(now: number): Model {
  const rows = [...workloadsInStates(now), ...workloadsOfChanges(now)];
  return {
    clusters: {
      east: {
        id: "east",
        context: "prod-east",
        connection: { state: "connected", error: null },
        readAt: now,
        leader: { identity: "wave-6f4c9d7b8-x2x7q", renewedAt: now - second, isFresh: true },
        standbys: 1,
        webhook: "ready",
        notifications: "configured",
        doctor: [
          "Replicas: both replicas run on node-a. Spread them with topologySpreadConstraints.",
          "Permissions: Wave cannot list Secrets in namespace billing. Grant list on secrets.",
        ],
        hold: null,
        notes: ["Namespace legacy: cannot list Pods (403). Grant list on pods."],
      },
      west: {
        id: "west",
        context: "prod-west",
        connection: { state: "lost", error: "connect ECONNREFUSED 10.2.0.1:6443" },
        readAt: now - 3 * minute,
        leader: { identity: "wave-7c5d8f9b6-mm2lw", renewedAt: now - 3 * minute, isFresh: false },
        standbys: 0,
        webhook: "absent",
        notifications: "absent",
        doctor: [],
        hold: null,
        notes: [],
      },
    },
    workloads: Object.fromEntries(rows.map((row) => [row.id, row])),
    changes: Object.fromEntries(changes(now).map((change) => [change.id, change])),
    tasks: Object.fromEntries(tasks(now).map((task) => [task.id, task])),
  };
}

function workload(namespace: string, kind: string, name: string, fields: Partial<WorkloadRow>): WorkloadRow {
  return {
    id: `east/${namespace}/${kind.toLowerCase()}/${name}`,
    cluster: "east",
    namespace,
    kind,
    name,
    state: "current",
    needsPerson: false,
    because: null,
    message: "Every Pod runs with the current configuration.",
    since: null,
    until: null,
    command: null,
    hash: "v2:6f1d2c3b4a",
    pods: null,
    podList: [],
    reads: ["configmap/common"],
    ...fields,
  };
}

/** Pods in a word: n new, o old, ? unknown; then s starting, ! not ready, x failed, t terminating. */
function pods(name: string, squares: string): Pick<WorkloadRow, "pods" | "podList"> {
  const contents = { n: "new", o: "old", "?": "unknown" } as const;
  const phases = { s: "starting", "!": "notReady", x: "failed", t: "terminating" } as const;
  const podList = squares.split(" ").map(
    (square, index): PodSquare => ({
      name: `${name}-${["7d9f5c", "5b8c6d"][square[0] === "n" ? 1 : 0]}-${"bcdfghjklmnpqrst"[index % 16]}${index}x2q`,
      content: contents[square[0] as "n" | "o" | "?"],
      phase: phases[square[1] as "s" | "!" | "x" | "t"] ?? "ready",
    }),
  );
  const count = (accepts: (pod: PodSquare) => boolean) => podList.filter(accepts).length;
  return {
    podList,
    pods: {
      total: podList.length,
      ready: count(({ phase }) => phase === "ready"),
      current: count(({ content }) => content === "new"),
    },
  };
}

function workloadsInStates(now: number): readonly WorkloadRow[] {
  return [
    workload("shop", "Deployment", "recommendations", {
      state: "failed",
      needsPerson: true,
      because: "CrashLoopBackOff",
      message:
        'Container "app" of Pod "recommendations-5b8c6d-b0x2q" restarted 6 times. 2 of 3 Pods are ready. ConfigMap "common" changed (key "FEATURE_X").',
      since: now - 4 * minute,
      command: "kubectl logs -n shop recommendations-5b8c6d-b0x2q -c app --previous",
      ...pods("recommendations", "nx o o"),
    }),
    workload("shop", "Deployment", "checkout", {
      state: "held",
      needsPerson: true,
      because: "halted",
      message:
        'Halted: 1 workload that reads ConfigMap "common" failed after the change. Fix ConfigMap "common", or run wave resume configmap/common.',
      since: now - 4 * minute,
      command: "wave resume configmap/common -n shop",
      ...pods("checkout", "o o o o"),
    }),
    workload("shop", "Deployment", "cart", {
      state: "held",
      needsPerson: true,
      because: "approval",
      message: 'Waiting for an approval: ConfigMap "cart" changed (keys "PRICE_RULES", "TAX_TABLE"), edited by alice.',
      since: now - 48 * minute,
      command: "wave approve deployment/cart -n shop",
      ...pods("cart", "o o"),
    }),
    workload("billing", "StatefulSet", "ledger", {
      state: "held",
      needsPerson: true,
      because: "hold",
      message: "On hold by bob: month-end closing.",
      since: now - 20 * hour,
      command: "wave release statefulset/ledger -n billing",
      ...pods("ledger", "o o o"),
      reads: ["secret/ledger-db"],
    }),
    workload("billing", "Deployment", "invoices", {
      state: "waiting",
      needsPerson: true,
      because: "missing",
      message: 'Waiting for Secret "invoice-signing". Running Pods are not changed.',
      since: now - 9 * minute,
      command: "kubectl get secret invoice-signing -n billing",
      ...pods("invoices", "o o"),
      reads: ["secret/invoice-signing"],
    }),
    workload("search", "Deployment", "indexer", {
      state: "overLimit",
      needsPerson: true,
      because: "limit",
      message: "References 1,204 objects; the limit is 1,000.",
      command: "wave explain deployment/indexer -n search",
    }),
    workload("search", "Deployment", "api", {
      state: "unknown",
      because: "forbidden",
      message: 'Unknown: cannot read Secret "search-tls" (403). Grant get on secrets in namespace search.',
      reads: ["secret/search-tls"],
    }),
    workload("search", "Deployment", "ranker", {
      state: "unproven",
      needsPerson: true,
      message: "2 of 2 Pods are not newer than the last change of what they read.",
      since: now - 3 * hour,
      command: "wave roll deployment/ranker -n search",
      ...pods("ranker", "? ?"),
      reads: ["configmap/ranker"],
    }),
    workload("search", "DaemonSet", "agent", {
      state: "behind",
      because: "onDelete",
      message: "2 of 5 Pods are old: the update strategy is OnDelete.",
      ...pods("agent", "n n n o o"),
      reads: ["configmap/agent"],
    }),
    workload("shop", "Deployment", "emails", {
      state: "rolledBack",
      message: 'The change of ConfigMap "emails" was rolled back. Edit it again, or run wave resume configmap/emails.',
      since: now - 2 * hour,
      ...pods("emails", "o o"),
      reads: ["configmap/emails"],
    }),
  ];
}

function workloadsOfChanges(now: number): readonly WorkloadRow[] {
  const rolling = { state: "rolling", message: "Pods are being replaced.", since: now - 20 * second } as const;
  const batch = {
    state: "held",
    because: "batch",
    message: "Waiting for the canary of this change: deployment/gateway.",
    since: now - 50 * second,
  } as const;
  return [
    workload("edge", "Deployment", "gateway", {
      message: "Every Pod runs with the current configuration.",
      since: now - 50 * second,
      ...pods("gateway", "n n n"),
      reads: ["configmap/routes"],
    }),
    workload("edge", "Deployment", "limiter", { ...batch, ...pods("limiter", "o o"), reads: ["configmap/routes"] }),
    workload("edge", "Deployment", "auth", { ...batch, ...pods("auth", "o o o o"), reads: ["configmap/routes"] }),
    workload("media", "Deployment", "resize", {
      ...rolling,
      ...pods("resize", "n n n ns ns o ot ot"),
      reads: ["secret/store"],
    }),
    workload("media", "Deployment", "upload", {
      ...rolling,
      ...pods("upload", "n n n! o o"),
      reads: ["secret/store"],
    }),
    workload("media", "Deployment", "thumbs", { ...pods("thumbs", "n n"), reads: ["secret/store"] }),
    workload("media", "StatefulSet", "queue", {
      state: "held",
      because: "window",
      message: "Held by the window 22:00-04:00.",
      until: now + 3 * hour,
      ...pods("queue", "o o o"),
      reads: ["configmap/queue"],
    }),
  ];
}

function changes(now: number): readonly Change[] {
  const id = (namespace: string, name: string) => `east/${namespace}/${name}`;
  const base = { cluster: "east", soakUntil: null, waitsFor: null, failure: null };
  return [
    {
      ...base,
      id: "halted",
      namespace: "shop",
      object: "configmap/common",
      keys: ["FEATURE_X"],
      editor: "argocd-controller",
      editedAt: now - 5 * minute,
      state: "halted",
      message:
        'Halted: deployment/recommendations failed after the change. Fix ConfigMap "common", or resume the change.',
      batches: [
        { number: 0, workloads: [{ id: id("shop", "deployment/recommendations"), state: "failed" }] },
        { number: 1, workloads: [{ id: id("shop", "deployment/checkout"), state: "waiting" }] },
      ],
      failure: {
        workload: id("shop", "deployment/recommendations"),
        pod: "recommendations-5b8c6d-b0x2q",
        container: "app",
        exitCode: 1,
        reason: "CrashLoopBackOff",
        logCommand: "kubectl logs -n shop recommendations-5b8c6d-b0x2q -c app --previous",
        podsWithOldContent: 6,
        podsAtRisk: 4,
        resumeCommand: "wave resume configmap/common -n shop",
      },
    },
    {
      ...base,
      id: "soaking",
      namespace: "edge",
      object: "configmap/routes",
      keys: ["routes.yaml", "limits.yaml"],
      editor: "alice",
      editedAt: now - minute,
      state: "soaking",
      message: "The canary is complete. The other workloads roll after the soak.",
      soakUntil: now + 23 * second,
      waitsFor: id("edge", "deployment/gateway"),
      batches: [
        { number: 0, workloads: [{ id: id("edge", "deployment/gateway"), state: "complete" }] },
        {
          number: 1,
          workloads: [
            { id: id("edge", "deployment/auth"), state: "waiting" },
            { id: id("edge", "deployment/limiter"), state: "waiting" },
          ],
        },
      ],
    },
    {
      ...base,
      id: "rolling",
      namespace: "media",
      object: "secret/store",
      keys: ["password"],
      editor: "external-secrets",
      editedAt: now - 2 * minute,
      state: "rolling",
      message: "Batch 1 rolls: 2 of 2 workloads are being replaced.",
      batches: [
        { number: 0, workloads: [{ id: id("media", "deployment/thumbs"), state: "complete" }] },
        {
          number: 1,
          workloads: [
            { id: id("media", "deployment/resize"), state: "rolling" },
            { id: id("media", "deployment/upload"), state: "rolling" },
          ],
        },
      ],
    },
    {
      ...base,
      id: "waiting",
      namespace: "media",
      object: "configmap/queue",
      keys: ["workers"],
      editor: "helm",
      editedAt: now - 12 * minute,
      state: "waiting",
      message: "Held by the window 22:00-04:00.",
      batches: [{ number: 0, workloads: [{ id: id("media", "statefulset/queue"), state: "waiting" }] }],
    },
    {
      ...base,
      id: "complete",
      namespace: "search",
      object: "configmap/agent",
      keys: ["sample"],
      editor: "carol",
      editedAt: now - 40 * minute,
      state: "complete",
      message: "All workloads run with the new content.",
      batches: [{ number: 0, workloads: [{ id: id("search", "daemonset/agent"), state: "complete" }] }],
    },
  ];
}

function tasks(now: number): readonly Task[] {
  return [
    {
      id: "approval",
      cluster: "east",
      namespace: "shop",
      about: "deployment/cart",
      type: "approval",
      by: null,
      reason: null,
      changes: [{ object: "configmap/cart", keys: ["PRICE_RULES", "TAX_TABLE"], editor: "alice" }],
      until: null,
      command: "wave approve deployment/cart -n shop",
    },
    {
      id: "hold",
      cluster: "east",
      namespace: "billing",
      about: "statefulset/ledger",
      type: "hold",
      by: "bob",
      reason: "month-end closing",
      changes: [{ object: "secret/ledger-db", keys: ["password"], editor: "external-secrets" }],
      until: null,
      command: "wave release statefulset/ledger -n billing",
    },
    {
      id: "armed",
      cluster: "east",
      namespace: "search",
      about: "namespace/search",
      type: "hold",
      by: null,
      reason: null,
      changes: [],
      until: null,
      command: "wave release namespace/search",
    },
    {
      id: "window",
      cluster: "east",
      namespace: "media",
      about: "statefulset/queue",
      type: "window",
      by: null,
      reason: "window 22:00-04:00",
      changes: [{ object: "configmap/queue", keys: ["workers"], editor: "helm" }],
      until: now + 3 * hour,
      command: "wave roll statefulset/queue -n media",
    },
  ];
}

/** What the page shows of a workload of {@link recordedModel}. */
export function recordedWorkload(row: WorkloadRow, now: number): WorkloadDetail {
  return {
    explanation: `${row.kind} ${row.namespace}/${row.name}\n\nState:     ${row.state}\nBecause:   ${row.message}\n`,
    pods: row.podList.map((pod, index) => ({
      ...pod,
      createdAt: now - (pod.content === "new" ? 4 * minute : (index + 2) * 9 * hour),
      revision: pod.content === "new" ? "8" : "7",
      restarts: pod.phase === "failed" ? 6 : 0,
      proof:
        pod.content === "new"
          ? "Its template carries the current hash."
          : "Created before the last change of what it reads.",
    })),
    references: [
      { path: "containers[app].envFrom[0]", object: row.reads[0] ?? "configmap/common", keys: "all", state: "present" },
      { path: "volumes[tls]", object: "secret/tls", keys: ["tls.crt", "tls.key"], state: "present" },
    ],
    holds: row.command === null ? [] : [{ text: row.message, command: row.command }],
    history: [
      {
        revision: 8,
        createdAt: now - 4 * minute,
        isCurrent: true,
        cause: "ConfigMap common (FEATURE_X), edited by argocd-controller",
        result: "failed: CrashLoopBackOff",
      },
      {
        revision: 7,
        createdAt: now - 18 * hour,
        isCurrent: false,
        cause: "ConfigMap common (LOG_LEVEL), edited by alice",
        result: "complete in 24 s",
      },
      { revision: 6, createdAt: now - 90 * hour, isCurrent: false, cause: null, result: "complete" },
    ],
  };
}

/** What the page shows of an object of {@link recordedModel}. */
export function recordedObject(model: Model, namespace: string, object: string): ObjectDetail {
  const readers = Object.values(model.workloads).filter(
    (row) => row.namespace === namespace && row.reads.includes(object),
  );
  return {
    state: "The object exists. Its last edit was by argocd-controller.",
    readers: readers.map((row) => ({
      workload: row.id,
      name: `${row.kind.toLowerCase()}/${row.name}`,
      keys: row.name === "checkout" ? ["FEATURE_X", "LOG_LEVEL"] : "all",
      edit: row.name === "checkout" ? "rolls it for a change of these keys" : "rolls it",
      hold: row.state === "held" ? row.message : null,
    })),
    notOptedIn: ["deployment/legacy-worker"],
  };
}

/** What happened in {@link recordedModel} in the last hours. */
export function recordedTimeline(now: number): readonly TimelineEntry[] {
  const entry = (minutesAgo: number, fields: Partial<TimelineEntry> & Pick<TimelineEntry, "type" | "about">) => ({
    at: now - minutesAgo * minute,
    endedAt: null,
    cluster: "east",
    namespace: "shop",
    details: [],
    by: null,
    result: null,
    text: `${fields.type} of ${fields.about}`,
    ...fields,
  });
  const rollout = (
    minutesAgo: number,
    minutes: number,
    namespace: string,
    about: string,
    object: string,
    result: "complete" | "failed" = "complete",
  ) =>
    entry(minutesAgo, {
      type: "rollout",
      namespace,
      about,
      details: [object],
      endedAt: now - (minutesAgo - minutes) * minute,
      result,
      text: `${about} rolled: ${object}, ${result} after ${minutes} min`,
    });
  const edit = (minutesAgo: number, namespace: string, about: string, key: string, by: string) =>
    entry(minutesAgo, { type: "edit", namespace, about, details: [key], by, text: `${by} edited ${about} (${key})` });
  return [
    edit(330, "edge", "configmap/routes", "limits.yaml", "alice"),
    rollout(329, 4, "edge", "deployment/gateway", "configmap/routes"),
    rollout(320, 6, "edge", "deployment/auth", "configmap/routes"),
    rollout(320, 9, "edge", "deployment/limiter", "configmap/routes"),
    edit(250, "shop", "configmap/common", "LOG_LEVEL", "alice"),
    rollout(249, 5, "shop", "deployment/recommendations", "configmap/common"),
    rollout(243, 12, "shop", "deployment/checkout", "configmap/common"),
    entry(240, {
      type: "hold",
      namespace: "billing",
      about: "statefulset/ledger",
      by: "bob",
      text: "bob holds statefulset/ledger: month-end closing",
    }),
    edit(180, "billing", "secret/ledger-db", "password", "external-secrets"),
    entry(150, {
      type: "hold",
      namespace: "media",
      about: "statefulset/queue",
      endedAt: now - 60 * minute,
      text: "window 22:00-04:00 closed for statefulset/queue",
    }),
    edit(145, "media", "configmap/queue", "workers", "helm"),
    rollout(60, 8, "media", "statefulset/queue", "configmap/queue"),
    entry(95, {
      type: "leader",
      namespace: "wave-system",
      about: "lease/wave",
      text: "wave-6f4c9d7b8-x2x7q became leader",
    }),
    edit(40, "search", "configmap/agent", "sample", "carol"),
    rollout(39, 3, "search", "daemonset/agent", "configmap/agent"),
    edit(18, "shop", "configmap/common", "FEATURE_X", "argocd-controller"),
    rollout(17, 12, "shop", "deployment/recommendations", "configmap/common", "failed"),
    entry(5, {
      type: "halt",
      about: "configmap/common",
      details: ["configmap/common"],
      text: "halted: deployment/recommendations failed after the change of configmap/common",
    }),
    edit(2, "media", "secret/store", "password", "external-secrets"),
    entry(1, {
      type: "rollout",
      namespace: "media",
      about: "deployment/resize",
      details: ["secret/store"],
      result: "running",
      text: "deployment/resize rolls: secret/store",
    }),
  ];
}

/** A model with many workloads, of which every tenth needs a person. */
export function largeModel(now: number, workloads: number, namespaces: number): Model {
  const rows = Array.from({ length: workloads }, (_, index) => {
    const namespace = `team-${String(index % namespaces).padStart(3, "0")}`;
    const name = `service-${String(index).padStart(4, "0")}`;
    const isFailed = index % 10 === 0;
    return workload(namespace, "Deployment", name, {
      ...pods(name, "n n o"),
      since: now - index * second,
      ...(isFailed && {
        state: "failed",
        needsPerson: true,
        because: "deadline",
        message: `Progress deadline exceeded. 2 of 3 Pods of ${name} are ready.`,
        command: `kubectl describe deployment/${name} -n ${namespace}`,
      }),
    });
  });
  const { clusters } = recordedModel(now);
  const east = clusters.east as Model["clusters"][string];
  return {
    clusters: { east },
    workloads: Object.fromEntries(rows.map((row) => [row.id, row])),
    changes: {},
    tasks: {},
  };
}
