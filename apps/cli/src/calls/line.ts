import type { PolicyDecision } from '@holdfast/core';
import { formatCount, formatDuration } from '@holdfast/orchestrator/text';
import { type Colors, createColors } from '../terminal/colors.ts';
import { describeTerminal, type Host } from '../terminal/host.ts';
import { fitColumns, measureColumns, padColumns, toPrintable } from '../terminal/text.ts';
import { quoteReason, quoteResult } from './foreign-text.ts';

/** How lines are laid out and coloured. */
export interface LineStyle {
  readonly colors: Colors;
  /** `Infinity`: as long as it takes. */
  readonly columns: number;
}

/** A call that has ended, as an event of a run tells it or as a record of a log. */
export interface EndedCall {
  readonly name: string;
  readonly rawArguments: unknown;
  readonly decisions: readonly PolicyDecision[];
  readonly approval?: { readonly type: 'approve' | 'deny'; readonly by: string } | undefined;
  readonly outcome: {
    readonly kind: string;
    readonly code?: string | undefined;
    readonly message: string;
    readonly attempts?: number | undefined;
  };
  readonly durationMs: number;
}

/** What an abandoned tool came to after the end of its call. */
export interface LateCall {
  readonly name: string;
  readonly answer: 'returned' | 'threw';
  readonly value?: unknown;
  readonly message?: string | undefined;
}

/** A run in the session of a child, as far as it came. */
export interface ChildRun {
  readonly model: string;
  readonly input: string;
  readonly startedAtMs: number;
  /** Absent: it never ended. */
  readonly end?: {
    readonly status: string;
    readonly text: string;
    readonly turns: number;
    readonly error?: { readonly message: string } | undefined;
    readonly atMs: number;
  };
}

/** What a line tells about one call, ended or not. */
export interface CallLine {
  readonly state: string;
  readonly name: string;
  readonly arguments: unknown;
  /** Empty as long as nothing is decided. */
  readonly decision: string;
  readonly durationMs: number | undefined;
}

const stateColumns = 9;
const maxNameColumns = 24;
const maxDecisionColumns = 26;
// Without a terminal there is no width to fit; an argument may still be a whole file.
const maxFreeColumns = 160;

/** One line for one call: state, tool, arguments as far as they fit, decision, duration. */
export function formatCallLine(line: CallLine, { colors, columns }: LineStyle): string {
  const state = padColumns(line.state, Math.max(stateColumns, line.state.length));
  const fitted = fitName(line.name, maxNameColumns);
  const name = padColumns(fitted, Math.max(12, measureColumns(fitted)));
  const duration = (line.durationMs === undefined ? '' : formatDuration(line.durationMs)).padStart(7);
  const decision = fitColumns(toPrintable(line.decision), columns < 120 ? maxDecisionColumns : maxFreeColumns);
  const fixed = 2 + state.length + 1 + measureColumns(name) + 2 + measureColumns(decision) + 1 + duration.length;
  const room = columns - 1 - fixed - 2;
  if (room < 0) return formatNarrowLine(line, { colors, columns });
  const text = formatArguments(line.arguments);
  const free = columns === Number.POSITIVE_INFINITY;
  const shown = free ? fitColumns(text, maxFreeColumns) : padColumns(text, Math.max(0, room));
  const paint = paintState(line.state, colors);
  return `  ${paint(state)} ${colors.bold(name)}  ${colors.dim(shown)}  ${decision} ${colors.dim(duration)}`.trimEnd();
}

/** What fits: the state first, then as much of the name as there is room for. */
function formatNarrowLine({ state, name }: CallLine, { colors, columns }: LineStyle): string {
  const shown = fitColumns(state, columns - 3);
  const room = columns - 1 - 2 - shown.length - 1;
  return `  ${paintState(state, colors)(shown)} ${colors.bold(fitName(name, room))}`.trimEnd();
}

/** A long id or tool name keeps its end, because names that differ often begin alike. */
function fitName(name: string, columns: number): string {
  const kept = columns - 6;
  if (name.length <= columns || kept < 1 || !/^[\w-]+$/.test(name)) return fitColumns(toPrintable(name), columns);
  return `${name.slice(0, kept)}…${name.slice(-5)}`;
}

/** What a call that ended has to say: its line, and under it why it did not succeed. */
export function formatCallEnd(event: EndedCall, style: LineStyle): readonly string[] {
  const { outcome } = event;
  const line = formatCallLine(
    {
      state: outcome.kind,
      name: event.name,
      arguments: event.rawArguments,
      decision: [describeDecision(event), ...listAttempts(outcome)].filter((text) => text !== '').join(', '),
      durationMs: event.durationMs,
    },
    style,
  );
  if (outcome.kind === 'ok') return [line];
  const reason = `${outcome.message}${outcome.code === undefined ? '' : ` (${outcome.code})`}`;
  return [line, ...quoteReason(reason, style)];
}

