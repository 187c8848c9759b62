import type { Json, ToolCallEndEvent } from '@holdfast/core';
import { formatDuration } from '@holdfast/orchestrator/text';
import type { CallUse } from '@holdfast/session/internal';
import { createColors } from '../terminal/colors.ts';
import { toPrintable } from '../terminal/text.ts';
import { formatChanges } from './changes.ts';
import { describeFacts } from './facts.ts';
import { labelText } from './foreign-text.ts';
import {
  describeDecision,
  describePolicyDecision,
  formatCallEnd,
  formatCallLine,
  formatTime,
  type LineStyle,
  listKind,
} from './line.ts';
import { formatTold, type Told } from './tree.ts';

/**
 * Describes one call for people: who asked for it, what was decided and why, how it ended and what it changed. `kept`: true if its
 * changes were kept.
 */
export function describeCallUse(use: CallUse, kept: boolean, style: LineStyle): readonly string[] {
  const { colors } = style;
  const { end } = use;
  const state = end === undefined ? unended[use.status].state : end.outcome.kind;
  const verdict = end === undefined ? '' : describeDecision(end);
  return [
    `${colors.bold(`Call ${toPrintable(use.callId)}`)}  ${toPrintable(use.name)}  ${toPrintable(state)}${verdict === '' ? '' : `  ${toPrintable(verdict)}`}`,
    ...toEntries(use, kept).flatMap(([label, texts]) => formatEntry(label, texts, style)),
    ...(use.nested.length === 0 ? [] : [`  ${colors.bold('nested')}`]),
    ...use.nested
      .flatMap((nested) => formatTold(toTold(nested), { ...style, columns: style.columns - 2 }, describeNested))
      .map((line) => `  ${line}`),
  ];
}

/** For a call without an end. */
const unended: Readonly<Record<CallUse['status'], { readonly state: string; readonly why: string }>> = {
  asked: { state: 'not begun', why: 'none: the model asked for it, but no decision was made' },
  waiting: { state: 'waiting', why: 'none: waiting for a person' },
  begun: { state: 'unended', why: 'none: it started, but the log has no end for it, so its effect is unknown' },
  ended: { state: 'ended', why: '' },
};

function describeUnended({ status, approvals }: CallUse): string {
  const answered = status === 'waiting' && approvals.at(-1)?.answer !== undefined;
  return answered ? 'none: answered, waiting for `holdfast resume`' : unended[status].why;
}

type Entry = readonly [label: string, texts: readonly string[]];

/** Everything about one call: a label and its texts for each fact that is known. */
export function toEntries(use: CallUse, kept: boolean): readonly Entry[] {
  const { end, start, approvals } = use;
  const facts = end?.facts ?? approvals.at(-1)?.facts;
  const entries: readonly Entry[] = [
    ['asked by', [describeAsker(use)]],
    ['arguments', [toText(argumentsOf(use))]],
    ['input', listInput(use)],
    ['facts', facts === undefined ? [] : describeFacts(facts)],
    ['policies', listDecisions(use)],
    ['approval', use.approvals.map((approval) => describeApproval(approval, use))],
    ['resolution', listResolution(use)],
    ['failed', listFailed(use)],
    ['outcome', [end === undefined ? describeUnended(use) : describeOutcome(end)]],
    ['changed', listChanged(use, kept)],
    ['late', listLate(use)],
    ['problems', use.problems.map(({ type, message }) => `${type}: ${message}`)],
    [
      'records',
      [
        ...(use.message === undefined ? [] : [`${use.message.seq} asked for`]),
        ...(start === undefined ? [] : [`${start.seq} begun ${formatTime(start.atMs)}`]),
        ...(end === undefined ? [] : [`${end.seq} ended ${formatTime(end.atMs)}`]),
      ],
    ],
  ];
  return entries.filter(([, texts]) => texts.length > 0);
}

function describeAsker({ message, parentId, sessionId, end }: CallUse): string {
  const session = sessionId === undefined ? '' : `, in child session ${sessionId}`;
  if (message !== undefined) {
    const text = message.text.trim();
    return `the model in turn ${message.turn}${session}${text === '' ? '' : `: ${cut(text.replaceAll(/\s+/g, ' '), 300)}`}`;
  }
  if (parentId !== undefined) return `the tool of call ${parentId}${session}`;
  return end?.turn === undefined ? `the host${session}` : `the model in turn ${end.turn}${session}`;
}

/** A call that waits, and that no model of ours asked for, has them in its question alone. */
function argumentsOf({ end, message, approvals }: CallUse): Json | undefined {
  return end?.rawArguments ?? message?.arguments ?? approvals.at(-1)?.input;
}

/** The parsed input, where it differs from the arguments. */
function listInput(use: CallUse): readonly string[] {
  const { end, start, approvals } = use;
  const input = end?.input ?? start?.input ?? approvals.at(-1)?.input;
  if (input === undefined) return end?.outcome.kind === 'ok' ? [] : ['not parsed: the call ended before that'];
  const raw = argumentsOf(use);
  const isSame = JSON.stringify(input) === (typeof raw === 'string' ? raw : JSON.stringify(raw));
  return isSame ? ['same as the arguments'] : [toText(input)];
}

