import type { Outcome } from '@holdfast/core';
import type { Isolation } from '@holdfast/loader';
import { formatCount, formatDuration } from '@holdfast/orchestrator/text';
import { formatChanges } from '../calls/changes.ts';
import { formatArguments, type LineStyle, listAttempts, listKind } from '../calls/line.ts';
import { missingCode } from '../settings/environment-consent.ts';
import { createColors } from '../terminal/colors.ts';
import { compareTexts } from '../terminal/patch.ts';
import { fitColumns, toPrintable, toPrintableBlock, wrapBlock } from '../terminal/text.ts';
import type { PlannedCall, TriedCall } from './calls.ts';
import type { TryTarget } from './target.ts';

const places: Readonly<Record<Isolation, string>> = {
  'in-process': 'runs in this process',
  worker: 'runs in a thread',
  subprocess: 'runs in its own process',
  sandbox: 'runs in a sandbox',
};

/** Describes the tool and its isolation. */
export function formatTarget({ tool, isolation }: TryTarget, { colors }: LineStyle): readonly string[] {
  if (tool === undefined) return [];
  const { name, effects, repeat, dangerous } = tool;
  const gate = dangerous ? colors.red(', dangerous') : '';
  return [`${colors.bold(name)}  effects ${effects}, repeat ${repeat}${gate}, ${places[isolation]}`];
}

/** Printed before a call, so that a tool that never ends can be identified. */
export function formatPlanned(
  { arguments: given, example }: PlannedCall,
  { colors, columns }: LineStyle,
): readonly string[] {
  const title = example === undefined ? 'input' : `example ${example.index}: ${toPrintable(example.of.description)}`;
  const shown = `  ${formatArguments(given)}`;
  const [room, head] = [Math.min(columns, 160) - 1, fitColumns(title, Math.min(columns, 160) - 1)];
  return ['', colors.bold(head) + colors.dim(fitColumns(shown, Math.max(0, room - head.length)))];
}

/** Describes the end of a call, for the person and as seen by a model. */
export function formatTried(
  { end, mismatch, example, cutShort }: TriedCall,
  style: LineStyle,
  { debug }: { readonly debug: boolean },
): readonly string[] {
  const { colors } = style;
  const { outcome, durationMs, writes, error, abandoned } = end;
  const ok = outcome.kind === 'ok';
  const verdict =
    !ok || example === undefined ? '' : mismatch ? ', but differs from the example' : ', matches the example';
  const tries = listAttempts(outcome)
    .map((text) => `, ${text}`)
    .join('');
  const paint = ok && !mismatch ? colors.green : colors.red;
  const changes = writes.map(({ key, change }) => ({ path: key, change }));
  const said = debug ? (error?.stack ?? '') : error === undefined ? '' : `${error.name}: ${error.message}`;
  return [
    `  ${paint(`${outcome.kind}${listKind(outcome)}`)} after ${formatDuration(durationMs)}${tries}${verdict}`,
    ...(mismatch ? formatEntry('differs', compareValues(example?.of.output, outcome.value), style) : []),
    ...(ok ? formatEntry('value', toText(outcome.value), style) : []),
    ...formatEntry(
      'files',
      formatChanges(changes, plain)
        .map((line) => line.trim())
        .join('\n'),
      style,
    ),
    ...formatEntry('model', outcome.text === '' ? '(nothing)' : outcome.text, style),
    ...(ok || said === '' || (!debug && outcome.text.includes(error?.message ?? ''))
      ? []
      : formatEntry('thrown', said, style)),
    ...formatEntry(
      'note',
      listNotes({ outcome, abandoned: abandoned === true, cutShort, name: end.name }).join('\n'),
      style,
    ),
  ];
}

