import type { Row, Spread } from './compare.ts';

/** What one benchmark found. */
export type Report = TimeReport | SizeReport | FigureReport;

export interface TimeReport {
  readonly name: string;
  readonly rounds: number;
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
  readonly goalGzipBytes: number;
}

export interface FigureReport {
  readonly name: string;
  readonly figures: readonly Figure[];
}

export interface Figure {
  readonly name: string;
  readonly value: number;
  /** Follows the value: `packages`. */
  readonly unit: string;
  /** The most that the design allows. */
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
  const lines = figures.map(({ name: what, value, unit, goal }) => {
    const verdict = goal === undefined ? '' : `; goal ${goal} ${unit}, ${value <= goal ? 'met' : 'missed'}`;
    return `  ${what}: ${value} ${unit}${verdict}`;
  });
  return [name, ...lines].join('\n');
}

function formatSizes({ name, sizes }: SizeReport): string {
  const lines = sizes.map((size) => {
    const verdict = size.gzipBytes <= size.goalGzipBytes ? 'met' : 'missed';
    return `  ${size.name}: ${size.gzipBytes} B gzip of ${size.bytes} B; goal ${size.goalGzipBytes} B, ${verdict}`;
  });
  return [name, ...lines].join('\n');
}

function formatTimes({ name, rounds, rows }: TimeReport): string {
  const cells = rows.map((row) => [
    row.name,
    formatTime(row.nsPerOperation.median),
    `${formatTime(row.nsPerOperation.min)} - ${formatTime(row.nsPerOperation.max)}`,
    row.ratio === undefined ? '' : `${formatRatio(row.ratio)} of ${row.ratio.against}`,
    formatGoal(row),
  ]);
  const table = [['', 'median', 'min - max', 'ratio (min - max)', 'goal'], ...cells];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...table.map((line) => line[column]?.length ?? 0)));
  const lines = table.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return [`${name}, ${rounds} interleaved rounds`, ...lines.map((line) => `  ${line.trimEnd()}`)].join('\n');
}

export function formatMachine({ cpu, cores, memoryGib, system, node }: Machine): string {
  return `${cpu}, ${cores} cores, ${memoryGib} GiB, ${system}, Node.js ${node}`;
}

function formatTime(nanoseconds: number): string {
  if (nanoseconds < 1e3) return `${nanoseconds.toFixed(0)} ns`;
  if (nanoseconds < 1e6) return `${(nanoseconds / 1e3).toFixed(2)} us`;
  return `${(nanoseconds / 1e6).toFixed(2)} ms`;
}

function formatRatio({ median, min, max }: Spread): string {
  return `${median.toFixed(2)}x (${min.toFixed(2)} - ${max.toFixed(2)})`;
}

function formatGoal({ ratio, goal, overNs }: Row): string {
  if (overNs !== undefined) {
    const verdict = overNs.median <= overNs.goal ? 'met' : 'missed';
    return `${formatTime(overNs.goal)} over, ${verdict} with ${formatTime(overNs.median)}`;
  }
  if (ratio === undefined || goal === undefined) return '';
  return `${goal}x, ${ratio.median <= goal ? 'met' : 'missed'}`;
}
