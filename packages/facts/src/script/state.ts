import { type Field, known, unknownWord } from './field.ts';

const maxFolders = 4;

/** The known state of a script so far. */
export class ShellState {
  readonly variables: Map<string, Field>;
  /** Possible working folders; `undefined`: unknown. */
  folders: readonly string[] | undefined;
  /** `$1`, `$2`, …; `undefined`: unknown. */
  positional: readonly Field[] | undefined;
  /** Options of `set`. */
  options: { readonly noglob: boolean; readonly pipefail: boolean; readonly errexit: boolean };
  /** Names of functions that certainly exist. */
  defined: ReadonlySet<string> = new Set();
  /** Names of exported variables. */
  exported: ReadonlySet<string> = new Set();
  /** The script may have ended successfully before this point. */
  mayHaveEnded = false;

  constructor(folders: readonly string[] | undefined, variables: ReadonlyMap<string, Field> = new Map()) {
    this.folders = folders;
    this.variables = new Map(variables);
    this.options = { noglob: false, pipefail: false, errexit: false };
  }

  clone(): ShellState {
    const copy = new ShellState(this.folders, this.variables);
    copy.positional = this.positional;
    copy.options = this.options;
    copy.defined = this.defined;
    copy.exported = this.exported;
    return copy;
  }

  /** The initial state of another process: without functions and unexported variables, which the environment may set differently. */
  forProcess(): ShellState {
    const made = new ShellState(this.folders);
    for (const [name, value] of this.variables) made.variables.set(name, this.exported.has(name) ? value : unknownWord);
    made.exported = this.exported;
    return made;
  }

  define(name: string): void {
    this.defined = new Set([...this.defined, name]);
  }

  export(name: string): void {
    this.exported = new Set([...this.exported, name]);
  }

  /** Merges two possible states. */
  join(other: ShellState): void {
    for (const [name, value] of this.variables) {
      if (value !== other.variables.get(name)) this.variables.set(name, unknownWord);
    }
    for (const name of other.variables.keys()) if (!this.variables.has(name)) this.variables.set(name, unknownWord);
    this.folders = joinFolders(this.folders, other.folders);
    if (this.positional !== other.positional) this.positional = undefined;
    const { noglob, pipefail, errexit } = other.options;
    this.options = {
      noglob: this.options.noglob && noglob,
      pipefail: this.options.pipefail && pipefail,
      errexit: this.options.errexit && errexit,
    };
    this.defined = inBoth(this.defined, other.defined);
    this.exported = inBoth(this.exported, other.exported);
    this.mayHaveEnded ||= other.mayHaveEnded;
  }

  /** Forgets variables that a loop sets. */
  forget(names: Iterable<string>): void {
    for (const name of names) this.variables.set(name, unknownWord);
  }

  /** `undefined`: the script has not set it, so the environment may have. */
  read(name: string): Field | undefined {
    if (name === 'PWD' && !this.variables.has('PWD')) {
      const [only, ...others] = this.folders ?? [];
      return only === undefined || others.length > 0 ? unknownWord : known(only);
    }
    if (!/^[1-9]\d*$/.test(name)) return this.variables.get(name);
    if (this.positional === undefined || this.positional.some(({ splits }) => splits)) return unknownWord;
    return this.positional[Number(name) - 1] ?? known('');
  }
}

function inBoth(one: ReadonlySet<string>, other: ReadonlySet<string>): ReadonlySet<string> {
  return one === other ? one : new Set([...one].filter((name) => other.has(name)));
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
