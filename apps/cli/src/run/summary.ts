import type { Budget, RunEvent, RunStatus, Tool } from '@holdfast/core';
import type { PlanEvent } from '@holdfast/orchestrator';
import { formatCount, formatDuration } from '@holdfast/orchestrator/text';
import { createChangeCollector, formatChanges } from '../calls/changes.ts';
import { formatUnfinished } from '../calls/feedback.ts';
import { quoteText } from '../calls/foreign-text.ts';
import type { LineStyle } from '../calls/line.ts';
import { describeMissing, missingCode } from '../settings/environment-consent.ts';
import { toPrintable, wrapBlock } from '../terminal/text.ts';
import type { WorkSummary } from './work.ts';

/** The limits that the user set for a run or plan. */
export interface WorkLimits {
  readonly maxRounds?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly budget?: Budget | undefined;
}

type CallEnd = RunEvent & { readonly type: 'tool-call-end' };
type RunEnd = RunEvent & { readonly type: 'run-end' };

/** Collects the effects of calls, on files and elsewhere. */
export interface Effects {
  /** Nested changes are not added: the parent call includes them if it succeeds. */
  add(call: CallEnd, isNested?: boolean): void;
  describe(style: LineStyle): readonly string[];
}

export function createEffects(tools: readonly Tool[]): Effects {
  const external = new Set(tools.filter(({ effects }) => effects === 'external').map(({ name }) => name));
  const changes = createChangeCollector();
  const elsewhere = new Set<string>();
  return {
    add(call, isNested = false) {
      const { name, outcome } = call;
      if (!isNested) changes.add(call);
      if ((outcome.kind === 'ok' || outcome.kind === 'in-doubt') && external.has(name))
        elsewhere.add(toPrintable(name));
    },
    describe({ colors }) {
      const listed = changes.list();
      return [
        ...(listed.length === 0 ? ['No files were changed.'] : ['Changed files:', ...formatChanges(listed, colors)]),
        ...(elsewhere.size === 0 ? [] : [`Not listed: effects of ${[...elsewhere].join(', ')} outside these files.`]),
      ];
    },
  };
}

/** A highlighted suggestion. */
export function advise(text: string, { colors, columns }: LineStyle): readonly string[] {
  return wrapBlock(text, columns).map(colors.yellow);
}

/** Tools that did not run because nobody could be asked. */
export function describeUnasked(
  names: Iterable<string>,
  absence: string | undefined,
  style: LineStyle,
): readonly string[] {
  const [first, ...others] = [...names].map(toPrintable);
  if (first === undefined || absence === undefined) return [];
  const text = `Denied without asking (${absence}): ${[first, ...others].join(', ')}. Use \`--allow ${first}\` to allow it, or \`--suspend\` to wait for an answer.`;
  return advise(text, style);
}

export function createRunSummary(tools: readonly Tool[], limits: WorkLimits = {}): WorkSummary<unknown> {
  const effects = createEffects(tools);
  const counts = new Map<string, number>();
  const denied = new Set<string>();
  const deniedNested = new Set<string>();
  const lacking = new Set<string>();
  let startedAtMs: number | undefined;
  let nested = 0;
  let outOfCalls = false;
  let tokensReported = false;
  let end: RunEnd | undefined;

  const addCall = (event: CallEnd, isNested: boolean): void => {
    const { kind, code, reason } = event.outcome;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    if (isNested) nested += 1;
    effects.add(event, isNested);
    outOfCalls ||= code === 'budget.used' && reason === 'calls';
    const asked =
      event.decisions.some(({ type }) => type === 'ask') && !event.decisions.some(({ type }) => type === 'deny');
    if (code === missingCode) lacking.add(event.name);
    if (kind === 'denied' && asked) (code === 'approval.nested' ? deniedNested : denied).add(event.name);
  };
  const addNested = (event: PlanEvent): void => {
    if (event.type === 'child-event') addNested(event.event);
    else if (event.type === 'model-message') tokensReported ||= event.usage !== undefined;
    else if (event.type === 'tool-call-end') addCall(event, true);
  };

  return {
    add(event) {
      // A resumed run may have started long ago.
      if (event.type === 'run-start' || event.type === 'run-resume') startedAtMs ??= event.atMs;
      else if (event.type === 'run-end') end = event;
      else if (event.type === 'tool-call-end') addCall(event, event.parentId !== undefined);
      else addNested(event);
    },
    describe(_result, style, absence) {
      if (end === undefined) return [];
      const { colors, columns } = style;
      const within = [...deniedNested].map(toPrintable);
      const durationMs = end.atMs - (startedAtMs ?? end.atMs);
      return [
        '',
        // The last text of a run that ended early was already printed with its calls.
        ...(end.status !== 'completed' || end.text.trim() === ''
          ? []
          : [...quoteText(end.text.trim(), { columns }), '']),
        ...formatUnfinished(end.unfinished, style),
        ...effects.describe(style),
        ...describeUnasked(denied, absence, style),
        ...(within.length === 0
          ? []
          : advise(
              `Calls inside other calls cannot be approved, so ${within.join(', ')} did not run there. Use \`--allow ${within[0]}\` to allow it.`,
              style,
            )),
        ...describeMissing(lacking, tools).flatMap((text) => advise(text, style)),
        '',
        `${describeStatus(end, colors, limits, outOfCalls)} after ${formatDuration(durationMs)}: ${formatCount(end.turns, 'turn')}, ${describeCounts(counts, nested)}`,
        ...describeUse(limits, { turns: end.turns, durationMs, tokensReported }),
      ];
    },
    describeBroken: (style) => ['', 'The run stopped early.', ...effects.describe(style)],
  };
}

