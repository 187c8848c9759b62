import { describeCode } from '@holdfast/core/internal';
import { formatCount, formatDuration } from '@holdfast/orchestrator/text';
import { shortenCallIds } from '../calls/ids.ts';
import { formatArguments, formatTime, type LineStyle } from '../calls/line.ts';
import { describeQuestion } from '../calls/question.ts';
import type { Host } from '../terminal/host.ts';
import { fitColumns, measureColumns, padColumns, toPrintable, wrapColumns } from '../terminal/text.ts';
import { toCommand } from '../terminal/words.ts';
import type { WaitingCall, WaitingPlan, WaitingRun, WaitingSession } from './waiting.ts';

export interface WaitingView {
  readonly style: LineStyle;
  readonly host: Host;
  readonly workspace: string;
  readonly nowMs: number;
  /** Up to this many questions are shown in full, more of them on one line each. */
  readonly maxDetailed: number;
  /** Shows long arguments and diffs uncut. */
  readonly isWhole: boolean;
}

/** Describes pending work of a session and the commands to answer it. Model text cannot control the terminal or pass for our lines. */
export function describeWaiting(waiting: WaitingSession, view: WaitingView): readonly string[] {
  const { session, openIn, runs, plans, calls, grants, problem } = waiting;
  const { style, nowMs, maxDetailed } = view;
  const { colors } = style;
  const ids = shortenCallIds(calls.map(({ callId }) => callId));
  const idOf = ({ callId }: WaitingCall): string => toPrintable(ids.get(callId) ?? callId);
  const questions = calls.filter(({ state }) => state === 'waiting');
  const granted = grants.map(({ name }) => name).join(', ');
  return [
    `${colors.bold(`Session ${session}`)}${openIn === undefined ? '' : colors.dim(`  open in process ${openIn}`)}`,
    ...(problem === undefined
      ? []
      : wrap(`The log is damaged: ${problem.message} (${describeCode(problem)})`, style).map(colors.red)),
    ...runs.flatMap((run) => describeRun(run, style)),
    ...plans.flatMap((plan) => describePlan(plan, style)),
    ...(questions.length <= maxDetailed
      ? questions.flatMap((call) => describeWaitingQuestion(call, { id: idOf(call), session }, view))
      : listQuestions(questions, idOf, { style, nowMs })),
    ...calls.flatMap((call) => (call.state === 'waiting' ? [] : describeOther(call, { id: idOf(call), plans, style }))),
    ...(granted === '' ? [] : ['', ...wrap(`Granted for the session: ${granted}`, style)]),
    ...describeCommands(waiting, ids, view),
  ];
}

const runStates: Readonly<Record<WaitingRun['state'], string>> = {
  suspended: 'is suspended',
  interrupted: 'was interrupted: its process has ended',
  'under-way': 'is running',
};

function describeRun({ state, request, model, startedAtMs }: WaitingRun, style: LineStyle): readonly string[] {
  return [
    ...wrap(`The run started ${formatTime(startedAtMs)} with model ${model} ${runStates[state]}.`, style),
    fitColumns(`Request: ${formatArguments(request)}`, Math.min(style.columns, 160) - 1),
  ];
}

function describePlan({ state, request, nodes, startedAtMs }: WaitingPlan, style: LineStyle): readonly string[] {
  const line = `Request: ${formatArguments(request)}`;
  return [
    ...wrap(
      `The plan started ${formatTime(startedAtMs)} with ${formatCount(nodes, 'node')} ${runStates[state]}.`,
      style,
    ),
    ...(request === undefined ? [] : [fitColumns(line, Math.min(style.columns, 160) - 1)]),
  ];
}

// Rows of arguments and diffs in a list of questions.
const maxListedRows = 16;

/** One question with everything needed to answer it, or the command that shows the rest. */
function describeWaitingQuestion(
  call: WaitingCall,
  { id, session }: { readonly id: string; readonly session: string },
  { style, nowMs, host, workspace, isWhole }: WaitingView,
): readonly string[] {
  const { dangerous = false, asks = [], askedAtMs = 0, expiresAtMs = 0, digest = '' } = call;
  const more = `\`${toCommand({ words: ['pending', session], workspace }, host)}\` shows all.`;
  const maxRows = isWhole ? Number.POSITIVE_INFINITY : maxListedRows;
  const asked = `asked ${formatDuration(Math.max(0, nowMs - askedAtMs))} ago`;
  return [
    '',
    ...describeQuestion({ ...call, dangerous, asks }, { style, maxRows, more }).lines,
    ...indent(`call ${id}`, style),
    ...indent(`${asked}, ${describeExpiry(call, nowMs)} (${formatTime(expiresAtMs)})`, style),
    ...indent(`digest ${digest}`, style),
  ];
}

const maxListed = 12;

