/** A parsed regular expression over the characters of names. */
export type Expression =
  | { readonly is: "characters"; readonly characters: ReadonlySet<string> }
  | { readonly is: "begin" | "end" }
  | { readonly is: "sequence" | "choice"; readonly of: readonly Expression[] }
  | { readonly is: "repeat"; readonly of: Expression; readonly least: number; readonly most: number | undefined };

/** Every character that the name of an object may have. Other characters are valid in an expression, but match nothing. */
const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789-.";

/** Limit of a repeat count, as in RE2. */
const maxRepeats = 1000;

/**
 * Parses the syntax of RE2 (https://github.com/google/re2/wiki/Syntax). Throws a SyntaxError, whose message is the reason, if the
 * expression is invalid or not supported.
 */
export function parseExpression(source: string): Expression {
  const parser = new Parser(source);
  const expression = parser.choice();
  if (!parser.isOver) throw new SyntaxError("missing ( before )");
  return expression;
}

class Parser {
  readonly #source: string;
  #at = 0;
  /** Whether capital letters also match small letters. */
  #anyCase = false;

  constructor(source: string) {
    this.#source = source;
  }

  get isOver(): boolean {
    return this.#at >= this.#source.length;
  }

  choice(): Expression {
    const anyCase = this.#anyCase;
    const options = [this.#sequence()];
    while (this.#take("|")) options.push(this.#sequence());
    this.#anyCase = anyCase;
    return { is: "choice", of: options };
  }

  #sequence(): Expression {
    const parts: Expression[] = [];
    while (!this.isOver && this.#next !== "|" && this.#next !== ")") parts.push(this.#repeated());
    return { is: "sequence", of: parts };
  }

  #repeated(): Expression {
    const of = this.#one();
    const times = this.#times();
    if (times === undefined) return of;
    this.#take("?"); // non-greedy: no difference if the whole name must match
    if (this.#times() !== undefined) throw new SyntaxError("a repetition is repeated");
    return { is: "repeat", of, ...times };
  }

  #times(): { readonly least: number; readonly most: number | undefined } | undefined {
    if (this.#take("*")) return { least: 0, most: undefined };
    if (this.#take("+")) return { least: 1, most: undefined };
    if (this.#take("?")) return { least: 0, most: 1 };
    const [text, from = "", comma, to] = this.#match(/\{(\d{1,4})(,(\d{0,4}))?\}/y) ?? [];
    if (text === undefined) return undefined;
    const least = Number(from);
    const most = comma === undefined ? least : to === "" ? undefined : Number(to);
    if (Math.max(least, most ?? 0) > maxRepeats || (most ?? least) < least) {
      throw new SyntaxError(`repeat count ${text} is out of range`);
    }
    return { least, most };
  }

  #one(): Expression {
    const character = this.#taken();
    switch (character) {
      case "(":
        return this.#group();
      case "[":
        return characters(this.#class());
      case ".":
        return characters([...alphabet]);
      case "^":
        return { is: "begin" };
      case "$":
        return { is: "end" };
      case "\\":
        return this.#escaped();
      case "*":
      case "+":
      case "?":
        throw new SyntaxError(`nothing to repeat before ${character}`);
      default:
        return characters(this.#cased(character));
    }
  }

  #group(): Expression {
    const flags = this.#match(/\?([imsU]*)(?:-([imsU]+))?([:)])/y);
    if (flags !== undefined) {
      const [, on = "", off = "", end] = flags;
      if (end === ")") {
        this.#anyCase = off.includes("i") ? false : this.#anyCase || on.includes("i");
        return { is: "sequence", of: [] };
      }
      const outside = this.#anyCase;
      this.#anyCase = off.includes("i") ? false : outside || on.includes("i");
      const inside = this.#closed();
      this.#anyCase = outside;
      return inside;
    }
    if (this.#next === "?" && this.#match(/\?P?<\w+>/y) === undefined) {
      throw new SyntaxError("(? group is not supported");
    }
    return this.#closed();
  }

  #closed(): Expression {
    const inside = this.choice();
    if (!this.#take(")")) throw new SyntaxError("missing ) after (");
    return inside;
  }

  #escaped(): Expression {
    if (this.#take("A")) return { is: "begin" };
    if (this.#take("z")) return { is: "end" };
    return characters(this.#escapedCharacters());
  }

  /** Reads the characters that an escape matches, inside or outside a class. */
  #escapedCharacters(): readonly string[] {
    const [, code] = this.#match(/x([0-9A-Fa-f]{2})/y) ?? [];
    if (code !== undefined) return this.#cased(String.fromCharCode(Number.parseInt(code, 16)));
    const character = this.#taken();
    const named = escapes[character];
    if (named !== undefined) return named;
    if (/[A-Za-z0-9]/.test(character)) throw new SyntaxError(`\\${character} is not supported`);
    return this.#cased(character);
  }

  #class(): readonly string[] {
    const isNegated = this.#take("^");
    const found = new Set<string>();
    for (let isFirst = true; isFirst || this.#next !== "]"; isFirst = false) {
      for (const character of this.#classPart()) found.add(character);
    }
    this.#take("]");
    return [...alphabet].filter((character) => found.has(character) !== isNegated);
  }

  #classPart(): readonly string[] {
    const [, not, name = ""] = this.#match(/\[:(\^?)(\w+):\]/y) ?? [];
    if (not !== undefined) {
      const of = classes[name];
      if (of === undefined) throw new SyntaxError(`[:${name}:] is not supported`);
      return not === "" ? of : without(of);
    }
    const first = this.#taken();
    const from = first === "\\" ? this.#escapedCharacters() : [first];
    const [, last] = this.#match(/-([^\]\\])/y) ?? [];
    if (last === undefined) return first === "\\" ? from : this.#cased(first);
    const [low = ""] = from;
    if (from.length !== 1 || low > last) throw new SyntaxError("a range goes from a higher to a lower character");
    return [...alphabet].flatMap((character) => {
      const capital = this.#anyCase ? character.toUpperCase() : character;
      return (low <= character && character <= last) || (low <= capital && capital <= last) ? [character] : [];
    });
  }

  #cased(character: string): readonly string[] {
    return [this.#anyCase ? character.toLowerCase() : character];
  }

  get #next(): string {
    return this.#source.charAt(this.#at);
  }

  #taken(): string {
    if (this.isOver) throw new SyntaxError("unexpected end");
    return this.#source.charAt(this.#at++);
  }

  #take(character: string): boolean {
    if (this.#next !== character) return false;
    this.#at++;
    return true;
  }

  /** Returns the match of a sticky expression at the current position, and moves behind it. */
  #match(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#source);
    if (found === null) return undefined;
    this.#at += found[0].length;
    return found;
  }
}

function characters(of: readonly string[]): Expression {
  return { is: "characters", characters: new Set(of) };
}

function without(of: readonly string[]): readonly string[] {
  return [...alphabet].filter((character) => !of.includes(character));
}

const letters = [...alphabet.slice(0, 26)];
const digits = [...alphabet.slice(26, 36)];

const classes: Readonly<Record<string, readonly string[]>> = {
  alnum: [...letters, ...digits],
  alpha: letters,
  digit: digits,
  lower: letters,
  upper: [],
  word: [...letters, ...digits],
  punct: ["-", "."],
  space: [],
  xdigit: [..."abcdef", ...digits],
};

const escapes: Readonly<Record<string, readonly string[]>> = {
  d: digits,
  D: without(digits),
  w: [...letters, ...digits],
  W: ["-", "."],
  s: [],
  S: [...alphabet],
  n: [],
  t: [],
  r: [],
};