function listNotes({
  outcome,
  abandoned,
  cutShort,
  name,
}: {
  readonly outcome: Outcome;
  readonly abandoned: boolean;
  readonly cutShort: boolean;
  readonly name: string;
}): readonly string[] {
  return [
    ...(abandoned ? ['The tool did not stop when asked; its late result is ignored.'] : []),
    ...(cutShort
      ? [
          `The time limit of \`try\` was reached, not the tool's own: a run would have waited longer. Raise \`--timeout\`.`,
        ]
      : []),
    ...(outcome.code === 'approval.unattended' ? [`Use \`--allow ${name}\` to run it without asking.`] : []),
    ...(outcome.code === missingCode ? ['Use `--env NAME` to pass a variable.'] : []),
  ];
}

export interface TrialEnd {
  readonly calls: readonly TriedCall[];
  readonly planned: readonly PlannedCall[];
  readonly ok: boolean;
}

/** A one-line summary. */
export function formatEnd({ calls, planned, ok }: TrialEnd, { colors }: LineStyle): readonly string[] {
  if (planned.length === 0) return [colors.red('The file is invalid; nothing was called.')];
  const failed = calls.filter(({ end }) => end.outcome.kind !== 'ok').length;
  const differing = calls.filter(({ mismatch }) => mismatch).length;
  const parts = [
    formatCount(calls.length, 'call'),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(differing > 0 ? [`${formatCount(differing, 'mismatch', 'mismatches')}`] : []),
    ...(calls.length < planned.length ? [`${planned.length - calls.length} not made`] : []),
  ];
  return ['', (ok ? colors.green : colors.red)(`${ok ? 'passed' : 'failed'}: ${parts.join(', ')}`)];
}

/** The JSON output. */
export function describeTrial({
  target: { tool, isolation, diagnostics },
  calls,
  ok,
}: {
  readonly target: TryTarget;
  readonly calls: readonly TriedCall[];
  readonly ok: boolean;
}): object {
  return {
    tool:
      tool === undefined
        ? null
        : {
            name: tool.name,
            effects: tool.effects,
            repeat: tool.repeat,
            dangerous: tool.dangerous,
            isolation,
          },
    diagnostics,
    calls: calls.map(({ purpose, example, end, mismatch, cutShort }) => ({
      purpose,
      example: example?.index ?? null,
      arguments: end.rawArguments,
      outcome: {
        kind: end.outcome.kind,
        code: end.outcome.code ?? null,
        ...(end.outcome.reason === undefined ? {} : { reason: end.outcome.reason }),
        message: end.outcome.message,
        value: end.outcome.value,
        text: end.outcome.text,
        ...(end.outcome.attempts === undefined ? {} : { attempts: end.outcome.attempts }),
      },
      durationMs: end.durationMs,
      writes: end.writes.map(({ key, change }) => ({ path: key, change })),
      asExample: example === undefined || end.outcome.kind !== 'ok' ? null : !mismatch,
      expected: mismatch ? example?.of.output : null,
      abandoned: end.abandoned === true,
      cutShort,
    })),
    ok,
  };
}

/** A diff of the expected and the actual value. */
function compareValues(expected: unknown, found: unknown): string {
  const lines = compareTexts(`${toText(expected)}\n`, `${toText(found)}\n`)
    .trimEnd()
    .split('\n');
  return lines.filter((line) => !line.startsWith('@@')).join('\n');
}

function toText(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}

const plain: LineStyle['colors'] = createColors(false);
const labelColumns = 10;
const maxCharacters = 4000;

function formatEntry(label: string, text: string, { colors, columns }: LineStyle): readonly string[] {
  if (text === '') return [];
  const cut =
    text.length <= maxCharacters
      ? text
      : `${text.slice(0, maxCharacters).toWellFormed()}… (${text.length - maxCharacters} more characters; use \`--json\`)`;
  return wrapBlock(toPrintableBlock(cut), columns - labelColumns - 3).map(
    (line, index) => `  ${colors.bold((index === 0 ? label : '').padEnd(labelColumns))}${line}`,
  );
}
