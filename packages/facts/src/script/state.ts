import { type Field, known, unknownWord } from './field.ts';

const maxFolders = 4;

// The shell sets them itself.
const managed =
  /^(?:_|REPLY|OPT\w+|MAPFILE|BASH\w*|COMP\w*|COPROC\w*|DIRSTACK|E?UID|PPID|EPOCH\w+|FUNCNAME|GROUPS|HIST\w+|HOST\w+|LINENO|LINES|COLUMNS|(?:OLD)?PWD|OSTYPE|MACHTYPE|PIPESTATUS|S?RANDOM|READLINE\w+|SECONDS|SHLVL)$/;

/** The known state of a script so far. */
export class ShellState {
  /** Only what was set once, on every way here, has a value that is known. */
  readonly variables: Map<string, Field>;
  /** Possible working folders; `undefined`: unknown. */
  folders: readonly string[] | undefined;
  /** Options of `set`. */
  options: { readonly pipefail: boolean; readonly errexit: boolean } = { pipefail: false, errexit: false };
  /** Names of functions that certainly exist. */
  defined: ReadonlySet<string> = new Set();
  /** The script may have ended successfully before this point. */
  mayHaveEnded = false;

  constructor(folders: readonly string[] | undefined, variables: ReadonlyMap<string, Field> = new Map()) {
    this.folders = folders;
    this.variables = new Map(variables);
  }

  clone(): ShellState {
    const copy = new ShellState(this.folders, this.variables);
    copy.options = this.options;
    copy.defined = this.defined;
    return copy;
  }

  /** The state in which another process starts: without functions, and with unknown variables. */
  forProcess(): ShellState {
    const made = new ShellState(this.folders);
    made.forget(this.variables.keys());
    return made;
  }

  define(name: string): void {
    this.defined = new Set([...this.defined, name]);
  }

  /** A variable that is set again may keep its value: it may be `readonly`, have attributes, or be set at another time. */
  assign(name: string, value: Field): void {
    this.variables.set(name, this.variables.has(name) || managed.test(name) ? unknownWord : value);
  }

  /** Merges two possible states. */
  join(other: ShellState): void {
    for (const [name, value] of this.variables) {
      if (value !== other.variables.get(name)) this.variables.set(name, unknownWord);
    }
    for (const name of other.variables.keys()) if (!this.variables.has(name)) this.variables.set(name, unknownWord);
    this.folders = joinFolders(this.folders, other.folders);
    const { pipefail, errexit } = other.options;
    this.options = { pipefail: this.options.pipefail && pipefail, errexit: this.options.errexit && errexit };
    this.defined = new Set([...this.defined].filter((name) => other.defined.has(name)));
    this.mayHaveEnded ||= other.mayHaveEnded;
  }

  /** Variables of which the value is not known from here on. */
  forget(names: Iterable<string>): void {
    for (const name of names) this.variables.set(name, unknownWord);
  }

  /** After code that was not read, or that runs at another time. */
  forgetAll(): void {
    this.forget(this.variables.keys());
    this.folders = undefined;
    this.defined = new Set();
  }

  /** `undefined`: the script has not set it, so the environment may have. */
  read(name: string): Field | undefined {
    if (name !== 'PWD' || this.variables.has('PWD')) return this.variables.get(name);
    const [only, ...others] = this.folders ?? [];
    return only === undefined || others.length > 0 ? unknownWord : known(only);
  }
}

export function joinFolders(
  one: readonly string[] | undefined,
  other: readonly string[] | undefined,
): readonly string[] | undefined {
  if (one === undefined || other === undefined) return undefined;
  if (one === other) return one;
  const all = [...new Set([...one, ...other])];
  return all.length > maxFolders ? undefined : all;
}
