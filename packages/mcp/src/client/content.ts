import type { JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';

/** A result as text for a model: its texts, and one line for each other part. */
export function describeContent(result: JsonObject): string {
  const { content, contents, messages } = result;
  const parts = [content, contents, messages].find(Array.isArray) ?? [];
  const texts = parts.map((part: unknown) => (isPlainObject(part) ? describePart(part) : ''));
  return texts.filter((text) => text !== '').join('\n\n');
}

function describePart(part: Readonly<Record<string, unknown>>): string {
  const { text, type, resource, content, role } = part;
  if (isPlainObject(content)) return `${typeof role === 'string' ? `${role}: ` : ''}${describePart(content)}`;
  if (typeof text === 'string') return text;
  if (isPlainObject(resource)) return describePart(resource);
  const { data, blob, mimeType, uri, name } = part;
  const encoded = typeof data === 'string' ? data : typeof blob === 'string' ? blob : undefined;
  const what = typeof mimeType === 'string' ? mimeType : typeof type === 'string' ? type : 'content';
  const where = typeof uri === 'string' ? ` ${uri}` : typeof name === 'string' ? ` ${name}` : '';
  const size = encoded === undefined ? '' : `, ${Math.floor((encoded.length * 3) / 4)} bytes`;
  return `[${what}${where}${size}]`.slice(0, 2_000);
}

export function isErrorResult(result: JsonObject): boolean {
  return result['isError'] === true;
}
