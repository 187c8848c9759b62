import { join } from 'node:path';
import type { Tool } from '@holdfast/core';
import { formatDiagnostic } from '@holdfast/loader';
import Table from 'cli-table3';
import { type Colors, createColors } from './colors.ts';
import type { ExitCode } from './failure.ts';
import { describeTerminal, type Host } from './host.ts';
import { toJsonText } from './json-text.ts';
import { measureColumns, toPrintable, wrapBlock, wrapColumns } from './terminal-text.ts';
import { findToolsFolder, openToolset, type Toolset } from './toolset.ts';

export interface ListOptions {
  /** Absent: the default folder, when there is one. */
  readonly tools: string | undefined;
  /** Reads the folders in it, too. */
  readonly subfolders: boolean;
  readonly json: boolean;
}

/** Prints the tools that a run is offered; files that were refused go to stderr. */
export async function listTools({ tools, subfolders, json }: ListOptions, host: Host): Promise<ExitCode> {
  const toolset = await openToolset(await findToolsFolder(tools, host.directory), { subfolders });
  for (const diagnostic of toolset.diagnostics) {
    if (diagnostic.severity !== 'error') continue;
    host.stderr.write(`${formatDiagnostic(diagnostic, { folder: toolset.folder.name })}\n`);
  }
  const rows = [...toolset.folderTools, ...toolset.fileTools].map((tool) => toRow(tool, toolset));
  if (json) {
    host.stdout.write(`${toJsonText(rows, 2)}\n`);
    return 0;
  }
  const { color, columns } = describeTerminal(host.stdout, host.environment);
  const colors = createColors(color);
  const head = ['tool', 'origin', 'effects', 'gate', 'description'];
  const cells = rows.map(({ name, origin, effects, dangerous, description }) => [
    toPrintable(name),
    toPrintable(origin),
    effects,
    dangerous ? 'dangerous' : '',
    toPrintable(description),
  ]);
  const widths = head.map((title, index) =>
    Math.max(title.length, ...cells.map((row) => measureColumns(row[index] ?? ''))),
  );
  const others = widths.slice(0, 4).reduce((sum, width) => sum + width + 2, 0);
  const room = Math.min(columns, 140) - others - 1;
  const lines =
    room < minDescriptionColumns ? toEntries(cells, columns, colors) : toTable(cells, { head, room, colors });
  host.stdout.write(`${lines.join('\n')}\n`);
  if (toolset.folder.path === undefined) {
    host.stdout.write(
      `\nThere is no tools folder \`${toPrintable(toolset.folder.name)}\`; \`--tools DIR\` names another.\n`,
    );
  }
  return 0;
}

type Cells = readonly (readonly string[])[];

const minDescriptionColumns = 24;

function toTable(
  cells: Cells,
  { head, room, colors }: { readonly head: readonly string[]; readonly room: number; readonly colors: Colors },
): readonly string[] {
  const table = new Table({
    head: head.map(colors.bold),
    chars: borderless,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
  });
  for (const [name = '', origin = '', effects = '', gate = '', description = ''] of cells) {
    const lines = wrapColumns(description, room, Number.POSITIVE_INFINITY);
    table.push([colors.bold(name), origin, effects, colors.red(gate), lines.join('\n')]);
  }
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
}

/** Below each other what does not fit beside each other. */
function toEntries(cells: Cells, columns: number, colors: Colors): readonly string[] {
  return cells.flatMap(([name = '', origin = '', effects = '', gate = '', description = '']) => [
    colors.bold(name),
    ...wrapBlock(`  ${origin}, effects: ${effects}${gate === '' ? '' : `, ${gate}`}`, columns - 1),
    ...wrapBlock(`  ${description}`, columns - 1),
  ]);
}

const borderless = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '',
};

interface Row {
  readonly name: string;
  readonly origin: string;
  readonly effects: Tool['effects'];
  readonly repeat: Tool['repeat'];
  readonly dangerous: boolean;
  readonly description: string;
}

function toRow({ name, origin, effects, repeat, dangerous, description }: Tool, { folder }: Toolset): Row {
  const place = origin === undefined ? 'built in' : join(folder.name, origin.source);
  return { name, origin: place, effects, repeat, dangerous, description };
}
