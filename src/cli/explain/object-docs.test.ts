import { expect, it } from "vitest";
import { blocksFollowedBy, exchangesOf } from "../../../test/docs/fences.ts";
import type { ObjectExplanation, ObjectReader } from "../cluster/explanation/object-explanation.ts";
import { renderObject } from "./explain.ts";

const reader: ObjectReader = {
  kind: "Deployment",
  namespace: "shop",
  name: "web",
  state: "current",
  keys: "all",
  edit: "roll",
  hold: null,
};

const explanation: ObjectExplanation = {
  version: 1,
  object: { kind: "ConfigMap", namespace: "shop", name: "page" },
  state: "present",
  holdReason: null,
  readers: [
    { ...reader, kind: "DaemonSet", name: "agent", keys: ["index.html"] },
    {
      ...reader,
      name: "api",
      edit: "held",
      hold: { reason: "hold", message: 'Rollout held by annotation wave.pusher.com/hold: "INC-12 (jo)"', until: null },
    },
    reader,
  ],
  notOptedIn: [{ kind: "Deployment", namespace: "shop", name: "mail" }],
  misused: null,
  unread: [],
};

it("docs/commands.md shows a ConfigMap as wave explain prints it", () => {
  const blocks = blocksFollowedBy("src/cli/explain/object-docs.test.ts", "docs/commands.md");
  expect(blocks.flatMap(exchangesOf)).toEqual([
    {
      command: "wave explain configmap/page -n shop",
      output: renderObject(explanation, undefined).trimEnd().split("\n"),
    },
  ]);
});
