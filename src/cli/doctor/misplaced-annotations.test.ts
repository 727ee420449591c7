import { describe, expect, it } from "vitest";
import { userAnnotations } from "../../domain/policy/user-annotations.ts";
import { intendedAnnotation, misplacedAnnotations, misusedAnnotations } from "./misplaced-annotations.ts";

const web = { kind: "Deployment", namespace: "shop", name: "web" };
const nothing = { annotations: {}, labels: {} };

describe("what was meant for Wave", () => {
  it.each([
    ["wave.pusher.io/update-on-config-change", "wave.pusher.com/update-on-config-change"],
    ["waves.pusher.com/hold", "wave.pusher.com/hold"],
    ["wave.pusher.com./mode", "wave.pusher.com/mode"],
    ["wavepusher.com/windw", "wave.pusher.com/window"],
    ["pusher.com/extra-configmaps", "wave.pusher.com/extra-configmaps"],
    ["update-on-config-change", "wave.pusher.com/update-on-config-change"],
  ])("is read out of %s", (written, right) => {
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
  ])("is not read out of %s", (written) => {
    expect(intendedAnnotation(written)).toBeUndefined();
  });

  it("is told with the command that writes it where it counts", () => {
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

  it("fills no screen, however much of it there is", () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`wave.pusher.io/a${at}`, ""]));
    const found = misplacedAnnotations(web, { annotations: many, labels: many, templateAnnotations: many });
    expect(found).toHaveLength(3 * 4);
    expect(found[3]?.what).toBe("more like these");
  });
});

describe("annotations of a Namespace", () => {
  const shop = { kind: "Namespace", namespace: null, name: "shop" };
  const told = (annotations: Record<string, string>) =>
    misusedAnnotations("namespace", shop, annotations).map(({ what }) => what);

  it("are told where they mean nothing there, or cannot be read", () => {
    expect(told({ "wave.pusher.com/mod": "observe" })).toEqual([
      'annotation "wave.pusher.com/mod" is not known; did you mean wave.pusher.com/mode?',
    ]);
    expect(told({ "wave.pusher.com/approved": "12345678" })).toEqual([
      'annotation "wave.pusher.com/approved" has no effect on a Namespace',
    ]);
    expect(told({ "wave.pusher.com/update-on-config-change": "yes" })).toEqual([
      'annotation wave.pusher.com/update-on-config-change: "yes" is not "true" or "false"',
    ]);
    expect(told({ "wave.pusher.com/hold": "maybe", "example.com/hold": "maybe" })).toHaveLength(1);
  });

  it("are not told where they are right, nor where they are empty", () => {
    const right = {
      "update-on-config-change": "true",
      hold: "false",
      settle: "5s",
      "exclude-secrets": "a,b",
      mode: "",
    };
    expect(
      told(Object.fromEntries(Object.entries(right).map(([name, value]) => [`wave.pusher.com/${name}`, value]))),
    ).toEqual([]);
    expect(Object.keys(right).every((name) => userAnnotations[name]?.places.includes("namespace"))).toBe(true);
  });
});

describe("annotations of a ConfigMap or Secret", () => {
  const page = { kind: "ConfigMap", namespace: "shop", name: "page" };
  const told = (annotations: Record<string, string>) =>
    misusedAnnotations("config", page, annotations).map(({ what }) => what);

  it("are told where they mean nothing there, or cannot be read", () => {
    expect(told({ "wave.pusher.com/shared-wth": "*" })).toEqual([
      'annotation "wave.pusher.com/shared-wth" is not known; did you mean wave.pusher.com/shared-with?',
    ]);
    expect(told({ "wave.pusher.com/window": "" })).toEqual([
      'annotation "wave.pusher.com/window" has no effect on a ConfigMap',
    ]);
    expect(
      told({ "wave.pusher.com/ignore": "yes", "wave.pusher.com/hold": "true", "wave.pusher.com/shared-with": "a" }),
    ).toEqual(['annotation wave.pusher.com/ignore: "yes" is not "true" or "false"']);
  });
});