/** Many questions, soonest to expire first, one line each with its reasons below. */
function listQuestions(
  calls: readonly WaitingCall[],
  idOf: (call: WaitingCall) => string,
  { style: { colors, columns }, nowMs }: Pick<WaitingView, 'style' | 'nowMs'>,
): readonly string[] {
  const sorted = calls.toSorted((one, other) => (one.expiresAtMs ?? 0) - (other.expiresAtMs ?? 0));
  const fit = (line: string): string => fitColumns(line, Math.min(columns, 160) - 1);
  return [
    '',
    `${formatCount(calls.length, 'question')}, soonest to expire first`,
    ...sorted.slice(0, maxListed).flatMap((call) => {
      const { name, dangerous, asks = [], digest = '', input } = call;
      const shown = `${toPrintable(name)}${dangerous ? ' (dangerous)' : ''}`;
      const reasons = asks.map(({ policy, reason = 'no reason given' }) => `${reason} (${policy})`).join('; ');
      return [
        fit(
          `    ${padColumns(idOf(call), 16)}  ${shown}  ${describeExpiry(call, nowMs)}  ${digest.slice(0, 12)}  ${formatArguments(input)}`,
        ),
        colors.dim(fit(`      ? ${formatArguments(reasons)}`)),
      ];
    }),
    ...(calls.length > maxListed
      ? [`    … and ${formatCount(calls.length - maxListed, 'more question')}; use \`--json\``]
      : []),
    colors.dim('  Reasons and arguments are shortened; `approve` shows each call in full first.'),
  ];
}

/** `expires in 23 h 59 m`. */
function describeExpiry({ expiresAtMs = 0 }: Pick<WaitingCall, 'expiresAtMs'>, nowMs: number): string {
  return `expires in ${formatDuration(Math.max(0, expiresAtMs - nowMs))}`;
}

const callStates: Readonly<Record<Exclude<WaitingCall['state'], 'waiting'>, string>> = {
  expired: 'Not answered in time, so it is denied.',
  approved: 'Approved: it runs when the run is resumed.',
  denied: 'Denied: the model is told when the run is resumed.',
  'under-way': 'Running.',
  repeatable: 'Interrupted. It can be repeated, and runs again when the run is resumed.',
  'in-doubt': 'Interrupted: its effect is unknown.',
  resolved: 'Interrupted; its effect has been recorded.',
};

/** Calls of a plan have no model to tell. */
const plannedStates: typeof callStates = {
  ...callStates,
  approved: 'Approved: it runs when the plan is resumed.',
  denied: 'Denied: it ends when the plan is resumed.',
  repeatable: 'Interrupted. It can be repeated, and runs again when the plan is resumed.',
};

interface OtherPlace {
  readonly id: string;
  readonly plans: readonly WaitingPlan[];
  readonly style: LineStyle;
}

function describeOther(call: WaitingCall, { id, plans, style }: OtherPlace): readonly string[] {
  const { callId, name, state, input, by, ended, startedAtMs } = call;
  const states = plans.some(({ run }) => callId.startsWith(`plan_${run}_`)) ? plannedStates : callStates;
  if (state === 'waiting') return [];
  const { colors, columns } = style;
  const paint = state === 'in-doubt' ? colors.red : colors.yellow;
  const width = Math.min(columns, 160);
  const fit = (text: string): string => fitColumns(toPrintable(text), Math.floor(width / 4));
  const [shownName, shownId] = [fit(name), fit(id)] as const;
  const room = width - measureColumns(`  ${state.padEnd(8)}  ${shownName}  ${shownId}  `) - 1;
  const why = ended === true ? 'Its effect is unknown, and the model was told so.' : states[state];
  return [
    '',
    `  ${paint(state.padEnd(8))}  ${colors.bold(shownName)}  ${colors.dim(`${shownId}  ${fitColumns(formatArguments(input), room)}`)}`,
    ...indent(`${why}${by === undefined ? '' : ` Answered by ${by}.`}`, style),
    ...(startedAtMs === undefined ? [] : indent(`started ${formatTime(startedAtMs)}`, style)),
  ];
}

function describeCommands(
  { session, runs, plans, calls }: WaitingSession,
  ids: ReadonlyMap<string, string>,
  { host, workspace, style }: WaitingView,
): readonly string[] {
  const command = (name: string, call?: WaitingCall, ...options: readonly string[]): string => {
    const words = call === undefined ? [session] : [session, ids.get(call.callId) ?? call.callId];
    return `  ${toCommand({ words: [name, ...words], options, workspace }, host)}`;
  };
  const question = calls.find(({ state }) => state === 'waiting');
  const doubtful = calls.filter(({ state }) => state === 'in-doubt');
  const doubt = doubtful.find(({ ended }) => ended !== true) ?? doubtful[0];
  const lines = [
    ...(question === undefined ? [] : [command('approve', question), command('deny', question)]),
    ...(doubt === undefined ? [] : [command('resolve', doubt, '--done'), command('resolve', doubt, '--not-done')]),
    ...([...runs, ...plans].some(({ state }) => state !== 'under-way') ? [command('resume')] : []),
  ];
  return lines.length === 0 ? [] : ['', style.colors.bold('To continue:'), ...lines];
}

const maxLines = 4;

function wrap(text: string, { columns }: LineStyle): readonly string[] {
  return wrapColumns(toPrintable(text), Math.min(columns, 160) - 3, maxLines).map(hang);
}

function indent(text: string, { columns }: LineStyle): readonly string[] {
  return wrapColumns(toPrintable(text), Math.min(columns, 120) - 6, maxLines).map(
    (line, index) => `    ${hang(line, index)}`,
  );
}

/** Marks continued lines, so that none passes for a separate line. */
function hang(line: string, index: number): string {
  return index === 0 ? line : `: ${line}`;
}
