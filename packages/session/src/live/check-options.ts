import { checkOptions, type OptionRules } from '@holdfast/core';
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
