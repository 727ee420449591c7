import type { Lease } from "#kubernetes";
import { resources } from "../../../kube/api/resources.ts";
import { sleep, systemClock } from "../../../lib/clock.ts";
import { defaultLeaseDurationMs, electionTimings, holderOf } from "../../../manager/leader-election/lease.ts";
import { hasReadyReplica, type RunningWave } from "../../cluster/running-wave/running-wave.ts";
import {
  type DoctorContext,
  deploymentRef,
  elects,
  forEachWave,
  notReady,
  readObject,
} from "../context/doctor-context.ts";
import {
  type CheckResult,
  type Finding,
  kubectlArguments,
  notRead,
  type ObjectRef,
  problem,
  warning,
} from "../context/finding.ts";

/** Checks that one replica is the leader, and that at least one other is on standby. */
export function checkLeadership(doctorContext: DoctorContext): Promise<CheckResult> {
  return forEachWave(doctorContext, (wave) => leaderOf(doctorContext, wave));
}

async function leaderOf(doctorContext: DoctorContext, wave: RunningWave): Promise<CheckResult> {
  const { replicas = 1 } = wave.object.spec ?? {};
  const place = deploymentRef(wave);
  if (!elects(wave)) {
    const scale = `kubectl scale ${kubectlArguments(place)} --replicas=1`;
    const found = [problem(place, `All ${replicas} replicas write, because --leader-election is off.`, scale)];
    return { found: replicas > 1 ? found : [], fine: "one replica, without leader election" };
  }
  if (!hasReadyReplica(wave)) return notReady(wave);
  const namespace = wave.values["leader-election-namespace"] ?? wave.namespace;
  const name = wave.values["leader-election-id"];
  const where: ObjectRef = { kind: "Lease", namespace, name };
  const lease = await readObject<Lease>(doctorContext, resources.leases, where);
  if ("unread" in lease) return { found: [notRead(where, "The leader was not checked", lease)] };
  const missing = await missingLeader(doctorContext, where, wave, lease.read);
  if (missing !== undefined) return { found: [missing] };
  const what = "No replica is on standby. Nothing rolls while the only replica is replaced.";
  const alone = warning(place, what, `kubectl scale ${kubectlArguments(place)} --replicas=2`);
  return {
    found: replicas > 1 ? [] : [alone],
    fine: `${holderOf(lease.read).replace(/_.*/, "")} is the leader, ${replicas - 1} on standby`,
  };
}

async function missingLeader(
  doctorContext: DoctorContext,
  where: ObjectRef,
  wave: RunningWave,
  lease: Lease | undefined,
): Promise<Finding | undefined> {
  const fix = `kubectl logs ${kubectlArguments(deploymentRef(wave))}`;
  if (lease === undefined) return problem(where, "There is no leader. The Lease does not exist.", fix);
  if (holderOf(lease) === "") return problem(where, "There is no leader. The Lease has no holder.", fix);
  const { leaseDurationSeconds = defaultLeaseDurationMs / 1_000, renewTime = "" } = lease.spec ?? {};
  const since = doctorContext.now - Date.parse(renewTime);
  if (Math.abs(since) < leaseDurationSeconds * 1_000) return undefined;
  // The local clock may differ, so it proves nothing alone: a leader renews the Lease every few seconds.
  await sleep(systemClock, renewalWaitMs(wave));
  const later = await readObject<Lease>(doctorContext, resources.leases, where);
  if ("read" in later && later.read?.metadata?.resourceVersion !== lease.metadata?.resourceVersion) return undefined;
  return problem(where, `There is no leader. ${holderOf(lease)} does not renew the Lease.`, fix);
}

/** Returns a time within which a leader renews its Lease, at most 10 s. */
function renewalWaitMs(wave: RunningWave): number {
  return Math.min(10_000, 1.5 * electionTimings(wave.values["leader-election-lease-duration"]).retryPeriodMs);
}
