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

/** What the user allowed a run or plan, as far as anything was said. */
export interface WorkLimits {
  readonly maxRounds?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly budget?: Budget | undefined;
}

type CallEnd = RunEvent & { readonly type: 'tool-call-end' };
type RunEnd = RunEvent & { readonly type: 'run-end' };

/** Gathers what calls did, in files and elsewhere. */
export interface Effects {
  /** Of a call that is nested in no other: what nested ones changed counts only as the call around them says. */
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
        ...(listed.length === 0
          ? ['No file of the workspace was changed.']
          : ['Changed in the workspace:', ...formatChanges(listed, colors)]),
        ...(elsewhere.size === 0
          ? []
          : [`What ${[...elsewhere].join(', ')} did outside of these files is not listed.`]),
      ];
    },
  };
}

/** Something that a person may want to do about it, so that it stands out. */
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
  const text = `Nobody was asked (${absence}), so ${[first, ...others].join(', ')} did not run. \`--allow ${first}\` lets it; \`--suspend\` waits for an answer.`;
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
    const { kind, code } = event.outcome;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    if (isNested) nested += 1;
    effects.add(event, isNested);
    outOfCalls ||= code === 'budget.calls';
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
      // A run that is gone on with here may have begun long ago.
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
        // What a run that ended early has said last stands above already, beside its calls.
        ...(end.status !== 'completed' || end.text.trim() === ''
          ? []
          : [...quoteText(end.text.trim(), { columns }), '']),
        ...formatUnfinished(end.unfinished, style),
        ...effects.describe(style),
        ...describeUnasked(denied, absence, style),
        ...(within.length === 0
          ? []
          : advise(
              `Within other calls nobody can be asked, so ${within.join(', ')} did not run there. \`--allow ${within[0]}\` lets it.`,
              style,
            )),
        ...describeMissing(lacking, tools).flatMap((text) => advise(text, style)),
        '',
        `${describeStatus(end, colors, limits, outOfCalls)} after ${formatDuration(durationMs)}: ${formatCount(end.turns, 'turn')}, ${describeCounts(counts, nested)}`,
        ...describeUse(limits, { turns: end.turns, durationMs, tokensReported }),
      ];
    },
    describeBroken: (style) => ['', 'The run broke off.', ...effects.describe(style)],
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
  suspended: 'it waits for an answer',
  'max-rounds': 'the model asked for calls in every round it was given; see --max-rounds',
  deadline: 'the time was up; see --timeout',
  budget: 'what the run may use is used up',
  aborted: 'it was stopped',
  'model-error': 'the model failed',
};

/** Which limit it was; both may be reached in one turn. */
function describeBudgetEnd({ limits, used }: Budget, outOfCalls: boolean): string {
  const outOfTokens = limits.maxTokens !== undefined && used.tokens >= limits.maxTokens;
  return [
    ...(outOfCalls ? [`no call is left of ${limits.maxCalls}; see --max-calls`] : []),
    ...(outOfTokens ? [`no token is left of ${limits.maxTokens}; see --max-tokens`] : []),
  ].join(', and ');
}

interface Use {
  readonly durationMs: number;
  readonly turns?: number;
  readonly tokensReported?: boolean;
}

/** What was used of what was allowed, where a limit was set. */
export function describeUse({ maxRounds, timeoutMs, budget }: WorkLimits, use: Use): readonly string[] {
  const { limits = {}, used } = budget ?? {};
  const parts = [
    ...(limits.maxCalls === undefined ? [] : [`${used?.calls} of ${formatCount(limits.maxCalls, 'call')}`]),
    ...(limits.maxTokens === undefined
      ? []
      : [`${used?.tokens} of ${limits.maxTokens} tokens${use.tokensReported ? '' : ' (the model reports none)'}`]),
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
