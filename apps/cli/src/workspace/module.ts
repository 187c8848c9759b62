import { pathToFileURL } from 'node:url';
import { HoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { usageError } from '../terminal/failure.ts';

export type Exports = Readonly<Record<string, unknown>>;

/** Executes a module: a path or a `file:` URL. `name`: for messages. @throws HoldfastError `module.failed`. */
export async function importModule(file: string, name: string): Promise<Exports> {
  try {
    return (await import(file.startsWith('file:') ? file : pathToFileURL(file).href)) as Exports;
  } catch (cause) {
    throw new HoldfastError('module.failed', `Cannot load \`${name}\`: ${describeThrown(cause)}`, { cause });
  }
}

export interface ExportChoice<Value> {
  /** The module, for messages. */
  readonly module: string;
  /** Default: `default`, or the only one. */
  readonly exportName: string | undefined;
  /** The kind of export. */
  readonly kind: 'pack' | 'prompt';
  /** The function that creates one. */
  readonly maker: string;
  is(value: unknown): value is Value;
}

/**
 * The export of a module of one kind.
 *
 * @throws HoldfastError `usage.invalid` (`pack_missing`, `pack_unclear`, `prompt_missing`, `prompt_unclear`).
 */
export function pickExport<Value>(exports: Exports, choice: ExportChoice<Value>): Value {
  const { module, exportName, kind, maker, is } = choice;
  const found = new Map(
    Object.entries(exports).flatMap(([name, value]) => (is(value) ? [[name, value] as const] : [])),
  );
  // The same value may have several names.
  const different = new Set(found.values());
  const [only] = different;
  const chosen = exportName === undefined ? (found.get('default') ?? only) : found.get(exportName);
  const isClear = exportName !== undefined || found.has('default') || different.size === 1;
  if (chosen !== undefined && isClear) return chosen;
  const list = [...found.keys()].map((name) => `\`${name}\``).join(', ');
  if (exportName !== undefined) {
    const others = list === '' ? '' : `; it exports ${list}`;
    throw usageError(`${kind}_missing`, `\`${module}\` does not export a ${kind} \`${exportName}\`${others}.`);
  }
  throw different.size === 0
    ? usageError(`${kind}_missing`, `\`${module}\` does not export a ${kind}: export the result of \`${maker}\`.`)
    : usageError(`${kind}_unclear`, `\`${module}\` exports several ${kind}s: choose one of ${list} with \`--export\`.`);
}
