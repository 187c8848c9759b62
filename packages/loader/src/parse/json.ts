import type { Json } from '@holdfast/core';
import type { Finding } from '../text/diagnostic.ts';
import { type LiteralPath, readLiteral } from './literal.ts';
import { parseModule } from './module.ts';
import { outlineModule } from './outline.ts';

export type JsonReading =
  | {
      readonly type: 'read';
      readonly value: Json;
      /** Offset in the source of the member at `path`, or of its nearest existing parent. */
      offsetOf(path: LiteralPath): number;
    }
  | { readonly type: 'refused'; readonly finding: Finding; readonly offset: number };

const prefix = 'export default ';

/** Parses strict JSON, without comments or duplicate keys, and keeps the offsets of its members. */
export async function readJson(source: string): Promise<JsonReading> {
  const refuse = (finding: Finding, offset: number): JsonReading => ({
    type: 'refused',
    finding,
    offset: Math.max(0, offset),
  });
  const problem = findJsonProblem(source);
  if (problem !== undefined) {
    const hint = 'Fix the file; JSON does not allow comments.';
    return refuse(
      { code: 'tool.file.invalid', reason: 'syntax', message: `Not JSON: ${problem.message}.`, hint },
      problem.offset,
    );
  }
  // JSON is a JavaScript expression, and that parser provides the offsets.
  const parsing = await parseModule(`${prefix}${source}`, 'tool.mjs');
  if (parsing.type === 'refused') return refuse(parsing.finding, parsing.offset - prefix.length);
  const { bindings } = outlineModule(parsing.module);
  const binding = bindings.get('*default*');
  if (binding?.type !== 'const') return refuse(notObject, 0);
  const literal = readLiteral(binding.value, bindings);
  if (literal.type === 'refused') {
    const { found, hint, offset } = literal;
    const finding = {
      code: 'tool.metadata.invalid',
      reason: 'not_literal',
      message: `The file contains ${found}.`,
      hint,
    };
    return refuse(finding, offset - prefix.length);
  }
  return {
    type: 'read',
    value: literal.value,
    offsetOf: (path) => Math.max(0, literal.offsetOf(path) - prefix.length),
  };
}

const notObject: Finding = {
  code: 'tool.metadata.invalid',
  reason: 'not_literal',
  message: 'The file is not an object.',
  hint: 'Write `{ "name": …, "description": …, "dangerous": …, "parameters": …, "command": … }`.',
};

function findJsonProblem(source: string): { readonly message: string; readonly offset: number } | undefined {
  try {
    JSON.parse(source);
    return undefined;
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : 'unknown reason';
    if (/^Unexpected end of/.test(message)) return { message: 'it ends too early', offset: source.length };
    const [, offset] = /at position (\d+)/.exec(message) ?? [];
    // The parser quotes the surrounding text, which the position already shows.
    const what = message.replace(/ (?:in JSON )?at position .*$/s, '').replace(/, (?:\.\.\.)?".*$/s, '');
    return { message: what, offset: offset === undefined ? findUnexpected(source, message) : Number(offset) };
  }
}

// For some problems the parser gives no position, only the surrounding text, starting ten characters before the unexpected one.
function findUnexpected(source: string, message: string): number {
  const [, character = '', excerpt] =
    /^Unexpected token '(.+?)', (?:\.\.\."(.*)"\.{0,3} is not|")/su.exec(message) ?? [];
  const offset = excerpt === undefined ? source.indexOf(character) : source.indexOf(excerpt) + 10;
  return Math.max(0, offset);
}
