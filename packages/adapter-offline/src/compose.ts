import type { Json } from '@holdfast/core';
import type { Finding } from './results.ts';
import { cellAt, cellOf, columnsOf, lineOf, shapeOf } from './tables.ts';

/** What a document is made from. */
export interface Chapter {
  readonly title: string;
  readonly finding: Finding;
}

/**
 * Everything that was found as the text of a file: Markdown, JSON or CSV by the ending of `target`, plain lines for any other.
 * Nothing is cut.
 */
export function composeDocument(chapters: readonly Chapter[], target: string): string {
  switch (/\.([a-z0-9]+)$/iu.exec(target)?.[1]?.toLowerCase()) {
    case 'md':
    case 'markdown':
      return toMarkdown(chapters);
    case 'json':
      return `${JSON.stringify(chapters.length === 1 ? chapters[0]?.finding.value : chapters.map(({ title, finding }) => ({ title, value: finding.value })), null, 2)}\n`;
    case 'csv':
      return chapters.map(({ finding }) => toCsv(finding.value)).join('\n');
    default:
      return chapters
        .map(({ title, finding }) => `${chapters.length > 1 ? `${title}\n\n` : ''}${toLines(finding.value)}`)
        .join('\n');
  }
}

function toMarkdown(chapters: readonly Chapter[]): string {
  const [only] = chapters;
  // A single text is stored as it is: it has its own headings.
  if (chapters.length === 1 && typeof only?.finding.value === 'string') return toLines(only.finding.value);
  const isSingle = chapters.length === 1;
  const heads = isSingle ? [`# ${only?.title ?? 'Findings'}`] : ['# Findings'];
  const parts = chapters.flatMap(({ title, finding }) => [
    ...(isSingle ? [] : [`## ${title}`]),
    markdownOf(finding.value),
  ]);
  return `${[...heads, ...parts].filter((part) => part !== '').join('\n\n')}\n`;
}

function markdownOf(value: Json): string {
  const { facts, rows, text, rowsName } = shapeOf(value);
  if (text !== '') return text.trimEnd();
  const parts = [facts.map(([key, fact]) => `- **${key}**: ${cellOf(fact)}`).join('\n')];
  if (rows.length > 0) parts.push(toTable(rows) ?? rows.map((row) => `- ${lineOf(row)}`).join('\n'));
  if (rows.length === 0 && (Array.isArray(value) || rowsName !== '')) parts.push('Nothing was found.');
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Places in files read better as a list; other flat rows as a table. */
function toTable(rows: readonly Json[]): string | undefined {
  const columns = columnsOf(rows);
  if (
    columns === undefined ||
    columns.length < 2 ||
    columns.some((column) => /^(?:file|path)$/u.test(column) && columns.length <= 5)
  )
    return undefined;
  const lineFor = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [
    lineFor(columns),
    lineFor(columns.map(() => '---')),
    ...rows.map((row) => lineFor(columns.map((column) => cellAt(row, column)))),
  ].join('\n');
}

function toCsv(value: Json): string {
  const { facts, rows, text } = shapeOf(value);
  const columns = columnsOf(rows);
  if (columns !== undefined)
    return csvLines([columns, ...rows.map((row) => columns.map((column) => cellAt(row, column)))]);
  if (rows.length > 0) return csvLines(rows.map((row) => [lineOf(row)]));
  if (facts.length > 0) return csvLines([['key', 'value'], ...facts.map(([key, fact]) => [key, cellOf(fact)])]);
  return `${text}\n`;
}

function csvLines(rows: readonly (readonly string[])[]): string {
  return `${rows.map((row) => row.map((cell) => (/[",\n]/u.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')).join('\n')}\n`;
}

function toLines(value: Json): string {
  const { facts, rows, text } = shapeOf(value);
  if (text !== '') return text.endsWith('\n') ? text : `${text}\n`;
  return [...facts.map(([key, fact]) => `${key}: ${cellOf(fact)}`), ...rows.map(lineOf)]
    .map((line) => `${line}\n`)
    .join('');
}
