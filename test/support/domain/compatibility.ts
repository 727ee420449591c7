import {
  type Compatibility,
  type CompatibilitySettings,
  compatibilities,
} from "../../../src/domain/compatibility/directive.ts";
import { loadNamePatterns } from "../../../src/domain/compatibility/stakater-directives.ts";
import { kinds } from "../../../src/domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../../src/domain/model/workload.ts";
import type { WorkloadObject } from "../../../src/domain/model/workload-references.ts";
import type { Workload } from "../../../src/domain/model/workload-shape.ts";
import type { Policy } from "../../../src/domain/policy/policy.ts";
import { updateOnConfigChange } from "../../../src/domain/references/annotations.ts";
import { defaultPolicy, type WorkloadFixture, workloadObject } from "./objects.ts";

await loadNamePatterns({ understood: compatibilities });

/** Returns settings with every compatibility and no flags of other controllers, except the given ones. For tests. */
export function settingsWith(more: Partial<CompatibilitySettings> = {}): CompatibilitySettings {
  return { understood: compatibilities, autoReloadAll: false, reloadOnCreate: false, reloadOnDelete: false, ...more };
}

/** Returns the default policy with some compatibilities enabled. */
export function compatibleWith(...understood: readonly Compatibility[]): Policy {
  return { ...defaultPolicy, compatibility: settingsWith({ understood }) };
}

/** The default policy with every compatibility enabled. */
export const allCompatibilities = compatibleWith(...compatibilities);

/** Returns a workload without the Wave opt-in, in the form that the API server sends. */
export function peerObject(wanted: WorkloadFixture): WorkloadObject {
  return workloadObject({ ...wanted, annotations: { [updateOnConfigChange]: undefined, ...wanted.annotations } });
}

/** Returns the slim form of {@link peerObject} under a policy. */
export function peerWorkload(wanted: WorkloadFixture, policy: Policy = allCompatibilities): Workload {
  return toWorkload(kinds[wanted.kind ?? "Deployment"], peerObject(wanted), policy);
}
