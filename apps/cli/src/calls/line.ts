import type { PolicyDecision } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { formatCount, formatDuration } from '@holdfast/orchestrator/text';
import { type Colors, createColors } from '../terminal/colors.ts';
import { describeTerminal, type Host } from '../terminal/host.ts';
import { fitColumns, measureColumns, padColumns, toPrintable } from '../terminal/text.ts';
import { quoteReason, quoteResult } from './foreign-text.ts';

/** How lines are laid out and colored. */
export interface LineStyle {
  readonly colors: Colors;
  /** `Infinity`: unlimited. */
  readonly columns: number;
}

/** A call that has ended: an event of a run or a record of a log. */
export interface EndedCall {
  readonly name: string;
  readonly rawArguments: unknown;
  readonly decisions: readonly PolicyDecision[];
  readonly approval?: { readonly type: 'approve' | 'deny'; readonly by: string } | undefined;
  readonly outcome: {
    readonly kind: string;
    readonly code?: string | undefined;
    readonly reason?: string | undefined;
    readonly message: string;
    readonly attempts?: number | undefined;
  };
  readonly durationMs: number;
}

/** The late result of an abandoned tool. */
export interface LateCall {
  readonly name: string;
  readonly answer: 'returned' | 'threw';
  readonly value?: unknown;
  readonly message?: string | undefined;
}

/** A run in a child session. */
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

/** The contents of one call's line. */
export interface CallLine {
  readonly state: string;
  readonly name: string;
  readonly arguments: unknown;
  /** Empty until a decision is made. */
  readonly decision: string;
  readonly durationMs: number | undefined;
}

const stateColumns = 9;
const maxNameColumns = 24;
const maxDecisionColumns = 26;
// Without a terminal there is no width to fit, but an argument may be a whole file.
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

/** Shows the state, then as much of the name as fits. */
function formatNarrowLine({ state, name }: CallLine, { colors, columns }: LineStyle): string {
  const shown = fitColumns(state, columns - 3);
  const room = columns - 1 - 2 - shown.length - 1;
  return `  ${paintState(state, colors)(shown)} ${colors.bold(fitName(name, room))}`.trimEnd();
}

/** Cuts a long id or tool name in the middle, because similar names often begin alike. */
function fitName(name: string, columns: number): string {
  const kept = columns - 6;
  if (name.length <= columns || kept < 1 || !/^[\w-]+$/.test(name)) return fitColumns(toPrintable(name), columns);
  return `${name.slice(0, kept)}…${name.slice(-5)}`;
}

/** The line of an ended call, and under it the reason if it failed. */
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
  return [line, ...quoteReason(`${outcome.message}${listKind(outcome)}`, style)];
}

/** ` (arguments.invalid: too_deep)`; nothing without a code. */
export function listKind({
  code,
  reason,
}: {
  readonly code?: string | undefined;
  readonly reason?: string | undefined;
}): string {
  return code === undefined ? '' : ` (${toPrintable(describeCode({ code, reason }))})`;
}

/** `3 attempts`, if the tool ran more than once. */
export function listAttempts({ attempts }: EndedCall['outcome']): readonly string[] {
  return attempts === undefined ? [] : [formatCount(attempts, 'attempt')];
}

/** The line of a late result. */
export function formatLate({ name, answer, value, message = '' }: LateCall, style: LineStyle): string {
  const decision = answer === 'returned' ? 'returned, ignored' : 'threw';
  const given = value === undefined ? message : value;
  return formatCallLine({ state: 'late', name, arguments: given, decision, durationMs: undefined }, style);
}

/** Shown in place of a tool name for a run in a child session; not a valid tool name. */
export const childRunName = 'child run';

/** One line for a run in a child session, and under it its last text. */
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
 * Why a call could run or not: `allow`, `allow: granted`, `deny: read-before-write`, `asked: approved by person`,
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
  // Any other allow has a reason only if a grant replaced a question.
  if (decisions.some(({ reason }) => reason !== undefined)) return 'allow: granted';
  return outcome.kind === 'ok' || decisions.length > 0 ? 'allow' : '';
}

/** One decision with its policy and reason: `deny by host/deny-tools: Files are kept.` */
export function describePolicyDecision({ policy, type, observed, reason }: PolicyDecision): string {
  return `${observed === undefined ? type : `would ${observed}`} by ${policy}${reason === undefined ? '' : `: ${reason}`}`;
}

function nameDeciders(decisions: readonly PolicyDecision[]): string {
  // The last segment of a key is the policy's own name.
  return [...new Set(decisions.map(({ policy }) => policy.slice(policy.lastIndexOf('/') + 1)))].join(', ');
}

const maxArgumentCharacters = 4000;

/** Arguments on one line, cut to a maximum: JSON text unchanged, any other value as compact JSON. */
export function formatArguments(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= maxArgumentCharacters
    ? toPrintable(text)
    : `${toPrintable(text.slice(0, maxArgumentCharacters).toWellFormed())}…`;
}

/** `2026-05-17 09:30:12 UTC`. */
export function formatTime(atMs: number): string {
  // A log may hold any number; an invalid time must not end the listing.
  const time = new Date(atMs);
  return Number.isNaN(time.getTime()) ? `at ${atMs} ms` : `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** The color of a state. */
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

/** The line style of stdout, or of stderr with `stdout: stderr`. */
export function describeStyle({ stdout, environment }: Pick<Host, 'stdout' | 'environment'>): LineStyle {
  const { color, columns } = describeTerminal(stdout, environment);
  return { colors: createColors(color), columns };
}
