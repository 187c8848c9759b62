import { HoldfastError, type Redactor } from '@holdfast/core';
import { checkOptions, type OptionRules } from '@holdfast/core/internal';
import type { SessionLogs, SessionStore } from '../log/log.ts';
import type { SessionOptions } from './session.ts';

const openingRules: OptionRules = {
  id: 'text',
  nonce: 'any',
  slices: 'list',
  clock: 'object',
  redactor: 'object',
  vault: 'object',
  content: 'any',
};
const rules: OptionRules = { ...openingRules, store: 'object' };
const storeRules: OptionRules = { append: 'function!', close: 'function!' };

/** @throws HoldfastError `options.invalid`. */
export function checkSessionOptions(options: SessionOptions): void {
  checkOptions('createSession', options, rules);
  if (options.store === undefined) return;
  if (typeof options.store === 'object' && 'open' in options.store && !('append' in options.store)) {
    throw new HoldfastError(
      'options.invalid',
      '`store` holds the logs of many sessions; open one with `await openSession(store, { id })`.',
      { data: { option: 'store', reason: 'kind' } },
    );
  }
  checkOptions('store', options.store, storeRules, { strays: 'misspelled' });
}

/** @throws HoldfastError `options.invalid`. */
export function checkOpening(store: SessionLogs | SessionStore, options: object): void {
  checkOptions('openSession', options, { ...openingRules, abandon: 'text' });
  const isStore = typeof store === 'object' && store !== null && 'append' in store;
  checkOptions('store', store, isStore ? storeRules : { open: 'function!' }, { strays: 'misspelled' });
}

const redactorMethods = [
  'redact',
  'learn',
  'learnArguments',
  'learnReturned',
  'maskRecord',
  'maskEvent',
  'maskOperation',
  'maskExport',
] as const satisfies readonly (keyof Redactor)[];

/** Rejects a redactor that cannot mask. @throws HoldfastError `options.invalid`. */
export function checkRedactor(redactor: Redactor | undefined): void {
  if (redactor === undefined) return;
  const missing = redactorMethods.find((name) => typeof redactor?.[name] !== 'function');
  if (missing === undefined) return;
  throw new HoldfastError(
    'options.invalid',
    `The \`redactor\` of a session has no \`${missing}\`: create it with \`createRedactor\` of \`@holdfast/session/redact\`, or from your own \`redact\` and \`learn\` with \`toRedactor\`.`,
    { data: { option: 'redactor', reason: 'kind' } },
  );
}
