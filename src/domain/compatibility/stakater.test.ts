import { describe, expect, it } from "vitest";
import { applyJsonPatch } from "../../../sandbox/patches/json-patch.ts";
import {
  allCompatibilities,
  peerObject,
  peerWorkload,
  settingsWith,
} from "../../../test/support/domain/compatibility.ts";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  secret,
  type WorkloadFixture,
} from "../../../test/support/domain/objects.ts";
import { type Config, type ConfigObject, toConfig } from "../config/digest.ts";
import type { ConfigView } from "../config/hash.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import { toWorkload } from "../model/workload.ts";
import type { WorkloadObject } from "../model/workload-references.ts";
import { patchFor } from "../patch/workload-patch.ts";
import { hashKey } from "../policy/hash-key.ts";
import type { Policy } from "../policy/policy.ts";
import { rulesFor } from "../policy/rules.ts";
import { configHash, updateOnConfigChange } from "../references/annotations.ts";

const web = configMap("web", { a: "1" });
const db = secret("db", { b: "2" });
const readsBoth: WorkloadFixture["pod"] = {
  containers: [{ name: "web", envFrom: [{ configMapRef: { name: "web" } }, { secretRef: { name: "db" } }] }],
};

/** Returns the tracked objects of a workload, as `name` or `name if marked`. */
function counted(wanted: WorkloadFixture, policy: Policy = allCompatibilities): readonly string[] {
  const { references } = peerWorkload(wanted, policy);
  return references.map(({ name, requiresMark }) => (requiresMark ? `${name} if marked` : name));
}

const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));

function carriedOut(object: WorkloadObject, configs: readonly Config[], policy = allCompatibilities): WorkloadObject {
  const workload = toWorkload(kinds.Deployment, object, policy);
  const patch = patchFor(workload, planRollout(workload, lookupOf(...configs), policy));
  return patch === undefined ? object : asJson(applyJsonPatch(asJson(object), asJson(patch)));
}

const on = (annotations: Readonly<Record<string, string>>) => ({ annotations, pod: readsBoth });

describe("Stakater annotations of SecretProviderClasses", () => {
  const csi = { driver: "secrets-store.csi.k8s.io", volumeAttributes: { secretProviderClass: "vault" } };
  const mounting = { ...readsBoth, volumes: [{ name: "vault", csi }] };
  const classesOn: Policy = { ...allCompatibilities, providerClasses: true };
  const classes = (annotations: Readonly<Record<string, string>>, policy = classesOn) =>
    counted({ annotations, pod: mounting }, policy);

  it.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    ["auto", { "reloader.stakater.com/auto": "true" }, ["web", "db", "vault"]],
    ["typed auto", { "secretproviderclass.reloader.stakater.com/auto": "true" }, ["vault"]],
    [
      "names, mounted or not",
      { "secretproviderclass.reloader.stakater.com/reload": "vault,other" },
      ["other", "vault"],
    ],
    [
      "auto, and what is excluded",
      {
        "secretproviderclass.reloader.stakater.com/auto": "true",
        "secretproviderclasses.exclude.reloader.stakater.com/reload": "vault",
      },
      [],
    ],
    [
      "search, which does not know their marks",
      { "reloader.stakater.com/search": "true" },
      ["web if marked", "db if marked"],
    ],
  ])("apply if the flag is on: %s", (_, annotations, names) => {
    expect(classes(annotations)).toEqual(names);
  });

  it("match them by expressions", () => {
    const annotations = { "secretproviderclass.reloader.stakater.com/reload": "va.+" };
    expect(peerWorkload({ annotations }, classesOn).peer?.patterns).toMatchObject([
      { kind: "SecretProviderClass", source: "va.+" },
    ]);
  });

  it("opt in no workload if the flag is off", () => {
    for (const name of ["auto", "reload"]) {
      const annotations = { [`secretproviderclass.reloader.stakater.com/${name}`]: "true" };
      expect(peerWorkload({ annotations, pod: mounting }).optIn).toEqual({ state: "out" });
      expect(peerWorkload({ annotations, pod: mounting }, classesOn).optIn.state).toBe("in");
    }
    expect(classes({ "reloader.stakater.com/auto": "true" }, allCompatibilities)).toEqual(["web", "db"]);
  });
});

