import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { page, web } from "./story.ts";

it("the demo applies what examples/nginx.yaml shows", () => {
  const text = readFileSync(new URL("../../../examples/nginx.yaml", import.meta.url), "utf8");
  const documents = parseAllDocuments(text).map((document) => document.toJS());
  expect(documents).toEqual([page, web]);
});
