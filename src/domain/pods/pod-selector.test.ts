import { describe, expect, it } from "vitest";
import { podSelector } from "./pod-selector.ts";

describe("Pods of a workload", () => {
  it("are selected by the selector of the workload", () => {
    const expression = (key: string, operator: string, values?: readonly string[]) => ({
      key,
      operator,
      ...(values && { values }),
    });
    expect(
      podSelector({
        matchLabels: { app: "web", tier: "front" },
        matchExpressions: [
          expression("a", "In", ["1", "2"]),
          expression("b", "NotIn", ["3"]),
          expression("c", "Exists"),
          expression("d", "DoesNotExist"),
        ],
      }),
    ).toBe("app=web,tier=front,a in (1,2),b notin (3),c,!d");
  });

  it.each([undefined, "text", { matchLabels: "x", matchExpressions: 3 }, { matchExpressions: [null, { key: 1 }] }])(
    "have no selector if it is %j, as a custom resource may have",
    (selector) => {
      expect(podSelector(selector)).toBe("");
    },
  );
});
