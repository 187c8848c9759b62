import type { NodeKind } from '@holdfast/orchestrator';
import { formatDuration, type LineStyle, paintState } from '../calls/line.ts';
import { type Colors, createColors } from '../terminal/colors.ts';
import { fitColumns, measureColumns, padColumns, toPrintable } from '../terminal/text.ts';
import { describeNode } from './node-line.ts';
import type { NodeProgress, PlanProgress } from './progress.ts';
import { estimateLeftMs } from './time-left.ts';

/** What is kept from frame to frame, so that columns stay where they are and nothing is worked out ten times a second. */
export interface FrameMemory {
  nodeColumns: number;
  toolColumns: number;
  estimate: { readonly atMs: number; readonly leftMs: number | undefined } | undefined;
}

export function newFrameMemory(): FrameMemory {
  return { nodeColumns: 4, toolColumns: 4, estimate: undefined };
}

export interface FrameOptions {
  readonly style: LineStyle;
  /** Of the terminal: a frame that is taller cannot be rewritten. */
  readonly rows: number;
  /** How many nodes may run at once. */
  readonly places: number;
  readonly nowMs: number;
}

const maxRows = 30;
const maxNameColumns = 24;
const stateColumns = 9;

/** A row for each node, or where there are too many for each that moves; then a bar. */
export function formatFrame(progress: PlanProgress, memory: FrameMemory, options: FrameOptions): readonly string[] {
  const { style, rows, nowMs } = options;
  const { nodes } = progress;
  // Two empty lines, the head, what is not shown, the bar; and the line of the cursor.
  const room = Math.max(1, Math.min(maxRows, rows - 6));
  const shown = nodes.length <= room ? nodes : progress.listOpen(room);
  for (const { node, tool } of shown) {
    memory.nodeColumns = Math.min(
      maxNameColumns,
      Math.max(memory.nodeColumns, measureColumns(toPrintable(String(node)))),
    );
    memory.toolColumns = Math.min(maxNameColumns, Math.max(memory.toolColumns, measureColumns(toPrintable(tool))));
  }
  return [
    ...formatRows(shown, { progress, memory, style, nowMs }),
    ...(shown.length < nodes.length ? [describeRest(progress, shown, style)] : []),
    '',
    formatBar(progress, memory, options),
  ];
}

interface RowsPlace {
  readonly progress: PlanProgress;
  readonly memory: FrameMemory;
  readonly style: LineStyle;
  readonly nowMs: number;
}

// Columns of a line that are neither names nor the note: indent, state, tries, time, and two between each.
const fixedColumns = 2 + stateColumns + 2 + 2 + 2 + 5 + 2 + 7 + 2;

type Cells = Readonly<Record<'state' | 'node' | 'tool' | 'tries' | 'time' | 'note', string>>;

function formatRows(shown: readonly NodeProgress[], { progress, memory, style, nowMs }: RowsPlace): readonly string[] {
  const { colors, columns } = style;
  const format = columns < minWideColumns ? layNarrow(columns) : layWide(memory, columns);
  const head = { state: 'state', node: 'node', tool: 'tool', tries: 'tries', time: 'time', note: '' };
  return [
    colors.dim(format(head, createColors(false))),
    ...shown.map((node) => {
      const { kind, attempts, startedAtMs, durationMs } = node;
      const timeMs = durationMs ?? (startedAtMs === undefined ? undefined : Math.max(0, nowMs - startedAtMs));
      return format(
        {
          state: kind,
          node: nameNode(node),
          tool: toPrintable(node.tool),
          tries: attempts === 0 ? '' : String(attempts),
          time: timeMs === undefined || kind === 'suspended' ? '' : formatDuration(timeMs),
          note: describeNode(node, progress, nowMs),
        },
        colors,
      );
    }),
  ];
}

function nameNode({ node }: NodeProgress): string {
  return toPrintable(String(node));
}

/** Of an id that is too long its ends: many begin alike and are told apart by how they end. */
function fitId(id: string, columns: number): string {
  const kept = columns - 6;
  // What takes other than one column a letter is no id that a check lets through.
  if (id.length <= columns || kept < 1 || !/^[\w-]+$/.test(id)) return fitColumns(id, columns);
  return `${id.slice(0, kept)}…${id.slice(-5)}`;
}

