import type { Json } from '@holdfast/core';
import { type Entry, maxCalls } from './follow.ts';
import type { Parameter } from './parameters.ts';
import type { Finding } from './results.ts';
import { cellOf, lineOf, shapeOf } from './tables.ts';
import type { Toolbox } from './toolbox.ts';

const maxLines = 20;
const maxLineLength = 300;
const maxTools = 12;
const nothing = 'It gave nothing back.';

/** What a person is told at the end. It says nothing that no result says. */
export function composeAnswer(entries: readonly Entry[], toolbox: Toolbox): string {
  if (entries.length === 0) return `The request names nothing that I could do.\n\n${offer(toolbox)}`;
  const hasStored = entries.some((entry) => entry.type === 'done' && entry.isStored);
  const parts = entries.map((entry) => describe(entry, hasStored));
  const last = entries.some((entry) => entry.type === 'no-tool') ? [offer(toolbox)] : [];
  return [...new Set([...parts, ...last])].join('\n\n');
}

function describe(entry: Entry, hasStored: boolean): string {
  switch (entry.type) {
    case 'done':
      return entry.isStored
        ? describeStored(entry.finding)
        : `${entry.title}:\n${describeValue(entry.finding, hasStored ? maxLines / 2 : maxLines)}`;
    case 'failed':
      return describeFailure(entry.finding, entry.repair);
    case 'missing':
      return `\`${entry.profile.tool.name}\` fits, but the request does not say ${entry.parameters.map(describeParameter).join(' and ')}. Please add it, for example as ${entry.parameters.map(exampleOf).join(', ')}.`;
    case 'no-tool':
      return `I have no tool for that: "${entry.clause.text.slice(0, 200)}".`;
    case 'skipped':
      return entry.because === 'limit'
        ? `Not done, because ${maxCalls} calls were made already: "${entry.clause.text.slice(0, 200)}".`
        : `Not done, because the step before it gave nothing to go on with: "${entry.clause.text.slice(0, 200)}".`;
    default:
      return entry satisfies never;
  }
}

function describeStored(finding: Finding): string {
  const target = Object.entries(finding.arguments).find(
    ([key, value]) => typeof value === 'string' && /path|file|to|title|name/iu.test(key),
  );
  const value = describeValue(finding, 5);
  // "Created `report.md`: 4 lines." has said it already.
  if (target !== undefined && value.includes(cellOf(target[1]))) return value;
  const done = `\`${finding.name}\` succeeded${target === undefined ? '' : ` for \`${cellOf(target[1]).slice(0, 200)}\``}.`;
  return value === nothing ? done : `${done}\n${value}`;
}

function describeFailure(finding: Finding, repair: Finding | undefined): string {
  const reason = finding.text.trim().slice(0, 1000);
  const tried =
    repair === undefined
      ? ''
      : repair.success
        ? ` I called \`${repair.name}\` first and tried again.`
        : ` \`${repair.name}\`, which has to come first, did not work either: ${repair.text.trim().slice(0, 300)}`;
  return `\`${finding.name}\` did not work: ${reason === '' ? 'it gave no reason' : reason}${/[.!?]$/u.test(reason) ? '' : '.'}${tried}`;
}

function describeParameter({ path, description }: Parameter): string {
  const meaning = description.split(/[.\n]/u)[0]?.trim().slice(0, 100) ?? '';
  return `\`${path.join('.')}\`${meaning === '' ? '' : ` (${meaning})`}`;
}

function exampleOf({ path, choices, type }: Parameter): string {
  const value =
    choices.length > 0
      ? choices.slice(0, 6).map(String).join(' or ')
      : type === 'string'
        ? '"…"'
        : type === 'boolean'
          ? 'yes or no'
          : '…';
  return `${path.at(-1)}: ${value}`;
}

function describeValue({ message, value }: Finding, limit: number): string {
  const { facts, rows, rowsName, text } = shapeOf(value);
  const isEmptyList = rows.length === 0 && (Array.isArray(value) || rowsName !== '');
  const lines = [
    ...(message === '' ? [] : [message]),
    ...facts.map(([key, fact]) => `${key}: ${cellOf(fact)}`),
    ...(rowsName !== '' && facts.length > 0 && rows.length > 0 ? [`${rowsName}:`] : []),
    ...bounded(rows, limit),
    ...boundedText(text, limit),
    ...(isEmptyList ? ['Nothing was found.'] : []),
  ];
  return lines.length === 0 ? nothing : lines.map((line) => line.slice(0, maxLineLength)).join('\n');
}

function bounded(rows: readonly Json[], limit: number): readonly string[] {
  const lines = rows.slice(0, limit).map((row) => `- ${lineOf(row)}`);
  return rows.length > limit ? [...lines, `… and ${rows.length - limit} more`] : lines;
}

function boundedText(text: string, limit: number): readonly string[] {
  if (text.trim() === '') return [];
  const lines = text.trimEnd().split('\n');
  return lines.length > limit ? [...lines.slice(0, limit), `… and ${lines.length - limit} more lines`] : lines;
}

function offer({ profiles }: Toolbox): string {
  if (profiles.length === 0) return 'No tools are offered to me.';
  const lines = profiles
    .slice(0, maxTools)
    .map(({ tool }) => `- ${tool.name}: ${cellOf(tool.description).slice(0, 120)}`);
  const rest = profiles.length > maxTools ? [`… and ${profiles.length - maxTools} more`] : [];
  return ['What I have tools for:', ...lines, ...rest].join('\n');
}
