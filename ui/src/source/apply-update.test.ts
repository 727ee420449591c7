import { expect, it } from "vitest";
import { recordedModel } from "../../../test/ui/recorded-model.ts";
import { applyUpdate, emptyModel } from "./apply-update.ts";

const model = recordedModel(0);
const [first, second] = Object.values(model.workloads);

it("replaces, adds and removes rows, and keeps tables and rows without a difference", () => {
  if (first === undefined || second === undefined) throw new Error("the model has no workloads");
  const changed = { ...first, message: "changed" };
  const added = { ...first, id: "added" };
  const rows = { workloads: { [first.id]: changed, [second.id]: null, added } };
  const after = applyUpdate(model, { type: "difference", at: 1, rows });
  expect(after.workloads[first.id]).toBe(changed);
  expect(after.workloads[second.id]).toBeUndefined();
  expect(after.workloads.added).toBe(added);
  expect(Object.keys(after.workloads)).toHaveLength(Object.keys(model.workloads).length);
  expect(after.changes).toBe(model.changes);
  expect(model.workloads[first.id]).toBe(first);
});

it("is the same model after a sign of life, and another one after a whole model", () => {
  expect(applyUpdate(model, { type: "difference", at: 1, rows: {} })).toBe(model);
  expect(applyUpdate(emptyModel, { type: "model", at: 1, model })).toBe(model);
});
