import type { JsonObject } from '@holdfast/core';
import type { LiteralPath } from './literal.ts';
import { type Report, showPath } from './report.ts';

/** The formats that are checked at every call. */
export const formats: readonly string[] = [
  'date',
  'time',
  'date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
  'uri-template',
  'uuid',
  'regex',
  'json-pointer',
  'relative-json-pointer',
];

/** Reports `tool.schema.format` for a format that nobody checks: it promises a tool what it does not get. */
export function checkFormat({ format }: JsonObject, path: LiteralPath, report: Report): void {
  if (typeof format !== 'string' || formats.includes(format)) return;
  report({
    code: 'tool.schema.format',
    path: [...path, 'format'],
    message: `\`${showPath(path)}.format\` is \`${format}\`, which is not checked.`,
    hint: `Formats are ${formats.join(', ')}; for others write a \`pattern\`, \`minimum\` or \`maximum\`.`,
  });
}
