import { isPlainObject, type JsonObject } from '@holdfast/core';
import { checkMetadata, type ToolMetadata } from './check-metadata.ts';
import { type Diagnostic, type Finding, toDiagnostic } from './diagnostic.ts';
import { findExportedFunction } from './exported-function.ts';
import { readLiteral } from './literal.ts';
import { type ModuleOutline, outlineModule } from './module-outline.ts';
import { parseModule } from './parse-module.ts';

export interface ReadMetadataOptions {
  /** Makes errors of the two warnings, a missing description and a missing `dangerous`. Default false. */
  readonly strict?: boolean;
}

export type MetadataReading =
  | {
      readonly type: 'read';
      readonly metadata: ToolMetadata;
      /** Offset of `name` in the source, for what is found by comparing files. */
      readonly nameOffset: number;
      /** Warnings. */
      readonly diagnostics: readonly Diagnostic[];
    }
  | { readonly type: 'refused'; readonly diagnostics: readonly Diagnostic[] };

/**
 * Reads and checks the `METADATA` of a tool file from its text. Nothing of the file runs.
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

  const thenable = outline.exports.get('then');
  if (thenable !== undefined) {
    return refuse(
      {
        code: 'tool.export.then',
        message: 'The file exports `then`, which makes importing it wait for that function.',
        hint: 'Give the export another name.',
      },
      thenable.offset,
    );
  }
  const found = findMetadata(outline);
  if (found.type === 'problem') return refuse(found.finding, found.offset);
  const literal = readLiteral(found.value, outline.bindings);
  if (literal.type === 'refused') {
    return refuse(
      { code: 'tool.metadata.not_literal', message: `\`METADATA\` holds ${literal.found}.`, hint: literal.hint },
      literal.offset,
    );
  }
  const { value, offsetOf } = literal;
  if (!isPlainObject(value)) {
    return refuse(
      { code: 'tool.metadata.not_literal', message: '`METADATA` is not an object.', hint: metadataHint },
      found.offset,
    );
  }

  const diagnostics: Diagnostic[] = [];
  const metadata = checkMetadata(
    {
      form: 'metadata',
      // Read from a literal: nothing but JSON.
      value: value as JsonObject,
      findFunction: (name) => findExportedFunction(name, outline, { source, comments: parsing.module.comments }),
    },
    ({ path, severity = 'error', ...finding }) => {
      diagnostics.push(
        toDiagnostic({ ...finding, severity: strict ? 'error' : severity }, { file, source, offset: offsetOf(path) }),
      );
    },
  );
  if (diagnostics.some(({ severity }) => severity === 'error')) return { type: 'refused', diagnostics };
  return { type: 'read', metadata, nameOffset: offsetOf(['name']), diagnostics };
}

const metadataHint = 'Write `export const METADATA = { name, function, description, dangerous, parameters };`.';

type Found =
  | { readonly type: 'value'; readonly value: Parameters<typeof readLiteral>[0]; readonly offset: number }
  | { readonly type: 'problem'; readonly finding: Finding; readonly offset: number };

function findMetadata({ bindings, exports }: ModuleOutline): Found {
  const exported = exports.get('METADATA');
  if (exported === undefined) {
    const offset = bindings.get('METADATA')?.offset ?? 0;
    const hint = bindings.has('METADATA')
      ? 'Put `export` before it.'
      : `${metadataHint} A file that is no tool gets a name that begins with \`_\`.`;
    return {
      type: 'problem',
      offset,
      finding: { code: 'tool.metadata.missing', message: 'The file exports no `METADATA`.', hint },
    };
  }
  const binding = exported.local === undefined ? undefined : bindings.get(exported.local);
  if (binding?.type === 'const') return { type: 'value', value: binding.value, offset: binding.offset };
  return {
    type: 'problem',
    offset: binding?.offset ?? exported.offset,
    finding: {
      code: 'tool.metadata.not_literal',
      message: '`METADATA` is no `const` of this file.',
      hint: metadataHint,
    },
  };
}
