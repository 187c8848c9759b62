import type { Comment, Expression } from 'oxc-parser';
import type { MetadataForm } from './check-metadata.ts';
import type { Finding } from './diagnostic.ts';
import { type ExportedFunction, findExportedFunction } from './exported-function.ts';
import type { ModuleOutline } from './module-outline.ts';
import { readDefinition } from './read-definition.ts';

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
export function findMetadata(
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
    return {
      type: 'problem',
      offset: definition.offset,
      finding: {
        code: 'tool.metadata.ambiguous',
        message: 'The file declares a tool by `METADATA` and another one by `defineTool`.',
        hint: 'Keep one of the two: a tool file holds one tool.',
      },
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

function missing({ bindings }: ModuleOutline): FoundMetadata {
  const hint = bindings.has('METADATA')
    ? 'Put `export` before it.'
    : `${metadataHint} Or \`export default defineTool({ … });\`. A file that is no tool gets a name that begins with \`_\`.`;
  return {
    type: 'problem',
    offset: bindings.get('METADATA')?.offset ?? 0,
    finding: {
      code: 'tool.metadata.missing',
      message: 'The file exports no `METADATA`, and no tool as its default.',
      hint,
    },
  };
}
