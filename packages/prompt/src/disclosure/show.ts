import { HoldfastError, type Prompt, type SessionEvent } from '@holdfast/core';
import { partsOf } from '../render/types.ts';
import type { Visibility } from '../section/section.ts';
import { sectionsShown } from '../section/visibility.ts';

/**
 * Creates an event that shows sections (by path) in full or as summaries, overriding their own `visibility`. Dispatch it to a
 * session that has the prompt's `slices`.
 *
 * @throws HoldfastError `section.unavailable`, `prompt.invalid`, `options.invalid`.
 */
export function showSections(prompt: Prompt, keys: readonly string[], visibility: Visibility): SessionEvent {
  const { id, tree } = partsOf(prompt);
  const { nodes } = tree;
  checkKeys(keys, nodes);
  const plain = visibility === 'summary' ? keys.find((key) => nodes.get(key)?.summary === undefined) : undefined;
  if (plain !== undefined) {
    throw new HoldfastError('prompt.invalid', `Section \`${plain}\` has no \`summary\`.`, {
      data: { reason: 'summary.missing', section: plain },
    });
  }
  return sectionsShown({ prompt: id, keys: [...keys], visibility });
}

/**
 * Creates an event that restores the own `visibility` of sections, all by default.
 *
 * @throws HoldfastError `section.unavailable`, `prompt.invalid`, `options.invalid`.
 */
export function clearSections(prompt: Prompt, keys?: readonly string[]): SessionEvent {
  const { id, tree } = partsOf(prompt);
  checkKeys(keys ?? [], tree.nodes);
  const named = keys === undefined ? {} : { keys: [...keys] };
  return { type: 'sections-cleared', payload: { prompt: id, ...named } };
}

function checkKeys(keys: readonly string[], nodes: ReadonlyMap<string, unknown>): void {
  const given: unknown = keys;
  // A string would be searched character by character.
  if (!Array.isArray(given)) throw new HoldfastError('options.invalid', '`keys` must be a list of section paths.');
  for (const key of keys) {
    if (nodes.has(key)) continue;
    throw new HoldfastError('section.unavailable', `Unknown prompt section \`${key.slice(0, 200)}\`.`, {
      data: { reason: 'unknown', section: key.slice(0, 200) },
    });
  }
}
