import { relative, sep } from 'node:path';
import type { JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { ToolCommand } from '@holdfast/loader/language';
import {
  checkLiteral,
  type LanguagePart,
  type LanguagePartReading,
  type LiteralPath,
  type MetadataReading,
  type OwnMetadata,
  readJson,
  type ToolPlace,
  type ToolReading,
  type ToolSource,
  toDiagnostic,
} from '@holdfast/loader/language';
import { checkCommand } from './check.ts';
import { readCommandFiles, toCommandPath } from './files.ts';

/** Reads the metadata of a `.tool.json`, which is strict JSON: no comments, no duplicate keys. Does not look at its files. */
export async function readCommandMetadata(
  { file, source }: Pick<ToolSource, 'file' | 'source'>,
  { strict }: Pick<ToolPlace, 'strict'>,
): Promise<{ readonly reading: MetadataReading; offsetOf(path: LiteralPath): number }> {
  const json = await readJson(source);
  if (json.type === 'refused') {
    const diagnostic = toDiagnostic(json.finding, { file, source, offset: json.offset });
    return { reading: { type: 'refused', diagnostics: [diagnostic] }, offsetOf: () => 0 };
  }
  const { value, offsetOf } = json;
  const own: OwnMetadata = {
    keys: ['command', 'files'],
    check: (metadata, _found, report) => ({ command: checkCommand(metadata, report) }),
  };
  const literal = { form: 'command', value, subject: 'The file', offset: 0, offsetOf, own } as const;
  return { reading: checkLiteral(literal, { file, source, strict }), offsetOf };
}

/** Reads and checks a `.tool.json` and the files that it names. */
export async function readCommandTool(
  { file, path, source }: ToolSource,
  { root, strict }: ToolPlace,
): Promise<ToolReading> {
  const { reading, offsetOf } = await readCommandMetadata({ file, source }, { strict });
  const command = readCommand(source);
  if (command === undefined) return { reading, parts: [] };
  const { words, files } = command;
  const parts = files.map((word) => relative(root, toCommandPath(path, word)).split(sep).join('/'));
  const found = readCommandFiles(path, command);
  if (found.type === 'read')
    return { reading, parts, commandFiles: new Map(found.files.map((one) => [one.path, one.digest])) };
  const place = words.includes(found.word) ? ['command', String(words.indexOf(found.word))] : ['files'];
  const diagnostic = toDiagnostic(found.finding, { file, source, offset: offsetOf(place) });
  return { reading: { type: 'refused', diagnostics: [...reading.diagnostics, diagnostic] }, parts };
}

/** A command refers to the files that it names, of any kind. */
export function readCommandPart({ path, source }: LanguagePart): LanguagePartReading {
  const files = readCommand(source)?.files ?? [];
  return {
    type: 'read',
    needs: files.map((word) => ({ path: toCommandPath(path, word), kind: 'data', offset: 0 })),
  };
}

/** The command alone, even if the file is refused for other reasons; `undefined` without a valid one. */
function readCommand(source: string): ToolCommand | undefined {
  try {
    const value: unknown = JSON.parse(source);
    // Parsed from JSON.
    return isPlainObject(value) ? checkCommand(value as JsonObject, () => undefined) : undefined;
  } catch {
    // Not JSON: the check reports the position.
    return undefined;
  }
}