function describeStatus(
  { status, error }: RunEnd,
  colors: LineStyle['colors'],
  { budget }: WorkLimits,
  outOfCalls: boolean,
): string {
  if (status === 'completed') return colors.green('completed');
  if (status === 'suspended') return colors.yellow(`suspended (${statusReasons.suspended})`);
  const reason =
    error !== undefined
      ? toPrintable(error.message)
      : status === 'budget' && budget !== undefined
        ? describeBudgetEnd(budget, outOfCalls)
        : statusReasons[status];
  return colors.red(`${status}${reason === '' ? '' : ` (${reason})`}`);
}

const statusReasons: Readonly<Record<RunStatus, string>> = {
  completed: '',
  suspended: 'waiting for an answer',
  'max-rounds': 'out of rounds; see --max-rounds',
  deadline: 'out of time; see --timeout',
  budget: 'out of budget',
  aborted: 'stopped',
  'model-error': 'the model failed',
};

/** Which limit was reached; both may be in one turn. */
function describeBudgetEnd({ limits, used }: Budget, outOfCalls: boolean): string {
  const outOfTokens = limits.maxTokens !== undefined && used.tokens >= limits.maxTokens;
  return [
    ...(outOfCalls ? [`all ${formatCount(limits.maxCalls ?? 0, 'call')} used; see --max-calls`] : []),
    ...(outOfTokens ? [`all ${limits.maxTokens} tokens used; see --max-tokens`] : []),
  ].join(', and ');
}

interface Use {
  readonly durationMs: number;
  readonly turns?: number;
  readonly tokensReported?: boolean;
}

/** The use of each limit that was set. */
export function describeUse({ maxRounds, timeoutMs, budget }: WorkLimits, use: Use): readonly string[] {
  const { limits = {}, used } = budget ?? {};
  const parts = [
    ...(limits.maxCalls === undefined ? [] : [`${used?.calls} of ${formatCount(limits.maxCalls, 'call')}`]),
    ...(limits.maxTokens === undefined
      ? []
      : [`${used?.tokens} of ${limits.maxTokens} tokens${use.tokensReported ? '' : ' (not reported by the model)'}`]),
    ...(maxRounds === undefined ? [] : [`${use.turns} of ${formatCount(maxRounds, 'round')}`]),
    ...(timeoutMs === undefined ? [] : [`${formatDuration(use.durationMs)} of ${formatDuration(timeoutMs)}`]),
  ];
  return parts.length === 0 ? [] : [`used ${parts.join(', ')}`];
}

function describeCounts(counts: ReadonlyMap<string, number>, nested: number): string {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return 'no calls';
  const kinds = [...counts].map(([kind, count]) => `${count} ${kind}`);
  return `${formatCount(total, 'call')} (${kinds.join(', ')})${nested === 0 ? '' : `, ${nested} of them nested`}`;
}