describe("Stakater annotations", () => {
  it.each<[string, WorkloadFixture, readonly string[]]>([
    ["nothing", on({}), []],
    ["auto", on({ "reloader.stakater.com/auto": "true" }), ["web", "db"]],
    [
      "auto, and a volume that no container mounts",
      {
        pod: { ...readsBoth, volumes: [{ name: "files", configMap: { name: "files" } }] },
        annotations: { "reloader.stakater.com/auto": "true" },
      },
      ["files", "web", "db"],
    ],
    ["auto as Go reads it", on({ "reloader.stakater.com/auto": "T" }), ["web", "db"]],
    ["auto no more", on({ "reloader.stakater.com/auto": "yes" }), []],
    ["typed auto", on({ "secret.reloader.stakater.com/auto": "true" }), ["db"]],
    ["search", on({ "reloader.stakater.com/search": "true" }), ["web if marked", "db if marked"]],
    ["names", on({ "configmap.reloader.stakater.com/reload": "b, a" }), ["a", "b"]],
    [
      "auto, and what is excluded",
      on({ "reloader.stakater.com/auto": "true", "secrets.exclude.reloader.stakater.com/reload": "x,db" }),
      ["web"],
    ],
    [
      "names, and what is excluded",
      on({ "secret.reloader.stakater.com/reload": "db,x", "secrets.exclude.reloader.stakater.com/reload": "db" }),
      ["x"],
    ],
    [
      "the annotations of the pod template if the workload has none",
      { pod: readsBoth, templateAnnotations: { "reloader.stakater.com/auto": "true" } },
      ["web", "db"],
    ],
    [
      "only the annotations of the workload for a kind that they mention",
      {
        pod: readsBoth,
        annotations: { "configmap.reloader.stakater.com/auto": "false" },
        templateAnnotations: { "reloader.stakater.com/auto": "true" },
      },
      ["db"],
    ],
    [
      "auto and the Wave opt-in, which excludes nothing",
      on({
        [updateOnConfigChange]: "true",
        "reloader.stakater.com/auto": "true",
        "secrets.exclude.reloader.stakater.com/reload": "db",
      }),
      ["web", "db"],
    ],
    [
      "search and a name of the same kind",
      on({ "reloader.stakater.com/search": "true", "secret.reloader.stakater.com/reload": "db" }),
      ["web if marked", "db"],
    ],
  ])("request %s", (_, wanted, those) => {
    expect(counted(wanted)).toEqual(those);
  });

  it("are treated as auto if the flag is set and they are missing", () => {
    const all: Policy = { ...allCompatibilities, compatibility: settingsWith({ autoReloadAll: true }) };
    expect(counted(on({}), all)).toEqual(["web", "db"]);
    expect(counted(on({ "reloader.stakater.com/auto": "false" }), all)).toEqual([]);
  });

  it("mark and ignore objects", () => {
    const marked = (name: string, value: string, policy = allCompatibilities) => {
      const metadata = { namespace: "default", name: "web", annotations: { [`reloader.stakater.com/${name}`]: value } };
      return toConfig("ConfigMap", { metadata, data: { a: value } } as ConfigObject, policy.compatibility);
    };
    const object = peerObject({
      pod: readsAll("ConfigMap", "web"),
      annotations: { "reloader.stakater.com/search": "true" },
    });
    const outcome = (config?: Config) => {
      const lookup = config ? lookupOf(config) : lookupOf();
      return planRollout(toWorkload(kinds.Deployment, object, allCompatibilities), lookup, allCompatibilities).outcome;
    };
    expect(outcome(marked("match", "true"))).toBe("recorded");
    expect([outcome(marked("match", "yes")), outcome(marked("ignore", "true")), outcome()]).toEqual(
      Array(3).fill("current"),
    );
    expect(marked("ignore", "true").directive).toBe("ignore");
    expect(marked("ignore", "true", defaultPolicy).directive).toBeUndefined();
    expect(marked("match", "true", defaultPolicy).isMarked).toBeUndefined();
  });

  it("set an interval, and the longer one applies", () => {
    const interval = (annotations: Readonly<Record<string, string>>) =>
      rulesFor(peerWorkload(on({ "reloader.stakater.com/auto": "true", ...annotations })), allCompatibilities)
        .minIntervalMs;
    const pause = "deployment.reloader.stakater.com/pause-period";
    expect(interval({ [pause]: "5m" })).toEqual({ value: 300_000, by: "workload" });
    expect(interval({ [pause]: "5m", "wave.pusher.com/min-interval": "1h" })).toEqual({
      value: 3_600_000,
      by: "workload",
    });
    expect(
      peerWorkload(on({ [pause]: "soon" }))
        .mistakes.map(({ message }) => message)
        .join(),
    ).toContain('"soon"');
  });

  it("that opt out against Wave annotations cause a warning", () => {
    const { mistakes, references } = peerWorkload(
      on({ [updateOnConfigChange]: "true", "reloader.stakater.com/auto": "false" }),
    );
    expect(references).toHaveLength(2);
    expect(mistakes.map(({ message }) => message)).toEqual([
      'Annotation reloader.stakater.com/auto: "false" does not opt the workload in, but the annotations of Wave do. Wave rolls the workload for the objects in these other annotations. Remove one of the annotations.',
    ]);
  });

  it("report invalid expressions", () => {
    const { mistakes, peer } = peerWorkload(on({ "secret.reloader.stakater.com/reload": "a.*,b(" }));
    expect(peer?.patterns.map(({ source }) => source)).toEqual(["a.*"]);
    expect(mistakes.map(({ message }) => message)).toEqual([
      'Annotation secret.reloader.stakater.com/reload has invalid entries: "b(" (missing closing )). Write names or regular expressions of objects in the namespace of the workload, separated by commas.',
    ]);
  });

  it.each([
    ["reload", "istio-system/stable-tag,one", '"istio-system/stable-tag" (no object can have such a name)'],
    ["reload", "one\ntwo", '"one\\ntwo" (no object can have such a name)'],
    ["auto", "yes", 'has the invalid value "yes". Use "true" or "false". The annotation has no effect.'],
  ])("report a value of secret.….com/%s that has no effect: %j", (name, value, text) => {
    const annotation = `secret.reloader.stakater.com/${name}`;
    for (const wanted of [
      on({ [annotation]: value }),
      { pod: readsBoth, templateAnnotations: { [annotation]: value } },
    ])
      expect(peerWorkload(wanted).mistakes.map(({ message }) => message)).toEqual([expect.stringContaining(text)]);
  });

  it.each([
    ["search", "True", "invalid value"],
    ["rollout-strategy", "restrat", "invalid value"],
    ["match", "true", "has no effect on a workload"],
    ["ignore", "true", "has no effect on a workload"],
  ])("report reloader.stakater.com/%s: %j on a workload", (name, value, text) => {
    const { mistakes } = peerWorkload(on({ [`reloader.stakater.com/${name}`]: value }));
    expect(mistakes.map(({ message }) => message)).toEqual([expect.stringContaining(text)]);
  });

  it("report excluded names that no object can have, and nothing else that Reloader accepts", () => {
    const excluded = "secrets.exclude.reloader.stakater.com/reload";
    expect(peerWorkload(on({ [excluded]: "db,a/b" })).mistakes.map(({ message }) => message)).toEqual([
      `Annotation ${excluded} has entries that are not valid names of a Secret: "a/b". Correct or remove these entries.`,
    ]);
    const accepted = { "reloader.stakater.com/auto": "T", "reloader.stakater.com/search": "", [excluded]: " db ," };
    expect(peerWorkload(on(accepted)).mistakes).toEqual([]);
  });
});