function listDecisions({ decisions, approvals, end }: CallUse): readonly string[] {
  if (decisions.length === 0 && end !== undefined) return approvals.length === 0 ? ['none ran'] : [];
  return decisions.map(describePolicyDecision);
}

/** With the reasons, unless the decisions have them: an answered call ends without those that asked. */
function describeApproval({ atMs, asks, answer }: CallUse['approvals'][number], { decisions }: CallUse): string {
  const told = new Set(decisions.map(describePolicyDecision));
  const askers = asks.map(({ policy, reason }) =>
    reason === undefined || told.has(`ask by ${policy}: ${reason}`) ? policy : `${policy} (${reason})`,
  );
  const asked = `asked by ${askers.join(', ')}`;
  if (answer === undefined) return `${asked}, not answered`;
  const given = answer.answer;
  const who = answer.by === undefined ? '' : ` by ${answer.by}`;
  const said =
    given.type === 'approve'
      ? given.grant === true
        ? `approved${who}, and granted for the session`
        : `approved${who}`
      : `denied${who}`;
  const reason = given.type === 'deny' && given.reason !== undefined ? `: ${given.reason}` : '';
  return `${asked}, ${said} after ${formatDuration(Math.max(0, answer.atMs - atMs))}${reason}`;
}

/** A person's statement about its effect. */
function listResolution({ resolution: said }: CallUse): readonly string[] {
  if (said === undefined) return [];
  const { resolution, by, atMs } = said;
  const value =
    resolution.type === 'done' && resolution.value !== undefined ? `, with ${toText(resolution.value)}` : '';
  const reason = resolution.message === undefined ? '' : `: ${cut(resolution.message, 1000)}`;
  return [
    `marked as ${resolution.type === 'done' ? 'done' : 'not done'}${by === undefined ? '' : ` by ${by}`}, ${formatTime(atMs)}${value}${reason}`,
  ];
}

function describeOutcome({ outcome, durationMs, abandoned, error }: ToolCallEndEvent): string {
  const { kind, message, text } = outcome;
  const said = kind === 'ok' ? text : message;
  return [
    `${kind}${listKind(outcome)} after ${formatDuration(durationMs)}${said === '' ? '' : `: ${cut(said, 1000)}`}`,
    ...(error === undefined || message.includes(error.message) ? [] : [`${error.name}: ${error.message}`]),
    ...(abandoned === true ? ['The tool did not stop when asked; its late result was discarded.'] : []),
  ].join('\n');
}

/** Failed attempts before the last one. */
function listFailed({ end }: CallUse): readonly string[] {
  return (end?.retries ?? []).map(
    ({ message, atMs, ...kind }, index) =>
      `attempt ${index + 1}${listKind(kind)} ${formatTime(atMs)}: ${cut(message, 1000)}`,
  );
}

function listLate({ late }: CallUse): readonly string[] {
  if (late === undefined) return [];
  const { answer, value, message } = late;
  return [
    `it ${answer} after its call had ended, so the result was ignored: ${value === undefined ? message : toText(value)}`,
  ];
}

function listChanged({ changed, end, start }: CallUse, kept: boolean): readonly string[] {
  const { events, changes, writes } = changed;
  const files = formatChanges(
    writes.map(({ key, change }) => ({ path: key, change })),
    plain,
  ).map((line) => line.trim());
  const lines = [
    ...files,
    ...events.map(({ type, payload }) => `event ${type}  ${toText(payload)}`),
    ...changes.map((change) => `policy state  ${toText(change)}`),
  ];
  if (lines.length === 0) {
    if (end === undefined) return [];
    return [start === undefined ? 'nothing' : 'nothing here; effects outside files and state are not recorded'];
  }
  return kept ? lines : ['nothing: the enclosing call failed or has not ended. Staged changes:', ...lines];
}

const plain: LineStyle['colors'] = createColors(false);

/** A nested call, on the same lines as in `show`. */
function describeNested({ item }: Told<CallUse>, style: LineStyle): readonly string[] {
  const { callId, name, end, status, start } = item;
  const id = `  ${toPrintable(callId)}`;
  const fitted = { ...style, columns: style.columns - id.length };
  const line = { state: unended[status].state, name, arguments: start?.input, decision: '', durationMs: undefined };
  const [first = '', ...rest] = end === undefined ? [formatCallLine(line, fitted)] : formatCallEnd(end, fitted);
  return [first + style.colors.dim(id), ...rest];
}

function toTold(use: CallUse): Told<CallUse> {
  return { item: use, under: use.nested.map(toTold) };
}

const labelColumns = 11;

function formatEntry(label: string, texts: readonly string[], { colors, columns }: LineStyle): readonly string[] {
  return texts.flatMap((text, index) => {
    const shown = index === 0 ? label : '';
    const [first = '', ...rest] = labelText(' '.repeat(labelColumns + 2), text, columns);
    return [`  ${colors.bold(shown.padEnd(labelColumns))}${first.slice(labelColumns + 2)}`, ...rest];
  });
}

/** JSON text unchanged, any other value as compact JSON. */
function toText(json: Json | undefined): string {
  return json === undefined ? '' : cut(typeof json === 'string' ? json : JSON.stringify(json), 1000);
}

function cut(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return `${text.slice(0, maxCharacters).toWellFormed()}… (${text.length - maxCharacters} more characters; use \`--json\`)`;
}
