import { HoldfastError } from '@holdfast/core';
import { copyJson, describeThrown } from '@holdfast/core/internal';
import { type BindablePrompt, partsOf } from '../render/types.ts';
import { formatDocument, hashOverridden, invalidDocument, type OverrideDocument, toDocument } from './document.ts';
import { parseOverrides, type ReadOverrides, readOverrides } from './read.ts';
import { listPlaces, type OverrideReport, resolveOverrides, type SkippedOverride } from './resolve.ts';
import { checkOverrideRef, type OverrideRef, type OverrideStore } from './store.ts';

export interface OverrideOptions {
  readonly store: OverrideStore;
  /** Which document of the prompt. Default `latest`. */
  readonly tag?: string;
}

/** A prompt with its applicable overrides applied. */
export interface LoadedOverrides<Input = unknown, Output = unknown> extends OverrideReport {
  readonly prompt: BindablePrompt<Input, Output>;
  /** True if the store has a document, even an unreadable one. */
  readonly found: boolean;
}

/**
 * Applies the overrides that the store has for `prompt`. Stale, unknown and invalid ones are skipped and reported; an
 * unreadable document is one `invalid` of the part `document`. Only texts for the model change, not the validation of calls. Returns
 * `prompt` itself if nothing applies.
 *
 * @throws HoldfastError `prompt.invalid` for a bad `tag`, or if `createPrompt` did not create the prompt.
 */
export async function loadOverrides<Input, Output>(
  prompt: BindablePrompt<Input, Output>,
  { store, tag = defaultTag }: OverrideOptions,
): Promise<LoadedOverrides<Input, Output>> {
  const read = await readStored(store, toRef(prompt, tag));
  const resolved = await resolveOverrides(prompt, read ?? nothing);
  return { ...resolved, found: read !== undefined };
}

/** The result of `seedOverrides`. */
export interface SeededOverrides {
  /** Without invalid overrides of an existing document. */
  readonly document: OverrideDocument;
  /** True if it was created. */
  readonly created: boolean;
}

/**
 * Writes the current texts of everything overridable in `prompt`, for people to edit. Keeps an existing document.
 *
 * @throws HoldfastError `prompt.invalid`, also for an existing invalid document, and the errors of the store.
 */
export async function seedOverrides(
  prompt: BindablePrompt,
  { store, tag = defaultTag }: OverrideOptions,
): Promise<SeededOverrides> {
  const ref = toRef(prompt, tag);
  const document = await describePrompt(prompt, ref);
  const created = await store.write(ref, formatDocument(document), { ifAbsent: true });
  if (created) return { document, created };
  const earlier = await store.read(ref);
  if (earlier === undefined) throw invalidDocument(ref, 'it was deleted during the call');
  return { document: toDocument(ref, parseOverrides(earlier, ref).entries), created };
}

/**
 * Keeps a document of overrides under its `tag`, replacing an existing one.
 *
 * @throws HoldfastError `prompt.invalid`, which names everything that `loadOverrides` would leave out, and what the store throws.
 */
export async function saveOverrides(
  prompt: BindablePrompt,
  document: OverrideDocument,
  { store }: Pick<OverrideOptions, 'store'>,
): Promise<void> {
  const ref = toRef(prompt, document.tag);
  // Copied, so that it cannot change during the check.
  const copied = copyJson(document);
  if (!copied.ok) throw invalidDocument(ref, copied.problem);
  const read = readOverrides(copied.value, ref);
  const { stale, unknown, invalid } = await resolveOverrides(prompt, read);
  const refused = [...invalid, ...unknown, ...stale];
  if (refused.length > 0) throw refuse(ref, refused);
  await store.write(ref, formatDocument(toDocument(ref, read.entries)));
}

const defaultTag = 'latest';
const nothing: ReadOverrides = { entries: [], problems: [] };

function toRef({ ns, key }: BindablePrompt, tag: string): OverrideRef {
  const ref = { ns, key, tag };
  checkOverrideRef(ref);
  return ref;
}

async function readStored(store: OverrideStore, ref: OverrideRef): Promise<ReadOverrides | undefined> {
  try {
    const text = await store.read(ref);
    return text === undefined ? undefined : parseOverrides(text, ref);
  } catch (thrown) {
    return { entries: [], problems: [{ place: { part: 'document' }, why: describeThrown(thrown) }] };
  }
}

async function describePrompt(prompt: BindablePrompt, ref: OverrideRef): Promise<OverrideDocument> {
  const open = listPlaces(partsOf(prompt).tree).filter(
    ({ current, locked }) => current !== null && locked === undefined,
  );
  return toDocument(
    ref,
    await Promise.all(
      open.map(async ({ place, current }) => ({ place, hash: await hashOverridden(current), override: current })),
    ),
  );
}

function refuse({ ns, key, tag }: OverrideRef, refused: readonly SkippedOverride[]): HoldfastError {
  const list = refused.slice(0, 3).map((skipped) => `${describePlace(skipped)}: ${skipped.why}`);
  const more = refused.length > 3 ? `; and ${refused.length - 3} more` : '';
  return new HoldfastError(
    'prompt.invalid',
    `The overrides \`${tag}\` of \`${ns}/${key}\` would not all be applied. ${list.join('; ')}${more}.`,
    {
      data: {
        reason: 'override.refused',
        refused: refused.map(({ section = null, tool = null, part, why }) => ({ section, tool, part, why })),
      },
    },
  );
}

function describePlace({ section, tool, part }: SkippedOverride): string {
  if (section !== undefined) return `\`${part}\` of section \`${section}\``;
  return tool === undefined ? `\`${part}\`` : `\`${part}\` of tool \`${tool}\``;
}
