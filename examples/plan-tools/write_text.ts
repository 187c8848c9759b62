import type { ToolContext } from '@holdfast/core';

export const METADATA = {
  name: 'write_text',
  function: 'writeText',
  description: 'Write a text file of the workspace, replacing what is there.',
  dangerous: false,
  // Writes only to the staged workspace: a failed call leaves nothing.
  effects: 'state',
  repeat: 'safe',
  resources: ['$input.path'],
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', minLength: 1, description: 'Path of the file' },
      content: { type: 'string', maxLength: 1_000_000, description: 'The whole text of the file' },
    },
    required: ['path', 'content'],
  },
  returns: {
    type: 'object',
    properties: { path: { type: 'string' }, characters: { type: 'integer', minimum: 0 } },
    required: ['path', 'characters'],
    additionalProperties: false,
  },
} as const;

export async function writeText(
  { path, content }: { readonly path: string; readonly content: string },
  { filesystem }: ToolContext,
): Promise<{ readonly path: string; readonly characters: number }> {
  if (filesystem === undefined) throw new Error('This tool needs a workspace.');
  await filesystem.write(path, content);
  return { path, characters: content.length };
}
