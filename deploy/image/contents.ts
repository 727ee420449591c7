import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Lists the contents of the image: `node contents.ts BASE OUT`, in the stage that has made the bundle. BASE is the root of the base
 * image. OUT gets `package.json` (that dist/ is of ES modules), `licenses/` of what is bundled, and `sbom.spdx.json`: the
 * bundle, Node with what is compiled into it, and Debian's packages, with their licences
 * (https://spdx.github.io/spdx-spec/v2.3/). The same input makes the same bytes.
 *
 * Why not a standard tool: syft 1.44 finds the Debian packages and Node in this image, and neither the bundle with its packages nor the 24
 * libraries that are compiled into Node, such as OpenSSL. It has no licence texts, and a random address and the current time in each
 * document. `npm sbom` has the packages of npm only. This program has all of them, and the qualifiers by which scanners find advisories of
 * Debian.
 */
const [base = "/base", out = "image"] = process.argv.slice(2);

/** A package as SPDX has it, with what the document makes of its licence. */
interface Part {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  /** What it is for scanners that go by CPE. */
  readonly cpe?: string;
  /** A licence by its SPDX name, or the text of all that apply; undefined where a larger part's text has it. */
  readonly license: { readonly spdx: string } | { readonly text: string } | undefined;
  readonly parts?: readonly Part[];
}

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly dev?: boolean; readonly optional?: boolean; readonly version: string }>
  >;
}

const readJson = <T>(path: string): T => JSON.parse(readFileSync(path, "utf8"));

/** The packages in the bundle besides Wave: all that are not only for development. */
function bundled(): readonly Part[] {
  const { packages } = readJson<Lock>("package-lock.json");
  return Object.entries(packages)
    .filter(([path, { dev, optional }]) => path !== "" && !dev && !optional)
    .map(([path, { version }]) => {
      const { name, license } = readJson<{ name: string; license: string }>(join(path, "package.json"));
      return { name, version, purl: `pkg:npm/${name}@${version}`, license: { spdx: license } };
    });
}

