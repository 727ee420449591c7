import { quoted } from "../../../domain/syntax/wording.ts";

/** The errors about manifests and their files, one line each. */
export const manifestErrorTexts = {
  noFile: "no manifests given; use -f FILE, -f FOLDER, or -f - for standard input",
  clusterOfBase: (flag: string) => `--base uses no cluster; remove --${flag} or --base`,
  baseOfInput: "standard input cannot be the base; use a file or folder",
  noManifest: (names: string) => `no manifest found in ${names}`,
  emptyFolder: (name: string) => `${name} contains no *.yaml, *.yml or *.json file`,
  fileNotFound: (name: string) => `file or folder ${name} not found`,
  unreadable: (name: string, cause: string) => `cannot read ${name}: ${cause}`,
  tooLarge: (mebibytes: string) => `the manifests exceed ${mebibytes} MiB; use fewer files at once`,
  tooManyObjects: (name: string, limit: string) => `${name}: too many objects; the limit is ${limit}`,
  tooDeep: (place: string, levels: string) => `${place}: the document is nested deeper than ${levels} levels`,
  notAnObject: (place: string, field: string) => `${place}: not a Kubernetes object: ${field} is missing`,
  noName: (place: string, kind: string) => `${place}: ${kind} has no metadata.name`,
  duplicate: (place: string, object: string, first: string) =>
    `${place}: duplicate ${object}; the first is at ${first}`,
  otherNamespace: (place: string, object: string, own: string, given: string) =>
    `${place}: ${object} is in namespace "${own}", but --namespace is "${given}"`,
  notAMapping: (place: string, field: string) => `${place}: ${field} is not a mapping`,
  notAString: (place: string, field: string) => `${place}: ${field} is not a string; put the value in quotes`,
  entryNotAString: (place: string, field: string, name: string) =>
    `${place}: ${field}: ${quoted(name)} is not a string; put the value in quotes`,
} as const;
