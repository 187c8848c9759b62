import type { ShellWord } from './shell-word.ts';
import { isHarmlessVariable } from './variables.ts';
import { type Inner, joinedScript, skipOptions, type Wrapped } from './wrappers.ts';

// What they change decides what the commands after them do.
const changing: ReadonlySet<string> = new Set(
  'alias unalias bind complete compopt enable fc getopts hash let mapfile read readarray shopt unset'.split(' '),
);
// `set -euo pipefail`; what else it does may change how words are read.
const settings = /^(?:[-+][CEefhnuvx]*o?|errexit|noclobber|noglob|nounset|pipefail|verbose|xtrace)$/;
const declaring: ReadonlySet<string> = new Set(['declare', 'typeset', 'local', 'export', 'readonly']);
// They run others in ways of their own, or what a file says.
const opaque: ReadonlySet<string> = new Set(
  (
    '. source at batch crontab csh doit entr expect fakeroot firejail fish flock gdb ksh ltrace mksh nsenter parallel pkexec powershell ' +
    'proot pwsh rlwrap runuser screen script setpriv ssh start-stop-daemon strace su systemd-run tcsh tmux unbuffer unshare xvfb-run zsh'
  ).split(' '),
);
const shells: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'ash']);
const interpreters: ReadonlySet<string> = new Set([
  ...shells,
  ...(
    '. source eval bun csh deno fish groovy iex julia ksh lua mksh node nodejs osascript perl php powershell pwsh pypy python rscript ruby ' +
    'scala swift tclsh tcsh zsh'
  ).split(' '),
]);
const downloaders: ReadonlySet<string> = new Set(
  'aria2c axel curl fetch ftp http https httpie lftp lynx nc ncat netcat rclone scp sftp socat telnet tftp w3m wget wget2 xh'.split(
    ' ',
  ),
);

/** Runs what it reads, whatever the language. */
export function isInterpreter(program: string): boolean {
  return interpreters.has(program.replace(/[\d.]+$/, '') || program);
}

export function isDownloader(program: string): boolean {
  return downloaders.has(program);
}

/**
 * Whether an interpreter runs what it reads, or a word that is not known: all but one whose program is told by its first words, as in
 * `python3 -m json.tool` and `node count.js`, so that what it reads is data.
 */
export function runsItsInput(program: string, given: readonly ShellWord[]): boolean {
  if (given.some(({ known }) => !known)) return true;
  const texts = given.map(({ text }) => text);
  const [first = '-', second] = texts;
  const language = program.replace(/[\d.]+$/, '') || program;
  const option = programOptions.get(language);
  if (option?.test(first) === true) return second === undefined;
  const isFile = !first.startsWith('-') && !isInput({ text: first, known: true, splits: false });
  return option === undefined || !isFile;
}

// Of languages of which the program is an option's value, or the first file.
const programOptions: ReadonlyMap<string, RegExp> = new Map([
  ...['python', 'pypy'].map((name) => [name, /^-[cm]$/] as const),
  ...['node', 'nodejs'].map((name) => [name, /^(?:-e|-p|-pe|--eval|--print)$/] as const),
  ...['perl', 'ruby'].map((name) => [name, /^-[alnp0]*e$/] as const),
  ['php', /^-r$/],
]);

/** Why it cannot be said what a command runs that is not looked through. */
export function findOpaque(program: string, given: readonly ShellWord[]): string | undefined {
  const setsGit = program === 'git' && given.some(({ text }) => /^(?:-c|--config-env|--exec-path)(?:$|=)/.test(text));
  if (setsGit) return 'options of `git` that may name a program';
  return opaque.has(program) || opaque.has(program.replace(/[\d.]+$/, '')) ? 'runs what is not read here' : undefined;
}

/** Texts that a command reads: of here-documents and here-strings; `undefined` for what is not known. */
export type InputTexts = readonly (string | undefined)[];

