import { describe, expect, it } from "vitest";
import { csvFields } from "./compatibility-flags.ts";

describe("a list of pflag", () => {
  it.each([
    ["", []],
    ["a", ["a"]],
    ["a,b", ["a", "b"]],
    ['"a","b"', ["a", "b"]],
    ['"a,b",c', ["a,b", "c"]],
    ['"a""b"', ['a"b']],
    [",", ["", ""]],
    ['""', [""]],
    [" a, b", [" a", " b"]],
    ['a"b', undefined],
    ['"a"b', undefined],
    ['"a', undefined],
    ['a,"', undefined],
  ])("reads %j as %j", (text, fields) => {
    expect(csvFields(text)).toEqual(fields);
  });
});
