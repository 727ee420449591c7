import { describe, expect, it } from "vitest";
import { defaultPolicy } from "../../../../test/support/domain/objects.ts";
import { replacementRecord } from "../../../domain/model/job-replacement.ts";
import { parseRequestedKind, requestedKindRow } from "../../../domain/model/kinds/requested-kind.ts";
import type { WorkloadObject } from "../../../domain/model/workload-references.ts";
import { userAnnotations } from "../../../domain/policy/annotation-mistakes.ts";
import { updateOnConfigChange } from "../../../domain/references/annotations.ts";
import type { KubeObject } from "../../../kube/api/resources.ts";
import { copyObject } from "../../../pinning/store-copies.ts";
import {
  intendedAnnotation,
  misplacedAnnotations,
  misusedAnnotations,
  workloadFindings,
} from "./annotation-findings.ts";

const wanted = parseRequestedKind("widgets.example.com") ?? expect.fail("no kind");
const row = requestedKindRow(wanted, { apiVersion: "example.com/v1", kind: "Widget" });

function noted(annotations: Readonly<Record<string, string>>) {
  const metadata = { name: "lathe", namespace: "shop", annotations };
  return workloadFindings(row, { metadata, spec: { template: "none" } } as unknown as WorkloadObject, defaultPolicy);
}

it("reports a malformed custom resource only if it opts in", () => {
  expect(noted({ [updateOnConfigChange]: "true" }).mistakes).toEqual([
    {
      severity: "problem",
      where: { kind: "widgets.example.com", namespace: "shop", name: "lathe" },
      what: expect.stringMatching(
        /^widgets\.example\.com "shop\/lathe" is malformed: .*\. Wave does not roll the workload\.$/,
      ),
      fix: "kubectl edit -n shop widgets.example.com/lathe",
      needs: [],
    },
  ]);
  expect(noted({}).mistakes).toEqual([]);
});

const web = { kind: "Deployment", namespace: "shop", name: "web" };
const nothing = { annotations: {}, labels: {} };

describe("a misspelt annotation of Wave", () => {
  it.each([
    ["wave.pusher.io/update-on-config-change", "wave.pusher.com/update-on-config-change"],
    ["waves.pusher.com/hold", "wave.pusher.com/hold"],
    ["wave.pusher.com./mode", "wave.pusher.com/mode"],
    ["wavepusher.com/windw", "wave.pusher.com/window"],
    ["pusher.com/extra-configmaps", "wave.pusher.com/extra-configmaps"],
    ["update-on-config-change", "wave.pusher.com/update-on-config-change"],
  ])("is recognized in %s", (written, right) => {
    expect(intendedAnnotation(written)).toBe(right);
  });

  it.each([
    "wave.pusher.com/hold",
    "app.kubernetes.io/name",
    "example.com/mode",
    "hold",
    "team.example.com/update-on-config-change",
    "deployment.kubernetes.io/revision",
    `wave.pusher.io/${"a".repeat(80)}`,
  ])("is not recognized in %s", (written) => {
    expect(intendedAnnotation(written)).toBeUndefined();
  });

  it("is reported with the command that writes the correct annotation", () => {
    const labels = { "wave.pusher.com/update-on-config-change": "true" };
    expect(misplacedAnnotations(web, { ...nothing, labels })).toMatchObject([
      {
        severity: "problem",
        fix: "kubectl annotate -n shop deployment/web wave.pusher.com/update-on-config-change=true && kubectl label -n shop deployment/web wave.pusher.com/update-on-config-change-",
      },
    ]);
    const annotations = { "wave.pusher.io/window": "Mon 00:00-01:00; it's Berlin" };
    expect(misplacedAnnotations(web, { ...nothing, annotations })[0]?.fix).toBe(
      "kubectl annotate -n shop deployment/web wave.pusher.com/window='Mon 00:00-01:00; it'\\''s Berlin' wave.pusher.io/window-",
    );
  });

  it("is reported a limited number of times", () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`wave.pusher.io/a${at}`, ""]));
    const found = misplacedAnnotations(web, { annotations: many, labels: many, templateAnnotations: many });
    expect(found).toHaveLength(3 * 4);
    expect(found[3]?.what).toBe("The object has more annotations or labels with such problems.");
  });
});

