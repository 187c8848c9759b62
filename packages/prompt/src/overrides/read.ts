import type { Json, JsonObject } from '@holdfast/core';
import { deepFreeze, isPlainObject, parseJson } from '@holdfast/core/internal';
import {
  type EntryKind,
  invalidDocument,
  maxDocumentBytes,
  type OverrideEntry,
  type OverridePlace,
  sectionParts,
  toolParts,
} from './document.ts';
import type { OverrideRef } from './store.ts';

/** A problem with a part of a document, or with all of it. */
export interface DocumentProblem {
  readonly place: OverridePlace;
  readonly why: string;
}

/** A document, taken apart. `entries` have the right form; whether they fit the prompt is not known yet. */
export interface ReadOverrides {
  readonly entries: readonly OverrideEntry[];
  readonly problems: readonly DocumentProblem[];
}

/**
 * Reads the text of the document that `ref` names. What is bad in one place leaves the others as they are.
 *
 * @throws HoldfastError `prompt.invalid` if it is not a document, or not the one of `ref`.
 */
export function parseOverrides(text: string, ref: OverrideRef): ReadOverrides {
  // UTF-8 has at least a byte for each code unit.
  if (text.length > maxDocumentBytes) throw invalidDocument(ref, `it is longer than ${maxDocumentBytes} bytes`);
  const parsed = parseJson(text, {});
  if (!parsed.ok) throw invalidDocument(ref, parsed.problem);
  return readOverrides(deepFreeze(parsed.value), ref);
}

/** As `parseOverrides`, of frozen JSON. */
export function readOverrides(document: Json, ref: OverrideRef): ReadOverrides {
  if (!isPlainObject(document)) throw invalidDocument(ref, 'it is not a JSON object');
  // Came from JSON.
  const { version, ns, key, tag, sections = {}, tools = {}, ...others } = document as JsonObject;
  if (version !== 1) throw invalidDocument(ref, `its \`version\` must be 1, got ${show(version)}`);
  for (const [name, said, wanted] of [
    ['ns', ns, ref.ns],
    ['key', key, ref.key],
    ['tag', tag, ref.tag],
  ] as const) {
    if (said !== wanted) throw invalidDocument(ref, `its \`${name}\` must be \`${wanted}\`, got ${show(said)}`);
  }
  const reading: Reading = { entries: [], problems: [] };
  for (const part of Object.keys(others)) {
    reading.problems.push({ place: { part }, why: 'a document has `sections` and `tools` beside its head' });
  }
  for (const [section, overrides] of readObject(sections, { part: 'sections' }, reading)) {
    for (const [part, entry] of readObject(overrides, { section, part: '' }, reading)) {
      readEntry(entry, { section, part }, sectionParts.get(part), reading);
    }
  }
  for (const [tool, overrides] of readObject(tools, { part: 'tools' }, reading)) {
    for (const [part, entry] of readObject(overrides, { tool, part: '' }, reading)) {
      if (part !== 'parameters') {
        readEntry(entry, { tool, part }, toolParts.get(part), reading);
        continue;
      }
      for (const [name, inner] of readObject(entry, { tool, part }, reading)) {
        readEntry(inner, { tool, part: `parameters.${name}` }, 'text', reading);
      }
    }
  }
  return reading;
}

interface Reading {
  readonly entries: OverrideEntry[];
  readonly problems: DocumentProblem[];
}

function readObject(json: Json, place: OverridePlace, { problems }: Reading): readonly (readonly [string, Json])[] {
  // Came from JSON.
  if (isPlainObject(json)) return Object.entries(json as JsonObject);
  problems.push({ place, why: 'it must be an object' });
  return [];
}

const hashPattern = /^[0-9a-f]{64}$/;

function readEntry(
  json: Json,
  place: OverridePlace,
  kind: EntryKind | undefined,
  { entries, problems }: Reading,
): void {
  if (kind === undefined) {
    const known = place.tool === undefined ? [...sectionParts.keys()] : [...toolParts.keys(), 'parameters'];
    problems.push({ place, why: `only ${known.map((part) => `\`${part}\``).join(', ')} can be overridden` });
    return;
  }
  const form = `an object with \`hash\` and \`${kind}\` alone`;
  if (!isPlainObject(json)) {
    problems.push({ place, why: `it must be ${form}` });
    return;
  }
  // Came from JSON.
  const { hash, [kind]: override, ...others } = json as JsonObject;
  if (override === undefined || Object.keys(others).length > 0) problems.push({ place, why: `it must be ${form}` });
  else if (kind === 'text' && typeof override !== 'string') problems.push({ place, why: '`text` must be a string' });
  else if (hash === null || (typeof hash === 'string' && hashPattern.test(hash))) {
    entries.push({ place, hash, override });
  } else problems.push({ place, why: '`hash` must be a SHA-256 in lower-case hex, or null if there was nothing' });
}

function show(json: Json | undefined): string {
  return json === undefined ? 'none' : `\`${JSON.stringify(json).slice(0, 100)}\``;
}