const minWideColumns = 60;

/** A line with everything. The names give way to the note, the tool first. */
function layWide(memory: FrameMemory, columns: number): (cells: Cells, colors: Colors) => string {
  const free = columns - 1 - fixedColumns;
  const nodeColumns = Math.min(memory.nodeColumns, Math.floor(free / 3));
  const toolColumns = Math.min(memory.toolColumns, Math.floor((free - nodeColumns) / 2));
  const noteColumns = free - nodeColumns - toolColumns;
  return ({ state, node, tool, tries, time, note }, colors) => {
    const names = `${colors.bold(padColumns(fitId(node, nodeColumns), nodeColumns))}  ${padColumns(tool, toolColumns)}`;
    const numbers = `${tries.padStart(5)}  ${colors.dim(time.padStart(7))}`;
    return `  ${paintPadded(state, colors)}  ${names}  ${numbers}  ${colors.dim(fitColumns(note, noteColumns))}`.trimEnd();
  };
}

/** What there is room for: the state, the node, and as much of the note as is left. */
function layNarrow(columns: number): (cells: Cells, colors: Colors) => string {
  return ({ state, node, note }, colors) => {
    const name = fitId(node, Math.max(1, columns - stateColumns - 4));
    const room = columns - stateColumns - 6 - measureColumns(name);
    return `  ${paintPadded(state, colors)} ${colors.bold(name)}  ${colors.dim(fitColumns(note, room))}`.trimEnd();
  };
}

function paintPadded(state: string, colors: Colors): string {
  return paintState(state, colors)(padColumns(state, stateColumns));
}

/** `… and 9,976 more: 4,000 ok, 5,976 waiting`. */
function describeRest(progress: PlanProgress, shown: readonly NodeProgress[], { colors, columns }: LineStyle): string {
  const counts = new Map(progress.counts);
  for (const { kind } of shown) counts.set(kind, (counts.get(kind) ?? 0) - 1);
  const rest = progress.nodes.length - shown.length;
  return colors.dim(fitColumns(`  … and ${formatNumber(rest)} more: ${describeKinds(counts)}`, columns - 1));
}

/** `36 ok, 1 failed`. */
export function describeKinds(counts: ReadonlyMap<NodeKind, number>): string {
  const some = [...counts].filter(([, count]) => count > 0);
  return some.map(([kind, count]) => `${formatNumber(count)} ${kind}`).join(', ');
}

function formatNumber(count: number): string {
  return count.toLocaleString('en-GB');
}

const estimateMs = 1000;

function formatBar(progress: PlanProgress, memory: FrameMemory, { style, places, nowMs }: FrameOptions): string {
  const { colors, columns } = style;
  const { ended, nodes } = progress;
  const share = nodes.length === 0 ? 1 : ended / nodes.length;
  const elapsedMs = Math.max(0, nowMs - (progress.startedAtMs ?? nowMs));
  if (memory.estimate === undefined || nowMs - memory.estimate.atMs >= estimateMs) {
    memory.estimate = { atMs: nowMs, leftMs: estimateLeftMs(nodes, { places, nowMs }) };
  }
  const { leftMs } = memory.estimate;
  const words = [
    `${formatNumber(ended)} of ${formatNumber(nodes.length)}`,
    `${Math.floor(share * 100)}%`,
    `${formatDuration(elapsedMs)} so far`,
    // What takes less than that is over before anybody has read it.
    ...(leftMs === undefined || leftMs < estimateMs ? [] : [`about ${formatLeft(leftMs)} left`]),
  ].join('  ');
  const width = Math.min(30, columns - 1 - 2 - 2 - measureColumns(words));
  if (width < 5) return fitColumns(`  ${words}`, columns - 1);
  const filled = Math.floor(share * width);
  return `  ${colors.green('█'.repeat(filled))}${colors.dim('░'.repeat(width - filled))}  ${words}`;
}

/** Whole seconds, or minutes: it is no more precise than that. */
function formatLeft(leftMs: number): string {
  const seconds = Math.round(leftMs / 1000);
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} m` : `${Math.round(minutes / 60)} h`;
}
