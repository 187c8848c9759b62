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
    describeBroken: (style) => ['', 'The plan stopped early.', ...effects.describe(style)],
  };
}

const maxOutputCharacters = 10_000;

/** The result of the final node, as text if it is text. */
function describeOutput({ output, plan }: PlanTrace, { colors, columns }: LineStyle): readonly string[] {
  if (output === undefined) return [];
  const text = toOutputText(output);
  const left = text.length - maxOutputCharacters;
  const shown = left <= 0 ? text : `${text.slice(0, maxOutputCharacters).toWellFormed()}…`;
  return [
    colors.bold(`Result of ${plan.final_output_node}`),
    ...quoteText(shown.trimEnd(), { columns }),
    ...(left <= 0 ? [] : [colors.dim(`${formatCount(left, 'more character')}; use \`holdfast trace --json\``)]),
    '',
  ];
}

/** A result as text: text unchanged, anything else as JSON. */
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
    colors.bold('Failures:'),
    ...failed.slice(0, maxFailures).flatMap((node) => {
      const line = `  ${paintState(node.kind, colors)(node.kind)}  ${colors.bold(toPrintable(String(node.node)))}  ${toPrintable(node.tool)}`;
      return [line, ...quoteText(describeReason(node), { columns, indent: 4 })];
    }),
    ...(more > 0 ? [`  … and ${more} more`] : []),
    ...(skipped > 0
      ? [`  ${formatCount(skipped, 'node')} ${skipped === 1 ? 'was' : 'were'} skipped as a result.`]
      : []),
    ...(unbegun > 0 ? [`  ${formatCount(unbegun, 'node')} had not started.`] : []),
  ];
}

/** True if a node failed by itself, not because of other nodes. */
function isFailure(node: NodeTrace): boolean {
  const { kind } = node;
  if (hadNotBegun(node)) return false;
  return kind !== 'ok' && kind !== 'skipped' && kind !== 'waiting' && kind !== 'running' && kind !== 'suspended';
}

/** True if the node only ended because the run did. */
function hadNotBegun({ code }: NodeTrace): boolean {
  return code === 'plan.aborted';
}

/** Counts nodes by outcome: `36 ok, 1 failed`. */
function countKinds({ nodes }: PlanTrace): string {
  const counts = [...Map.groupBy(nodes, ({ kind }) => kind)];
  return counts.map(([kind, { length }]) => `${length.toLocaleString('en-GB')} ${kind}`).join(', ');
}

/** The plan's status, with an explanation. */
function describeStatus({ status, plan }: PlanTrace, { colors }: LineStyle): string {
  switch (status) {
    case 'succeeded':
      return colors.green('succeeded');
    case 'partial':
      return colors.yellow(`partial (${plan.final_output_node} succeeded, other nodes did not)`);
    case 'failed':
      return colors.red('failed');
    case 'aborted':
      return colors.red('aborted (stopped, or out of time or budget)');
    case 'suspended':
      return colors.yellow('suspended (waiting for an answer)');
    case 'running':
      return colors.yellow('running (the log has no end)');
    default:
      return status satisfies never;
  }
}
