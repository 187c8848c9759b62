import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type KitDriver, listSituations, type Seen, type Situation } from './kit.ts';

export const programs = ['holdfast', 'ai-sdk', 'openai-agents', 'langgraph', 'mastra', 'pi', 'strands'] as const;
export const tableFile: string = join(import.meta.dirname, 'table.md');

export interface Column {
  readonly program: (typeof programs)[number];
  readonly driver: Pick<KitDriver, 'name' | 'packages' | 'without'>;
  readonly seen: readonly Seen[];
}

/** Patterns of the lines of a driver that answer a need. */
const marks = {
  ids: /served|url/,
  rules: /throws|broken/i,
  approvals: /asks|approve|stored/i,
  deadlines: /deadlineMs/,
  state: /staged/,
};

/** The lines of a driver that a cell is about: `L3-L9`. */
export function findLines(program: string, { needs }: Situation, isLacking: boolean): string {
  const lines = readFileSync(join(import.meta.dirname, 'programs', 'kit', `${program}.mjs`), 'utf8').split('\n');
  const from = lines.findIndex((line) =>
    line.startsWith(isLacking ? 'export const without' : 'export async function run'),
  );
  const to = lines.findIndex((line, index) => index >= from && /^\}|\};$/.test(line));
  const about =
    needs === undefined || isLacking
      ? []
      : lines.flatMap((line, index) => (index > from && marks[needs].test(line) ? [index + 1] : []));
  const [first = from + 1, last = to + 1] = [about.at(0), about.at(-1)];
  return first === last ? `L${first}` : `L${first}-L${last}`;
}

export function renderTable(
  columns: readonly Column[],
  versions: Readonly<Record<string, string>>,
  date: string,
): string {
  const named = ({ driver: { name, packages } }: Column): string =>
    [name, packages.map((of) => versions[of]).join(', ')].join(' ').trim();
  const rows = listSituations().map((situation) => {
    const cells = columns.map(({ program, seen }) => {
      const { cell } = seen.find(({ situation: name }) => name === situation.name) ?? { cell: 'not held' };
      return `[${cell}](programs/kit/${program}.mjs#${findLines(program, situation, cell === 'cannot be asked')})`;
    });
    return `| ${[situation.name, ...cells].join(' | ')} |`;
  });
  const reasons = columns.flatMap((column) => {
    const lines = column.seen.flatMap(({ situation, cell, why }) =>
      cell === 'held' ? [] : [`- ${situation}: ${cell}: ${(why ?? '').replaceAll(/\s+/g, ' ').slice(0, 160)}`],
    );
    return lines.length === 0 ? [] : [`### ${named(column)}\n\n${lines.join('\n')}`];
  });
  return `# Executors in nine situations

Written by \`npm run peers\` on ${date}; each cell links to the lines of its driver. The situations are \`executorConformance\` of
\`@holdfast/testing/conformance\`. The model is a server on this machine, where models are those of the AI SDK a script. Tools, approvals
and rules are written as the peer's documentation has them, schemas with \`z.object\`.

| | ${columns.map(named).join(' | ')} |
| --- |${' --- |'.repeat(columns.length)}
${rows.join('\n')}

## What was seen

${reasons.join('\n\n')}
`;
}
