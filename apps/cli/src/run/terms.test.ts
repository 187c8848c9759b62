import { expect, test } from 'vitest';
import { type RunTerms, readTerms, toTermsRecord } from './terms.ts';

const terms: RunTerms = {
  directory: '/work',
  model: 'offline',
  tools: null,
  approval: 'suspend',
  isolation: 'in-process',
  allow: ['wipe'],
  order: [['build', 'deploy']],
  subfolders: true,
  locked: true,
  config: {
    file: 'holdfast.config.ts',
    plugins: [{ name: 'git', version: '1.0.0', prefix: 'vcs', options: 'a1' }],
    packs: [{ id: 'guard', name: 'guard', version: '1.0.0', preset: 'strict', observe: true }],
    allowTools: ['push'],
    denyTools: [],
    winners: { push: 'git' },
    locked: false,
  },
  maxCalls: 5,
};
const record = (seq: number, entry: object) => ({ seq, atMs: 0, type: 'other', ...entry });

test('the options of a run are restored from its record', () => {
  const records = [
    record(0, toTermsRecord({ ...terms, model: 'old' })),
    record(1, toTermsRecord(terms)),
    record(2, {}),
  ];
  expect(readTerms(records, 2)).toEqual(terms);
  expect(readTerms(records, 1)).toMatchObject({ model: 'old' });
  expect(readTerms(records.slice(2), 3)).toBe(undefined);
});

test.each([
  { directory: 5 },
  { approval: 'sometimes' },
  { isolation: 'none' },
  { allow: 'wipe' },
  { order: ['build'] },
  { subfolders: 'yes' },
  { locked: 1 },
  { maxCalls: 0 },
  { timeoutMs: -1 },
  { config: 'holdfast.config.ts' },
  { config: { ...terms.config, file: 5 } },
  { config: { ...terms.config, plugins: [{ name: 'git' }] } },
  { config: { ...terms.config, packs: { 0: {} } } },
  { config: { ...terms.config, allowTools: 'push' } },
  { config: { ...terms.config, denyTools: undefined } },
  { config: { ...terms.config, locked: null } },
  { config: { ...terms.config, winners: { push: 1 } } },
])('an invalid record with %j', (change) => {
  expect(readTerms([record(0, { ...toTermsRecord(terms), ...change })], 1)).toBe(undefined);
});
