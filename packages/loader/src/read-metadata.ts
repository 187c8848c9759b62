import { checkLiteral, type MetadataReading } from './check-literal.ts';
import { type Finding, toDiagnostic } from './diagnostic.ts';
import { findMetadata } from './find-metadata.ts';
import { readLiteral } from './literal.ts';
import { type ModuleOutline, outlineModule } from './module-outline.ts';
import { parseModule } from './parse-module.ts';
import { type PlainMetadata, readPlainMetadata } from './plain-metadata.ts';

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
  const plain = readPlainMetadata(source, parsing.module, { isTypeScript: file.endsWith('ts') });
  const reading = plain === undefined ? undefined : checkPlain(plain, { file, source, strict });
  if (reading !== undefined) return reading;
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

/** `undefined` for all that there is something to say of: where that stands, the tree tells. */
function checkPlain(
  { value, nameOffset, findFunction }: PlainMetadata,
  place: { readonly file: string; readonly source: string; readonly strict: boolean },
): MetadataReading | undefined {
  const literal = {
    form: 'metadata',
    value,
    findFunction,
    subject: '`METADATA`',
    offset: 0,
    offsetOf: () => 0,
  } as const;
  const reading = checkLiteral(literal, place);
  return reading.type === 'refused' || reading.diagnostics.length > 0 ? undefined : { ...reading, nameOffset };
}

// An export named `then` turns the module into something that `await import()` calls and waits for.
function findUnsafeExport({
  exports,
  exportsAll,
}: ModuleOutline): { readonly finding: Finding; readonly offset: number } | undefined {
  const thenable = exports.get('then');
  if (thenable !== undefined) {
    return {
      offset: thenable.offset,
      finding: {
        code: 'tool.export.then',
        message: 'The file exports `then`, which makes importing it wait for that function.',
        hint: 'Give the export another name.',
      },
    };
  }
  if (exportsAll === undefined) return undefined;
  return {
    offset: exportsAll,
    finding: {
      code: 'tool.export.all',
      message: 'The file exports all of another file, and what that is cannot be seen here.',
      hint: 'Name what is exported: `export { one, two } from …`.',
    },
  };
}
