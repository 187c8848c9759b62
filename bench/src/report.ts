import type { Ratio, Row, Spread } from './compare.ts';

/** The result of one benchmark. */
export type Report = TimeReport | SizeReport | FigureReport;

export interface TimeReport {
  readonly name: string;
  /** Explanations of the row names. */
  readonly notes: readonly string[];
  /** Versions of third-party packages, by package. */
  readonly versions?: Readonly<Record<string, string>>;
  readonly rows: readonly Row[];
}

export interface SizeReport {
  readonly name: string;
  readonly sizes: readonly Size[];
}

export interface Size {
  readonly name: string;
  /** Minified. */
  readonly bytes: number;
  readonly gzipBytes: number;
  readonly goalGzipBytes?: number;
}

export interface FigureReport {
  readonly name: string;
  readonly figures: readonly Figure[];
}

export interface Figure {
  readonly name: string;
  /** The median if measured more than once. */
  readonly value: number;
  readonly min?: number;
  readonly max?: number;
  /** Follows the value: `packages`. */
  readonly unit: string;
  /** The limit of the design. */
  readonly goal?: number;
}

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGib: number;
  readonly system: string;
  readonly node: string;
}

/** A table for people: medians with their spread, ratios, and whether a ratio meets its goal. */
export function formatReport(report: Report): string {
  if ('figures' in report) return formatFigures(report);
  return 'sizes' in report ? formatSizes(report) : formatTimes(report);
}

function formatFigures({ name, figures }: FigureReport): string {
  const lines = figures.map(({ name: what, value, min, max, unit, goal }) => {
    const spread = min === undefined || max === undefined ? '' : ` (${min} - ${max})`;
    const verdict = goal === undefined ? '' : `; goal ${goal} ${unit}, ${value <= goal ? 'met' : 'missed'}`;
    return `  ${what}: ${value} ${unit}${spread}${verdict}`;
  });
  return [name, ...lines].join('\n');
}

function formatSizes({ name, sizes }: SizeReport): string {
  const lines = sizes.map(({ name: what, bytes, gzipBytes, goalGzipBytes: goal }) => {
    const verdict = goal === undefined ? '' : `; goal ${goal} B, ${gzipBytes <= goal ? 'met' : 'missed'}`;
    return `  ${what}: ${gzipBytes} B gzip of ${bytes} B${verdict}`;
  });
  return [name, ...lines].join('\n');
}

function formatTimes({ name, notes, versions = {}, rows }: TimeReport): string {
  const rowLines = rows.flatMap(toLines);
  const table = [['', 'median', 'min - max', 'n', 'ratio (min - max)', 'goal'], ...rowLines];
  // Empty columns are omitted.
  const columns = [0, 1, 2, 3, 4, 5].filter((column) => rowLines.some((line) => (line[column] ?? '') !== ''));
  const widths = columns.map((column) => Math.max(...table.map((line) => line[column]?.length ?? 0)));
  const lines = table.map((line) =>
    columns.map((column, index) => (line[column] ?? '').padEnd(widths[index] ?? 0)).join('  '),
  );
  const others = Object.entries(versions).map(([other, version]) => `${other} ${version}`);
  return [
    `${name}, interleaved rounds${others.length > 0 ? `, with ${others.join(', ')}` : ''}`,
    ...[...notes, ...lines].map((line) => `  ${line.trimEnd()}`),
  ].join('\n');
}

/** A line for the goal of the row itself and one for each ratio; the first of them also has the times. */
function toLines({ name, rounds, nsPerOperation, goalNs, ratios }: Row): readonly (readonly string[])[] {
  const { median, min, max } = nsPerOperation;
  const times = [name, formatTime(median), `${formatTime(min)} - ${formatTime(max)}`, String(rounds)];
  const own = goalNs === undefined ? [] : [['', `${formatTime(goalNs)}, ${median <= goalNs ? 'met' : 'missed'}`]];
  const [first, ...more] = [
    ...own,
    ...ratios.map((ratio) => [`${formatSpread(ratio)} of ${ratio.against}`, formatGoal(ratio)]),
  ];
  return [[...times, ...(first ?? [])], ...more.map((cells) => ['', '', '', '', ...cells])];
}

export function formatMachine({ cpu, cores, memoryGib, system, node }: Machine): string {
  return `${cpu}, ${cores} cores, ${memoryGib} GiB, ${system}, Node.js ${node}`;
}

function formatTime(nanoseconds: number): string {
  if (nanoseconds < 1e3) return `${nanoseconds.toFixed(0)} ns`;
  if (nanoseconds < 1e6) return `${(nanoseconds / 1e3).toFixed(2)} us`;
  return `${(nanoseconds / 1e6).toFixed(2)} ms`;
}

function formatSpread({ median, min, max }: Spread): string {
  return `${formatRatio(median)}x (${formatRatio(min)} - ${formatRatio(max)})`;
}

function formatRatio(ratio: number): string {
  if (ratio < 0.01) return ratio.toFixed(4);
  return ratio < 100 ? ratio.toFixed(2) : ratio.toFixed(0);
}

function formatGoal({ median, goal, overNs }: Ratio): string {
  if (overNs !== undefined) {
    const verdict = overNs.median <= overNs.goal ? 'met' : 'missed';
    return `${formatTime(overNs.goal)} over, ${verdict} with ${formatTime(overNs.median)}`;
  }
  return goal === undefined ? '' : `${goal}x, ${median <= goal ? 'met' : 'missed'}`;
}
