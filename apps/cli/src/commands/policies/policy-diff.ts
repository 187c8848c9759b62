import { readFile, realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { HoldfastError, JsonObject, Pack, Policy } from '@holdfast/core';
import { isPlainObject, parseJson } from '@holdfast/core/internal';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { formatCount } from '@holdfast/orchestrator/text';
import { packPolicies } from '@holdfast/policy';
import { type ComparedCall, comparePolicies, type Verdict } from '@holdfast/testing/recorded';
import { describeStyle, formatArguments } from '../../calls/line.ts';
import { isDamaged } from '../../logs/damage.ts';
import { openPack } from '../../policies/pack.ts';
import { readSessions, type SessionChoice } from '../../policies/sessions.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { toJsonText } from '../../terminal/json.ts';
import { formatTable, type TableStyle } from '../../terminal/table.ts';

export interface PolicyDiffOptions extends SessionChoice {
  /** If set, `from` and `to` are presets; otherwise they are packs: folders, files or installed packages. */
  readonly pack?: string | undefined;
  readonly from: string;
  readonly to: string;
  /** For packs. */
  readonly preset?: string | undefined;
  /** A JSON file with host options for both. */
  readonly options?: string | undefined;
  readonly export?: string | undefined;
  readonly json?: boolean;
}

/** One side. */
interface Side {
  readonly pack: Pack;
  readonly preset: string;
  readonly policies: readonly Policy[];
}

/**
 * Lists the recorded calls on which two presets or versions of a pack disagree. Returns 1 if one would newly be allowed, or if a log
 * is damaged.
 *
 * @throws HoldfastError `usage.invalid` (`pack_missing`, `pack_unclear`, `preset_twice`, `options_invalid`,
 * `session_unknown`), `module.failed`, `log.*`, and as `packPolicies`.
 */
export async function diffPolicies(given: PolicyDiffOptions, host: Host): Promise<ExitCode> {
  // A module's own output must not mix with ours.
  const write = host.reserveStdout();
  const { before, after } = await openSides(given, host.directory);
  const sessions: DiffedSession[] = [];
  const read = await readSessions(given, host);
  const workspace = await realpath(resolve(host.directory, given.workspace));
  for (const { id, reading } of read) {
    const calls = await comparePolicies(reading.records, {
      before: before.policies,
      after: after.policies,
      // Every run has these. Calls of other tools are reported as unknown if a policy inspects the tool.
      tools: fileTools(),
      filesystem: memoryFilesystem().readOnly,
      workspace,
    });
    sessions.push({ id, damaged: isDamaged(reading), calls });
  }
  const counts = countChanges(sessions.flatMap(({ calls }) => calls));
  const diffed = { before: describeSide(before), after: describeSide(after), counts, sessions };
  const lines = given.json ? [toJsonText(diffed, 2)] : describeDiff(diffed, describeStyle(host));
  write(`${lines.join('\n')}\n`);
  return counts.widened > 0 || sessions.some(({ damaged }) => damaged) ? 1 : 0;
}

async function openSides(
  { pack, from, to, preset, options, export: exportName }: PolicyDiffOptions,
  directory: string,
): Promise<{ readonly before: Side; readonly after: Side }> {
  const config = options === undefined ? {} : await readOptions(options, directory);
  const toSide = (opened: Pack, name: string): Side => ({
    pack: opened,
    preset: name,
    policies: packPolicies(opened, { preset: name, config }),
  });
  if (pack !== undefined) {
    if (preset !== undefined) {
      throw usageError(
        'preset_twice',
        '`--preset` cannot be combined with `--pack`: `--from` and `--to` are the presets.',
      );
    }
    const { pack: opened } = await openPack({ place: pack, exportName, directory });
    return { before: toSide(opened, from), after: toSide(opened, to) };
  }
  const [before, after] = [
    await openPack({ place: from, exportName, directory }),
    await openPack({ place: to, exportName, directory }),
  ];
  const name = preset ?? 'recommended';
  return { before: toSide(before.pack, name), after: toSide(after.pack, name) };
}

/** @throws HoldfastError `usage.invalid` (`options_invalid`). */
async function readOptions(file: string, directory: string): Promise<JsonObject> {
  const refuse = (problem: string, cause?: unknown): HoldfastError =>
    usageError('options_invalid', `\`${file}\` ${problem}.`, { cause });
  let text: string;
  try {
    text = await readFile(resolve(directory, file), 'utf8');
  } catch (cause) {
    throw refuse('cannot be read', cause);
  }
  const parsed = parseJson(text);
  if (!parsed.ok) throw refuse(`is not valid JSON: ${parsed.problem}`);
  if (!isPlainObject(parsed.value)) throw refuse('must contain an object with the options of the pack');
  // Parsed from JSON.
  return parsed.value as JsonObject;
}

function describeSide({ pack: { name, version }, preset }: Side): {
  readonly pack: string;
  readonly version: string;
  readonly preset: string;
} {
  return { pack: name, version, preset };
}

function countChanges(calls: readonly ComparedCall[]): Record<ComparedCall['change'], number> {
  const counts = { same: 0, tightened: 0, widened: 0, reason: 0, unknown: 0 };
  for (const { change } of calls) counts[change] += 1;
  return counts;
}

/** A session with the verdicts of both sides on its calls. */
export interface DiffedSession {
  readonly id: string;
  readonly damaged: boolean;
  readonly calls: readonly ComparedCall[];
}

interface DiffedSide {
  readonly pack: string;
  readonly version: string;
  readonly preset: string;
}

export interface PolicyDiff {
  readonly before: DiffedSide;
  readonly after: DiffedSide;
  readonly counts: Readonly<Record<ComparedCall['change'], number>>;
  readonly sessions: readonly DiffedSession[];
}

/** The calls that differ, widened ones first, and the counts. */
function describeDiff({ before, after, counts, sessions }: PolicyDiff, style: TableStyle): readonly string[] {
  const { colors } = style;
  const title = `${nameOf(before)} → ${nameOf(after)}`;
  const rows = (['widened', 'tightened', 'unknown', 'reason'] as const).flatMap((change) =>
    sessions.flatMap(({ id, calls }) => calls.filter((call) => call.change === change).map((call) => toRow(id, call))),
  );
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const { widened, tightened, reason, unknown, same } = counts;
  const told = [
    `${widened} widened`,
    `${tightened} tightened`,
    `${reason} with a different reason`,
    `${unknown} unknown`,
    `${same} the same`,
  ].join(', ');
  const paint = (change: string): string =>
    change === 'widened' ? colors.red(change) : change === 'tightened' ? colors.green(change) : colors.yellow(change);
  const head = [
    { title: 'change', paint },
    { title: 'session' },
    { title: 'call' },
    { title: 'tool' },
    { title: 'before' },
    { title: 'after' },
    { title: 'arguments and reasons' },
  ];
  return [
    colors.bold(title),
    '',
    ...(rows.length === 0 ? [] : [...formatTable(head, rows, style), '']),
    (widened > 0 ? colors.red : colors.green)(
      `${formatCount(total, 'call')} of ${formatCount(sessions.length, 'session')}: ${told}`,
    ),
    ...(unknown === 0 ? [] : [colors.yellow('Unknown: a policy needs data that is not in the log.')]),
  ];
}

function nameOf({ pack, version, preset }: DiffedSide): string {
  return `${pack} ${version} (${preset})`;
}

function toRow(session: string, { callId, tool, input, before, after, change }: ComparedCall): readonly string[] {
  const reasons = [
    ['before', reasonsOf(before)],
    ['after', reasonsOf(after)],
  ].flatMap(([when, text]) => (text === '' ? [] : [`${when}: ${text}`]));
  const told = [formatArguments(JSON.stringify(input)), ...reasons].join('  ');
  return [change, session, callId, tool, before.type, after.type, told];
}

function reasonsOf({ judgements }: Verdict): string {
  return judgements.flatMap(({ reason }) => (reason === undefined ? [] : [reason])).join(' ');
}