/** What a builtin or a shell runs or changes; `undefined` for any other command. */
export function unwrapBuiltin(name: string, given: readonly ShellWord[], texts: InputTexts): Wrapped | undefined {
  if (shells.has(name)) return unwrapShell(name, given, texts);
  if (changing.has(name)) return onlyUnclear(`\`${name}\` changes what the commands after it do`);
  if (declaring.has(name)) return unwrapDeclaration(name, given);
  switch (name) {
    case 'eval':
      return { inner: [joinedScript(name, given[0]?.text === '--' ? given.slice(1) : given)], isTransparent: true };
    case 'source':
    case '.':
      return unwrapFile(name, given);
    case 'trap':
      return unwrapTrap(given);
    case 'set':
      return given.length > 0 && given.every(({ text, known }) => known && settings.test(text))
        ? { inner: [], isTransparent: true }
        : onlyUnclear('`set` changes what the commands after it do');
    case 'printf':
      // `printf -v` evaluates a subscript.
      return mayBegin(given[0], '-v') ? onlyUnclear('`printf -v` sets a variable') : undefined;
    case 'test':
    case '[':
      // `test -v` evaluates a subscript, and a word that is not known may be that.
      return given.some(({ text, known }) => !known || text === '-v' || text === '-R')
        ? onlyUnclear(`what \`${name}\` tests is not known`)
        : undefined;
    default:
      return undefined;
  }
}

function unwrapDeclaration(name: string, given: readonly ShellWord[]): Wrapped | undefined {
  if (given.length === 0) return undefined;
  for (const { text, known, splits } of given) {
    if (/^[-+][rxg]+$/.test(text) && known) continue;
    const variable = /^([A-Za-z_]\w*)(?:\+?=|$)/.exec(text)?.[1];
    const isWhole = known || (!splits && text.includes('='));
    if (variable === undefined || !isWhole) return onlyUnclear(`what \`${name}\` declares is not known`);
    const value = known ? /^\w+=(.*)$/s.exec(text)?.[1] : undefined;
    // Without a value it stays what it was.
    if (!isHarmlessVariable(variable, value)) return onlyUnclear(`\`${variable}\` may change what a command does`);
  }
  return { inner: [], isTransparent: true };
}

function unwrapTrap(given: readonly ShellWord[]): Wrapped {
  const [first, ...others] = given[0]?.text === '--' ? given.slice(1) : given;
  if (first === undefined) return { inner: [], isTransparent: true };
  if (!first.known || others.length === 0) return onlyUnclear('what `trap` runs is not known');
  if (first.text === '-' || first.text === '') return { inner: [], isTransparent: true };
  return { inner: [{ type: 'script', text: first.text }], isTransparent: true };
}

const shellOptions = {
  flags: 'abcefhiklmnprstuvxBCDEHP',
  longFlags: ['--login', '--noediting', '--noprofile', '--norc', '--posix', '--restricted', '--verbose'],
  valued: 'oO',
};

function unwrapShell(name: string, given: readonly ShellWord[], texts: InputTexts): Wrapped | undefined {
  const start = skipOptions(given, shellOptions);
  const options = given.slice(0, start).map(({ text }) => text);
  // An `o` within other letters takes the next word, unlike the value of any other program's option.
  if (start === undefined || given[start]?.text.startsWith('+') || options.some((text) => /^-[^-]*[oO]./.test(text))) {
    return onlyUnclear(`what \`${name}\` runs is not known`);
  }
  const [script] = given.slice(start);
  const takesInput = options.some((text) => /^-[^-]*s/.test(text));
  if (options.some((text) => /^-[^-]*c/.test(text))) {
    if (script === undefined) return { inner: [], isTransparent: false };
    if (!script.known) return onlyUnclear(`what \`${name} -c\` runs is not known`);
    const inner: Inner = { type: 'script', text: script.text };
    // `dash` runs what it reads after that, too.
    const also: Inner = { type: 'unclear', problem: `what \`${name} -s\` reads is not known` };
    return { inner: takesInput ? [inner, also] : [inner], isTransparent: true };
  }
  const readsInput = script === undefined || takesInput || isInput(script);
  if (!readsInput) return unwrapFile(name, given.slice(start));
  if (texts.length === 0) return onlyUnclear(`what \`${name}\` reads is not known`);
  const inner = texts.map(
    (text): Inner =>
      text === undefined
        ? { type: 'unclear', problem: `what \`${name}\` reads is not known` }
        : { type: 'script', text },
  );
  return { inner, isTransparent: true };
}

function unwrapFile(name: string, words: readonly ShellWord[]): Wrapped {
  if (words[0]?.known !== true) return onlyUnclear(`what \`${name}\` runs is not known`);
  return { inner: [{ type: 'file', words }], isTransparent: false };
}

function isInput({ text }: ShellWord): boolean {
  return text === '-' || text.startsWith('/dev/') || text.startsWith('/proc/');
}

function mayBegin(word: ShellWord | undefined, option: string): boolean {
  if (word === undefined) return false;
  return word.known ? word.text.startsWith(option) : option.startsWith(word.text.slice(0, option.length));
}

function onlyUnclear(problem: string): Wrapped {
  return { inner: [{ type: 'unclear', problem }], isTransparent: true };
}
