import type { Comment, Expression } from 'oxc-parser';
import { checkLiteral, type MetadataReading } from '../check/literal.ts';
import type { MetadataForm } from '../check/types.ts';
import { type ExportedFunction, findExportedFunction } from '../parse/exported-function.ts';
import { readLiteral } from '../parse/literal.ts';
import { parseModule } from '../parse/module.ts';
import { type ModuleOutline, outlineModule } from '../parse/outline.ts';
import { type Finding, toDiagnostic } from '../text/diagnostic.ts';
import { readDefinition } from './definition.ts';

export interface ReadMetadataOptions {
  /** Makes errors of the two warnings, a missing description and a missing `dangerous`. Default false. */
  readonly strict?: boolean;
}

/**
 * Reads and checks what a tool file of JavaScript or TypeScript says of its tool, from its text: an exported `METADATA`, or a default
 * export made by `defineTool`. Nothing of the file runs.
 *
 * @param file - the name by which diagnostics call it; its extension says whether it is TypeScript.
 */
export async function readMetadata(
  source: string,
  file: string,
  { strict = false }: ReadMetadataOptions = {},
): Promise<MetadataReading> {
  const refuse = (finding: Finding, offset = 0): MetadataReading => ({
    type: 'refused',
    diagnostics: [toDiagnostic(finding, { file, source, offset })],
  });
  const parsing = await parseModule(source, file);
  if (parsing.type === 'refused') return refuse(parsing.finding, parsing.offset);
  const outline = outlineModule(parsing.module);
  const unsafe = findUnsafeExport(outline);
  if (unsafe !== undefined) return refuse(unsafe.finding, unsafe.offset);
  const found = findMetadata(outline, { source, comments: parsing.module.comments });
  if (found.type === 'problem') return refuse(found.finding, found.offset);

  const { form, subject, findFunction } = found;
  const literal = readLiteral(found.literal, outline.bindings);
  if (literal.type === 'refused') {
    return refuse(
      { code: 'tool.metadata.not_literal', message: `${subject} holds ${literal.found}.`, hint: literal.hint },
      literal.offset,
    );
  }
  const { value, offsetOf } = literal;
  return checkLiteral({ form, value, findFunction, subject, offset: found.offset, offsetOf }, { file, source, strict });
}

// An export named `then` turns the module into something that `await import()` calls and waits for.
function findUnsafeExport({
  exports,
  exportsAll,
}: ModuleOutline): { readonly finding: Finding; readonly offset: number } | undefined {
  const thenable = exports.get('then');
  if (thenable !== undefined) {
    const message = 'The file exports `then`, which makes importing it wait for that function.';
    const finding = { code: 'tool.export.then', message, hint: 'Give the export another name.' };
    return { offset: thenable.offset, finding };
  }
  if (exportsAll === undefined) return undefined;
  const message = 'The file exports all of another file, and what that is cannot be seen here.';
  const finding = { code: 'tool.export.all', message, hint: 'Name what is exported: `export { one, two } from …`.' };
  return { offset: exportsAll, finding };
}

/** Where a module says of its tool what a host has to know. */
export type FoundMetadata =
  | {
      readonly type: 'found';
      readonly form: MetadataForm;
      /** For people, with backticks. */
      readonly subject: string;
      readonly literal: Expression;
      readonly offset: number;
      /** The export of that name; in a definition its `execute`, by any name. */
      findFunction(name: string): ExportedFunction;
    }
  | { readonly type: 'problem'; readonly finding: Finding; readonly offset: number };

const metadataHint = 'Write `export const METADATA = { name, function, description, dangerous, parameters };`.';

/** Finds the one form of the two in which a module declares its tool. */
function findMetadata(
  outline: ModuleOutline,
  text: { readonly source: string; readonly comments: readonly Comment[] },
): FoundMetadata {
  const { bindings, exports } = outline;
  const definition = readDefinition(outline);
  const exported = exports.get('METADATA');
  if (exported === undefined) {
    if (definition.type === 'problem') return definition;
    if (definition.type === 'none') return missing(outline);
    const { metadata, execute, offset } = definition;
    return {
      type: 'found',
      form: 'definition',
      subject: 'The definition',
      literal: metadata,
      offset,
      findFunction: () => execute,
    };
  }
  if (definition.type !== 'none') {
    const message = 'The file declares a tool by `METADATA` and another one by `defineTool`.';
    const hint = 'Keep one of the two: a tool file holds one tool.';
    return { type: 'problem', offset: definition.offset, finding: { code: 'tool.metadata.ambiguous', message, hint } };
  }
  const binding = exported.local === undefined ? undefined : bindings.get(exported.local);
  if (binding?.type === 'const') {
    return {
      type: 'found',
      form: 'metadata',
      subject: '`METADATA`',
      literal: binding.value,
      offset: binding.offset,
      findFunction: (name) => findExportedFunction(name, outline, text),
    };
  }
  const message = '`METADATA` is no `const` of this file.';
  const finding = { code: 'tool.metadata.not_literal', message, hint: metadataHint };
  return { type: 'problem', offset: binding?.offset ?? exported.offset, finding };
}

function missing({ bindings }: ModuleOutline): FoundMetadata {
  const hint = bindings.has('METADATA')
    ? 'Put `export` before it.'
    : `${metadataHint} Or \`export default defineTool({ … });\`. A file that is no tool gets a name that begins with \`_\`.`;
  const message = 'The file exports no `METADATA`, and no tool as its default.';
  const finding = { code: 'tool.metadata.missing', message, hint };
  return { type: 'problem', offset: bindings.get('METADATA')?.offset ?? 0, finding };
}
