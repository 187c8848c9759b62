import type { JsonObject } from '@holdfast/core';
import { isPlainObject, parseJson } from '@holdfast/core/internal';
import type { DspyProblem, DspyReason } from './findings.ts';

/** The result of reading the text of a state file. */
export type DspyText =
  | { readonly ok: true; readonly state: JsonObject; readonly digest: string }
  | { readonly ok: false; readonly problem: DspyProblem };

/** Bytes or characters. Real states have a few thousand. */
const maxLength = 10_000_000;
const limits = { maxDepth: 64, maxKeys: 1_000_000, maxLength };

/**
 * Reads the text of a state file. Nothing in it is evaluated. A pickle is rejected unread, because unpickling runs code from the file.
 *
 * Source: DSPy `dspy/primitives/base_module.py`, `save` (a path that ends in `.json` gets JSON, one in `.pkl` a pickle, a folder
 * `program.pkl` and `metadata.json`).
 */
export async function readDspyText(source: string | Uint8Array): Promise<DspyText> {
  const given: unknown = source;
  if (typeof given !== 'string' && !(given instanceof Uint8Array))
    return refuse('state', 'The state must be text or bytes. Pass the unparsed content of the file.');
  if (source.length > maxLength) {
    const unit = typeof source === 'string' ? 'characters' : 'bytes';
    return refuse('too_large', `The file has ${source.length} ${unit}; the limit is ${maxLength}.`);
  }
  const bytes = typeof source === 'string' ? new TextEncoder().encode(source) : new Uint8Array(source);
  const text = typeof source === 'string' ? source : new TextDecoder().decode(source);
  if (isPickle(text)) return refuse('pickle', pickled);
  if (text.length < 1_000 && jsonPath.test(text.trim())) return refuse('state', unread);
  const parsed = parseJson(text, limits);
  if (!parsed.ok) {
    return refuse(
      parsed.reason === 'size' ? 'too_large' : 'state',
      `This is not a DSPy state as JSON: ${parsed.problem}.`,
    );
  }
  if (!isPlainObject(parsed.value)) return refuse('state', 'A DSPy state must be a JSON object.');
  return { ok: true, state: parsed.value as JsonObject, digest: await digest(bytes) };
}

/** True if a text is a pickle, the base64 of one, or the path of one. */
export function isPickle(text: string): boolean {
  const head = text.slice(0, 256).trimStart();
  if (isBinary(head) || spelled.test(head) || encoded.test(head)) return true;
  return text.length < 1_000 && path.test(text.trim());
}

/** Protocols 2 to 5 begin with the byte 0x80, possibly decoded as a replacement character, and their number. */
function isBinary(head: string): boolean {
  const mark = head.charCodeAt(0);
  return (mark === 0x80 || mark === 0xfffd) && head.charCodeAt(1) <= 5;
}

export const pickled =
  'This is a pickle, and loading one runs code. Save the program as JSON in DSPy: `program.save("state.json")`.';

// Protocols 0 and 1: a dictionary, a list or the name of a class.
const spelled = /^(?:\((?:dp|lp|[dl]\n)|[}\]]q|c[A-Za-z_][A-Za-z0-9_.]*\n)/;
// Base64 of 0x80 and a number from 2 to 5.
const encoded = /^gA[I-X][A-Za-z0-9+/]{5}[A-Za-z0-9+/=\s]*$/;
const path = /^[^{[\n]*\.(?:pkl|pickle)$/i;
const jsonPath = /^[^{["\n]*\.json$/i;
const unread = 'This is a file path, not the content of the file. Pass the text: `await readFile(path, "utf8")`.';

async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return `sha256:${[...hash].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

function refuse(reason: DspyReason, message: string): DspyText {
  return { ok: false, problem: { code: 'dspy.invalid', reason, path: '', message } };
}
