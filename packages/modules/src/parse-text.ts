import { type Json, parseJson } from '@holdfast/core';
import { type ModuleProblem, problemAt } from './module-problem.ts';

/** Characters of a module file or a manifest; a folder refuses as many bytes. */
export const maxFileLength: number = 8 * 1024 * 1024;

const limits = { maxDepth: 64, maxKeys: 500_000, maxLength: maxFileLength };

/** A byte order mark at the beginning means nothing; editors leave it. */
export function parseText(
  text: string,
  code: string,
):
  | { readonly type: 'parsed'; readonly value: Json }
  | { readonly type: 'invalid'; readonly problems: readonly ModuleProblem[] } {
  const parsed = parseJson(text.startsWith('\uFEFF') ? text.slice(1) : text, limits);
  if (parsed.ok) return { type: 'parsed', value: parsed.value };
  const isTooLarge = parsed.reason === 'size';
  return {
    type: 'invalid',
    problems: [problemAt('', isTooLarge ? 'modules.too_large' : code, `The file cannot be read: ${parsed.problem}.`)],
  };
}
