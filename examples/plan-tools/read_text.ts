import type { ToolContext } from '@holdfast/core';

export const METADATA = {
  name: 'read_text',
  function: 'readText',
  description: 'Read a text file of the workspace.',
  dangerous: false,
  parameters: {
    type: 'object',
    properties: { path: { type: 'string', minLength: 1, description: 'Path of the file' } },
    required: ['path'],
  },
  returns: {
    type: 'object',
    properties: { path: { type: 'string' }, text: { type: 'string' } },
    required: ['path', 'text'],
    additionalProperties: false,
  },
} as const;

export async function readText(
  { path }: { readonly path: string },
  { filesystem }: ToolContext,
): Promise<{ readonly path: string; readonly text: string }> {
  if (filesystem === undefined) throw new Error('This tool needs a workspace.');
  return { path, text: await filesystem.readText(path) };
}
