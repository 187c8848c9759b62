import { type CallFacts, type PlaceView, runsByItself } from '@holdfast/core';
import { editDistance } from '@holdfast/core/internal';
import * as v from 'valibot';
import { findWithin } from '../places/within.ts';
import { type CommandRule, commandRulePattern, matchRule, readCommandRule } from './command-rule.ts';
import { findDestructive } from './destructive.ts';
import { filePatterns, isFilePattern } from './file-patterns.ts';
import { quote } from './findings.ts';
import { keyOf, secretFinder } from './secrets.ts';

/** An effect of calls. Exactly one key. */
export interface FactRule {
  /** `secrets`, `outside` of the workspace, or a pattern of files. */
  readonly reads?: string | undefined;
  /** `secrets`, `outside`, `self-running`, or a pattern of files. */
  readonly writes?: string | undefined;
  /** `secrets`, `outside`, or a pattern of files. */
  readonly deletes?: string | undefined;
  /** `destructive`, or the first words of a command: `git push --force`. */
  readonly runs?: string | undefined;
  /** A host, `*.example.org`, or `*`. */
  readonly reaches?: string | undefined;
  /** A host that receives data, in the same form. */
  readonly sends?: string | undefined;
}

const factRuleKeys = ['reads', 'writes', 'deletes', 'runs', 'reaches', 'sends'] as const;

const notFiles = 'must be `secrets`, `outside`, `self-running` or a pattern of files such as `src/**`';
const classes: readonly string[] = ['secrets', 'outside', 'self-running', 'destructive'];
// As a pattern it would match nothing, and nobody would notice.
const spelled = v.check<string, (issue: v.CheckIssue<string>) => string>(
  (word) => misspelledClass(word) === undefined,
  ({ input }) =>
    `is a misspelled \`${misspelledClass(input)}\`; a file or command by that name is written as \`./${input}\``,
);
const files = v.optional(v.pipe(v.string(notFiles), v.check(isFilePattern, notFiles), spelled));
const notHost = 'must be a host such as `example.org` or `*.example.org`, or `*`';
const host = v.optional(
  v.pipe(v.string(notHost), v.regex(/^(?:\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])$/, notHost)),
);
const notCommand = 'must be `destructive` or a command such as `git push --force`, with one space between words';
const command = v.optional(
  v.pipe(v.string(notCommand), v.regex(commandRulePattern, notCommand), v.maxLength(200, notCommand), spelled),
);
const known = `known keys: ${factRuleKeys.join(', ')}`;

export const factRuleSchema: v.GenericSchema<FactRule> = v.pipe(
  v.strictObject(
    { reads: files, writes: files, deletes: files, runs: command, reaches: host, sends: host },
    ({ expected }) =>
      expected === 'never' ? `unknown key; ${known}` : 'must be an object such as { "reads": "secrets" }',
  ),
  v.check(
    (rule) => factRuleKeys.filter((key) => rule[key] !== undefined).length === 1,
    `must have exactly one of ${factRuleKeys.join(', ')}`,
  ),
);

function misspelledClass(word: string): string | undefined {
  return classes.find((name) => word !== name && editDistance(word.toLowerCase(), name) <= 1);
}

/** Why a call matches a rule, as a sentence; `undefined` if its clear facts do not match. */
export type FactMatcher = (facts: CallFacts, view: PlaceView) => string | undefined;

/** A matcher for a rule that is valid against `factRuleSchema`. An uncertain match counts as a match. */
export function readFactRule(rule: FactRule): FactMatcher {
  if (rule.runs !== undefined) return matchRuns(rule.runs === 'destructive' ? undefined : readCommandRule(rule.runs));
  if (rule.reaches !== undefined) return matchHosts(rule.reaches, false);
  if (rule.sends !== undefined) return matchHosts(rule.sends, true);
  const use = rule.reads !== undefined ? 'reads' : rule.writes !== undefined ? 'writes' : 'deletes';
  return matchFiles(use, rule[use] ?? '');
}

function matchRuns(rule: CommandRule | undefined): FactMatcher {
  return ({ runs }) => {
    for (const command of runs) {
      const match = rule === undefined ? findDestructive(command) !== undefined : matchRule(rule, command) !== 'no';
      if (match)
        return `It runs ${quote([command.program, ...command.arguments.map((word) => word ?? '…')].join(' '))}.`;
    }
    return undefined;
  };
}

/** True if a rule's pattern matches a host. */
export function isMeantHost(pattern: string, name: string): boolean {
  return pattern === '*' || name === pattern || (pattern.startsWith('*.') && name.endsWith(pattern.slice(1)));
}

function matchHosts(pattern: string, sending: boolean): FactMatcher {
  return ({ hosts }) => {
    const found = hosts.find(({ host: name, sends }) => isMeantHost(pattern, name) && (sends || !sending));
    return found && `It ${sending ? 'sends data to' : 'reaches'} ${quote(found.host)}.`;
  };
}

/** Matches the files that `secrets`, `self-running` or a pattern names, by their keys. */
export function meantFiles(what: string): (key: string) => boolean {
  if (what === 'secrets') return secretFinder();
  if (what === 'self-running') return (key) => runsByItself(key) !== undefined;
  const patterns = filePatterns([what]);
  return (key) => patterns.covers(key);
}

function matchFiles(use: 'reads' | 'writes' | 'deletes', what: string): FactMatcher {
  const isMeant = meantFiles(what);
  return (facts, view) => {
    for (const place of facts[use]) {
      const key = keyOf(place.path, view.workspace);
      const shown = place.path === view.workspace ? 'the workspace' : quote(place.inside ? key : place.path);
      if (what === 'outside' ? !place.inside : isMeant(key)) return `It ${use} ${shown}.`;
      if (what === 'outside' || place.recursive === undefined || use === 'writes') continue;
      const found = findWithin(place, view, { matches: (path) => isMeant(keyOf(path, view.workspace)) });
      if (found.type === 'found') return `It ${use} ${quote(keyOf(found.path, view.workspace))} with ${shown}.`;
      if (found.type === 'unclear') return `It ${use} ${shown}, which is known only in part.`;
    }
    const open = facts.unclear.find((item) => item.kind === 'words' && item.use === use);
    return open && `It ${use} unknown files: ${open.reason}.`;
  };
}
