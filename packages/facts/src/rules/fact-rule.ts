import { type CallFacts, type PlaceView, runsByItself } from '@holdfast/core';
import * as v from 'valibot';
import { findWithin } from '../places/within.ts';
import { type CommandRule, commandRulePattern, matchRule, readCommandRule } from './command-rule.ts';
import { findDestructive } from './destructive.ts';
import { filePatterns, isFilePattern } from './file-patterns.ts';
import { quote } from './findings.ts';
import { keyOf, secretFinder } from './secrets.ts';

/** Something that calls do. Exactly one key. */
export interface FactRule {
  /** `secrets`, `outside` of the workspace, or a pattern of files. */
  readonly reads?: string | undefined;
  /** `secrets`, `outside`, `self-running`, or a pattern of files. */
  readonly writes?: string | undefined;
  /** `secrets`, `outside`, or a pattern of files. */
  readonly deletes?: string | undefined;
  /** `destructive`, or a command as its words begin: `git push --force`. */
  readonly runs?: string | undefined;
  /** A host, `*.example.org`, or `*`. */
  readonly reaches?: string | undefined;
  /** A host to which data goes, written the same way. */
  readonly sends?: string | undefined;
}

const keys = ['reads', 'writes', 'deletes', 'runs', 'reaches', 'sends'] as const;
const files = v.pipe(v.string(), v.check(isFilePattern, 'must be a pattern of files'));
const host = v.pipe(
  v.string(),
  v.regex(/^(?:\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])$/, 'must be a host'),
);

export const factRuleSchema: v.GenericSchema<FactRule> = v.pipe(
  v.strictObject({
    reads: v.optional(files),
    writes: v.optional(files),
    deletes: v.optional(files),
    runs: v.optional(v.pipe(v.string(), v.regex(commandRulePattern, 'must be a command'), v.maxLength(200))),
    reaches: v.optional(host),
    sends: v.optional(host),
  }),
  v.check(
    (rule) => keys.filter((key) => rule[key] !== undefined).length === 1,
    `must have exactly one of ${keys.join(', ')}`,
  ),
);

/** Why a call is one of a rule, as a sentence; `undefined` when it is not, as far as its facts are clear. */
export type FactMatcher = (facts: CallFacts, view: PlaceView) => string | undefined;

/** A matcher of a rule that has met `factRuleSchema`. What depends on words that are not known counts as done. */
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

function matchHosts(pattern: string, sending: boolean): FactMatcher {
  const isHost = (name: string): boolean =>
    pattern === '*' || name === pattern || (pattern.startsWith('*.') && name.endsWith(pattern.slice(1)));
  return ({ hosts }) => {
    const found = hosts.find(({ host: name, sends }) => isHost(name) && (sends || !sending));
    return found && `It ${sending ? 'sends data to' : 'reaches'} ${quote(found.host)}.`;
  };
}

function matchFiles(use: 'reads' | 'writes' | 'deletes', what: string): FactMatcher {
  const patterns = filePatterns([what]);
  const isSecret = secretFinder();
  const isMeant = (key: string): boolean =>
    what === 'secrets'
      ? isSecret(key)
      : what === 'self-running'
        ? runsByItself(key) !== undefined
        : patterns.covers(key);
  return (facts, view) => {
    for (const place of facts[use]) {
      const key = keyOf(place.path, view.workspace);
      const shown = place.path === view.workspace ? 'the workspace' : quote(place.inside ? key : place.path);
      if (what === 'outside' ? !place.inside : isMeant(key)) return `It ${use} ${shown}.`;
      if (what === 'outside' || place.recursive === undefined || use === 'writes') continue;
      const found = findWithin(place, view, { matches: (path) => isMeant(keyOf(path, view.workspace)) });
      if (found.type === 'found') return `It ${use} ${quote(keyOf(found.path, view.workspace))} with ${shown}.`;
      if (found.type === 'unclear') return `It ${use} ${shown}, of which not all is known.`;
    }
    const open = facts.unclear.find((item) => item.kind === 'words' && item.use === use);
    return open && `It ${use} files, and ${open.reason}.`;
  };
}