describe("regular expressions", () => {
  const names = ["app-a", "app-b", "other"];
  const policy: Policy = {
    ...allCompatibilities,
    namesMatching: () => [names.slice(0, 2)],
  };
  const wanted = {
    annotations: {
      "secret.reloader.stakater.com/reload": "app-.*",
      "secrets.exclude.reloader.stakater.com/reload": "app-b",
    },
  };

  it("track matching objects that are not excluded", () => {
    const all = names.map((name) => secret(name, { a: "1" }));
    const hashed = carriedOut(peerObject(wanted), all, policy);
    const outcome = (changed: string) => {
      const configs = names.map((name) => secret(name, { a: name === changed ? "2" : "1" }));
      return planRollout(toWorkload(kinds.Deployment, hashed, policy), lookupOf(...configs), policy).outcome;
    };
    expect(names.map(outcome)).toEqual(["roll", "current", "current"]);
    expect(outcome("")).toBe("current");
  });

  it("track a matching object of the pod spec that is not marked, although the workload searches for marked objects", () => {
    const annotations = { ...wanted.annotations, "reloader.stakater.com/search": "true" };
    const object = peerObject({ pod: readsAll("Secret", "app-a"), annotations });
    const hashed = carriedOut(object, [secret("app-a", { a: "1" })], policy);
    const workload = toWorkload(kinds.Deployment, hashed, policy);
    const outcome = (value: string) => planRollout(workload, lookupOf(secret("app-a", { a: value })), policy).outcome;
    expect([outcome("1"), outcome("2")]).toEqual(["current", "roll"]);
  });

  it("exceed a limit if they match too many names, or if the names are unknown", () => {
    const many = Array.from({ length: 1_001 }, (_, index) => `app-${index}`);
    for (const matchedNames of [[many], "tooMuchWork"] as const) {
      const plan = planRollout(peerWorkload(wanted), lookupOf(), { ...policy, namesMatching: () => matchedNames });
      expect(plan.outcome).toBe("overLimit");
    }
  });
});

