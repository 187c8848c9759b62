import type { Budget, Json, Tool } from '@holdfast/core';
import type { NodeKind, NodeTrace, PlanEvent, PlanTrace } from '@holdfast/orchestrator';
import { createChangeCollector, formatChanges } from '../calls/changes.ts';
import { quoteText } from '../calls/foreign-text.ts';
import { formatCount, formatDuration, type LineStyle, paintState } from '../calls/line.ts';
import { describeMissing, missingCode } from '../settings/environment-consent.ts';
import { toPrintable, wrapBlock } from '../terminal/text.ts';
import { describeKinds } from './frame.ts';
import { describeReason } from './node-line.ts';

export interface Told {
  /** Why nobody could be asked. */
  readonly absence: string | undefined;
  /** A table of all nodes stands above, with what did not succeed and why. */
  readonly tabled: boolean;
}

/** Gathers over a run of a plan what is said at its end. */
export interface PlanSummary {
  add(event: PlanEvent): void;
  /** Result, changes, what did not succeed and why, how it ended. */
  describe(trace: PlanTrace, style: LineStyle, told: Told): readonly string[];
  /** What stands when an error has ended the run before its end. */
  describeBroken(style: LineStyle): readonly string[];
}

export interface PlanSummaryLimits {
  readonly timeoutMs?: number | undefined;
  readonly budget?: Budget | undefined;
}

export function createPlanSummary(tools: readonly Tool[], { timeoutMs, budget }: PlanSummaryLimits): PlanSummary {
  const external = new Set(tools.filter(({ effects }) => effects === 'external').map(({ name }) => name));
  const changes = createChangeCollector();
  const externalTools = new Set<string>();
  let startedAtMs: number | undefined;
  let endedAtMs: number | undefined;
  const describeChanged = ({ colors }: LineStyle): readonly string[] =>
    changes.list().length === 0
      ? ['No file of the workspace was changed.']
      : ['Changed in the workspace:', ...formatChanges(changes.list(), colors)];
  return {
    add(event) {
      if (event.type === 'plan-start' || event.type === 'plan-resume') startedAtMs ??= event.atMs;
      else if (event.type === 'plan-end') endedAtMs = event.atMs;
      // What nested calls changed counts only as the call around them says, and that one lists it again.
      else if (event.type === 'tool-call-end' && event.parentId === undefined) {
        changes.add(event);
        const { kind } = event.outcome;
        if ((kind === 'ok' || kind === 'in-doubt') && external.has(event.name)) externalTools.add(event.name);
      }
    },
    describe(trace, style, { absence, tabled }) {
      const durationMs = (endedAtMs ?? 0) - (startedAtMs ?? endedAtMs ?? 0);
      return [
        '',
        ...describeOutput(trace, style),
        ...describeChanged(style),
        ...(externalTools.size === 0
          ? []
          : [`What ${[...externalTools].map(toPrintable).join(', ')} did outside of these files is not listed.`]),
        ...describeLacking(trace, tools, style),
        ...describeUnasked(trace, style, absence),
        ...(tabled ? [] : describeFailures(trace, style)),
        '',
        ...wrapBlock(
          `${describeStatus(trace, style)} after ${formatDuration(durationMs)}: ${formatCount(trace.nodes.length, 'node')} (${describeKinds(countKinds(trace))})`,
          style.columns - 1,
        ),
        ...describeUse({ timeoutMs, budget, durationMs }),
      ];
    },
    describeBroken: (style) => ['', 'The plan broke off.', ...describeChanged(style)],
  };
}

const maxOutputCharacters = 10_000;

/** The result of the final node, as text where it is one. */
function describeOutput({ output, plan }: PlanTrace, { colors, columns }: LineStyle): readonly string[] {
  if (output === undefined) return [];
  const text = toOutputText(output);
  const left = text.length - maxOutputCharacters;
  const shown = left <= 0 ? text : `${text.slice(0, maxOutputCharacters).toWellFormed()}…`;
  return [
    colors.bold(`Result of ${plan.final_output_node}`),
    ...quoteText(shown.trimEnd(), { columns }),
    ...(left <= 0 ? [] : [colors.dim(`${formatCount(left, 'more character')}; \`holdfast trace --json\` has them`)]),
    '',
  ];
}

