import {
  type Compatibility,
  type CompatibilitySettings,
  compatibilities,
} from "../../../src/domain/compatibility/settings.ts";
import { kinds } from "../../../src/domain/model/built-in-kinds.ts";
import { toWorkload, type Workload, type WorkloadObject } from "../../../src/domain/model/workload.ts";
import type { Policy } from "../../../src/domain/policy/policy.ts";
import { updateOnConfigChange } from "../../../src/domain/references/annotations.ts";
import { defaultPolicy, type WorkloadFixture, workloadObject } from "./objects.ts";

/** All dialects and none of their flags, but for what is given. */
export function settingsWith(more: Partial<CompatibilitySettings> = {}): CompatibilitySettings {
  return { understood: compatibilities, autoReloadAll: false, reloadOnCreate: false, reloadOnDelete: false, ...more };
}

/** The policy under which some dialects are understood. */
export function compatibleWith(...understood: readonly Compatibility[]): Policy {
  return { ...defaultPolicy, compatibility: settingsWith({ understood }) };
}

/** All of them. */
export const allCompatibilities = compatibleWith(...compatibilities);

/** A workload that Wave's own annotation does not opt in, as the API server would send it. */
export function peerObject(wanted: WorkloadFixture): WorkloadObject {
  return workloadObject({ ...wanted, annotations: { [updateOnConfigChange]: undefined, ...wanted.annotations } });
}

/** Its slim form under a policy. */
export function peerWorkload(wanted: WorkloadFixture, policy: Policy = allCompatibilities): Workload {
  return toWorkload(kinds[wanted.kind ?? "Deployment"], peerObject(wanted), policy);
}
