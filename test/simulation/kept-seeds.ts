/** What runs have had since some time, oldest first. */
const additions = [
  "pins and broken workloads",
  "restarts",
  "pins with pacing",
  "other releases",
  "full nodes",
  "validators",
  "returns and alerts",
  "stuck rollouts",
  "refused content",
  "late controllers",
] as const;

/** Something that runs did not have from the start. */
export type Addition = (typeof additions)[number];

/** A seed that once failed. */
interface KeptSeed {
  readonly seed: number;
  /** The mistake that it found or would find. */
  readonly name: string;
  /** The last addition when it was found. Absent: it is older than all of them. */
  readonly after?: Addition;
  /** Whether `npm test` plays it too, because with the first seeds it reaches outcomes and holds that these rarely reach. */
  readonly isQuick?: true;
}

/** Seeds that once failed; each replays its whole run. */
export const keptSeeds: readonly KeptSeed[] = [
  { seed: 80059, name: "a write after the end of the leadership" },
  { seed: 80146, name: "a grant without any reaction" },
  { seed: 80022, name: "a deletion that only a list showed" },
  { seed: 80020, name: "an Event to an owner about trouble of etcd" },
  { seed: 80034, name: "an annotation extra-… that changed before the write" },
  { seed: 80008, name: "a write without an Event" },
  { seed: 80027, name: "a namespace that cannot be listed" },
  { seed: 80045, name: "a leadership that came back with the wall clock" },
  { seed: 80043, name: "watches that waited after resets" },
  { seed: 80119, name: "a Retry-After of a day" },
  { seed: 6000548, name: "a write without an answer, of the hash that the previous leader had written", isQuick: true },
  { seed: 80049, name: "pending Pods of a workload that was no longer observed" },
  { seed: 91087, name: "a change that was halted by a workload that no longer read its object" },
  { seed: 800304, name: "a scheduling hold that was set and removed while no watch was open" },
  { seed: 877265025, name: "an interval that ends after a window has just opened, by a slow clock" },
  { seed: 860137, name: "two workloads that others hold while their window closes" },
  { seed: 1044686825, name: "a halted change of an object that a workload no longer reads" },
  { seed: 1805897050, name: "a rollout without an answer, and its number among consecutive rollouts" },
  { seed: 900526, name: "other workloads in place of a canary that someone has changed" },
  { seed: 2089154319, name: "a very first Lease that is created late" },
  { seed: 5300949, name: "a pending Pod that its Deployment keeps while the new Pod crashes" },
  { seed: 1000000367, name: "an untracked reference to a namespace that cannot be listed" },
  {
    seed: 1564688559,
    name: "a deleted object and a changed object before the inputs of a hash were known",
  },
  { seed: 277598364, name: "a missing object that a workload named for a moment" },
  { seed: 1745785040, name: "a canary that another change rolled again before it was complete" },
  { seed: 992983565, name: "a required key that was removed and restored", isQuick: true },
  { seed: 620984219, name: "a pod template that no longer names a missing key" },
  {
    seed: 1798495373,
    name: "an Event whose count a late request lowered",
    after: "pins and broken workloads",
    isQuick: true,
  },
  {
    seed: 910000468,
    name: "a broken workload to which a webhook gave another hash",
    after: "pins and broken workloads",
  },
  { seed: 920000720, name: "a broken workload whose hash a client removed", after: "pins and broken workloads" },
  {
    seed: 80065,
    name: "a mixed Pod of a second difference, two minutes after a rollout for the first",
    after: "restarts",
  },
  { seed: 1022952798, name: "a Pod that started before the last field of an object was removed", after: "restarts" },
  { seed: 77100107, name: "two broken workloads whose scheduling hold was lifted", after: "restarts" },
  { seed: 771021, name: "an interval by a clock that is one minute late", after: "restarts" },
  { seed: 420000029, name: "pins beside a hash that a client removed during a slow review", after: "restarts" },
  { seed: 420000525, name: "a canary of two workloads, one of them broken, without others", after: "restarts" },
  { seed: 410000614, name: "a change just before another replica began to lead", after: "restarts" },
  { seed: 500001738, name: "a pinned ConfigMap that was deleted while no replica led", after: "restarts" },
  { seed: 500002313, name: "a watch of Namespaces that was silent for 150 seconds", after: "restarts" },
  {
    seed: 511000332,
    name: "a copy that cannot be read, of content with a key that the live content lacks",
    after: "restarts",
  },
  { seed: 600000093, name: "a volume that a claim of a StatefulSet replaces", after: "restarts" },
  { seed: 600000213, name: "a hash that a person removed for the third time", after: "restarts" },
  { seed: 600000632, name: "a rollout to earlier content that some Pods still have", after: "restarts" },
  { seed: 610002262, name: "a scheduling hold of a workload that has opted out", after: "restarts", isQuick: true },
  { seed: 607044, name: "a broken workload, and a leader whose clock is six minutes late", after: "restarts" },
  { seed: 732003254, name: "a PUT of a pinned workload that reads nothing more", after: "pins with pacing" },
  {
    seed: 900000414,
    name: "a ConfigMap that was emptied while no replica led, as it was before",
    after: "pins with pacing",
  },
  { seed: 960000243, name: "a canary that was rolled again after its failure", after: "other releases" },
  { seed: 990000035, name: "mixed Pods that were replaced just before a canary", after: "other releases" },
  {
    seed: 61000029,
    name: "a workload that failed after a rollout for another object",
    after: "other releases",
    isQuick: true,
  },
  { seed: 1200001093, name: "a copy whose owner has opted out, and is not cached", after: "other releases" },
  { seed: 1400001273, name: "an old cache, and two rollouts of another leader to A and back", after: "other releases" },
  { seed: 1500000697, name: "content that is newer than the change that its canary showed", after: "other releases" },
  { seed: 1800000059, name: "an undo to a hash that an old cache matches", after: "other releases" },
  { seed: 121562153, name: "a complete canary that a late cache shows as timed out", after: "other releases" },
  {
    seed: 2000003,
    name: "a Pod without a node, and configuration that changed before a write arrived",
    after: "returns and alerts",
  },
  { seed: 460036769, name: "a held validator of a change that no leader saw", after: "returns and alerts" },
  {
    seed: 910111,
    name: "a good edit of an ordered StatefulSet whose Pod crashes after another edit",
    after: "returns and alerts",
  },
  { seed: 3300115, name: "a stuck rollout, and a new leader whose clock is ahead", after: "stuck rollouts" },
  { seed: 3300234, name: "a change that waits for the approval of a validator", after: "stuck rollouts" },
  {
    seed: 3300286,
    name: "a Pod that waited for a required volume when its workload was recorded",
    after: "stuck rollouts",
  },
  {
    seed: 3300347,
    name: "an edit that a watch shows after a Pod without a node was recorded",
    after: "stuck rollouts",
  },
  { seed: 5000024, name: "a Pod of an earlier pod template without a hash", after: "stuck rollouts" },
  { seed: 5000123, name: "the same Event about two objects that do not exist", after: "stuck rollouts" },
  { seed: 3300596, name: "a later change before the window of a validator opens", after: "stuck rollouts" },
  { seed: 3300611, name: "an edit of a pinned pod template after binary data became text", after: "stuck rollouts" },
  { seed: 470589525, name: "a stuck rollout, and a new leader whose clock is behind", after: "stuck rollouts" },
  { seed: 8000266, name: "a failed rollout, and a new leader whose clock is an hour behind", after: "stuck rollouts" },
  { seed: 8000401, name: "an optional object that came and went before a watch showed it", after: "stuck rollouts" },
  { seed: 8000452, name: "a Pod that still waits for an object when it is recorded", after: "stuck rollouts" },
  { seed: 8001061, name: "a canary of a ConfigMap that was then deleted and created again", after: "stuck rollouts" },
  { seed: 8001040, name: "a rollout back to a hash beside which other content was recorded", after: "stuck rollouts" },
  { seed: 8001583, name: "a watch behind the list of a namespace that opted in", after: "stuck rollouts" },
  {
    seed: 8001676,
    name: "a first hash, and a validator of an object without the key that is read",
    after: "stuck rollouts",
  },
  { seed: 922004, name: "a rollout whose leader does not see its end", after: "stuck rollouts" },
  {
    seed: 3300521,
    name: "a note on a Deployment without Pods that was rolled again and again",
    after: "stuck rollouts",
  },
  {
    seed: 3300599,
    name: "Pods that waited for a required volume that no container mounts",
    after: "stuck rollouts",
  },
  { seed: 3300451, name: "a Secret that changed and changed back while its watch was silent", after: "stuck rollouts" },
  { seed: 9500225, name: "a ConfigMap that was emptied before it could be listed", after: "stuck rollouts" },
  { seed: 9500371, name: "a ConfigMap that is shared after a validator has refused it", after: "stuck rollouts" },
  { seed: 80002, name: "an edit beside a key that a validator has refused", after: "refused content" },
  { seed: 10002022, name: "a record before a live list of one namespace", after: "refused content" },
  { seed: 14101011, name: "the removal of all keys before the first list", after: "refused content" },
  { seed: 12110006, name: "a validator that was complete just before its next rollout", after: "refused content" },
  { seed: 15102160, name: "an admission before an edit that a late watch shows", after: "refused content" },
  { seed: 15101317, name: "a hash that a webhook put back behind another annotation", after: "refused content" },
  { seed: 18001153, name: "an undo in the second in which the restored Pods started", after: "refused content" },
  {
    seed: 23001759,
    name: "an earlier hash that was written with the end of a scheduling hold",
    after: "late controllers",
  },
  { seed: 21001382, name: "a mixed Pod that waits for an interval of an hour", after: "late controllers" },
  { seed: 26001043, name: "a round that ends before the status shows the last annotation", after: "late controllers" },
  { seed: 27001126, name: "a second bad edit while the clock of the leader is behind", after: "late controllers" },
  { seed: 31001196, name: "a stuck rollout that ends long after it was read last", after: "late controllers" },
  { seed: 34001216, name: "a workload without batches that was broken before its rollout", after: "late controllers" },
  { seed: 35001406, name: "a live read whose status is older than that of the cache", after: "late controllers" },
  { seed: 38001229, name: "a rollout in the moment in which an API server is back", after: "late controllers" },
  { seed: 32001023, name: "a share that ends while its content is recorded", after: "late controllers" },
  { seed: 26001158, name: "an undo whose content a validator has refused", after: "late controllers" },
  { seed: 37001991, name: "a removal of all keys after a later annotation", after: "late controllers" },
  {
    seed: 42001264,
    name: "a record from a cache that has not received an edit which the Pods have read",
    after: "late controllers",
  },
  { seed: 48001389, name: "an edit between a list and the first hash that it confirms", after: "late controllers" },
  { seed: 42001800, name: "a container that starts just after Wave has listed its Pod", after: "late controllers" },
  { seed: 55001041, name: "a Pod that gets its node while a record is on its way", after: "late controllers" },
];

/** Reports whether a seed is kept and is older than something that runs have. */
export function isOlderThan(seed: number, addition: Addition): boolean {
  const kept = keptSeeds.find((one) => one.seed === seed);
  if (kept === undefined) return false;
  return kept.after === undefined || additions.indexOf(kept.after) < additions.indexOf(addition);
}
