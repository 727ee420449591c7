import type { Section } from "../../lib/yaml-mapping.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";

/** Sources of the secrets of receivers outside the file. */
export interface SecretSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readText: (path: string) => Promise<string>;
}

/** Headers that the connection or the format sets. */
const reservedHeaders = ["connection", "content-length", "content-type", "host", "transfer-encoding", "upgrade"];

/** Reads the URL of a receiver: from `url`, from the file `urlFile`, or from the environment variable `urlEnv`. */
export async function urlOf(section: Section, sources: SecretSources): Promise<URL> {
  const given = ["url", "urlFile", "urlEnv"].filter((name) => section.has(name));
  const [field, other] = given;
  if (field === undefined) throw section.wrong("url", "is missing; set url, urlFile or urlEnv");
  if (other !== undefined) throw section.wrong(other, `cannot be set together with ${field}`);
  const url = URL.parse((await secretIn(section, field, sources)).trim());
  if (url === null || !/^https?:$/.test(url.protocol))
    throw section.wrong(field, "is not a URL that begins with https:// or http://");
  if (url.username !== "" || url.password !== "") {
    throw section.wrong(field, "contains a user name or password; use the header Authorization instead");
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

/** Reads the headers: those of `headers` as they are, and those of `headerFiles` from files. */
export async function headersOf(section: Section, sources: SecretSources): Promise<Readonly<Record<string, string>>> {
  const headers: Record<string, string> = {};
  for (const field of ["headers", "headerFiles"]) {
    const inside = section.section(field);
    for (const name of inside?.names() ?? []) {
      if (inside === undefined) continue;
      const text = field === "headers" ? (inside.text(name) ?? "") : (await fileOf(inside, name, sources)).trim();
      rejectInvalidHeader(inside, name, text);
      if (Object.hasOwn(headers, name.toLowerCase())) throw inside.wrong(name, "is set twice");
      headers[name.toLowerCase()] = text;
    }
  }
  return headers;
}

function rejectInvalidHeader(section: Section, name: string, value: string): void {
  // Not imported as an ES module, which would also load all that node:http offers lazily: 13 MiB.
  const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule("node:http");
  if (reservedHeaders.includes(name.toLowerCase())) throw section.wrong(name, "is a header that Wave sets itself");
  try {
    validateHeaderName(name);
  } catch {
    throw section.wrong(JSON.stringify(name), "is not a valid header name");
  }
  try {
    validateHeaderValue(name, value);
  } catch {
    throw section.wrong(name, "contains a character that is not allowed in a header");
  }
}

async function fileOf(section: Section, field: string, { readText }: SecretSources): Promise<string> {
  const path = section.path(field);
  if (path === undefined) throw section.wrong(field, "is empty");
  return readText(path).catch((error) => {
    throw section.wrong(field, `cannot be read: ${errorText(error)}`);
  });
}