/** The base's Node, by the address of its release, which is in the binary, because it may be of another architecture. */
function node(): Part {
  const binary = readFileSync(join(base, "nodejs/bin/node"));
  const at = binary.indexOf("https://nodejs.org/download/release/v");
  const version = /\/v(\d+\.\d+\.\d+)\//.exec(binary.subarray(at, at + 64).toString("latin1"))?.[1];
  if (at === -1 || version === undefined) throw new Error(`${base}/nodejs/bin/node does not say which Node it is`);
  return {
    name: "node",
    version,
    purl: `pkg:generic/node@${version}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    license: { text: readFileSync(join(base, "nodejs/LICENSE"), "utf8") },
    // Known of the Node that runs this.
    parts: version === process.versions.node ? compiledIn() : [],
  };
}

/** Versions of interfaces, and of Node itself. */
const noParts = ["node", "modules", "napi"];

function compiledIn(): readonly Part[] {
  return Object.entries(process.versions)
    .filter(([name, version]) => !noParts.includes(name) && version)
    .map(([name, version = ""]) => ({ name, version, purl: `pkg:generic/${name}@${version}`, license: undefined }));
}

/** Debian's packages, by dpkg's own records, one file a package. */
function debian(): readonly Part[] {
  const folder = join(base, "var/lib/dpkg/status.d");
  const file = join(base, "usr/lib/os-release");
  const release = existsSync(file) ? /^VERSION_ID="?([^"\n]+)/m.exec(readFileSync(file, "utf8"))?.[1] : undefined;
  const distro = release === undefined ? "" : `&distro=debian-${release}`;
  const records = readdirSync(folder).filter((file) => !file.endsWith(".md5sums"));
  return records.map((file) => {
    const record = readFileSync(join(folder, file), "utf8");
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(record)?.[1] ?? "";
    const [name, version] = [field("Package"), field("Version")];
    // Advisories of Debian are by release and by source package (https://github.com/package-url/purl-spec).
    const [source = "", sourceVersion] = field("Source").split(/[ ()]+/);
    const upstream =
      source === "" ? "" : `&upstream=${encodeURIComponent([source, sourceVersion].filter(Boolean).join("@"))}`;
    const [encodedName, encodedVersion] = [name, version].map(encodeURIComponent);
    const purl = `pkg:deb/debian/${encodedName}@${encodedVersion}?arch=${field("Architecture")}${distro}${upstream}`;
    const copyright = join(base, "usr/share/doc", name, "copyright");
    return {
      name,
      version,
      purl,
      license: existsSync(copyright) ? { text: readFileSync(copyright, "utf8") } : undefined,
    };
  });
}

const idOf = ({ name }: Part) => name.replaceAll(/[^A-Za-z0-9.-]+/g, "-");

function described(part: Part): object {
  const { name, version, purl, cpe, license } = part;
  const refs = [
    { referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: purl },
    ...(cpe ? [{ referenceCategory: "SECURITY", referenceType: "cpe23Type", referenceLocator: cpe }] : []),
  ];
  const declared =
    license === undefined ? "NOASSERTION" : "spdx" in license ? license.spdx : `LicenseRef-${idOf(part)}`;
  return {
    SPDXID: `SPDXRef-${idOf(part)}`,
    name,
    versionInfo: version,
    downloadLocation: "NOASSERTION",
    filesAnalyzed: false,
    licenseConcluded: "NOASSERTION",
    licenseDeclared: declared,
    copyrightText: "NOASSERTION",
    externalRefs: refs,
  };
}

/** A part and those in it, to any depth. */
function* all(part: Part): Generator<Part> {
  yield part;
  for (const inner of part.parts ?? []) yield* all(inner);
}

function document(image: Part): object {
  const parts = [...all(image)];
  const packages = parts.map(described);
  const digest = createHash("sha256").update(JSON.stringify(packages)).digest("hex");
  const contains = parts.flatMap((part) => (part.parts ?? []).map((inner) => [part, "CONTAINS", inner] as const));
  return {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: `${image.name}-${image.version}`,
    documentNamespace: `https://spdx.org/spdxdocs/${image.name}-${image.version}-${digest}`,
    // Not when it was made: then no two builds would be the same.
    creationInfo: { created: "1970-01-01T00:00:00Z", creators: ["Tool: deploy/image/contents.ts"] },
    packages,
    hasExtractedLicensingInfos: parts.flatMap((part) =>
      part.license && "text" in part.license
        ? [{ licenseId: `LicenseRef-${idOf(part)}`, name: part.name, extractedText: part.license.text }]
        : [],
    ),
    relationships: [
      {
        spdxElementId: "SPDXRef-DOCUMENT",
        relationshipType: "DESCRIBES",
        relatedSpdxElement: `SPDXRef-${idOf(image)}`,
      },
      ...contains.map(([outer, relationshipType, inner]) => ({
        spdxElementId: `SPDXRef-${idOf(outer)}`,
        relationshipType,
        relatedSpdxElement: `SPDXRef-${idOf(inner)}`,
      })),
    ],
  };
}

const { name, version, license } = readJson<{ name: string; version: string; license: string }>("package.json");
const packages = bundled();
const byName = (a: Part, b: Part) => (a.name < b.name ? -1 : 1);
const image: Part = {
  name,
  version,
  purl: `pkg:oci/${name}@${version}`,
  license: { spdx: license },
  parts: [...packages.toSorted(byName), node(), ...debian().toSorted(byName)],
};
mkdirSync(join(out, "licenses"), { recursive: true });
writeFileSync(join(out, "package.json"), `${JSON.stringify({ name, version, license, type: "module" }, null, 2)}\n`);
writeFileSync(join(out, "sbom.spdx.json"), `${JSON.stringify(document(image), null, 2)}\n`);
cpSync("LICENSE", join(out, "licenses", name));
for (const { name: bundledName } of packages) {
  cpSync(join("node_modules", bundledName, "LICENSE"), join(out, "licenses", bundledName));
}
