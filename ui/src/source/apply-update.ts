import type { Model, Update } from "../../../src/cli/ui/model.ts";

/** The model of a page that has received nothing. */
export const emptyModel: Model = { clusters: {}, workloads: {}, changes: {}, tasks: {} };

/** Returns the model after an update. What has no difference stays the same object: the tables, and the model after a sign of life. */
export function applyUpdate(model: Model, update: Update): Model {
  if (update.type === "model") return update.model;
  if (Object.keys(update.rows).length === 0) return model;
  const tables = Object.entries(update.rows).map(([table, rows]) => {
    const next: Record<string, unknown> = { ...model[table as keyof Model] };
    for (const [id, row] of Object.entries(rows)) {
      if (row === null) delete next[id];
      else next[id] = row;
    }
    return [table, next] as const;
  });
  return { ...model, ...Object.fromEntries(tables) };
}
