import { type Field, known, unknownWord } from './field.ts';

const maxFolders = 4;

/** What a script has set so far, as far as it is known. */
export class ShellState {
  readonly variables: Map<string, Field>;
  /** Where it may be; `undefined`: not known. */
  folders: readonly string[] | undefined;
  /** `$1` and on; `undefined`: not known. */
  positional: readonly Field[] | undefined;
  /** Of `set`. */
  options: { readonly noglob: boolean; readonly pipefail: boolean; readonly errexit: boolean };
  /** It may have ended before it came here, with success. */
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
    return copy;
  }

  /** The state is this one, or the other. */
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
    this.mayHaveEnded ||= other.mayHaveEnded;
  }

  /** Variables that are set in what is about to run more than once. */
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

export function joinFolders(
  one: readonly string[] | undefined,
  other: readonly string[] | undefined,
): readonly string[] | undefined {
  if (one === undefined || other === undefined) return undefined;
  if (one === other) return one;
  const all = [...new Set([...one, ...other])];
  return all.length > maxFolders ? undefined : all;
}
