import type { ShellWord } from './shell-word.ts';

/** `git push`: a program, and words that its arguments have. */
export interface CommandRule {
  readonly text: string;
  readonly program: string;
  /** The program, folded. */
  readonly folded: string;
  readonly words: readonly string[];
}

/** How a rule is written: words with one space between, the first no option. */
export const commandRulePattern: RegExp = /^[^\s-]\S*(?: \S+)*$/;

export function readCommandRule(text: string): CommandRule {
  const [program = '', ...words] = text.split(' ');
  return { text, program, folded: foldProgram(program), words };
}

/** Whether a command is one of the rule: it may depend on words that are not known yet. */
export type RuleMatch = 'yes' | 'maybe' | 'no';

// What one option is also called, by program. Other programs go by what a rule says.
const optionNames: ReadonlyMap<string, readonly (readonly string[])[]> = new Map(
  Object.entries({
    rm: [
      ['-r', '-R', '--recursive'],
      ['-f', '--force'],
    ],
    cp: [
      ['-r', '-R', '-a', '--recursive', '--archive'],
      ['-f', '--force'],
    ],
    mv: [['-f', '--force']],
    chmod: [['-R', '--recursive']],
    chown: [['-R', '--recursive']],
    chgrp: [['-R', '--recursive']],
    sed: [['-i', '--in-place']],
    sort: [['-o', '--output']],
    date: [['-s', '--set']],
    git: [
      ['-f', '--force'],
      ['-d', '-D', '--delete'],
      ['-i', '--interactive'],
      ['-O', '--open-files-in-pager'],
    ],
    curl: [
      ['-o', '--output'],
      ['-O', '--remote-name', '--remote-name-all'],
      ['-T', '--upload-file'],
    ],
    wget: [['-O', '--output-document']],
    npm: [['-g', '--global']],
  }),
);

/**
 * For rules that refuse, by the folded name of a command and its arguments: every spelling of the program and of its options counts, and
 * an argument that may belong to an option may be a sub-command as well.
 */
export function matchRule(rule: CommandRule, called: string, found: readonly ShellWord[]): RuleMatch {
  const program = rule.folded;
  // `git-push` is how Git itself calls `git push`.
  const isPart = called.startsWith(`${program}-`) && rule.words.length > 0;
  if (called !== program && !isPart) return 'no';
  const part: ShellWord = { text: called.slice(program.length + 1), known: true, splits: false };
  const given = isPart ? [part, ...found] : found;
  const options = rule.words.filter(isOption);
  const places = rule.words.filter((word) => !isOption(word));
  const matches = [
    matchPlaces(places, given),
    ...options.map((option) => (isInRefspec(rule, option, given) ? 'yes' : matchOption(program, option, given))),
  ];
  if (matches.includes('no')) return 'no';
  return matches.includes('maybe') ? 'maybe' : 'yes';
}

/** For rules that allow: the very words, at the beginning. */
export function isAllowedBy({ program, words }: CommandRule, [name, ...given]: readonly ShellWord[]): boolean {
  if (name === undefined || !name.known) return false;
  const isProgram = name.text === program || (!program.includes('/') && isSystemProgram(name.text, program));
  return isProgram && words.every((word, index) => given[index]?.known === true && given[index].text === word);
}

function isSystemProgram(path: string, program: string): boolean {
  return path === `/bin/${program}` || path === `/usr/bin/${program}`;
}

/** The program's name as any system may find it: without folder, case, ending, and letters that some file systems ignore. */
export function foldProgram(name: string): string {
  const plain = name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase();
  const base = plain.replace(/^.*[/\\](?=.)/s, '');
  return base.replace(/\.(?:exe|cmd|bat|com)$/, '');
}

function isOption(word: string): boolean {
  return word.startsWith('-') && word.length > 1;
}

function matchPlaces(places: readonly string[], given: readonly ShellWord[]): RuleMatch {
  // How many of the places are filled, for every way to read the arguments.
  let filled: ReadonlySet<number> = new Set([0]);
  let follows = false;
  for (const { text, known, splits } of given) {
    if (filled.has(places.length)) return 'yes';
    if (!known) {
      const remaining = places.slice(Math.min(...filled));
      if (splits || remaining.some((place) => place === '*' || place.toLowerCase().startsWith(text.toLowerCase())))
        return 'maybe';
    }
    if (isOption(text)) {
      follows = !text.includes('=');
      continue;
    }
    const advanced = [...filled].flatMap((count) => (known && isPlace(places[count], text) ? [count + 1] : []));
    filled = new Set(follows ? [...filled, ...advanced] : advanced);
    if (filled.size === 0) return 'no';
    follows = false;
  }
  return filled.has(places.length) ? 'yes' : 'no';
}

function isPlace(place: string | undefined, text: string): boolean {
  return place === '*' || place?.toLowerCase() === text.toLowerCase();
}

function matchOption(program: string, option: string, given: readonly ShellWord[]): RuleMatch {
  const group = optionNames.get(program)?.find((names) => names.includes(option)) ?? [option];
  const known = given.filter((word) => word.known);
  if (known.some(({ text }) => group.some((name) => isSameOption(name, text)))) return 'yes';
  const end = given.findIndex(({ text, known: isKnown }) => isKnown && text === '--');
  const open = end === -1 ? given : given.slice(0, end);
  return open.some((word) => !word.known && (word.splits || word.text === '' || word.text.startsWith('-')))
    ? 'maybe'
    : 'no';
}

// `git push origin +main` and `git push origin :main`.
const inRefspecs: ReadonlyMap<string, RegExp> = new Map([
  ['--force', /^\+/],
  ['-f', /^\+/],
  ['--delete', /^\+?:./],
  ['-d', /^\+?:./],
]);

function isInRefspec({ folded, words }: CommandRule, option: string, given: readonly ShellWord[]): boolean {
  const pattern = inRefspecs.get(option);
  return (
    folded === 'git' && words[0] === 'push' && pattern !== undefined && given.some(({ text }) => pattern.test(text))
  );
}

function isSameOption(name: string, text: string): boolean {
  if (name.startsWith('--')) {
    // Programs take a long option by any beginning of it.
    const [given = ''] = text.split('=');
    return given.length > 2 && name.startsWith(given);
  }
  if (name.length > 2) return text === name;
  return /^-[^-]/.test(text) && text.includes(name.slice(1));
}
