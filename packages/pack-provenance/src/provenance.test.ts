import { packPolicies } from '@holdfast/policy';
import { expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { provenance } from './index.ts';

test("has the package's version", () => {
  expect(provenance.version).toBe(manifest.version);
});

test.each([
  ['recommended', ['provenance-values']],
  ['values', ['provenance-values']],
  ['plan', ['provenance-values', 'provenance-plan']],
  ['strict', ['provenance-values', 'provenance-plan']],
  ['taint', ['provenance-taint']],
])('the preset %s creates %j', (preset, ids) => {
  expect(packPolicies(provenance, { preset }).map(({ id }) => id)).toEqual(ids);
});

test.each([
  [{ key: 'short' }],
  [{ known: ['x'] }],
  [{ tools: { 'Send Mail': {} } }],
  [{ tools: { send: { decides: { to: 'mail' } } } }],
  [{ tools: { send: { words: ['a*b'] } } }],
  [{ trusted: { send: [''] } }],
  [{ trusted: { send: [{ fields: ['to'], where: { status: [] } }] } }],
  [{ trusted: { send: [{ fields: ['to'], where: {} }] } }],
  [{ tools: { send: { decides: { to: { kind: 'id', from: ['list'] } } } } }],
  [{ tools: { send: { decides: { to: { kind: 'id', from: ['A list.id'] } } } } }],
])('rejects the options %j', (config) => {
  expect(() => packPolicies(provenance, { config })).toThrow(expect.objectContaining({ code: 'pack.invalid' }));
});
