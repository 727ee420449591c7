import { describe, expect, it } from "vitest";
import { emptyNamespacePolicy, sameNamespacePolicy, toNamespacePolicy } from "./namespace-policy.ts";

const read = (annotations: Record<string, string>) => toNamespacePolicy({ metadata: { name: "shop", annotations } });

describe("toNamespacePolicy", () => {
  it("reads the opt-in and the annotations that apply to all workloads, and nothing else", () => {
    const annotations = {
      "wave.pusher.com/update-on-config-change": "true",
      "wave.pusher.com/hold": "true",
      "wave.pusher.com/approved": "12345678",
      "example.com/hold": "true",
    };
    expect(read(annotations)).toEqual({ optsIn: true, annotations: { hold: "true" } });
  });

  it("shares one object for all Namespaces without Wave annotations", () => {
    expect(toNamespacePolicy({})).toBe(emptyNamespacePolicy);
    expect(read({ "example.com/team": "a" })).toBe(emptyNamespacePolicy);
  });

  it("reports that the Namespace is being deleted", () => {
    const metadata = { name: "shop", deletionTimestamp: "2026-01-01T00:00:00Z" };
    expect(toNamespacePolicy({ metadata })).toEqual({ ...emptyNamespacePolicy, deleting: true });
  });

  it.each(["false", "", "True", "yes"])("does not treat %j as an opt-in", (value) => {
    expect(read({ "wave.pusher.com/update-on-config-change": value })).toBe(emptyNamespacePolicy);
  });

  it("differs if any part differs", () => {
    const hold = read({ "wave.pusher.com/hold": "true" });
    expect(sameNamespacePolicy(hold, read({ "wave.pusher.com/hold": "true", other: "x" }))).toBe(true);
    expect(sameNamespacePolicy(hold, read({ "wave.pusher.com/hold": "false" }))).toBe(false);
    expect(sameNamespacePolicy(hold, emptyNamespacePolicy)).toBe(false);
  });
});
