import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { errorText } from "../telemetry/error-text.ts";
import { ClusterConfigError } from "./errors.ts";

/** A mapping in a kubeconfig file, read field by field so that a mistake is told by its place. */
export class Section {
  readonly #fields: Readonly<Record<string, unknown>>;
  /** The file that it stands in. */
  readonly file: string;
  /** Its place there, such as "clusters[kind-dev].cluster". */
  readonly place: string;

  constructor(fields: unknown, file: string, place: string) {
    if (typeof fields !== "object" || fields === null || Array.isArray(fields)) {
      throw new ClusterConfigError(`${file}: ${place || "the file"} is not a mapping`);
    }
    this.#fields = { ...fields };
    this.file = file;
    this.place = place;
  }

  /** Whether the field is there and neither null nor empty. */
  has(name: string): boolean {
    const value = this.#fields[name];
    return value !== undefined && value !== null && value !== "";
  }

  /** The field's text; undefined where it is absent or empty. */
  text(name: string): string | undefined {
    if (!this.has(name)) return undefined;
    const value = this.#fields[name];
    if (typeof value === "string") return value;
    throw this.wrong(name, "is not a text: put it in quotes");
  }

  /** False where the field is absent. */
  flag(name: string): boolean {
    if (!this.has(name)) return false;
    const value = this.#fields[name];
    if (typeof value === "boolean") return value;
    throw this.wrong(name, "is neither true nor false");
  }

  /** The mapping in a field; undefined where it is absent. */
  section(name: string): Section | undefined {
    if (!this.has(name)) return undefined;
    return new Section(this.#fields[name], this.file, this.#placeOf(name));
  }

  /** The mappings in a list; none where it is absent. */
  sections(name: string): Section[] {
    return this.#list(name).map((value, index) => new Section(value, this.file, this.#placeOf(`${name}[${index}]`)));
  }

  /** The texts in a list; none where it is absent. */
  texts(name: string): string[] {
    return this.#list(name).map((value) => {
      if (typeof value === "string") return value;
      throw this.wrong(name, "holds something that is not a text: put it in quotes");
    });
  }

  /** The same mapping by another name of its place. */
  at(place: string): Section {
    return new Section(this.#fields, this.file, place);
  }

  /** The names of the fields. */
  names(): string[] {
    return Object.keys(this.#fields);
  }

  /** The field as it is, to be handed on. */
  raw(name: string): unknown {
    return this.#fields[name];
  }

  /** The field's path, relative ones from the folder of the file. */
  path(name: string): string | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : resolve(dirname(this.file), value);
  }

  /** PEM from `NAME-data` in base64, or else from the file that `NAME` says; undefined where neither is given. */
  async pem(name: string): Promise<string | undefined> {
    const inline = this.text(`${name}-data`);
    if (inline !== undefined) return this.#checked(`${name}-data`, Buffer.from(inline, "base64").toString());
    const path = this.path(name);
    if (path === undefined) return undefined;
    const text = await readFile(path, "utf8").catch((error) => {
      throw this.wrong(name, `cannot be read: ${errorText(error)}`);
    });
    return this.#checked(name, text);
  }

  #checked(name: string, pem: string): string {
    if (pem.includes("-----BEGIN ")) return pem;
    throw this.wrong(name, name.endsWith("-data") ? "is not PEM in base64" : "is a file that is not PEM");
  }

  #list(name: string): readonly unknown[] {
    if (!this.has(name)) return [];
    const value = this.#fields[name];
    if (Array.isArray(value)) return value;
    throw this.wrong(name, "is not a list");
  }

  /** The error that says what is wrong with a field: "/home/a/.kube/config: users[a].user.token is not a text". */
  wrong(name: string, what: string): ClusterConfigError {
    return new ClusterConfigError(`${this.file}: ${this.#placeOf(name)} ${what}`);
  }

  #placeOf(name: string): string {
    return this.place === "" ? name : `${this.place}.${name}`;
  }
}

/** The file's content, or undefined where there is no such file. @throws ClusterConfigError where it is not valid YAML. */
export async function readKubeconfigFile(file: string): Promise<Section | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new ClusterConfigError(`the kubeconfig ${file} cannot be read: ${errorText(error)}`);
  }
  return new Section(await parse(text, file), file, "");
}

/** JSON is YAML; the parser of the rest of YAML costs 13 MiB of memory, so it is loaded only for that. */
async function parse(text: string, file: string): Promise<unknown> {
  try {
    return JSON.parse(text);
  } catch {
    const { parseDocument } = await import("yaml");
    const document = parseDocument(text, { prettyErrors: true });
    const [error] = document.errors;
    // The parser's own message would quote the line, which may hold a token.
    const line = error?.linePos === undefined ? "" : ` (line ${error.linePos[0].line})`;
    if (error !== undefined) throw new ClusterConfigError(`the kubeconfig ${file} is not valid YAML${line}`);
    try {
      return document.toJS() ?? {};
    } catch {
      throw new ClusterConfigError(`the kubeconfig ${file} is not valid YAML: it has an alias of no anchor`);
    }
  }
}
