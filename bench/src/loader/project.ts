import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareLock } from '@holdfast/loader';

/** A project with a tools folder, removed at the end of the block. */
export interface ToolProject extends Disposable {
  readonly root: string;
  readonly plugins: string;
  readonly lock: string;
  /** Absolute paths of the tool files. */
  readonly files: readonly string[];
}

export function createToolProject(count: number): ToolProject {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-bench-')));
  const plugins = join(root, 'plugins');
  mkdirSync(plugins);
  const files = Array.from({ length: count }, (_, index) => {
    const path = join(plugins, `${nameOf(index)}.mjs`);
    writeFileSync(path, toolFile(index));
    return path;
  });
  return {
    root,
    plugins,
    lock: join(root, 'holdfast.lock'),
    files,
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

export async function lockProject({ plugins, lock }: ToolProject): Promise<void> {
  await (await compareLock(plugins, { lock })).accept();
}

function nameOf(index: number): string {
  return `search_${String(index).padStart(5, '0')}`;
}

/** A realistic tool file: a schema of four arguments, a doc comment, a few lines of work. 1.7 kB. */
function toolFile(index: number): string {
  return `export const METADATA = {
  name: '${nameOf(index)}',
  function: 'searchRecords',
  description: 'Search the records of shelf ${index} for a text, and report the best of what was found.',
  dangerous: false,
  parameters: {
    type: 'object',
    properties: {
      text: { type: 'string', minLength: 1, maxLength: 300, description: 'What to look for' },
      kind: { type: 'string', enum: ['book', 'letter', 'map'], description: 'What kind of record' },
      limit: { type: 'integer', minimum: 1, maximum: 1000, default: 10, description: 'Report at most so many' },
      exact: { type: 'boolean', default: false, description: 'Whether case matters' },
    },
    required: ['text'],
  },
};

const records = new Map([
  ['book', ['The tide', 'Number ${index}', 'A history of tea']],
  ['letter', ['To the harbour master', 'From the island']],
  ['map', ['The coast', 'The river and its mouth']],
]);

/** Finds records that contain a text. */
export async function searchRecords({ text, kind, limit = 10, exact = false }, { signal }) {
  const wanted = exact ? text.trim() : text.trim().toLowerCase();
  const found = [];
  for (const [name, titles] of records) {
    signal?.throwIfAborted();
    if (kind !== undefined && kind !== name) continue;
    for (const title of titles) {
      const at = (exact ? title : title.toLowerCase()).indexOf(wanted);
      if (at >= 0) found.push({ kind: name, title, score: score(title, at) });
    }
  }
  found.sort((left, right) => right.score - left.score);
  return { text, count: found.length, found: found.slice(0, limit) };
}

// A match at the start ranks higher.
function score(title, at) {
  return at === 0 ? 2 : 1 / (1 + at / title.length);
}
`;
}