describe("an object that Wave created", () => {
  it("has no findings if it is a pinned copy", () => {
    const [place, parts] = [
      { namespace: "shop", name: "page" },
      { data: {}, editor: "kubectl-edit", owner: undefined },
    ];
    const { labels = {}, annotations = {} } = copyObject(place, "page-3f2a9c01de", parts).metadata ?? {};
    expect([Object.keys(labels).length, Object.keys(annotations).length]).toEqual([1, 2]);
    const copy = { kind: "ConfigMap", namespace: "shop", name: "page-3f2a9c01de" };
    const unused = { ...annotations, "wave.pusher.com/unused-since": "2026-01-01T00:00:00Z" };
    expect(misplacedAnnotations(copy, { labels, annotations: unused })).toEqual([]);
    expect(misusedAnnotations("config", copy, unused)).toEqual([]);
  });

  it("has no findings if it is the record of a Job that is being replaced", () => {
    const { metadata } = replacementRecord({ metadata: { namespace: "shop", name: "job" } }, "1") as KubeObject;
    const { labels = {}, annotations = {} } = metadata;
    expect(Object.keys(labels)).toHaveLength(1);
    expect(misplacedAnnotations(web, { labels, annotations })).toEqual([]);
  });
});

describe("annotations of a Namespace", () => {
  const shop = { kind: "Namespace", namespace: null, name: "shop" };
  const found = (annotations: Record<string, string>) =>
    misusedAnnotations("namespace", shop, annotations).map(({ what }) => what);

  it("are reported if they have no effect there, or an invalid value", () => {
    expect(found({ "wave.pusher.com/mod": "observe" })).toEqual([
      'Annotation "wave.pusher.com/mod" is unknown. Did you mean wave.pusher.com/mode?',
    ]);
    expect(found({ "wave.pusher.com/approved": "12345678" })).toEqual([
      'Annotation "wave.pusher.com/approved" has no effect on a Namespace. Set it on the workload.',
    ]);
    expect(found({ "wave.pusher.com/update-on-config-change": "yes" })).toEqual([
      'Annotation wave.pusher.com/update-on-config-change is "yes", not "true" or "false".',
    ]);
    expect(found({ "wave.pusher.com/hold": "maybe", "example.com/hold": "maybe" })).toHaveLength(1);
  });

  it("are not reported if they are valid or empty", () => {
    const right = {
      "update-on-config-change": "true",
      hold: "false",
      settle: "5s",
      "exclude-secrets": "a,b",
      mode: "",
    };
    expect(
      found(Object.fromEntries(Object.entries(right).map(([name, value]) => [`wave.pusher.com/${name}`, value]))),
    ).toEqual([]);
    expect(Object.keys(right).every((name) => userAnnotations[name]?.places.includes("namespace"))).toBe(true);
  });
});

describe("annotations of a ConfigMap or Secret", () => {
  const page = { kind: "ConfigMap", namespace: "shop", name: "page" };
  const found = (annotations: Record<string, string>) =>
    misusedAnnotations("config", page, annotations).map(({ what }) => what);

  it("are reported if they have no effect there, or an invalid value", () => {
    expect(found({ "wave.pusher.com/shared-wth": "*" })).toEqual([
      'Annotation "wave.pusher.com/shared-wth" is unknown. Did you mean wave.pusher.com/shared-with?',
    ]);
    expect(found({ "wave.pusher.com/window": "" })).toEqual([
      'Annotation "wave.pusher.com/window" has no effect on a ConfigMap. Set it on the workload.',
    ]);
    expect(
      found({ "wave.pusher.com/ignore": "yes", "wave.pusher.com/hold": "true", "wave.pusher.com/shared-with": "a" }),
    ).toEqual(['Annotation wave.pusher.com/ignore is "yes", not "true" or "false".']);
    expect(found({ "wave.pusher.com/shared-with": "shop,Team_A" })).toHaveLength(1);
  });

  it("are reported for other controllers, if Wave reads their annotations", () => {
    const reload = { "secret.reloader.stakater.com/reload": "db", "reloader.stakater.com/match": "yes" };
    expect(misusedAnnotations("config", page, reload)).toEqual([]);
    expect(misusedAnnotations("config", page, reload, ["stakater"]).map(({ what }) => what)).toEqual([
      'Annotation "secret.reloader.stakater.com/reload" has no effect on a ConfigMap. Set it on the workload.',
      'Annotation reloader.stakater.com/match is "yes", not "true".',
    ]);
  });
});