describe("an object that is only created or deleted", () => {
  const both = { "configmap.reloader.stakater.com/reload": "web", "secret.reloader.stakater.com/reload": "db" };
  /** What is planned after `before` was seen and recorded. */
  function outcomeAfter(
    before: readonly Config[],
    now: readonly Config[],
    policy = allCompatibilities,
    annotations = {},
  ) {
    const object = carriedOut(peerObject({ annotations: { ...both, ...annotations } }), before, policy);
    const workload = toWorkload(kinds.Deployment, object, policy);
    const seen = planRollout(workload, lookupOf(...before), policy);
    const view = "view" in seen ? seen.view : undefined;
    return planRollout(workload, lookupOf(...now), policy, view).outcome;
  }

  it("is recorded without a rollout", () => {
    expect(outcomeAfter([web], [web, db])).toBe("recorded");
    expect(outcomeAfter([web, db], [web])).toBe("recorded");
  });

  it("rolls together with a change, for other compatibilities, and if the flags enable it", () => {
    expect(outcomeAfter([web], [configMap("web", { a: "2" }), db])).toBe("roll");
    expect(outcomeAfter([web], [web, db], allCompatibilities, { [updateOnConfigChange]: "true" })).toBe("roll");
    const withFlags: Policy = { ...allCompatibilities, compatibility: settingsWith({ reloadOnCreate: true }) };
    expect(outcomeAfter([web], [web, db], withFlags)).toBe("roll");
    expect(outcomeAfter([web, db], [web], withFlags)).toBe("recorded");
  });

  it("is a change of the object if only its keys came or went", () => {
    const empty = configMap("web", {});
    expect(outcomeAfter([empty], [web])).toBe("roll");
    expect(outcomeAfter([web], [empty])).toBe("roll");
    expect(outcomeAfter([], [empty])).toBe("current");
    expect(outcomeAfter([db, web], [empty])).toBe("roll");
  });

  it("is compared with its last content when it returns, also after a restart of Wave", () => {
    const [edited, other] = [secret("db", { a: "2" }), configMap("web", { a: "2" })];
    const hashKeys = { current: hashKey(Buffer.alloc(32, 1)), previous: undefined, remembered: [] };
    for (const policy of [allCompatibilities, { ...allCompatibilities, hashKeys }]) {
      let object = carriedOut(peerObject({ annotations: both }), [web, db], policy);
      let seen: ConfigView | undefined;
      const see = (restarted: boolean, ...configs: readonly Config[]) => {
        const workload = toWorkload(kinds.Deployment, object, policy);
        const plan = planRollout(workload, lookupOf(...configs), policy, restarted ? undefined : seen);
        const patch = patchFor(workload, plan);
        if (patch !== undefined) object = asJson(applyJsonPatch(asJson(object), asJson(patch)));
        seen = "view" in plan ? plan.view : undefined;
        return plan;
      };
      for (const restarted of [false, true]) {
        expect(see(false, web, db).outcome).not.toBe("roll");
        // Both are removed and return, one after the other.
        expect(see(false, web).outcome).toBe("recorded");
        expect(see(false).outcome).toBe("recorded");
        expect(see(restarted).outcome).toBe("current");
        expect(see(restarted, db).outcome).toBe("recorded");
        expect(see(false, web, db).outcome).toBe("recorded");
        expect(see(false, db).outcome).toBe("recorded");
        expect(see(restarted, web, db).outcome).toBe("recorded");
        expect(see(false, web).outcome).toBe("recorded");
        const plan = see(restarted, web, edited);
        expect(plan).toMatchObject({ outcome: "roll", reason: 'Secret "db" changed' });
        expect(see(false, web, edited).outcome).toBe("current");
        expect(see(false, web, db).outcome).toBe("roll");
      }
      // A rollout for another reason makes Pods without the removed object.
      expect(see(false, web).outcome).toBe("recorded");
      expect(see(false, other).outcome).toBe("roll");
      expect(see(false, other, edited).outcome).toBe("recorded");
      expect(see(false, web, edited).outcome).toBe("roll");
    }
  });

  it("is tracked from then on", () => {
    const hashing: Policy = { ...allCompatibilities, firstSight: "roll" };
    const object = carriedOut(peerObject({ annotations: both }), [web], hashing);
    const seen = planRollout(
      toWorkload(kinds.Deployment, object, allCompatibilities),
      lookupOf(web),
      allCompatibilities,
    );
    const adopting = toWorkload(kinds.Deployment, object, allCompatibilities);
    const adopt = planRollout(adopting, lookupOf(web, db), allCompatibilities, "view" in seen ? seen.view : undefined);
    const adopted = asJson(applyJsonPatch(asJson(object), asJson(patchFor(adopting, adopt))));
    const plan = (...configs: readonly Config[]) =>
      planRollout(toWorkload(kinds.Deployment, adopted, allCompatibilities), lookupOf(...configs), allCompatibilities)
        .outcome;
    expect(adopted.spec.template.metadata.annotations[configHash]).toBe(
      object.spec?.template?.metadata?.annotations?.[configHash],
    );
    expect(plan(web, db)).toBe("current");
    expect(plan(web, secret("db", { b: "3" }))).toBe("roll");
  });
});
