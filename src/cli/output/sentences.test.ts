import fc from "fast-check";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { programForms, programText } from "./sentences.ts";

/** Names of objects in a pod spec, with characters that control a terminal. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom("\u009b31m", "\u202e", "\u200b", "\u2028", "\u{e0041}", "\u001b[2J", '"', "\\", "'", "\n", ": #"),
      fc.string(),
    ),
  )
  .map((parts) => parts.join("").toWellFormed());

it("escapes control characters in values and names, and programs read the original text", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...programForms), text, async (form, name) => {
      const value = { name, list: [{ name }], [`x${name}`]: 1 };
      const written = await programText(value, form);
      expect(written.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      expect(parse(written)).toEqual(value);
    }),
  );
});
