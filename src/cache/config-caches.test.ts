import { expect, it } from "vitest";
import { mostKeys } from "../kube/large-json.ts";
import { budgets } from "../rollout/budgets.ts";

it("an object whose keys are not all parsed is beyond the budget, so that no hash is of a part of it", () => {
  expect(mostKeys).toBeGreaterThan(budgets.keysOfObject.most);
});
