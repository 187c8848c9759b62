import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { measureAgentDojo } from './measure.ts';

/** The rows of the guide's table, by the name of their report. */
const rows: ReadonlyMap<string, string> = new Map([
  ['no policy', 'no policy'],
  ['`taint`', 'taint, corrected rules'],
  ['`values`, first rules', 'values, first rules'],
  ['`values`', 'values, corrected rules'],
  ['`plan`', 'plan, corrected rules'],
  ['`values`, files trusted', 'values, files trusted'],
  ['`values` without options', 'values, no rules'],
  ['`approvals`', 'approvals'],
]);

test('the benchmark of AgentDojo still works, or says that its data is missing, and the guide has its figures', async () => {
  const reports = await measureAgentDojo();
  const [first, ...others] = reports.map(({ name, figures }) => [name, figures.length]);
  if (others.length === 0) {
    expect(first?.[0]).toContain('../shared/data/agentdojo');
    return;
  }
  expect([first, others.length]).toEqual([['agentdojo: no policy', 6], 17]);
  const page = readFileSync(new URL('../../../apps/docs/guide/provenance.md', import.meta.url), 'utf8');
  const table = page.slice(page.indexOf('## Measured')).matchAll(/^\| (.+?) \| (\d+) \| (\d+) % \| (\d+) % \|$/gmu);
  const inGuide = [...table].map(([, label = '', ...figures]) => [rows.get(label) ?? label, ...figures.map(Number)]);
  const measured = [...rows.values()].map((name) => {
    const { figures = [] } = reports.find((report) => report.name === `agentdojo: ${name}`) ?? {};
    const roundedOf = (of: string): number => Math.round(figures.find((figure) => figure.name === of)?.value ?? -1);
    return [name, ...['attacks through', 'utility, nobody answers', 'autonomy'].map(roundedOf)];
  });
  expect(inGuide).toEqual(measured);
});
