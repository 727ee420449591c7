import { describe, expect, it } from "vitest";
import { listFlags } from "../list/read-list.ts";
import { parseFlags } from "./parse-flags.ts";

function read(...args: readonly string[]) {
  const parsed = parseFlags(listFlags, args, {});
  if (parsed.action !== "run") throw new Error(parsed.action);
  const { namespace, output, selector, "all-namespaces": all } = parsed.values;
  return { namespace, output, selector, all, positionals: parsed.positionals };
}

const none = { namespace: undefined, output: "table", selector: undefined, all: false, positionals: [] };

describe("parseFlags, with the forms of kubectl,", () => {
  it.each<[readonly string[], Partial<ReturnType<typeof read>>]>([
    [["-ojson"], { output: "json" }],
    [["-o=json"], { output: "json" }],
    [["-o", "json"], { output: "json" }],
    [["--output", "yaml"], { output: "yaml" }],
    [["--output=yaml"], { output: "yaml" }],
    [["-A"], { all: true }],
    [["-A=false"], { all: false }],
    [["--all-namespaces"], { all: true }],
    [["-nshop"], { namespace: "shop" }],
    [["-n=shop"], { namespace: "shop" }],
    [["-n", "shop", "web"], { namespace: "shop", positionals: ["web"] }],
    [["--namespace=shop"], { namespace: "shop" }],
    [["-Aojson"], { all: true, output: "json" }],
    [["-Ao", "wide"], { all: true, output: "wide" }],
    [["-lapp=web,tier!=test"], { selector: "app=web,tier!=test" }],
    [["-l=app=web"], { selector: "app=web" }],
    // As in Go, which kubectl is not.
    [["-namespace", "shop"], { namespace: "shop" }],
  ])("accepts %j", (args, expected) => {
    expect(read(...args)).toEqual({ ...none, ...expected });
  });

  it.each([
    [["-namespce=shop"], 'unknown flag "-namespce"; did you mean --namespace?'],
    [["-outptu", "json"], 'unknown flag "-outptu"; did you mean --output?'],
    [["-Ax"], 'unknown flag "-Ax"; --help-all lists all flags'],
    [["-xA"], 'unknown flag "-xA"; --help-all lists all flags'],
    [["-oA"], 'invalid -o: "A"; use one of table, wide, json, yaml'],
    [["-Ao"], "-o has no value; use one of table, wide, json, yaml"],
    [["-x", "y"], 'unknown flag "-x"; --help-all lists all flags'],
    [["-n", "Shop"], 'invalid -n: "Shop"; use a name of'],
    [["--namespace", "Shop"], 'invalid --namespace: "Shop"; use a name of'],
    [["-n"], "-n has no value; use a name of"],
    [["--ojson"], 'unknown flag "--ojson"; --help-all lists all flags'],
  ])("rejects %j", (args, message) => {
    expect(() => read(...args)).toThrow(message);
  });
});
