import { type ShellWord, unknownWords } from './shell-word.ts';
import { isHarmlessVariable } from './variables.ts';

/** What a command that runs others runs. */
export type Inner =
  | { readonly type: 'nothing' }
  | { readonly type: 'command'; readonly words: readonly ShellWord[] }
  | { readonly type: 'script'; readonly text: string }
  /** A file that a shell reads, and its arguments: found as a command is. */
  | { readonly type: 'file'; readonly words: readonly ShellWord[] }
  | { readonly type: 'unclear'; readonly problem: string };

export interface Wrapped {
  readonly inner: readonly Inner[];
  /** The command is no more than what it runs. */
  readonly isTransparent: boolean;
}

export interface OptionShapes {
  /** Letters, and long names. */
  readonly flags?: string;
  readonly longFlags?: readonly string[];
  /** Those with a value. */
  readonly valued?: string;
  readonly longValued?: readonly string[];
}

interface WrapperOptions extends OptionShapes {
  /** How many words stand before the command. */
  readonly operands?: number;
  /** `NAME=value` may stand before the command. */
  readonly takesVariables?: boolean;
  /** It does more than to run the command. */
  readonly isMore?: boolean;
}

const wrappers: ReadonlyMap<string, WrapperOptions> = new Map(
  Object.entries<WrapperOptions>({
    env: {
      flags: 'i0v',
      longFlags: ['--ignore-environment', '--null', '--debug'],
      valued: 'uC',
      longValued: ['--unset', '--chdir'],
      takesVariables: true,
    },
    nice: { flags: '0123456789', valued: 'n', longValued: ['--adjustment'] },
    nohup: {},
    timeout: {
      flags: 'vfp',
      longFlags: ['--verbose', '--foreground', '--preserve-status'],
      valued: 'sk',
      longValued: ['--signal', '--kill-after'],
      operands: 1,
    },
    time: { flags: 'pv', longFlags: ['--portability', '--verbose'], valued: 'f', longValued: ['--format'] },
    stdbuf: { valued: 'ioe', longValued: ['--input', '--output', '--error'] },
    ionice: { flags: 't', valued: 'cn', longValued: ['--class', '--classdata'] },
    setsid: { flags: 'cfw', longFlags: ['--ctty', '--fork', '--wait'] },
    taskset: { flags: 'ac', operands: 1 },
    exec: { flags: 'cl', valued: 'a' },
    command: { flags: 'p' },
    builtin: {},
    noglob: {},
    busybox: {},
    toybox: {},
    xargs: {
      flags: '0rtpxo',
      longFlags: ['--null', '--no-run-if-empty', '--verbose', '--interactive', '--exit', '--open-tty', '--replace'],
      valued: 'adEILnPs',
      longValued: ['--arg-file', '--delimiter', '--max-args', '--max-chars', '--max-procs'],
    },
    sudo: {
      flags: 'AbEHkKlnPSsi',
      longFlags: ['--non-interactive', '--preserve-env', '--set-home', '--stdin', '--login', '--shell'],
      valued: 'ughpCrtTUDR',
      longValued: ['--user', '--group', '--host', '--prompt', '--chdir', '--chroot'],
      takesVariables: true,
      isMore: true,
    },
    doas: { flags: 'ns', valued: 'uC', isMore: true },
    chroot: { longValued: ['--userspec', '--groups'], operands: 1, isMore: true },
  }),
);

/** What a command of a table above, or `find` or `watch`, runs; `undefined` for any other. */
export function unwrap(name: string, given: readonly ShellWord[]): Wrapped | undefined {
  if (name === 'find') return unwrapFind(given);
  if (name === 'watch') return unwrapWatch(given);
  const options = wrappers.get(name);
  if (options === undefined) return undefined;
  // `command -v ls` only tells where `ls` is.
  if (name === 'command' && given[0]?.known === true && /^-[vV]$/.test(given[0].text)) {
    return { inner: [{ type: 'nothing' }], isTransparent: true };
  }
  const inner = readWrapped(name, given, options);
  const isTransparent = options.isMore !== true && inner.every(({ type }) => type !== 'nothing');
  return { inner, isTransparent };
}

