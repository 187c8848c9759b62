import { type CallFacts, definePolicy, type Place, type PlaceView, type Policy } from '@holdfast/core';
import * as v from 'valibot';
import { isWithin } from '../places/path.ts';
import { isAllowedBy, readCommandRule } from './command-rule.ts';
import { type FactRule, factRuleSchema, isMeantHost, meantFiles, readFactRule } from './fact-rule.ts';
import { decide, denyWithoutFacts, type Finding } from './findings.ts';
import { keyOf } from './secrets.ts';

/** The rules of one file. */
export interface FactRules {
  readonly deny?: readonly FactRule[] | undefined;
  /** Calls that need approval. */
  readonly ask?: readonly FactRule[] | undefined;
  /** Exceptions from the `ask` rules beside it. Lifts nothing else. */
  readonly allow?: readonly FactRule[] | undefined;
}

/** `destructive` is a heuristic, so an exception must name the command. */
export const allowRuleSchema: v.GenericSchema<FactRule> = v.pipe(
  factRuleSchema,
  v.check(
    ({ runs }) => runs !== 'destructive',
    'must name a command, such as { "runs": "git push origin main" }: `destructive` cannot be an exception',
  ),
);

/** The lines of rules in their file, from 1, by place: `deny[0]`. */
export type RuleLines = ReadonlyMap<string, number>;

export interface FactPolicyOptions {
  /** Default `fact-rules`. Required if one place has two. */
  readonly id?: string | undefined;
  /** The file that contains the rules, for reasons. */
  readonly source: string;
  /** For reasons. */
  readonly lines?: RuleLines | undefined;
}

/**
 * The policy of a rule file, valid against `factRuleSchema` and `allowRuleSchema`. A denial overrides a question. An exception covers
 * only the effect that it names. Denies every call without facts. Stateless.
 */
export function factPolicy(
  { deny = [], ask = [], allow = [] }: FactRules,
  { id = 'fact-rules', source, lines }: FactPolicyOptions,
): Policy<undefined> {
  const readRules = (answer: 'deny' | 'ask', rules: readonly FactRule[]) =>
    rules.map((rule, index) => {
      const line = lines?.get(`${answer}[${index}]`);
      const place = line === undefined ? source : `${source}:${line}`;
      return {
        told: `Rule in \`${place}\`: ${answer} \`${describeRule(rule).join(': ')}\`.`,
        match: readFactRule(rule),
      };
    });
  const finders = { deny: readRules('deny', deny), ask: readRules('ask', ask) };
  const exempt = readExceptions(allow);
  return definePolicy({
    name: 'fact-rules',
    id,
    check({ facts }, { place }) {
      if (facts === undefined || place === undefined) return denyWithoutFacts(id);
      const find = (answer: 'deny' | 'ask', seen: CallFacts): readonly Finding[] =>
        finders[answer].flatMap(({ told, match }) => {
          const held = match(seen, place);
          return held === undefined ? [] : [{ answer, reason: `${held} ${told}` }];
        });
      return decide([...find('deny', facts), ...find('ask', exempt(facts, place))]);
    },
  });
}

/** The key and the value of a rule. */
export function describeRule(rule: FactRule): readonly [key: string, value: string] {
  const [key = '', value = ''] = Object.entries(rule).find(([, given]) => given !== undefined) ?? [];
  return [key, value];
}

/** The facts of a call without the excepted effects. Unclear items stay. */
function readExceptions(rules: readonly FactRule[]): (facts: CallFacts, view: PlaceView) => CallFacts {
  const valuesOf = (key: keyof FactRule): readonly string[] => rules.flatMap(({ [key]: value }) => value ?? []);
  const uses = { reads: readPlaces('reads'), writes: readPlaces('writes'), deletes: readPlaces('deletes') };
  const commands = valuesOf('runs').map(readCommandRule);
  const [reached, sent] = [valuesOf('reaches'), valuesOf('sends')];

  function readPlaces(use: 'reads' | 'writes' | 'deletes'): (place: Place, view: PlaceView) => boolean {
    const all = valuesOf(use).map((what) => ({ isOutside: what === 'outside', isMeant: meantFiles(what) }));
    return ({ path, inside, recursive }, { workspace }) => {
      // Such a place includes more than its own path: files behind links, or the workspace.
      if (recursive !== undefined && (recursive.follows !== undefined || isWithin(workspace, path))) return false;
      return all.some(({ isOutside, isMeant }) => (isOutside ? !inside : isMeant(keyOf(path, workspace))));
    };
  }

  return (facts, view) => ({
    ...facts,
    reads: facts.reads.filter((place) => !uses.reads(place, view)),
    writes: facts.writes.filter((place) => !uses.writes(place, view)),
    deletes: facts.deletes.filter((place) => !uses.deletes(place, view)),
    runs: facts.runs.filter(
      (command) => command.environment.length > 0 || !commands.some((rule) => isAllowedBy(rule, command)),
    ),
    // Reaching a host does not imply sending to it.
    hosts: facts.hosts.filter(
      ({ host, sends }) => ![...sent, ...(sends ? [] : reached)].some((pattern) => isMeantHost(pattern, host)),
    ),
  });
}
