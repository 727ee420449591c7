import { dirname, resolve } from "node:path";

/** The file that a {@link Section} stands in, and how its mistakes are thrown. */
export interface SectionFile {
  readonly file: string;
  /** The error of one line that says so. */
  readonly mistake: (message: string) => Error;
}

/** A mapping in a file that a person wrote, read field by field so that a mistake is told by its place. */
export class Section {
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #where: SectionFile;
  /** Its place there, such as "clusters[kind-dev].cluster". */
  readonly place: string;

  constructor(fields: unknown, where: SectionFile, place: string) {
    if (typeof fields !== "object" || fields === null || Array.isArray(fields)) {
      throw where.mistake(`${where.file}: ${place || "the file"} is not a mapping`);
    }
    this.#fields = { ...fields };
    this.#where = where;
    this.place = place;
  }

  /** The file that it stands in. */
  get file(): string {
    return this.#where.file;
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
    return this.of(this.#fields[name], this.#placeOf(name));
  }

  /** The mappings in a list; none where it is absent. */
  sections(name: string): Section[] {
    return this.#list(name).map((value, index) => this.of(value, this.#placeOf(`${name}[${index}]`)));
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
    return this.of(this.#fields, place);
  }

  /** Another mapping of the same file. */
  of(fields: unknown, place: string): Section {
    return new Section(fields, this.#where, place);
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

  /** The error that says what is wrong with a field: "/home/a/.kube/config: users[a].user.token is not a text". */
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
 * What a text says in YAML. JSON is YAML; the parser of the rest of YAML costs memory, so it is loaded only for that.
 * @throws what `mistake` makes of "is not valid YAML (line 3)", which never quotes the text: it may hold a secret.
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
      throw mistake("is not valid YAML: it has an alias of no anchor");
    }
  }
}
