import type { Section } from "../../lib/section.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";

/** Where the secrets of receivers may stand besides the file. */
export interface SecretSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readText: (path: string) => Promise<string>;
}

/** What the connection decides, or the format. */
const notForHeaders = ["connection", "content-length", "content-type", "host", "transfer-encoding", "upgrade"];

/** The URL of a receiver: in `url`, in the file of `urlFile`, or in the environment variable of `urlEnv`. */
export async function urlOf(section: Section, sources: SecretSources): Promise<URL> {
  const given = ["url", "urlFile", "urlEnv"].filter((name) => section.has(name));
  const [field, other] = given;
  if (field === undefined) throw section.wrong("url", "is missing, and so are urlFile and urlEnv");
  if (other !== undefined) throw section.wrong(other, `cannot be given together with ${field}`);
  const url = URL.parse((await secretIn(section, field, sources)).trim());
  if (url === null || !/^https?:$/.test(url.protocol))
    throw section.wrong(field, "is no URL that begins with https:// or http://");
  if (url.username !== "" || url.password !== "") {
    throw section.wrong(field, "has a user name or password in it: put these into the header Authorization");
  }
  return url;
}

async function secretIn(section: Section, field: string, sources: SecretSources): Promise<string> {
  if (field === "urlFile") return fileOf(section, field, sources);
  const text = section.text(field) ?? "";
  if (field === "url") return text;
  const value = sources.env[text] ?? "";
  if (value === "") throw section.wrong(field, "names an environment variable that is not set");
  return value;
}

/** `headers` as they are, and those of `headerFiles` from files. */
export async function headersOf(section: Section, sources: SecretSources): Promise<Readonly<Record<string, string>>> {
  const headers: Record<string, string> = {};
  for (const field of ["headers", "headerFiles"]) {
    const inside = section.section(field);
    for (const name of inside?.names() ?? []) {
      if (inside === undefined) continue;
      const text = field === "headers" ? (inside.text(name) ?? "") : (await fileOf(inside, name, sources)).trim();
      refuseHeader(inside, name, text);
      if (Object.hasOwn(headers, name.toLowerCase())) throw inside.wrong(name, "is there twice");
      headers[name.toLowerCase()] = text;
    }
  }
  return headers;
}

function refuseHeader(section: Section, name: string, value: string): void {
  // Not imported as an ES module, which would also load all that node:http offers lazily: 13 MiB.
  const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule("node:http");
  if (notForHeaders.includes(name.toLowerCase())) throw section.wrong(name, "is a header that Wave sets");
  try {
    validateHeaderName(name);
  } catch {
    throw section.wrong(JSON.stringify(name), "is not the name of a header");
  }
  try {
    validateHeaderValue(name, value);
  } catch {
    throw section.wrong(name, "has a character in it that no header may have");
  }
}

async function fileOf(section: Section, field: string, { readText }: SecretSources): Promise<string> {
  const path = section.path(field);
  if (path === undefined) throw section.wrong(field, "is empty");
  return readText(path).catch((error) => {
    throw section.wrong(field, `cannot be read: ${errorText(error)}`);
  });
}
