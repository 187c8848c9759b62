import type { Repository } from './repository.ts';

/** The page that explains every code to users. `npm run errors` writes its tables. */
export const errorPage = 'apps/docs/guide/errors.md';

/** A row of the page: a code, and below it what its reasons mean. */
export interface ErrorRow {
  /** The `errors.json` that has it. */
  readonly path: string;
  readonly code: string;
  readonly reasons: readonly string[];
}

/** A code's meaning, or an object with `meaning` and, by reason, what each reason means. Names that share a row have a comma between them. */
type Entry = string | Readonly<Record<string, string>>;

interface Catalog {
  readonly path: string;
  /** By heading of the page, then by code. */
  readonly tables: Readonly<Record<string, Readonly<Record<string, Entry>>>>;
}

/** The rows of all `errors.json`, one for each code. */
export function readErrorRows(repository: Repository): readonly ErrorRow[] {
  return readCatalogs(repository).flatMap(({ path, tables }) =>
    Object.values(tables).flatMap((table) =>
      Object.entries(table).flatMap(([codes, entry]) =>
        splitNames(codes).map((code) => ({
          path,
          code,
          reasons: reasonsOf(entry).flatMap(([names]) => splitNames(names)),
        })),
      ),
    ),
  );
}

/** The page with its tables written anew from the `errors.json` of the packages: each belongs to the heading above it. */
export function writeErrorPage(repository: Repository): string {
  const catalogs = readCatalogs(repository);
  const lines: string[] = [];
  let heading = '';
  let columns = 0;
  for (const line of (repository.files.get(errorPage) ?? '').split('\n')) {
    if (line.startsWith('#')) heading = line.replace(/^#+ /, '');
    if (line.startsWith('| Code |')) columns = line.split('|').length - 2;
    // The rows of before are left out.
    if (columns === 0 || !/^\| (?:`|– )/.test(line)) lines.push(line);
    if (columns > 0 && line.startsWith('| ---')) {
      for (const { tables } of catalogs) lines.push(...toLines(tables[heading] ?? {}, columns));
    }
    if (line === '') columns = 0;
  }
  return lines.join('\n');
}

/** Headings of `errors.json` that the page lacks. */
export function findLostTables(repository: Repository): readonly string[] {
  const page = repository.files.get(errorPage) ?? '';
  const found = new Set(
    page.split(/^#+ /m).flatMap((part) => (part.includes('\n| Code |') ? part.split('\n', 1) : [])),
  );
  return readCatalogs(repository).flatMap(({ path, tables }) =>
    Object.keys(tables)
      .filter((heading) => !found.has(heading))
      .map((heading) => `${path}: ${errorPage} has no table below a heading \`${heading}\``),
  );
}

function readCatalogs({ files }: Repository): readonly Catalog[] {
  return [...files]
    .filter(([path]) => /^(?:packages\/[^/]+|apps\/cli)\/errors\.json$/.test(path))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, text]) => ({ path, tables: JSON.parse(text) as Catalog['tables'] }));
}

function toLines(table: Readonly<Record<string, Entry>>, columns: number): readonly string[] {
  const row = (names: string, text: string): string => {
    const cells = text.split(' | ');
    const empty = columns - 1 - cells.length;
    return `| ${names} |${' |'.repeat(empty)} ${cells.join(' | ')} |`;
  };
  return Object.entries(table).flatMap(([codes, entry]) => [
    row(quote(codes), typeof entry === 'string' ? entry : (entry['meaning'] ?? '')),
    ...reasonsOf(entry).map(([names, text]) => row(`– ${quote(names)}`, text)),
  ]);
}

function reasonsOf(entry: Entry): readonly (readonly [string, string])[] {
  return typeof entry === 'string' ? [] : Object.entries(entry).filter(([name]) => name !== 'meaning');
}

function splitNames(names: string): readonly string[] {
  return names.split(', ');
}

function quote(names: string): string {
  return splitNames(names)
    .map((name) => `\`${name}\``)
    .join(', ');
}
