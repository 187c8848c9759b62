import { checkOptions, HoldfastError, type OptionRules, type Redactor } from '@holdfast/core';
import type { SessionOptions } from './session.ts';

const rules: OptionRules = {
  id: 'text',
  nonce: 'any',
  slices: 'list',
  store: 'object',
  clock: 'object',
  redactor: 'object',
  vault: 'object',
  content: 'any',
};
const storeRules: OptionRules = { append: 'function!', close: 'function!' };

/** @throws HoldfastError `options.invalid`. */
export function checkSessionOptions(options: SessionOptions): void {
  checkOptions('createSession', options, rules);
  if (options.store !== undefined) checkOptions('store', options.store, storeRules, { strays: 'misspelled' });
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

/** A session with a redactor that cannot mask is not made, nor used. @throws HoldfastError `options.invalid`. */
export function checkRedactor(redactor: Redactor | undefined): void {
  if (redactor === undefined) return;
  const missing = redactorMethods.find((name) => typeof redactor?.[name] !== 'function');
  if (missing === undefined) return;
  throw new HoldfastError(
    'options.invalid',
    `The \`redactor\` of a session has no \`${missing}\`: make it by \`createRedactor\` of \`@holdfast/session/redact\`, or of your own \`redact\` and \`learn\` by \`toRedactor\`.`,
    { data: { option: 'redactor', reason: 'kind' } },
  );
}
