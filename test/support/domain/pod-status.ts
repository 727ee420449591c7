import type { PodStatusObject } from "../../../src/domain/config/pod-status.ts";

/** The fields of a test SecretProviderClassPodStatus. */
export interface PodStatusFixture {
  readonly className?: string;
  /** The name of the Pod that owns it. */
  readonly pod?: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly generation?: number;
  /** Seconds since the epoch. */
  readonly at?: number;
  readonly resourceVersion?: number;
  readonly mounted?: boolean;
}

/** Returns a SecretProviderClassPodStatus in namespace "default", in the form that the API server sends. For tests. */
export function podStatus({
  className = "vault",
  pod = "a",
  versions,
  generation = 1,
  at = 1000,
  resourceVersion = 1,
  mounted = true,
}: PodStatusFixture): PodStatusObject & { readonly metadata: object } {
  return {
    metadata: {
      namespace: "default",
      name: `${pod}-default-${className}`,
      generation,
      resourceVersion: `${resourceVersion}`,
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: pod, uid: pod }],
      managedFields: [
        { manager: "secrets-store-csi-driver", fieldsV1: { "f:status": {} }, time: timeOf(at) },
        { manager: "kubectl-label", fieldsV1: { "f:metadata": {} }, time: timeOf(at + 500) },
      ],
    },
    status: {
      podName: pod,
      secretProviderClassName: className,
      mounted,
      objects: Object.entries(versions).map(([id, version]) => ({ id, version })),
    },
  } as PodStatusObject & { readonly metadata: object };
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
