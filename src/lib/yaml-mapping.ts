import { dirname, resolve } from "node:path";

/** The file of a {@link Section}, and the errors for its mistakes. */
interface SectionFile {
  readonly file: string;
  /** Makes an error from a one-line message. */
  readonly mistake: (message: string) => Error;
}

/** A mapping in a user-written file. Each field is read separately, so that an error has the path of the field. */
export class Section {
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #where: SectionFile;
  /** Path in the file, such as "clusters[kind-dev].cluster". */
  readonly place: string;

  constructor(fields: unknown, where: SectionFile, place: string) {
    if (typeof fields !== "object" || fields === null || Array.isArray(fields)) {
      throw where.mistake(`${where.file}: ${place || "the file"} is not a mapping`);
    }
    this.#fields = { ...fields };
    this.#where = where;
    this.place = place;
  }

  get file(): string {
    return this.#where.file;
  }

  /** Reports whether the field is present and neither null nor empty. */
  has(name: string): boolean {
    const value = this.#fields[name];
    return value !== undefined && value !== null && value !== "";
  }

  /** Returns a string field; undefined if absent or empty. */
  text(name: string): string | undefined {
    if (!this.has(name)) return undefined;
    const value = this.#fields[name];
    if (typeof value === "string") return value;
    throw this.wrong(name, "is not a string; put it in quotes");
  }

  /** Returns a boolean field; false if absent. */
  flag(name: string): boolean {
    if (!this.has(name)) return false;
    const value = this.#fields[name];
    if (typeof value === "boolean") return value;
    throw this.wrong(name, "is neither true nor false");
  }

  /** Returns the mapping in a field; undefined if absent. */
  section(name: string): Section | undefined {
    if (!this.has(name)) return undefined;
    return this.of(this.#fields[name], this.#placeOf(name));
  }

  /** Returns the mappings in a list; empty if absent. */
  sections(name: string): Section[] {
    return this.#list(name).map((value, index) => this.of(value, this.#placeOf(`${name}[${index}]`)));
  }

  /** Returns the strings in a list; empty if absent. */
  texts(name: string): string[] {
    return this.#list(name).map((value) => {
      if (typeof value === "string") return value;
      throw this.wrong(name, "has an entry that is not a string; put it in quotes");
    });
  }

  /** Returns the same mapping with another path. */
  at(place: string): Section {
    return this.of(this.#fields, place);
  }

  /** Returns the same mapping with other fields; undefined removes a field. */
  with(fields: Readonly<Record<string, unknown>>): Section {
    return this.of({ ...this.#fields, ...fields }, this.place);
  }

  /** Returns another mapping of the same file. */
  of(fields: unknown, place: string): Section {
    return new Section(fields, this.#where, place);
  }

  names(): string[] {
    return Object.keys(this.#fields);
  }

  /** Returns the field without validation. */
  raw(name: string): unknown {
    return this.#fields[name];
  }

  /** Returns a file path. Relative paths are relative to the folder of the file. */
  path(name: string): string | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : resolve(dirname(this.file), value);
  }

  /** Returns the error for a field, such as "/home/a/.kube/config: users[a].user.token is not a string". */
  wrong(name: string, what: string): Error {
    return this.#where.mistake(`${this.file}: ${this.#placeOf(name)} ${what}`);
  }

  #list(name: string): readonly unknown[] {
    if (!this.has(name)) return [];
    const value = this.#fields[name];
    if (Array.isArray(value)) return value;
    throw this.wrong(name, "is not a list");
  }

  #placeOf(name: string): string {
    return this.place === "" ? name : `${this.place}.${name}`;
  }
}

/**
 * Parses YAML. JSON is YAML; the YAML parser costs memory, so it is loaded only if the text is not JSON.
 * @throws `mistake("is not valid YAML (line 3)")`. The message never contains the text, which may have a secret.
 */
export async function parseYaml(text: string, mistake: (what: string) => Error): Promise<unknown> {
  try {
    return JSON.parse(text);
  } catch {
    const { parseDocument } = await import("yaml");
    const document = parseDocument(text, { prettyErrors: true });
    const [error] = document.errors;
    const line = error?.linePos === undefined ? "" : ` (line ${error.linePos[0].line})`;
    if (error !== undefined) throw mistake(`is not valid YAML${line}`);
    try {
      return document.toJS() ?? {};
    } catch {
      throw mistake("is not valid YAML: an alias has no anchor");
    }
  }
}
