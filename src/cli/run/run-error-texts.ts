import { quoted } from "../../domain/syntax/wording.ts";

/** The errors about the flags of `wave run`, one line each. */
export const runErrorTexts = {
  noEffect: (source: string, needs: string) => `${source} has no effect without --${needs}; add --${needs}`,
  sameAddress: (one: string, other: string, address: string) =>
    `--${one} and --${other} have the same address ${address}; use two ports`,
  noLeaseNamespace: "--leader-election needs --leader-election-namespace outside a Pod",
  surplusWord: (word: string) => `unexpected argument ${quoted(word)}; wave run takes only flags`,
  surplusBoolean: (word: string) =>
    `unexpected argument ${quoted(word)}; write the value of a boolean flag after "=", for example --leader-election=${word}`,
  secondWave: (wave: string) =>
    `${wave} already rolls the same workloads, which would roll twice. To only look, add --observe. To start anyway, add --beside-installed`,
  onlyController: (word: string) =>
    `this image has only the controller, not ${quoted(word)}; run other commands with wave on your machine`,
} as const;
