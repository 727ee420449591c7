import { expect, it } from "vitest";
import { plannedAnnotations, withShortValues } from "./planned-annotations.ts";

const optIn = "wave.pusher.com/update-on-config-change";

it("plannedAnnotations returns the annotations that plans depend on", () => {
  const annotations = {
    [optIn]: "true",
    "reloader.stakater.com/auto": "true",
    "wave.pusher.com/state": "x",
    other: "y",
  };
  expect(plannedAnnotations(annotations)).toEqual({ [optIn]: "true" });
  expect(plannedAnnotations(annotations, ["stakater"])).toEqual({
    [optIn]: "true",
    "reloader.stakater.com/auto": "true",
  });
});

it("plannedAnnotations shares equal short values", () => {
  const valuesOf = (value: string) => plannedAnnotations({ [optIn]: value });
  expect(valuesOf("true")).toBe(valuesOf("true"));
  expect(valuesOf("true")).not.toEqual(valuesOf("false"));
  expect(valuesOf("x".repeat(500))).toEqual({ [optIn]: "x".repeat(500) });
});

it("withShortValues leaves out long values", () => {
  expect(withShortValues({ a: "x".repeat(300), b: "x".repeat(301) })).toEqual({ a: "x".repeat(300) });
});
