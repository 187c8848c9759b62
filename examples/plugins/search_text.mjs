export const METADATA = {
  name: 'search_text',
  function: 'searchText',
  description: 'Search for a text in the files of the workspace and find the lines that contain it.',
  dangerous: false,
  parameters: {
    type: 'object',
    properties: {
      text: {
        type: 'string',
        minLength: 1,
        maxLength: 1000,
        description: 'The text to search for, exactly as it is written',
      },
      folder: { type: 'string', default: '', description: 'Folder to search in; empty for the whole workspace' },
      ending: { type: 'string', default: '', description: 'Search only files whose name has this ending, such as .ts' },
      match_case: {
        type: 'boolean',
        default: false,
        description: 'Whether capital and small letters count as different',
      },
      limit: { type: 'integer', minimum: 1, maximum: 500, default: 100, description: 'The most lines to return' },
    },
    required: ['text'],
  },
};

const maxLineLength = 300;
const decoder = new TextDecoder('utf-8', { fatal: true });

export async function searchText(
  { text, folder = '', ending = '', match_case = false, limit = 100 },
  { filesystem, signal },
) {
  const fold = (line) => (match_case ? line : line.toLowerCase());
  const wanted = fold(text);
  const matches = [];
  const skipped = [];
  let total = 0;
  let searched = 0;
  for await (const { path, type } of filesystem.walk(folder)) {
    signal?.throwIfAborted();
    if (type !== 'file' || !path.endsWith(ending)) continue;
    let content;
    try {
      // A peek, not a read: searching a file does not mark it as read.
      content = decoder.decode(await filesystem.read(path, { peek: true }));
    } catch ({ code }) {
      // Skip binary files, and continue with the others.
      skipped.push({ file: path, reason: code ?? 'unreadable' });
      continue;
    }
    searched += 1;
    for (const [index, line] of content.split(/\r\n|\r|\n/).entries()) {
      if (!fold(line).includes(wanted)) continue;
      total += 1;
      if (matches.length < limit)
        matches.push({ file: path, line: index + 1, text: line.trim().slice(0, maxLineLength) });
    }
  }
  return {
    matches,
    total,
    files_searched: searched,
    files_skipped: skipped.length,
    ...(skipped.length > 0 ? { skipped: skipped.slice(0, 20) } : {}),
  };
}
