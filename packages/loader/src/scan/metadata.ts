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
  /** Turns the two warnings, for a missing description and a missing `dangerous`, into errors. Default false. */
  readonly strict?: boolean;
}

/**
 * Reads and checks the metadata of a JavaScript or TypeScript tool file, without running it: an exported `METADATA`, or
 * a default export made by `defineTool`.
 *
 * @param file - the name in diagnostics; its extension decides between JavaScript and TypeScript.
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
      {
        code: 'tool.metadata.invalid',
        reason: 'not_literal',
        message: `${subject} must be a literal, but contains ${literal.found}.`,
        hint: literal.hint,
      },
      literal.offset,
    );
  }
  const { value, offsetOf } = literal;
  return checkLiteral({ form, value, findFunction, subject, offset: found.offset, offsetOf }, { file, source, strict });
}

// An export named `then` makes the module a thenable, which `await import()` calls.
function findUnsafeExport({
  exports,
  exportsAll,
}: ModuleOutline): { readonly finding: Finding; readonly offset: number } | undefined {
  const thenable = exports.get('then');
  if (thenable !== undefined) {
    const message = 'The file exports `then`, a function that importing the file would call and wait for.';
    const finding = { code: 'tool.metadata.invalid', reason: 'export.then', message, hint: 'Rename the export.' };
    return { offset: thenable.offset, finding };
  }
  if (exportsAll === undefined) return undefined;
  const message = 'The file re-exports another file with `export *`, whose names are unknown here.';
  const finding = {
    code: 'tool.metadata.invalid',
    reason: 'export.all',
    message,
    hint: 'List the names: `export { one, two } from …`.',
  };
  return { offset: exportsAll, finding };
}

/** The metadata of a module in one of the two forms. */
export type FoundMetadata =
  | {
      readonly type: 'found';
      readonly form: MetadataForm;
      /** For display, with backticks. */
      readonly subject: string;
      readonly literal: Expression;
      readonly offset: number;
      /** Finds the export of that name; in a definition its `execute`, for any name. */
      findFunction(name: string): ExportedFunction;
    }
  | { readonly type: 'problem'; readonly finding: Finding; readonly offset: number };

const metadataHint = 'Write `export const METADATA = { name, function, description, dangerous, parameters };`.';

/** Finds the single metadata declaration of a module. */
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
    const message = 'The file declares one tool with `METADATA` and another with `defineTool`.';
    const hint = 'Keep one of the two: a tool file contains one tool.';
    return {
      type: 'problem',
      offset: definition.offset,
      finding: { code: 'tool.metadata.invalid', reason: 'ambiguous', message, hint },
    };
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
  const message = '`METADATA` must be a `const` of this file.';
  const finding = { code: 'tool.metadata.invalid', reason: 'not_literal', message, hint: metadataHint };
  return { type: 'problem', offset: binding?.offset ?? exported.offset, finding };
}

function missing({ bindings }: ModuleOutline): FoundMetadata {
  const hint = bindings.has('METADATA')
    ? 'Put `export` before it.'
    : `${metadataHint} Or \`export default defineTool({ … });\`. If the file is not a tool, start its name with \`_\`.`;
  const message = 'The file exports neither `METADATA` nor a tool as default.';
  const finding = { code: 'tool.metadata.missing', message, hint };
  return { type: 'problem', offset: bindings.get('METADATA')?.offset ?? 0, finding };
}
