import type { KubeObject } from "../../kube/api-types.ts";
import { type Resource, resources } from "../../kube/resources.ts";
import { oldFinalizerWarning } from "../../rollout/old-finalizer.ts";
import { planRollout } from "../../rollout/plan.ts";
import { isGated } from "../../rollout/scheduling-gate.ts";
import { toWorkload, type Workload, type WorkloadObject } from "../../rollout/workload.ts";
import { sourceOf } from "../../rollout/workload-references.ts";
import { standardForm } from "../../rollout/workload-row.ts";
import { errorText } from "../../telemetry/error-text.ts";
import type { Cluster } from "../cluster-command.ts";
import { type KnownPolicy, policyOf } from "../flags/told-flags.ts";
import { listAll } from "../list/list-all.ts";
import { workloadRows } from "../workload-argument.ts";
import { type Found, kubectlName, type Place, problem, unchecked, warning } from "./finding.ts";
import { misplaced, mistakesOnNamespace } from "./misplaced.ts";

/** What is written on all workloads and Namespaces, as far as anything is to be said about it. */
export interface Written {
  readonly mistakes: readonly Found[];
  /** What earlier controllers, or earlier versions, left. */
  readonly leftovers: readonly Found[];
  /** Of the workloads that ask Wave in its own dialect how many ask others, too, by what the names of their annotations contain. */
  readonly askOthers: ReadonlyMap<OtherDialect, number>;
  /** How many objects were looked at. */
  readonly count: number;
}

/** What the annotations of others contain. */
export const otherDialects = { sap: "pod-reloader.cs.sap.com/", stakater: "reloader.stakater.com/" } as const;

/** One of them. */
export type OtherDialect = keyof typeof otherDialects;

/** Looks at each object once, in pages, and keeps only what is found. Never rejects. */
export async function readWritten(
  { client }: Cluster,
  namespace: string | undefined,
  policy: KnownPolicy,
): Promise<Written> {
  const mistakes: Found[] = [];
  const leftovers: Found[] = [];
  const askOthers = new Map<OtherDialect, number>();
  let count = 0;
  const look = async <T extends KubeObject>(resource: Resource, see: (object: T) => void) => {
    const scope = { namespace: resource.namespaced ? namespace : undefined };
    try {
      await listAll<T, never>(client, resource, scope, (object) => {
        if (!resource.namespaced && namespace !== undefined && object.metadata.name !== namespace) return undefined;
        count += 1;
        see(object);
        return undefined;
      });
    } catch (error) {
      mistakes.push(unchecked(null, `what is written on ${resource.plural}: ${errorText(error)}`));
    }
  };
  const ofKind = ({ resource }: (typeof workloadRows)[number]) =>
    look<KubeObject & WorkloadObject>(resource, (object) => {
      const workload = toWorkload(resource, object, policy);
      mistakes.push(...mistakesOn(workload, standardForm(resource, object), policy));
      leftovers.push(...leftOn(workload));
      for (const dialect of asksBeside(workload, standardForm(resource, object)))
        askOthers.set(dialect, (askOthers.get(dialect) ?? 0) + 1);
    });
  await Promise.all([
    ...workloadRows.map(ofKind),
    look<KubeObject>(resources.namespaces, ({ metadata }) => {
      const place = { kind: "Namespace", namespace: null, name: metadata.name };
      const { annotations = {}, labels = {} } = metadata;
      mistakes.push(...misplaced(place, { annotations, labels }), ...mistakesOnNamespace(place, annotations));
    }),
  ]);
  return { mistakes, leftovers, askOthers, count };
}

function mistakesOn(workload: Workload, object: WorkloadObject, policy: KnownPolicy): readonly Found[] {
  const { annotations, templateAnnotations } = sourceOf(object);
  const place: Place = { kind: workload.kind, namespace: workload.namespace, name: workload.name };
  const said =
    workload.optIn.state === "unclear"
      ? planRollout(workload, () => undefined, policyOf(policy)).warnings
      : workload.mistakes;
  const labels = object.metadata?.labels ?? {};
  return [
    ...misplaced(place, { annotations, labels, templateAnnotations }),
    ...said.map(({ message }) => problem(place, message, `kubectl edit ${kubectlName(place)}`)),
  ];
}

function leftOn(workload: Workload): readonly Found[] {
  const place: Place = { kind: workload.kind, namespace: workload.namespace, name: workload.name };
  const edit = `kubectl edit ${kubectlName(place)}`;
  const optedOut = workload.optIn.state !== "in";
  return [
    ...(workload.oldFinalizer ? [warning(place, oldFinalizerWarning.message, edit)] : []),
    ...(optedOut && isGated(workload)
      ? [problem(place, "its Pods stay pending: a gate of Wave's is left on it, which Wave opens where it runs", edit)]
      : []),
  ];
}

function asksBeside(workload: Workload, object: WorkloadObject): readonly OtherDialect[] {
  if (workload.optIn.state !== "in" || workload.optIn.by === "dialect") return [];
  const { annotations, templateAnnotations } = sourceOf(object);
  const names = [...Object.keys(annotations), ...Object.keys(templateAnnotations)];
  return (Object.keys(otherDialects) as OtherDialect[]).filter((dialect) =>
    names.some((name) => name.includes(otherDialects[dialect])),
  );
}
