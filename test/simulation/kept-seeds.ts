/** Seeds that once failed, by what was wrong then, or was put back; each plays the whole of it again. */
export const keptSeeds: readonly { readonly seed: number; readonly name: string }[] = [
  { seed: 80059, name: "a write after the term" },
  { seed: 80146, name: "a grant that nobody acted upon" },
  { seed: 80022, name: "a deletion that only a list showed" },
  { seed: 80020, name: "an owner who was told of etcd's trouble" },
  { seed: 80034, name: "an annotation extra-… that changed before the write" },
  { seed: 80008, name: "a write that nobody was told of" },
  { seed: 80027, name: "a namespace that cannot be listed" },
  { seed: 80045, name: "a term that came back with the wall clock" },
  { seed: 80043, name: "watches that waited after resets" },
  { seed: 80119, name: "a Retry-After of a day" },
  { seed: 6000548, name: "a write without an answer, of what the leader before had written" },
  { seed: 80049, name: "held Pods of a workload that was observed no longer" },
  { seed: 91087, name: "a change that was halted by a workload that read its object no longer" },
  { seed: 800304, name: "a gate that was closed and opened again while nobody watched" },
  { seed: 877265025, name: "an interval that ends after a window has just opened, by a clock that is behind" },
  { seed: 860137, name: "two that others hold while their window closes" },
];
