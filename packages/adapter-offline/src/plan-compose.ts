import type { Json } from '@holdfast/core';
import type { Taken } from './plan-inputs.ts';
import { type Picked, pickInput, type Want } from './plan-pick.ts';
import type { Source } from './plan-step.ts';

/** One text of all sources: a single one as it is, several with a heading each, as the kind of file has it. */
export function composeText(want: Want, sources: readonly Source[], given: readonly Json[]): Picked {
  const parts: Taken[] = [];
  for (const source of sources) {
    const picked = pickInput(want, source);
    if (picked.type === 'none') return picked;
    const { input } = picked;
    if (sources.length === 1) return picked;
    if (input.type === 'taken') parts.push(input.taken);
    else if (input.type === 'text') parts.push(...input.parts.filter((part) => typeof part !== 'string'));
    else return { type: 'none', why: 'several texts cannot be put together here' };
  }
  const labels = sources.map(({ step }) => step.label);
  switch (endingOf(given)) {
    case 'json':
      if (parts.some(({ field }) => field.type === 'string' || field.type === 'unknown'))
        return {
          type: 'none',
          why: 'texts cannot be put together as JSON: take another kind of file, or one file for each',
        };
      return asText(parts, ['[\n', ...parts.slice(1).map(() => ',\n'), '\n]\n']);
    case 'csv':
      return { type: 'none', why: 'several results cannot be put together as CSV: take one file for each' };
    case 'md':
    case 'markdown':
      return asText(parts, [
        ...labels.map((label, index) => `${index === 0 ? '# Findings\n\n' : '\n\n'}## ${label}\n\n`),
        '\n',
      ]);
    default:
      return asText(parts, [...labels.map((label, index) => `${index === 0 ? '' : '\n\n'}${label}\n\n`), '\n']);
  }
}

/** What stands before each part, and after the last. */
function asText(parts: readonly Taken[], texts: readonly string[]): Picked {
  const all = parts.flatMap((part, index) => [texts[index] ?? '', part]);
  return { type: 'picked', input: { type: 'text', parts: [...all, texts[parts.length] ?? ''] }, isNamed: false };
}

function endingOf(given: readonly Json[]): string {
  const target = given.find((value) => typeof value === 'string' && /\.[a-z0-9]{1,8}$/iu.test(value));
  return typeof target === 'string' ? (/\.([a-z0-9]+)$/iu.exec(target)?.[1]?.toLowerCase() ?? '') : '';
}
