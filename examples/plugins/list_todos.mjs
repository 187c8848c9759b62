export const METADATA = {
  name: 'list_todos',
  function: 'listTodos',
  description: 'List every TODO, FIXME, HACK, XXX and BUG comment in the source files, with file, line, tag and text.',
  dangerous: false,
  parameters: {
    type: 'object',
    properties: {
      folder: { type: 'string', default: '', description: 'Folder to look in; empty for the whole workspace' },
      tags: {
        type: 'array',
        items: { type: 'string', enum: ['TODO', 'FIXME', 'HACK', 'XXX', 'BUG'] },
        minItems: 1,
        default: ['TODO', 'FIXME', 'HACK', 'XXX', 'BUG'],
        description: 'Which tags to list',
      },
      limit: { type: 'integer', minimum: 1, maximum: 1000, default: 200, description: 'The most comments to return' },
    },
  },
};

// Comment syntax by file extension. Other files are skipped.
const slash = { line: ['//'], open: '/*', close: '*/', quotes: ['"', "'", '`'] };
const hash = { line: ['#'], open: '', close: '', quotes: ['"', "'"] };
const python = { ...hash, quotes: ['"""', "'''", '"', "'"] };
const markup = { line: [], open: '<!--', close: '-->', quotes: [] };
const styles = new Map([
  ...'js mjs cjs jsx ts mts cts tsx java c h cc cpp hpp cs go rs swift kt kts scala dart jsonc'
    .split(' ')
    .map((ending) => [ending, slash]),
  ...'sh bash rb pl r yml yaml toml ini conf cfg mk dockerfile'.split(' ').map((ending) => [ending, hash]),
  ...'py pyi'.split(' ').map((ending) => [ending, python]),
  ...'css scss less'.split(' ').map((ending) => [ending, { ...slash, line: ending === 'css' ? [] : ['//'] }]),
  ...'html htm xml svg vue md'.split(' ').map((ending) => [ending, markup]),
  ['php', { ...slash, line: ['//', '#'] }],
  ['sql', { ...slash, line: ['--'], quotes: ["'"] }],
  ['lua', { ...hash, line: ['--'] }],
]);

const maxTextLength = 300;
const decoder = new TextDecoder('utf-8', { fatal: true });

export async function listTodos(
  { folder = '', tags = ['TODO', 'FIXME', 'HACK', 'XXX', 'BUG'], limit = 200 },
  { filesystem, signal },
) {
  const tag = new RegExp(`(?<![\\w-])(${tags.join('|')})(?:\\(([^)]*)\\))?(?![\\w-])[:\\s-]*(.*)`);
  const todos = [];
  const counts = {};
  let total = 0;
  let looked = 0;
  let passedOver = 0;
  for await (const { path, name, type } of filesystem.walk(folder)) {
    signal?.throwIfAborted();
    if (type !== 'file') continue;
    const style = styles.get(name.toLowerCase().split('.').at(-1));
    const source = style && (await readText(filesystem, path));
    if (source === undefined) {
      passedOver += 1;
      continue;
    }
    looked += 1;
    for (const { line, text } of comments(source, style)) {
      const found = tag.exec(text);
      if (found === null) continue;
      const [, word, owner, rest] = found;
      total += 1;
      counts[word] = (counts[word] ?? 0) + 1;
      if (todos.length < limit)
        todos.push({
          file: path,
          line,
          tag: word,
          text: rest.trim().slice(0, maxTextLength),
          ...(owner ? { owner } : {}),
        });
    }
  }
  // Report skipped files, so that an empty list does not suggest a clean project.
  return { todos, total, by_tag: counts, files_looked_at: looked, files_passed_over: passedOver };
}

async function readText(filesystem, path) {
  try {
    // A peek, not a read: searching a file does not mark it as read.
    return decoder.decode(await filesystem.read(path, { peek: true }));
  } catch {
    // Not text, or too large: counted as skipped.
    return undefined;
  }
}

// One entry per comment line. Strings are skipped, so a comment mark in a string is ignored; a regular
// expression literal is read as code, which is correct unless it contains a quote or a comment mark.
function* comments(source, { line: lineMarks, open, close, quotes }) {
  let number = 1;
  let index = 0;
  const startsWith = (mark) => mark !== '' && source.startsWith(mark, index);
  const lineEnd = () => (source.indexOf('\n', index) < 0 ? source.length : source.indexOf('\n', index));
  while (index < source.length) {
    const quote = quotes.find(startsWith);
    if (source[index] === '\n') {
      number += 1;
      index += 1;
    } else if (startsWith(open)) {
      const end = source.indexOf(close, index + open.length);
      const stop = end < 0 ? source.length : end;
      const lines = source.slice(index + open.length, stop).split('\n');
      for (const [offset, text] of lines.entries()) yield { line: number + offset, text };
      number += lines.length - 1;
      index = stop + close.length;
    } else if (lineMarks.some(startsWith)) {
      yield { line: number, text: source.slice(index, lineEnd()) };
      index = lineEnd();
    } else if (quote !== undefined) {
      const many = quote.length === 3 || quote === '`';
      let end = index + quote.length;
      while (end < source.length && !source.startsWith(quote, end) && (many || source[end] !== '\n')) {
        end += source[end] === '\\' ? 2 : 1;
      }
      const stop = Math.min(source.length, source.startsWith(quote, end) ? end + quote.length : end);
      number += source.slice(index, stop).split('\n').length - 1;
      index = stop;
    } else {
      index += 1;
    }
  }
}
