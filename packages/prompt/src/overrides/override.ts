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

/** A prompt with what could be applied of its overrides. */
export interface LoadedOverrides<Input = unknown, Output = unknown> extends OverrideReport {
  readonly prompt: BindablePrompt<Input, Output>;
  /** Whether there is a document, be it one that cannot be read. */
  readonly found: boolean;
}

/**
 * Applies the overrides that the store has for `prompt`. What is stale, unknown or bad is left out and reported, also a document
 * that cannot be read: one `invalid` of the part `document`. What a model is told changes, how calls are validated does not.
 * Without anything to apply, `prompt` itself comes back.
 *
 * @throws HoldfastError `override.ref.invalid` for a bad `tag`, `prompt.foreign` for what `createPrompt` did not make.
 */
export async function loadOverrides<Input, Output>(
  prompt: BindablePrompt<Input, Output>,
  { store, tag = defaultTag }: OverrideOptions,
): Promise<LoadedOverrides<Input, Output>> {
  const read = await readStored(store, toRef(prompt, tag));
  const resolved = await resolveOverrides(prompt, read ?? nothing);
  return { ...resolved, found: read !== undefined };
}

/** What `seedOverrides` left in the store. */
export interface SeededOverrides {
  /** Without what is no override in a document that was there before. */
  readonly document: OverrideDocument;
  /** Whether it is new. */
  readonly created: boolean;
}

/**
 * Writes all that can be overridden in `prompt`, as it is now, for people to edit. A document that is there stays as it is.
 *
 * @throws HoldfastError `override.ref.invalid`, `prompt.foreign`, `override.document.invalid` for what is there and no document,
 * and what the store throws.
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
  if (earlier === undefined) throw invalidDocument(ref, 'somebody took it away at this moment');
  return { document: toDocument(ref, parseOverrides(earlier, ref).entries), created };
}

/**
 * Keeps a document of overrides under its `tag`, in place of the one that is there.
 *
 * @throws HoldfastError `override.refused`, which names everything that `loadOverrides` would leave out; `override.ref.invalid`,
 * `prompt.foreign`, `override.document.invalid`, and what the store throws.
 */
export async function saveOverrides(
  prompt: BindablePrompt,
  document: OverrideDocument,
  { store }: Pick<OverrideOptions, 'store'>,
): Promise<void> {
  const ref = toRef(prompt, document.tag);
  // Nobody can change a copy while it is checked.
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
    'override.refused',
    `The overrides \`${tag}\` of \`${ns}/${key}\` would not all be in force. ${list.join('; ')}${more}.`,
    {
      data: {
        refused: refused.map(({ section = null, tool = null, part, why }) => ({ section, tool, part, why })),
      },
    },
  );
}

function describePlace({ section, tool, part }: SkippedOverride): string {
  if (section !== undefined) return `\`${part}\` of section \`${section}\``;
  return tool === undefined ? `\`${part}\`` : `\`${part}\` of tool \`${tool}\``;
}
