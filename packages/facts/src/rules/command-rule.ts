import { foldPath } from '@holdfast/core/internal';
import type { Command } from '@holdfast/core/types';

/** `git push --force`: a program, and words that its arguments must contain. */
export interface CommandRule {
  readonly text: string;
  readonly program: string;
  /** The program, folded. */
  readonly folded: string;
  readonly words: readonly string[];
}

/** The syntax of a rule: words separated by single spaces; the first is not an option. */
export const commandRulePattern: RegExp = /^[^\s-]\S*(?: \S+)*$/;

export function readCommandRule(text: string): CommandRule {
  const [program = '', ...words] = text.split(' ');
  return { text, program, folded: foldProgram(program), words };
}

/** If a command matches the rule; `maybe` if that depends on unknown words. */
export type RuleMatch = 'yes' | 'maybe' | 'no';

// Synonyms of options, by program.
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
    git: [
      ['-f', '--force'],
      ['-d', '--delete'],
      ['-i', '--interactive'],
    ],
    npm: [['-g', '--global']],
  }),
);

type Words = Command['arguments'];

/**
 * For rules that refuse: every spelling of the program and of its options matches, and an argument that may be an option's value may also be a
 * subcommand.
 */
export function matchRule(rule: CommandRule, { program: called, arguments: found }: Command): RuleMatch {
  const { folded: program } = rule;
  const name = foldProgram(called);
  // `git-push` is Git's own name for `git push`.
  const isPart = name.startsWith(`${program}-`) && rule.words.length > 0;
  if (name !== program && !isPart) return 'no';
  const given = isPart ? [name.slice(program.length + 1), ...found] : found;
  const options = rule.words.filter(isOption);
  const places = rule.words.filter((word) => !isOption(word));
  const matches = [
    matchPlaces(places, given),
    ...options.map((option) => (isInRefspec(rule, option, given) ? 'yes' : matchOption(program, option, given))),
  ];
  if (matches.includes('no')) return 'no';
  return matches.includes('maybe') ? 'maybe' : 'yes';
}

/** For rules that allow: exactly these words, at the start. */
export function isAllowedBy(rule: CommandRule, { program, arguments: given }: Command): boolean {
  return program === rule.program && rule.words.every((word, index) => given[index] === word);
}

/** The normalized program name: without folder, case, extension, and characters that some file systems ignore. */
export function foldProgram(name: string): string {
  return foldPath(name)
    .replace(/^.*[/\\](?=.)/s, '')
    .replace(/\.(?:exe|cmd|bat|com)$/, '');
}

function isOption(word: string): boolean {
  return word.startsWith('-') && word.length > 1;
}

function matchPlaces(places: readonly string[], given: Words): RuleMatch {
  // The number of matched words, for every way to read the arguments.
  let filled: ReadonlySet<number> = new Set([0]);
  let follows = false;
  for (const text of given) {
    if (filled.has(places.length)) return 'yes';
    if (text === null) return 'maybe';
    if (isOption(text)) {
      follows = !text.includes('=');
      continue;
    }
    const advanced = [...filled].flatMap((count) => (isPlace(places[count], text) ? [count + 1] : []));
    filled = new Set(follows ? [...filled, ...advanced] : advanced);
    if (filled.size === 0) return 'no';
    follows = false;
  }
  return filled.has(places.length) ? 'yes' : 'no';
}

function isPlace(place: string | undefined, text: string): boolean {
  return place === '*' || place?.toLowerCase() === text.toLowerCase();
}

function matchOption(program: string, option: string, given: Words): RuleMatch {
  const group = optionNames.get(program)?.find((names) => names.includes(option)) ?? [option];
  if (given.some((text) => text !== null && group.some((name) => isSameOption(name, text)))) return 'yes';
  const end = given.indexOf('--');
  return given.slice(0, end === -1 ? given.length : end).includes(null) ? 'maybe' : 'no';
}

// `git push origin +main` and `git push origin :main`.
const inRefspecs: ReadonlyMap<string, RegExp> = new Map([
  ['--force', /^\+/],
  ['-f', /^\+/],
  ['--delete', /^\+?:./],
  ['-d', /^\+?:./],
]);

function isInRefspec({ folded, words }: CommandRule, option: string, given: Words): boolean {
  const pattern = inRefspecs.get(option);
  return (
    folded === 'git' &&
    words[0] === 'push' &&
    pattern !== undefined &&
    given.some((text) => text !== null && pattern.test(text))
  );
}

function isSameOption(name: string, text: string): boolean {
  if (name.startsWith('--')) {
    // Programs accept any prefix of a long option.
    const [given = ''] = text.split('=');
    return given.length > 2 && name.startsWith(given);
  }
  if (name.length > 2) return text === name;
  return /^-[^-]/.test(text) && text.includes(name.slice(1));
}
