// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of code.
/** A small breakage: a text that a file has exactly once, and the text that takes its place. */
export interface Mutant {
  readonly file: string;
  readonly old: string;
  readonly new: string;
  /** Why no unit test can find it; absent for mutants that a test must find. */
  readonly unfound?: string;
}

/** Returns the mutants of one file. */
function of(
  file: string,
  ...changes: readonly (readonly [old: string, replacement: string, unfound?: string])[]
): readonly Mutant[] {
  return changes.map(([old, replacement, unfound]) => ({
    file: `src/${file}`,
    old,
    new: replacement,
    ...(unfound !== undefined && { unfound }),
  }));
}

/** The mutants of the decision, the writer, the caches and the webhook. */
export const mutants: readonly Mutant[] = [
  // The decision.
  ...of("domain/plan/plan.ts", [
    "const unpauses =\n    moment !== undefined &&",
    "const unpauses =\n    moment === undefined &&",
  ]),
  ...of(
    "domain/plan/decide.ts",
    ["(isRequested && holdRows[hold.reason].isSkipped)", "isRequested"],
    ["if (own !== undefined) {\n    const { hold", "if (own === null) {\n    const { hold"],
    [
      "if (batched === undefined) return { ...rollout, ...texts };",
      "if (batched !== undefined) return { ...rollout, ...texts };",
    ],
  ),
  ...of(
    "domain/plan/compare-hash.ts",
    ['if (workload.strategy.hasImmutableTemplate) return "record";', ""],
    ["rules.firstSight ??", ""],
    ['.includes("stakater") ? "record" : "roll"', '.includes("stakater") ? "roll" : "record"'],
  ),
  ...of(
    "domain/plan/compare-hash.ts",
    ["if (recorded.keyExpires) {", "if (!recorded.keyExpires) {"],
    ["asRecorded !== undefined && !isSchedulingHeld(workload) &&", "asRecorded !== undefined &&"],
    ["changesBetween(recordedView, view).filter(isTracked)", "changesBetween(recordedView, view)"],
    ["changes === undefined || isPending\n", "changes === undefined\n"],
  ),
  ...of(
    "domain/plan/due-plan.ts",
    ['if (workload.deleting) return ignored("the workload is being deleted", []);', ""],
    ["if (missing.length > 0)", "if (missing.length > 1)"],
    ['reads === "existence")) {', 'reads !== "existence")) {'],
    ["if (!rules.schedulingHold)", "if (false)"],
    ["if (limitExceeded !== undefined) return planOverLimit(workload, limitExceeded, warnings);", ""],
  ),
  ...of(
    "domain/pacing/holds.ts",
    ["isRequested && isSkipped", "isRequested && !isSkipped"],
    ["if (!holds.includes(write) ||", "if ("],
    ['> holdReasons.indexOf("settling")', '>= holdReasons.indexOf("settling")'],
    ['check: window,\n    holds: ["rollout", "replacement"]', 'check: window,\n    holds: ["rollout"]'],
  ),
  ...of(
    "domain/pacing/interval.ts",
    ["changes.first + maxMs", "changes.last + maxMs"],
    [
      'if (now >= until) return undefined;\n  return { reason: "settling"',
      'if (now > until) return undefined;\n  return { reason: "settling"',
    ],
    ["firstWaitMs * 2 **", "firstWaitMs * 3 **"],
    ["moment.now - last >= quietAfter(count)", "moment.now - last < quietAfter(count)"],
    ["const waitMs = Math.max(consecutiveMs", "const waitMs = Math.min(consecutiveMs"],
    ["return Math.max(stored, lastWrite?.consecutiveRollouts ?? 1);", "return stored;"],
  ),
  ...of(
    "domain/pacing/batches.ts",
    ['stage.state === "failed" && stage.wasComplete);', 'stage.state === "failed");'],
    ["...(canaryPassed ? due : canary).slice(0, free)", "...(canaryPassed ? due : canary)"],
    ["haltAfterFailures === 0 || members <= 1", "haltAfterFailures === 0"],
    ["stage.resumedAt >= secondAfter(failure)", "stage.resumedAt < failure"],
    ["b.priority - a.priority ||", "a.priority - b.priority ||"],
  ),
  ...of("domain/pacing/rollout-time.ts", ["completeMs >= Math.max(1, soakMs)", "completeMs >= soakMs"]),
  ...of(
    "domain/pacing/interval.ts",
    ['if (workload.progress.state !== "progressing" ||', "if ("],
    ["moment.progressSince + stalledMs, last", "last + stalledMs, last"],
  ),
  ...of(
    "domain/config/digest.ts",
    ['=== "true" && object.immutable === true', '=== "true"'],
    ["a.digests === b.digests && a.binaryFrom === b.binaryFrom", "a.digests === b.digests"],
    ["names.includes(`,${namespace},`)", "names.includes(namespace)"],
    ['kind === "Secret" ? "base64" : "utf8"', '"utf8"'],
  ),
  // The writer.
  ...of("kube/api/api-failure.ts", ["Math.min(error.retryAfterMs ?? 0, maxRetryAfterMs)", "(error.retryAfterMs ?? 0)"]),
  ...of("controllers/rollout/apply/workload-writer.ts", [
    'failure.type === "unavailable" && failure.mayBeDone',
    "false",
  ]),
  ...of(
    "controllers/rollout/apply/workload-writer.ts",
    ["if (refusal === undefined || !passesTests(patch, object))", "if (refusal === undefined)"],
    ["      signal,\n      mayBeSent,\n", "      signal,\n"],
  ),
  ...of(
    "controllers/rollout/freshness/caught-up.ts",
    ["> workload.resourceVersion", ">= 0"],
    ["uid === workload.uid && hash ===", "hash ==="],
  ),
  ...of("controllers/rollout/freshness/uncertain-write.ts", [
    'if (!arrived) return { type: "done", workload, plan };',
    "",
  ]),
  ...of(
    "controllers/rollout/memory/finish.ts",
    [
      'return { type: "retry", maxMs: rolloutBackoff.rejectedMaxMs };\n    case "conflict"',
      'return done;\n    case "conflict"',
    ],
    ["hold?.untilMonotonic, hold?.closesAtMonotonic, findings", "hold?.closesAtMonotonic, findings"],
  ),
  // The caches.
  ...of(
    "cache/store/store.ts",
    ["else if (version > 0) this.#syncedUpTo = version;", ""],
    ["if (this.#fillsAside || unchanged) return;", "if (this.#fillsAside) return;"],
    ["if (held !== value) this.#announce", "if (held === undefined) this.#announce"],
  ),
  ...of(
    "cache/store/reflector.ts",
    ["    store.keep(namespace, name);\n    log.warn", "    log.warn"],
    ["error.constructor === Error ? error.message : error.name", "error.message"],
  ),
  ...of(
    "cache/store/namespace-limits.ts",
    ["leftShare * (this.#maxBytes - others)", "this.#maxBytes - others"],
    ["if (growth <= 0 || bytes <= max) return after;", "if (bytes <= max) return after;"],
  ),
  ...of("cache/index/reference-index.ts", ['else if (typeof readers !== "string") readers.add(workload);', ""]),
  ...of("cache/namespaces/synced-namespaces.ts", ["unlisted.size === 0 && this", "this"]),
  // The webhook.
  ...of(
    "webhook/review/reviewer.ts",
    ["if (pins === undefined || request.dryRun)", "if (pins === undefined)"],
    ["if (others >= maxReviewsPerNamespace)", "if (false)"],
  ),
  ...of("webhook/review/live-configuration.ts", [
    "this.#waiting.delete(group);\n    if (waiting.length > 0) this.#waiting.set(group, waiting);",
    "if (waiting.length === 0) this.#waiting.delete(group);",
  ]),
  ...of("webhook/certificates/registration.ts", ["if (changes.length === 0) return before;", ""]),
];
