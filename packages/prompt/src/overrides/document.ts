import { HoldfastError, type Json } from '@holdfast/core';
import { digestJson } from '@holdfast/core/internal';
import type { TaskExample, Visibility } from '../section/section.ts';
import type { OverrideRef } from './store.ts';

/** The replacement of a text. */
export interface TextOverride {
  /** The hash of the replaced text; `null` if there was none. */
  readonly hash: string | null;
  readonly text: string;
}

/** The replacement of a value that is not a text. */
export interface ValueOverride<Value> {
  /** The hash of the replaced value; `null` if there was none. */
  readonly hash: string | null;
  readonly value: Value;
}

export interface SectionOverrides {
  readonly body?: TextOverride;
  readonly summary?: TextOverride;
  readonly visibility?: ValueOverride<Visibility>;
  /** All of them together. */
  readonly taskExamples?: ValueOverride<readonly TaskExample[]>;
}

export interface ToolOverrides {
  readonly description?: TextOverride;
  /** By parameter. */
  readonly parameters?: Readonly<Record<string, TextOverride>>;
  /** All of them together. */
  readonly examples?: ValueOverride<readonly ExampleOverride[]>;
}

/** A tool example as JSON. */
export interface ExampleOverride {
  readonly description: string;
  readonly input: Json;
  readonly output: Json;
}

/** Replacements for the texts of a prompt, each pinned to the hash of the original (see `hashOverridden`). */
export interface OverrideDocument extends OverrideRef {
  readonly version: 1;
  /** By path. */
  readonly sections: Readonly<Record<string, SectionOverrides>>;
  /** By name. */
  readonly tools: Readonly<Record<string, ToolOverrides>>;
}

/** An overridable place in a prompt: either `section` or `tool` is set; neither means the whole document. */
export interface OverridePlace {
  /** A path. */
  readonly section?: string;
  /** A name. */
  readonly tool?: string;
  /**
   * Of a section `body`, `summary`, `visibility` or `taskExamples`, of a tool `description`, `examples` or `parameters.NAME`. Where a
   * document is not as it must be, what stands there.
   */
  readonly part: string;
}

/** One override of a document. */
export interface OverrideEntry {
  readonly place: OverridePlace;
  readonly hash: string | null;
  /** A text is a string. */
  readonly override: Json;
}

/** The limit for the text in UTF-8. */
export const maxDocumentBytes: number = 8 * 1024 * 1024;

/** The kind of replacement in an entry. */
export type EntryKind = 'text' | 'value';

export const sectionParts: ReadonlyMap<string, EntryKind> = new Map([
  ['body', 'text'],
  ['summary', 'text'],
  ['visibility', 'value'],
  ['taskExamples', 'value'],
]);

export const toolParts: ReadonlyMap<string, EntryKind> = new Map([
  ['description', 'text'],
  ['examples', 'value'],
]);

/** The document of `entries`, which must have distinct places. */
export function toDocument({ ns, key, tag }: OverrideRef, entries: readonly OverrideEntry[]): OverrideDocument {
  const sections = Map.groupBy(entries, ({ place }) => place.section);
  const tools = Map.groupBy(entries, ({ place }) => place.tool);
  return {
    version: 1,
    ns,
    key,
    tag,
    sections: Object.fromEntries(named(sections).map(([path, own]) => [path, toParts(own)] as const)),
    tools: Object.fromEntries(named(tools).map(([name, own]) => [name, toToolParts(own)] as const)),
  };
}

/** The text of a document. @throws HoldfastError `prompt.invalid` if it exceeds the size limit. */
export function formatDocument(document: OverrideDocument): string {
  const text = `${JSON.stringify(document, undefined, 2)}\n`;
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > maxDocumentBytes)
    throw invalidDocument(document, `it has ${bytes} bytes; ${maxDocumentBytes} is the limit`);
  return text;
}

export function invalidDocument({ ns, key, tag }: OverrideRef, problem: string): HoldfastError {
  return new HoldfastError(
    'prompt.invalid',
    `The overrides \`${tag}\` of \`${ns}/${key}\` are not a valid version 1 document: ${problem}.`,
    { data: { reason: 'override.document', ns, key, tag } },
  );
}

type Entries = readonly OverrideEntry[];

function named(groups: ReadonlyMap<string | undefined, Entries>): readonly (readonly [string, Entries])[] {
  return [...groups].flatMap(([name, entries]) => (name === undefined ? [] : [[name, entries] as const]));
}

function toToolParts(entries: Entries): ToolOverrides {
  const { parameters, others = [] } = Object.groupBy(entries, ({ place }) =>
    toolParts.has(place.part) ? 'others' : 'parameters',
  );
  if (parameters === undefined) return toParts(others);
  return {
    ...toParts(others),
    parameters: Object.fromEntries(
      parameters.map(({ place, hash, override }): readonly [string, TextOverride] => [
        place.part.slice('parameters.'.length),
        { hash, text: String(override) },
      ]),
    ),
  };
}

function toParts(entries: Entries): SectionOverrides & ToolOverrides {
  const parts: Record<string, Json> = Object.fromEntries(
    entries.map(({ place: { part }, hash, override }): readonly [string, Json] => {
      const kind = sectionParts.get(part) ?? toolParts.get(part) ?? 'text';
      return [part, { hash, [kind]: override }];
    }),
  );
  // The tables above define the kind of each part.
  return parts as SectionOverrides & ToolOverrides;
}

/**
 * The hash that pins an override: SHA-256, in hex, of the original as compact JSON with sorted keys. `null` for a missing original.
 */
export async function hashOverridden(current: Json): Promise<string | null> {
  if (current === null) return null;
  return digestJson(current);
}
