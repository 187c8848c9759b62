import type { Budget, RunEvent, RunStatus, Tool } from '@holdfast/core';
import { createChangeCollector, type FileChange, formatChanges } from '../calls/changes.ts';
import { formatUnfinished } from '../calls/feedback.ts';
import { quoteText } from '../calls/foreign-text.ts';
import { formatCount, formatDuration, type LineStyle } from '../calls/line.ts';
import { describeMissing, missingCode } from '../settings/environment-consent.ts';
import { toPrintable, wrapBlock } from '../terminal/text.ts';

/** Gathers over a run what is said at its end. */
export interface RunSummary {
  add(event: RunEvent): void;
  /** Answer, changes, what did not go through, how it ended. `absence`: why nobody could be asked. */
  describe(style: LineStyle, absence: string | undefined): readonly string[];
  /** What stands when an error has ended the run before its end. */
  describeBroken(style: LineStyle): readonly string[];
}

/** What the user allowed a run, as far as anything was said. */
export interface RunLimits {
  readonly maxRounds?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly budget?: Budget | undefined;
}

type RunEnd = RunEvent & { readonly type: 'run-end' };

export function createRunSummary(tools: readonly Tool[], limits: RunLimits = {}): RunSummary {
  const external = new Set(tools.filter(({ effects }) => effects === 'external').map(({ name }) => name));
  const changes = createChangeCollector();
  const counts = new Map<string, number>();
  const deniedTools = new Set<string>();
  const deniedNested = new Set<string>();
  const externalTools = new Set<string>();
  const lacking = new Set<string>();
  let startedAtMs: number | undefined;
  let nested = 0;
  let outOfCalls = false;
  let tokensReported = false;
  let end: RunEnd | undefined;

  const addCall = (event: RunEvent & { readonly type: 'tool-call-end' }, isNested: boolean): void => {
    const { kind, code } = event.outcome;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    if (isNested) nested += 1;
    // What nested calls changed counts only as the call around them says, and that one lists it again.
    else changes.add(event);
    outOfCalls ||= code === 'budget.calls';
    const asked =
      event.decisions.some(({ type }) => type === 'ask') && !event.decisions.some(({ type }) => type === 'deny');
    if (code === missingCode) lacking.add(event.name);
    if (kind === 'denied' && asked) (code === 'approval.nested' ? deniedNested : deniedTools).add(event.name);
    if ((kind === 'ok' || kind === 'in-doubt') && external.has(event.name)) externalTools.add(event.name);
  };
  const addNested = (event: RunEvent): void => {
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
    describe(style, absence) {
      if (end === undefined) return [];
      const { colors, columns } = style;
      const denied = [...deniedTools].map(toPrintable);
      const nestedOnes = [...deniedNested].map(toPrintable);
      const durationMs = end.atMs - (startedAtMs ?? end.atMs);
      return [
        '',
        // What a run that ended early has said last stands above already, beside its calls.
        ...(end.status !== 'completed' || end.text.trim() === ''
          ? []
          : [...quoteText(end.text.trim(), { columns }), '']),
        ...formatUnfinished(end.unfinished, style),
        ...describeChanges(changes.list(), colors),
        ...(externalTools.size === 0
          ? []
          : [`What ${[...externalTools].map(toPrintable).join(', ')} did outside of these files is not listed.`]),
        ...(denied.length > 0 && absence !== undefined
          ? [
              colors.yellow(
                wrapBlock(
                  `Nobody was asked (${absence}), so ${denied.join(', ')} did not run. \`--allow ${denied[0]}\` lets it.`,
                  columns,
                ).join('\n'),
              ),
            ]
          : []),
        ...(nestedOnes.length === 0
          ? []
          : [
              colors.yellow(
                wrapBlock(
                  `Within other calls nobody can be asked, so ${nestedOnes.join(', ')} did not run there. \`--allow ${nestedOnes[0]}\` lets it.`,
                  columns,
                ).join('\n'),
              ),
            ]),
        ...describeMissing(lacking, tools).flatMap((text) => wrapBlock(text, columns).map(colors.yellow)),
        '',
        `${describeStatus(end, colors, limits, outOfCalls)} after ${formatDuration(durationMs)}: ${formatCount(end.turns, 'turn')}, ${describeCounts(counts, nested)}`,
        ...describeUse(limits, { turns: end.turns, durationMs, tokensReported }),
      ];
    },
    describeBroken: ({ colors }) => ['', 'The run broke off.', ...describeChanges(changes.list(), colors)],
  };
}

function describeChanges(changes: readonly FileChange[], colors: LineStyle['colors']): readonly string[] {
  return changes.length === 0
    ? ['No file of the workspace was changed.']
    : ['Changed in the workspace:', ...formatChanges(changes, colors)];
}

function describeStatus(
  { status, error }: RunEnd,
  colors: LineStyle['colors'],
  { budget }: RunLimits,
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
  readonly turns: number;
  readonly durationMs: number;
  readonly tokensReported: boolean;
}

/** What was used of what was allowed, where a limit was set. */
function describeUse({ maxRounds, timeoutMs, budget }: RunLimits, use: Use): readonly string[] {
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
