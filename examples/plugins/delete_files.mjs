export const METADATA = {
  name: 'delete_files',
  function: 'deleteFiles',
  description: 'Delete the files whose path matches a pattern, and report which were deleted.',
  dangerous: true,
  // Deletes only in the staged workspace: a failed call restores the files.
  effects: 'state',
  parameters: {
    type: 'object',
    properties: {
      pattern: {
        type: 'string',
        minLength: 1,
        maxLength: 300,
        description:
          'Which files to delete, such as *.log or build/**; * stands for any part of a name, ** for any folders',
      },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: 1000,
        default: 100,
        description: 'Delete nothing when more files than this match',
      },
    },
    required: ['pattern'],
  },
};

export async function deleteFiles({ pattern, limit = 100 }, { filesystem, signal }) {
  const isMatch = matcher(pattern);
  const matching = [];
  for await (const { path, type } of filesystem.walk()) {
    signal?.throwIfAborted();
    if (type === 'file' && isMatch(path)) matching.push(path);
  }
  if (matching.length > limit) {
    throw new Error(
      `\`${pattern}\` matches ${matching.length} files, more than the limit of ${limit}: nothing was deleted.`,
    );
  }
  for (const path of matching) await filesystem.remove(path);
  return { pattern, deleted: matching, count: matching.length };
}

// A pattern without a folder matches in every folder. Compared part by part, without regular expressions that could stall.
function matcher(pattern) {
  const parts = pattern.replace(/^\.\//, '').replace(/\/$/, '/**').split('/');
  const anywhere = parts.length === 1 ? ['**', ...parts] : parts;
  const wanted = anywhere.filter((part, index) => part !== '**' || anywhere[index - 1] !== '**');
  return (path) => matchParts(wanted, path.split('/'));
}

function matchParts(wanted, actual) {
  const [first, ...rest] = wanted;
  if (first === undefined) return actual.length === 0;
  if (first === '**') {
    if (rest.length === 0) return actual.length > 0;
    return actual.some((_, index) => matchParts(rest, actual.slice(index)));
  }
  const [name, ...others] = actual;
  return name !== undefined && matchName(first, name) && matchParts(rest, others);
}

function matchName(pattern, name) {
  const pieces = pattern.split('*');
  if (pieces.length === 1) return pattern === name;
  const [head, last] = [pieces[0], pieces.at(-1)];
  if (name.length < head.length + last.length || !name.startsWith(head) || !name.endsWith(last)) return false;
  let from = head.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = name.indexOf(piece, from);
    if (found < 0) return false;
    from = found + piece.length;
  }
  return from <= name.length - last.length;
}
