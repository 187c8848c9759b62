import { ask, toolOk } from '@holdfast/core';
import { expect } from 'vitest';
import { hostileProxy, revokedProxy, thenable, thrown } from '../call-fixtures.ts';
import { type Cause, external, guard, inputSchema, succeeds, watched } from './cause.ts';

type Resolve = (value: unknown) => void;
const long = 'y'.repeat(5_000);

const badRenderers: readonly (readonly [string, () => unknown])[] = [
  ['throws', () => thrown(new Error('render broke'))],
  ['throws a revoked proxy', () => thrown(revokedProxy())],
  ['throws undefined', () => thrown(undefined)],
  ['returns a number', () => 7],
  ['returns a promise', async () => 'text'],
  ['returns a promise that rejects', () => Promise.reject(new Error('render broke'))],
];

export const successes: readonly Cause[] = [
  succeeds('a value', {
    does: () => ({ n: 1, none: null }),
    outcome: { message: '', value: { n: 1, none: null }, rendered: '{"n":1}', text: '{"n":1}' },
  }),
  succeeds('a value with a message', {
    does: () => toolOk([1], 'Done.'),
    outcome: { message: 'Done.', value: [1], rendered: '[1]', text: 'Done.\n\n[1]' },
  }),
  succeeds('a value kept from the model', {
    does: () => toolOk({ key: 's' }, 'Done.', { excludeValueFromContext: true }),
    outcome: { value: { key: 's' }, rendered: '{"key":"s"}', text: 'Done.' },
  }),
  succeeds('null', { does: () => null, outcome: { value: null, rendered: '', text: 'Done.' } }),
  succeeds('null with a message', {
    does: () => toolOk(null, 'Nothing.'),
    outcome: { rendered: '', text: 'Nothing.' },
  }),
  succeeds('an empty message', { does: () => toolOk('v', ''), outcome: { text: '"v"' } }),
  succeeds('numbers as text, null in a list', { does: () => ['1', null], outcome: { rendered: '["1",null]' } }),
  succeeds('5,000 characters', { does: () => long, outcome: { rendered: `"${long}"`, text: `"${long}"` } }),
  succeeds('a rendering of its own', {
    does: () => [1, 2],
    tool: { renderResult: (value) => `Found ${(value as []).length}.` },
    outcome: { value: [1, 2], rendered: 'Found 2.', text: 'Found 2.' },
  }),
  succeeds('an empty rendering', {
    does: () => toolOk([1], 'Searched'),
    tool: { renderResult: () => '' },
    outcome: { rendered: '', text: 'Searched' },
  }),
  ...badRenderers.flatMap(([what, renderResult]) =>
    [{}, external].map((effects) =>
      succeeds(`a renderer that ${what}${'effects' in effects ? ', after an external effect' : ''}`, {
        does: () => toolOk([{ n: 1, none: null }], 'Done.'),
        tool: { ...effects, renderResult: renderResult as () => string },
        outcome: { value: [{ n: 1, none: null }], rendered: '[{"n":1}]', text: 'Done.\n\n[{"n":1}]' },
        end: { error: { code: 'output.render_failed', message: expect.stringContaining('`renderResult` of `write`') } },
      }),
    ),
  ),
  succeeds('a promise', { does: async () => 1, outcome: { value: 1 } }),
  succeeds('a thenable that calls back twice', {
    does: () => thenable((resolve: Resolve) => [1, 2].map(resolve)),
    outcome: { value: 1 },
  }),
  succeeds('a thenable that calls back and then throws', {
    does: () => thenable((resolve: Resolve) => thrown(resolve(1))),
    outcome: { value: 1 },
  }),
  succeeds('arguments', { tool: { inputSchema }, call: { arguments: '{"q":"x"}' }, end: { input: { q: 'x' } } }),
  succeeds('an external effect', { tool: external }),
  succeeds('a subscriber that throws', { options: () => ({ onEvent: () => thrown(new Error('broke')) }) }),
  succeeds('a subscriber that throws a revoked proxy', { options: () => ({ onEvent: () => thrown(revokedProxy()) }) }),
  succeeds('a listener of the session that throws', {
    options({ session }) {
      session.subscribe(() => thrown(hostileProxy()));
      return {};
    },
  }),
  succeeds('a yes', {
    policies: [guard(() => ask('Sure?'))],
    options: () => ({ approve: () => ({ type: 'approve' }) }),
    end: {
      approval: { type: 'approve', by: 'person' },
      decisions: [watched, { policy: 'host/guard', type: 'allow', reason: 'Approved.' }],
    },
  }),
  succeeds('a grant', {
    tool: { dangerous: true },
    options: () => ({ grants: ['write'] }),
    end: { decisions: [watched, { policy: 'holdfast/dangerous', type: 'allow', reason: 'Granted by the host.' }] },
  }),
];