function readWrapped(name: string, given: readonly ShellWord[], options: WrapperOptions): readonly Inner[] {
  const { operands = 0, takesVariables = false } = options;
  let start = skipOptions(given, options);
  if (start === undefined) return [unclear(`which command \`${name}\` runs is not known`)];
  const inner: Inner[] = [];
  for (const word of takesVariables ? given.slice(start) : []) {
    const [variable = '', ...value] = word.text.split('=');
    if (value.length === 0) break;
    if (word.splits) return [unclear(`which command \`${name}\` runs is not known`)];
    if (!isHarmlessVariable(variable, word.known ? value.join('=') : undefined)) {
      inner.push(unclear(`\`${variable}\` may change what a command does`));
    }
    start += 1;
  }
  if (given.slice(start, start + operands).some(({ splits }) => splits)) {
    return [unclear(`which command \`${name}\` runs is not known`)];
  }
  const words = given.slice(start + operands);
  if (words.length === 0) return [...inner, { type: 'nothing' }];
  if (name !== 'xargs') return [...inner, { type: 'command', words }];
  const replaced = replacedBy(given.slice(0, start));
  if (replaced === undefined) return [...inner, { type: 'command', words: [...words, unknownWords] }];
  return [...inner, { type: 'command', words: words.map((word) => withHole(word, replaced)) }];
}

/** Where the options end; `undefined` when it cannot be known. */
export function skipOptions(given: readonly ShellWord[], options: OptionShapes): number | undefined {
  let index = 0;
  for (;;) {
    const word = given[index];
    if (word === undefined) return index;
    const { text, known, splits } = word;
    if (!known && (splits || text === '' || text.startsWith('-'))) return undefined;
    if (text === '--') return index + 1;
    if (!text.startsWith('-') || text === '-') return index;
    const width = text.startsWith('--') ? longWidth(text, options) : shortWidth(text, options);
    if (width === undefined) return undefined;
    if (given.slice(index, index + width).some((value) => value.splits)) return undefined;
    index += width;
  }
}

function longWidth(text: string, { longFlags = [], longValued = [] }: OptionShapes): number | undefined {
  const [name = '', ...value] = text.split('=');
  if (longFlags.includes(name)) return 1;
  if (!longValued.includes(name)) return undefined;
  return value.length > 0 ? 1 : 2;
}

function shortWidth(text: string, { flags = '', valued = '' }: OptionShapes): number | undefined {
  for (let index = 1; index < text.length; index += 1) {
    const letter = text.charAt(index);
    if (flags.includes(letter)) continue;
    if (!valued.includes(letter)) return undefined;
    return index === text.length - 1 ? 2 : 1;
  }
  return 1;
}

/** The text that `xargs` replaces, when it is told to. */
function replacedBy(options: readonly ShellWord[]): string | undefined {
  for (const [index, { text }] of options.entries()) {
    if (text === '--replace') return '{}';
    if (/^-[0rtpxo]*I$/.test(text)) return options[index + 1]?.text ?? '';
    const attached = /^(?:-[0rtpxo]*I|--replace=)(.+)$/s.exec(text);
    if (attached !== null) return attached[1];
  }
  return undefined;
}

function withHole(word: ShellWord, hole: string): ShellWord {
  const at = word.text.indexOf(hole);
  return at === -1 ? word : { text: word.text.slice(0, at), known: false, splits: word.splits };
}

function unwrapFind(given: readonly ShellWord[]): Wrapped {
  const inner: Inner[] = [];
  if (given.some(({ text, known, splits }) => !known && (splits || text === '' || text.startsWith('-')))) {
    inner.push(unclear('what `find` does is not known'));
  }
  let rest = given;
  for (;;) {
    const start = rest.findIndex(({ text }) => /^-(?:exec|execdir|ok|okdir)$/.test(text));
    if (start === -1) return { inner, isTransparent: false };
    rest = rest.slice(start + 1);
    const length = rest.findIndex(
      ({ text }, index) => text === ';' || (text === '+' && rest[index - 1]?.text === '{}'),
    );
    if (length < 1) return { inner: [unclear('where the command of `find` ends is not known')], isTransparent: false };
    // A file name each, or many of them.
    const words = rest.slice(0, length).map((word) => ({ ...withHole(word, '{}'), splits: word.text.includes('{}') }));
    inner.push({ type: 'command', words });
    rest = rest.slice(length);
  }
}

function unwrapWatch(given: readonly ShellWord[]): Wrapped {
  const start = skipOptions(given, {
    flags: 'bcdegptw',
    longFlags: ['--differences', '--no-title', '--color', '--errexit', '--chgexit', '--precise', '--no-wrap'],
    valued: 'nq',
    longValued: ['--interval'],
  });
  if (start === undefined) return { inner: [unclear('which command `watch` runs is not known')], isTransparent: true };
  return { inner: [joinedScript('watch', given.slice(start))], isTransparent: start < given.length };
}

/** A script that is made of words, as `eval` makes it. */
export function joinedScript(name: string, words: readonly ShellWord[]): Inner {
  if (words.length === 0) return { type: 'nothing' };
  if (words.some(({ known }) => !known)) return unclear(`what \`${name}\` runs is not known`);
  return { type: 'script', text: words.map(({ text }) => text).join(' ') };
}

function unclear(problem: string): Inner {
  return { type: 'unclear', problem };
}