/** A result as text: as it is where it is one, anything else as JSON. */
export function toOutputText(output: Json = ''): string {
  return typeof output === 'string' ? output : JSON.stringify(output, undefined, 2);
}

function describeUnasked(
  trace: PlanTrace,
  { colors, columns }: LineStyle,
  absence: string | undefined,
): readonly string[] {
  if (absence === undefined) return [];
  const denied = trace.nodes.filter(({ kind, code }) => kind === 'denied' && code === 'approval.unattended');
  const names = [...new Set(denied.map(({ tool }) => toPrintable(tool)))];
  if (names.length === 0) return [];
  const text = `Nobody was asked (${absence}), so ${names.join(', ')} did not run. \`--allow ${names[0]}\` lets it; \`--suspend\` waits for an answer.`;
  return wrapBlock(text, columns).map(colors.yellow);
}

function describeLacking(
  { nodes }: PlanTrace,
  tools: readonly Tool[],
  { colors, columns }: LineStyle,
): readonly string[] {
  const lacking = nodes.filter(({ code }) => code === missingCode).map(({ tool }) => tool);
  return describeMissing(new Set(lacking), tools).flatMap((text) => wrapBlock(text, columns).map(colors.yellow));
}

const maxFailures = 10;

function describeFailures({ nodes }: PlanTrace, { colors, columns }: LineStyle): readonly string[] {
  const failed = nodes.filter(isFailure);
  if (failed.length + nodes.filter(hadNotBegun).length === 0) return [];
  const skipped = nodes.filter(({ kind }) => kind === 'skipped').length;
  const unbegun = nodes.filter(hadNotBegun).length;
  const more = failed.length - maxFailures;
  return [
    '',
    colors.bold('What did not succeed:'),
    ...failed.slice(0, maxFailures).flatMap((node) => {
      const line = `  ${paintState(node.kind, colors)(node.kind)}  ${colors.bold(toPrintable(String(node.node)))}  ${toPrintable(node.tool)}`;
      return [line, ...quoteText(describeReason(node), { columns, indent: 4 })];
    }),
    ...(more > 0 ? [`  … and ${more} more`] : []),
    ...(skipped > 0
      ? [`  ${formatCount(skipped, 'node')} ${skipped === 1 ? 'was' : 'were'} skipped because of that.`]
      : []),
    ...(unbegun > 0 ? [`  ${formatCount(unbegun, 'node')} had not begun.`] : []),
  ];
}

/** Whether a node ended badly by itself, and not because of others. */
function isFailure(node: NodeTrace): boolean {
  const { kind } = node;
  if (hadNotBegun(node)) return false;
  return kind !== 'ok' && kind !== 'skipped' && kind !== 'waiting' && kind !== 'running' && kind !== 'suspended';
}

/** Whether the end of the run is all that is to be said of it. */
function hadNotBegun({ code }: NodeTrace): boolean {
  return code === 'plan.aborted';
}

/** How many nodes ended how. */
function countKinds({ nodes }: PlanTrace): ReadonlyMap<NodeKind, number> {
  const counts = new Map<NodeKind, number>();
  for (const { kind } of nodes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** How a plan ended, and what that means. */
function describeStatus({ status, plan }: PlanTrace, { colors }: LineStyle): string {
  switch (status) {
    case 'succeeded':
      return colors.green('succeeded');
    case 'partial':
      return colors.yellow(`partial (${plan.final_output_node} succeeded, and others did not)`);
    case 'failed':
      return colors.red('failed');
    case 'aborted':
      return colors.red('aborted (it was stopped, or its time or budget was up)');
    case 'suspended':
      return colors.yellow('suspended (it waits for an answer)');
    case 'running':
      return colors.yellow('running (by its log it has not ended)');
    default:
      return status satisfies never;
  }
}

function describeUse({
  timeoutMs,
  budget,
  durationMs,
}: PlanSummaryLimits & { readonly durationMs: number }): readonly string[] {
  const { limits = {}, used } = budget ?? {};
  const parts = [
    ...(limits.maxCalls === undefined ? [] : [`${used?.calls} of ${formatCount(limits.maxCalls, 'call')}`]),
    ...(timeoutMs === undefined ? [] : [`${formatDuration(durationMs)} of ${formatDuration(timeoutMs)}`]),
  ];
  return parts.length === 0 ? [] : [`used ${parts.join(', ')}`];
}
