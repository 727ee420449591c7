/** A regular expression over the signs of names. */
export type Expression =
  | { readonly is: "signs"; readonly signs: ReadonlySet<string> }
  | { readonly is: "begin" | "end" }
  | { readonly is: "sequence" | "choice"; readonly of: readonly Expression[] }
  | { readonly is: "repeat"; readonly of: Expression; readonly least: number; readonly most: number | undefined };

/** Every sign that a name of an object may have. Others can be written in an expression, and match nothing. */
const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789-.";

/** What an expression may repeat at most, as in RE2. */
const mostRepeats = 1000;

/** Parses the syntax of RE2 (https://github.com/google/re2/wiki/Syntax); throws a SyntaxError for what is not understood. */
export function parseExpression(source: string): Expression {
  const parser = new Parser(source);
  const expression = parser.choice();
  if (!parser.isOver) throw new SyntaxError("it has a ) without a (");
  return expression;
}

class Parser {
  readonly #source: string;
  #at = 0;
  /** Whether capital letters stand for small ones, too. */
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
    this.#take("?"); // as few as possible: all the same where the whole name must match
    if (this.#times() !== undefined) throw new SyntaxError("it repeats a repetition");
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
    if (Math.max(least, most ?? 0) > mostRepeats || (most ?? least) < least) {
      throw new SyntaxError(`it repeats ${text} times`);
    }
    return { least, most };
  }

  #one(): Expression {
    const sign = this.#taken();
    switch (sign) {
      case "(":
        return this.#group();
      case "[":
        return signs(this.#class());
      case ".":
        return signs([...alphabet]);
      case "^":
        return { is: "begin" };
      case "$":
        return { is: "end" };
      case "\\":
        return this.#escaped();
      case "*":
      case "+":
      case "?":
        throw new SyntaxError(`it repeats nothing by ${sign}`);
      default:
        return signs(this.#cased(sign));
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
      throw new SyntaxError("it has a (? that is not understood");
    }
    return this.#closed();
  }

  #closed(): Expression {
    const inside = this.choice();
    if (!this.#take(")")) throw new SyntaxError("it has a ( without a )");
    return inside;
  }

  #escaped(): Expression {
    if (this.#take("A")) return { is: "begin" };
    if (this.#take("z")) return { is: "end" };
    return signs(this.#escapedSigns());
  }

  /** What comes after a backslash, outside of a class and in it. */
  #escapedSigns(): readonly string[] {
    const [, code] = this.#match(/x([0-9A-Fa-f]{2})/y) ?? [];
    if (code !== undefined) return this.#cased(String.fromCharCode(Number.parseInt(code, 16)));
    const sign = this.#taken();
    const named = escapes[sign];
    if (named !== undefined) return named;
    if (/[A-Za-z0-9]/.test(sign)) throw new SyntaxError(`\\${sign} is not understood`);
    return this.#cased(sign);
  }

  #class(): readonly string[] {
    const isNegated = this.#take("^");
    const found = new Set<string>();
    for (let isFirst = true; isFirst || this.#next !== "]"; isFirst = false) {
      for (const sign of this.#classPart()) found.add(sign);
    }
    this.#take("]");
    return [...alphabet].filter((sign) => found.has(sign) !== isNegated);
  }

  #classPart(): readonly string[] {
    const [, not, name = ""] = this.#match(/\[:(\^?)(\w+):\]/y) ?? [];
    if (not !== undefined) {
      const of = classes[name];
      if (of === undefined) throw new SyntaxError(`[:${name}:] is not understood`);
      return not === "" ? of : without(of);
    }
    const first = this.#taken();
    const from = first === "\\" ? this.#escapedSigns() : [first];
    const [, last] = this.#match(/-([^\]\\])/y) ?? [];
    if (last === undefined) return first === "\\" ? from : this.#cased(first);
    const [low = ""] = from;
    if (from.length !== 1 || low > last) throw new SyntaxError("it has a range from a higher to a lower sign");
    return [...alphabet].flatMap((sign) => {
      const capital = this.#anyCase ? sign.toUpperCase() : sign;
      return (low <= sign && sign <= last) || (low <= capital && capital <= last) ? [sign] : [];
    });
  }

  #cased(sign: string): readonly string[] {
    return [this.#anyCase ? sign.toLowerCase() : sign];
  }

  get #next(): string {
    return this.#source.charAt(this.#at);
  }

  #taken(): string {
    if (this.isOver) throw new SyntaxError("it ends too early");
    return this.#source.charAt(this.#at++);
  }

  #take(sign: string): boolean {
    if (this.#next !== sign) return false;
    this.#at++;
    return true;
  }

  /** What a sticky expression matches here, which it then has taken. */
  #match(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#source);
    if (found === null) return undefined;
    this.#at += found[0].length;
    return found;
  }
}

function signs(of: readonly string[]): Expression {
  return { is: "signs", signs: new Set(of) };
}

function without(of: readonly string[]): readonly string[] {
  return [...alphabet].filter((sign) => !of.includes(sign));
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
