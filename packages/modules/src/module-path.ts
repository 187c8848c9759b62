import { toPrintable } from '@holdfast/core';

const maxPathLength = 1024;

/**
 * Why a path of a manifest is refused: `undefined` for one that leads to a file below the folder, spelled in the one way that every
 * system reads alike. Whether a link on the way leads out only the source can tell.
 */
export function findPathProblem(path: string): string | undefined {
  const shown = `\`${toPrintable(path.slice(0, 200))}\``;
  if (path.length > maxPathLength) return `${shown}… is longer than ${maxPathLength} characters.`;
  if (path.startsWith('/')) return `${shown} begins with \`/\`: paths are relative to the folder of the manifest.`;
  // A drive, `file:`, or a stream of a file on Windows.
  if (path.includes(':')) return `${shown} holds \`:\`; write a path relative to the folder of the manifest.`;
  if (path.includes('\\')) return `${shown} holds a backslash; write \`/\`.`;
  if (toPrintable(path) !== path) return `${shown} holds characters that cannot be seen.`;
  for (const segment of path.split('/')) {
    if (segment === '') return `${shown} has an empty part; name a file, with one \`/\` between the parts.`;
    if (segment === '.' || segment === '..') return `${shown} holds \`${segment}\`; write the path without it.`;
    // Windows drops them, so that two spellings would be one file.
    if (segment.endsWith('.') || segment.endsWith(' ')) return `${shown} has a part that ends with a dot or a space.`;
  }
  return undefined;
}
