import type { Json, Tool } from '@holdfast/core';
import type { NodeTrace, PlanTrace } from '@holdfast/orchestrator';
import { formatCount, formatDuration } from '@holdfast/orchestrator/text';
import { quoteText } from '../calls/foreign-text.ts';
import { type LineStyle, paintState } from '../calls/line.ts';
import { advise, createEffects, describeUnasked, describeUse, type WorkLimits } from '../run/summary.ts';
import type { WorkSummary } from '../run/work.ts';
import { describeMissing, missingCode } from '../settings/environment-consent.ts';
import { toPrintable, wrapBlock } from '../terminal/text.ts';
import { describeReason } from './node-line.ts';

export function createPlanSummary(tools: readonly Tool[], limits: WorkLimits): WorkSummary<PlanTrace> {
  const effects = createEffects(tools);
  let startedAtMs: number | undefined;
  let endedAtMs: number | undefined;
  return {
    add(event) {
      if (event.type === 'plan-start' || event.type === 'plan-resume') startedAtMs ??= event.atMs;
      else if (event.type === 'plan-end') endedAtMs = event.atMs;
      else if (event.type === 'tool-call-end' && event.parentId === undefined) effects.add(event);
    },
    describe(trace, style, absence) {
      const durationMs = (endedAtMs ?? 0) - (startedAtMs ?? endedAtMs ?? 0);
      const { nodes } = trace;
      const lacking = nodes.filter(({ code }) => code === missingCode).map(({ tool }) => tool);
      const denied = nodes.filter(({ kind, code }) => kind === 'denied' && code === 'approval.unattended');
      return [
        '',
        ...describeOutput(trace, style),
        ...effects.describe(style),
        ...describeMissing(new Set(lacking), tools).flatMap((text) => advise(text, style)),
        ...describeUnasked(new Set(denied.map(({ tool }) => tool)), absence, style),
        ...describeFailures(trace, style),
        '',
        ...wrapBlock(
          `${describeStatus(trace, style)} after ${formatDuration(durationMs)}: ${formatCount(nodes.length, 'node')} (${countKinds(trace)})`,
          style.columns - 1,
        ),
        ...describeUse(limits, { durationMs }),
      ];
    },
    describeBroken: (style) => ['', 'The plan broke off.', ...effects.describe(style)],
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

/** How many nodes ended how: `36 ok, 1 failed`. */
function countKinds({ nodes }: PlanTrace): string {
  const counts = [...Map.groupBy(nodes, ({ kind }) => kind)];
  return counts.map(([kind, { length }]) => `${length.toLocaleString('en-GB')} ${kind}`).join(', ');
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
