import { type Field, known, mayBeOption } from '../script/field.ts';

/**
 * The role of a word: `text` none; `read`, `write`, `delete` a file; `move` moves one away; `list` a file that names files; `load` a file of code; `run` a command
 * for a shell; `code` a program's text; `only` and `except` patterns of names; `folder` a working folder; `into` a target folder; `host` an address; `maybe`
 * a file if it looks like one; `flag` an option without a value.
 */
export type Role =
  | 'text'
  | 'read'
  | 'write'
  | 'delete'
  | 'move'
  | 'list'
  | 'load'
  | 'run'
  | 'code'
  | 'only'
  | 'except'
  | 'folder'
  | 'into'
  | 'host'
  | 'maybe'
  | 'flag';

export interface GivenOption {
  readonly name: string;
  readonly role: Role;
  readonly value: Field | undefined;
}

export interface Arguments {
  readonly operands: readonly Field[];
  readonly options: readonly GivenOption[];
  /** An unknown word may be an option, or end the options. */
  readonly unsure: boolean;
  /** The start of the operands, if reading stops at the first. */
  readonly rest: number;
}

export type OptionRoles = ReadonlyMap<string, Role>;

const roles = new Map<string, OptionRoles>();

/** `'f:read file:read e:text'`: names of options without their dashes. */
export function readRoles(text: string): OptionRoles {
  const found = roles.get(text);
  if (found !== undefined) return found;
  const made = new Map(
    text
      .split(' ')
      .filter(Boolean)
      .map((item) => item.split(':') as [string, Role]),
  );
  roles.set(text, made);
  return made;
}

export interface ReadingStyle {
  /** Stops at the first operand, as programs that run a command do. */
  readonly stops?: boolean;
  /** Long options have one dash. */
  readonly oneDash?: boolean;
}

/** Sorts words into options and operands. An option that is not in the list has only the value after its `=`. */
export function readArguments(words: readonly Field[], options: OptionRoles, style: ReadingStyle = {}): Arguments {
  const operands: Field[] = [];
  const given: GivenOption[] = [];
  let unsure = false;
  let index = 0;
  for (; index < words.length; index += 1) {
    const word = words[index] as Field;
    const { text } = word;
    if (!word.known && mayBeOption(word)) unsure = true;
    if (!word.known || !text.startsWith('-') || text === '-') {
      if (style.stops === true) break;
      operands.push(word);
      continue;
    }
    if (text === '--') {
      index += 1;
      if (style.stops !== true) operands.push(...words.slice(index));
      break;
    }
    const isLong = text.startsWith('--') || style.oneDash === true;
    const found = isLong ? readLong(text, options) : readShort(text, options);
    for (const { name, role, value, takesNext } of found) {
      const next = takesNext ? words[index + 1] : undefined;
      if (next?.splits === true || next?.matched === true) unsure = true;
      if (takesNext) index += 1;
      given.push({ name, role, value: next ?? (value === undefined ? undefined : known(value)) });
    }
  }
  return { operands, options: given, unsure, rest: index };
}

interface FoundOption {
  readonly name: string;
  readonly role: Role;
  readonly value?: string;
  readonly takesNext: boolean;
}

function readLong(text: string, options: OptionRoles): readonly FoundOption[] {
  const [dashed = ''] = text.split('=', 1);
  const name = dashed.replace(/^--?/, '');
  const value = dashed.length < text.length ? text.slice(dashed.length + 1) : undefined;
  const role = options.get(name);
  // Programs accept any prefix of a long option.
  const meant =
    role !== undefined || name.length < 2
      ? [[name, role ?? 'maybe'] as const]
      : [...options].filter(([other]) => other.length > 1 && other.startsWith(name));
  if (meant.length === 0)
    return [{ name, role: value === undefined ? 'flag' : 'maybe', ...withValue(value), takesNext: false }];
  return meant.map(([other, known_], index) => {
    const isFlag = known_ === 'flag' || (known_ === 'maybe' && value === undefined);
    // The next word belongs to only one of them.
    return { name: other, role: known_, ...withValue(value), takesNext: !isFlag && value === undefined && index === 0 };
  });
}

function withValue(value: string | undefined): { readonly value?: string } {
  return value === undefined ? {} : { value };
}

function readShort(text: string, options: OptionRoles): readonly FoundOption[] {
  const found: FoundOption[] = [];
  for (let index = 1; index < text.length; index += 1) {
    const name = text.charAt(index);
    const role = options.get(name);
    // One that is not known may have a value: what is there as a file is taken for one.
    if (role === undefined) found.push({ name, role: 'maybe', value: text.slice(index + 1), takesNext: false });
    else if (role === 'flag') found.push({ name, role, takesNext: false });
    else {
      const value = text.slice(index + 1).replace(/^=/, '');
      found.push({ name, role, ...(value === '' ? {} : { value }), takesNext: value === '' });
      break;
    }
  }
  return found;
}

/** True if one of the options is given. */
export function hasOption({ options }: Arguments, names: string): boolean {
  return options.some(({ name }) => names.split(' ').includes(name));
}