/** `3 attempts`, where a tool was run more than once. */
export function listAttempts({ attempts }: EndedCall['outcome']): readonly string[] {
  return attempts === undefined ? [] : [formatCount(attempts, 'attempt')];
}

/** What came too late to count. */
export function formatLate({ name, answer, value, message = '' }: LateCall, style: LineStyle): string {
  const decision = answer === 'returned' ? 'returned, not counted' : 'threw';
  const given = value === undefined ? message : value;
  return formatCallLine({ state: 'late', name, arguments: given, decision, durationMs: undefined }, style);
}

/** The name under which a run in the session of a child stands where calls stand; no tool can have it. */
export const childRunName = 'child run';

/** One line for a run in the session of a child, and under it what it said last. */
export function formatChildRun({ model, input, startedAtMs, end }: ChildRun, style: LineStyle): readonly string[] {
  const line = formatCallLine(
    {
      state: end?.status ?? 'unended',
      name: childRunName,
      arguments: input,
      decision: end === undefined ? model : `${formatCount(end.turns, 'turn')}, ${model}`,
      durationMs: end === undefined ? undefined : end.atMs - startedAtMs,
    },
    style,
  );
  const said = formatArguments(end?.error?.message ?? end?.text.trim() ?? '');
  return [line, ...quoteResult(said, style, 1)];
}

/**
 * How it came that a call could run or not: `allow`, `allow: granted`, `deny: read-before-write`, `asked: approved by person`,
 * `would deny: call-budget`.
 */
export function describeDecision({ decisions, approval, outcome }: EndedCall): string {
  const denials = decisions.filter(({ type }) => type === 'deny');
  if (denials.length > 0) return `deny: ${nameDeciders(denials)}`;
  if (approval !== undefined) return `asked: ${approval.type === 'approve' ? 'approved' : 'denied'} by ${approval.by}`;
  const asks = decisions.filter(({ type }) => type === 'ask');
  if (asks.length > 0) return `ask: ${nameDeciders(asks)}`;
  const observed = decisions.filter((decision) => decision.observed !== undefined);
  const type = observed.some((decision) => decision.observed === 'deny') ? 'deny' : 'ask';
  if (observed.length > 0)
    return `would ${type}: ${nameDeciders(observed.filter((decision) => decision.observed === type))}`;
  // Any other allow has a reason where a grant took the place of a question.
  if (decisions.some(({ reason }) => reason !== undefined)) return 'allow: granted';
  return outcome.kind === 'ok' || decisions.length > 0 ? 'allow' : '';
}

/** One decision with whose it is and why: `deny by host/deny-tools: Files are kept.` */
export function describePolicyDecision({ policy, type, observed, reason }: PolicyDecision): string {
  return `${observed === undefined ? type : `would ${observed}`} by ${policy}${reason === undefined ? '' : `: ${reason}`}`;
}

function nameDeciders(decisions: readonly PolicyDecision[]): string {
  // The last word of a key is the policy's own name; where it hangs is for the log.
  return [...new Set(decisions.map(({ policy }) => policy.slice(policy.lastIndexOf('/') + 1)))].join(', ');
}

const maxArgumentCharacters = 4000;

/** Arguments on one line: JSON text as it came, any other value as compact JSON. What no line has room for is cut. */
export function formatArguments(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= maxArgumentCharacters
    ? toPrintable(text)
    : `${toPrintable(text.slice(0, maxArgumentCharacters).toWellFormed())}…`;
}

/** `2026-05-17 09:30:12 UTC`. */
export function formatTime(atMs: number): string {
  // A log may hold any number; a time that no calendar has must not end the listing.
  const time = new Date(atMs);
  return Number.isNaN(time.getTime()) ? `at ${atMs} ms` : `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** The colour of a state, wherever one stands. */
export function paintState(state: string, colors: Colors): (text: string) => string {
  switch (state) {
    case 'ok':
    case 'completed':
      return colors.green;
    case 'waiting':
    case 'asking':
    case 'running':
      return colors.cyan;
    case 'denied':
    case 'cancelled':
    case 'truncated':
    case 'late':
    case 'unended':
    case 'suspended':
    case 'skipped':
      return colors.yellow;
    default:
      return colors.red;
  }
}

/** How lines on stdout are laid out, or with `stdout: stderr` those there. */
export function describeStyle({ stdout, environment }: Pick<Host, 'stdout' | 'environment'>): LineStyle {
  const { color, columns } = describeTerminal(stdout, environment);
  return { colors: createColors(color), columns };
}
