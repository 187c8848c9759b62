import { formatArguments, formatCount, formatDuration, type LineStyle } from '../calls/line.ts';
import { fitColumns, padColumns, toPrintable, wrapColumns } from '../terminal/text.ts';
import type { WaitingCall } from './waiting.ts';

const maxGroups = 8;
const maxOfGroup = 5;

/** Many questions: a block for each tool with its policies, the largest first, with the calls that expire first. */
export function describeGroups(
  calls: readonly WaitingCall[],
  idOf: (call: WaitingCall) => string,
  { style, nowMs }: { readonly style: LineStyle; readonly nowMs: number },
): readonly string[] {
  const { colors } = style;
  const groups = [...Map.groupBy(calls, toGroupKey).values()].sort((one, other) => other.length - one.length);
  const hidden = groups.slice(maxGroups).flat().length;
  return [
    '',
    `${formatCount(calls.length, 'question')} about ${formatCount(groups.length, 'tool')}; those that expire first are in front`,
    ...groups.slice(0, maxGroups).flatMap((group) => describeGroup(group, idOf, { style, nowMs })),
    ...(hidden === 0
      ? []
      : ['', colors.dim(`  … and ${formatCount(hidden, 'question')} about others; \`--json\` has all`)]),
    '',
    colors.dim(
      '  Arguments are cut here: `--json` has all of them, and `approve` shows a call whole before it is answered.',
    ),
  ];
}

function describeGroup(
  group: readonly WaitingCall[],
  idOf: (call: WaitingCall) => string,
  { style: { colors, columns }, nowMs }: { readonly style: LineStyle; readonly nowMs: number },
): readonly string[] {
  const sorted = group.toSorted((one, other) => (one.expiresAtMs ?? 0) - (other.expiresAtMs ?? 0));
  const [first] = sorted;
  if (first === undefined) return [];
  const { name, dangerous = false, asks = [] } = first;
  const width = Math.min(columns, 160) - 1;
  const more = group.length - maxOfGroup;
  return [
    '',
    `  ${colors.yellow(`${group.length} x`)}  ${colors.bold(fitColumns(toPrintable(name), 64))}${dangerous ? colors.red('  dangerous') : ''}`,
    ...asks
      .slice(0, 3)
      .flatMap(({ policy, reason = 'no reason given' }) =>
        wrapColumns(toPrintable(`${reason} (${policy})`), width - 4, 2).map((line) => `    ${line}`),
      ),
    ...sorted.slice(0, maxOfGroup).map((call) => {
      const expiry = padColumns(describeExpiry(call, nowMs), 20);
      const line = `    ${padColumns(idOf(call), 16)}  ${expiry}  ${call.digest?.slice(0, 12) ?? ''}  ${formatArguments(call.input)}`;
      return fitColumns(line, width);
    }),
    ...(more > 0 ? [colors.dim(`    … and ${more} more; \`--json\` has all`)] : []),
  ];
}

function toGroupKey({ name, asks = [] }: WaitingCall): string {
  return JSON.stringify([name, asks.map(({ policy }) => policy)]);
}

/** `expires in 23 h 59 m`. */
export function describeExpiry({ expiresAtMs = 0 }: Pick<WaitingCall, 'expiresAtMs'>, nowMs: number): string {
  return `expires in ${formatLong(Math.max(0, expiresAtMs - nowMs))}`;
}

/** As `formatDuration`, with hours and days. */
function formatLong(durationMs: number): string {
  const minutes = Math.floor(durationMs / 60_000);
  if (minutes < 60) return formatDuration(durationMs);
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${String(minutes % 60).padStart(2, '0')} m`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
