import { type ParsedJson, parseJson } from '@holdfast/core/internal';
import { readLenientJson } from '@holdfast/prompt/json';

/** Reads one value from `text`: JSON, or a list, an object or a quoted text with faults that `readLenientJson` repairs. */
export function readLiteral(text: string): ParsedJson {
  const parsed = parseJson(text);
  if (parsed.ok || parsed.reason !== 'syntax' || !/^\s*[[{'"]/.test(text)) return parsed;
  const trimmed = text.trim();
  const reading = readLenientJson(trimmed, 0);
  return reading.type === 'value' && reading.end === trimmed.length ? parseJson(reading.json) : parsed;
}
