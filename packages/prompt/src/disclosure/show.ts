import { HoldfastError, type Prompt, type SessionEvent } from '@holdfast/core';
import { partsOf } from '../render/types.ts';
import type { Visibility } from '../section/section.ts';
import { sectionsCleared, sectionsShown } from '../section/visibility.ts';

/**
 * The event that makes a session show sections of a prompt, by path, in full or as summaries, whatever they say themselves.
 * Dispatch it to the session, which has to know the prompt's `slices`.
 *
 * @throws HoldfastError `section.unknown`, `section.summary.missing`, `prompt.foreign`, `options.invalid`.
 */
export function showSections(prompt: Prompt, keys: readonly string[], visibility: Visibility): SessionEvent {
  const { id, tree } = partsOf(prompt);
  const { nodes } = tree;
  checkKeys(keys, nodes);
  const plain = visibility === 'summary' ? keys.find((key) => nodes.get(key)?.summary === undefined) : undefined;
  if (plain !== undefined) {
    throw new HoldfastError('section.summary.missing', `Section \`${plain}\` has no \`summary\` that could be shown.`, {
      data: { section: plain },
    });
  }
  return sectionsShown({ prompt: id, keys: [...keys], visibility });
}

/**
 * The event that makes sections of a prompt, all by default, what they say themselves again.
 *
 * @throws HoldfastError `section.unknown`, `prompt.foreign`, `options.invalid`.
 */
export function clearSections(prompt: Prompt, keys?: readonly string[]): SessionEvent {
  const { id, tree } = partsOf(prompt);
  checkKeys(keys ?? [], tree.nodes);
  return sectionsCleared({ prompt: id, ...(keys === undefined ? {} : { keys: [...keys] }) });
}

function checkKeys(keys: readonly string[], nodes: ReadonlyMap<string, unknown>): void {
  const given: unknown = keys;
  // The letters of a text would be looked for one by one.
  if (!Array.isArray(given)) throw new HoldfastError('options.invalid', '`keys` must be a list of section paths.');
  for (const key of keys) {
    if (nodes.has(key)) continue;
    throw new HoldfastError('section.unknown', `\`${key.slice(0, 200)}\` is no section of the prompt.`, {
      data: { section: key.slice(0, 200) },
    });
  }
}
