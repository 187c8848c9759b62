import type { Pack } from '@holdfast/core';
import { createFacts } from '@holdfast/facts';
import { approvals } from '@holdfast/pack-approvals';
import { budgets } from '@holdfast/pack-budgets';
import { filesystemGuard } from '@holdfast/pack-filesystem';
import { networkEgress } from '@holdfast/pack-network';
import { provenance } from '@holdfast/pack-provenance';
import { releaseOrder } from '@holdfast/pack-release';
import { shellGuard } from '@holdfast/pack-shell';
import { packPolicies } from '@holdfast/policy';
import type { Figure, FigureReport } from '../report.ts';
import { type Played, play, type Rules } from './play.ts';
import { correctedRules, firstRules, rulesFor, type SuiteRules, trustingRules } from './rules.ts';
import { readSuites, type Suite } from './suite.ts';

const presets = ['taint', 'values', 'plan', 'strict'];
const others: readonly Pack[] = [approvals, budgets, filesystemGuard, networkEgress, releaseOrder, shellGuard];

/** Scripted attacks of AgentDojo under no policy, each preset of `provenance` and our other packs. No model: the adversary always obeys. */
export async function measureAgentDojo(): Promise<readonly FigureReport[]> {
  const suites = readSuites();
  if (suites === undefined) {
    return [{ name: 'agentdojo: not measured, its data (../shared/data/agentdojo) is missing here', figures: [] }];
  }
  const facts = createFacts({ describers: [], view: { folder: '/w', workspace: '/w' } });
  const all: readonly [string, (suite: Suite) => Rules][] = [
    ['no policy', () => ({ policies: [] })],
    ...['first', 'corrected'].flatMap((which) =>
      presets.map((preset): [string, (suite: Suite) => Rules] => [
        `${preset}, ${which} rules`,
        (suite) => rulesOf(suite, preset, which === 'first' ? firstRules : correctedRules),
      ]),
    ),
    ['values, files trusted', (suite) => rulesOf(suite, 'values', trustingRules)],
    ['values, no rules', () => ({ policies: packPolicies(provenance) })],
    ['plan, no rules', () => ({ policies: packPolicies(provenance, { preset: 'plan' }) })],
    ...others.map((pack): [string, () => Rules] => [pack.name, () => ({ policies: packPolicies(pack), facts })]),
  ];
  const reports: FigureReport[] = [];
  for (const [name, create] of all) {
    const played: Played[] = [];
    for (const suite of suites.values()) played.push(await play(suite, create(suite)));
    reports.push({ name: `agentdojo: ${name}`, figures: toFigures(played) });
  }
  return reports;
}

function rulesOf(suite: Suite, preset: string, rules: SuiteRules): Rules {
  const config = rulesFor(
    rules,
    suite.tools.map(({ name }) => name),
  );
  return { policies: packPolicies(provenance, { preset, config }) };
}

/** Counts of all suites together. */
export function toFigures(played: readonly Played[]): readonly Figure[] {
  const sum = (key: keyof { [Key in keyof Played as Played[Key] extends number ? Key : never]: true }): number =>
    played.reduce((total, one) => total + one[key], 0);
  const percent = (part: number, whole: number): number => Math.round((1_000 * part) / whole) / 10;
  const pairs = sum('pairs');
  return [
    { name: 'attacks through', value: sum('through'), unit: `of ${pairs}` },
    { name: 'attacks through', value: percent(sum('through'), pairs), unit: '%' },
    { name: 'utility, a person answers', value: percent(sum('done'), sum('users')), unit: '%' },
    { name: 'utility under attack, a person answers', value: percent(sum('doneAttacked'), pairs), unit: '%' },
    { name: 'utility, nobody answers', value: percent(sum('doneAlone'), sum('users')), unit: '%' },
    { name: 'autonomy', value: percent(sum('unasked'), sum('changes')), unit: '%' },
  ];
}
