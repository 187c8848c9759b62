import type { Json } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { EffectCheck } from '@holdfast/core/types';
import { resolveCall } from '@holdfast/executor';
import type { Session } from '@holdfast/session';
import type { Command } from 'commander';
import { findOpenCall } from '../../calls/find-open.ts';
import { describeStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { addWorkspaceOption, type SessionOptions } from '../../flags/session.ts';
import { openSession } from '../../logs/open-session.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { printJson } from '../../terminal/print.ts';
import { fitColumns, toPrintable } from '../../terminal/text.ts';
import { toCommand } from '../../terminal/words.ts';
import { findSession } from '../../workspace/known.ts';

const help = `
Examples:
  $ holdfast resolve 20260517-093012345-k3x9 call_1_0 --done --value '{"id": 7}'
  $ holdfast resolve 20260517-093012345-k3x9 call_1_0 --not-done --reason "The server has no such order."

An interrupted call with external effects is never repeated silently. Find out whether it took effect and record it;
\`holdfast resume\` then tells the model. If the call has already ended as in-doubt, the note is for readers of the log.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  addWorkspaceOption(command)
    .argument('<id>', 'session id')
    .argument('<call>', 'call id, or a unique prefix')
    .option('--done', 'the call took effect')
    .option('--not-done', 'the call did not take effect')
    .option('--value <json>', 'with --done: the value it would have returned (default: null)')
    .option('--reason <text>', 'how you know, for the model and the log')
    .option('--by <who>', 'name to record in the log (default: person)')
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(async (id: string, call: string, flags: Omit<ResolveOptions, 'id' | 'call'>) =>
      end(await resolveSessionCall({ ...flags, id, call }, host)),
    );
}

export interface ResolveOptions extends SessionOptions {
  readonly id: string;
  /** A call id, or a prefix. */
  readonly call: string;
  readonly done?: boolean | undefined;
  readonly notDone?: boolean | undefined;
  /** JSON text: the value that the call would have returned. */
  readonly value?: string | undefined;
  /** For the model and the log. */
  readonly reason?: string | undefined;
  readonly by?: string | undefined;
}

/**
 * Records whether an interrupted call took effect. Runs nothing: `resume` continues.
 *
 * @throws HoldfastError `usage.*`, `log.*`, `replay.*`.
 */
export async function resolveSessionCall(options: ResolveOptions, host: Host): Promise<ExitCode> {
  const resolution = readResolution(options);
  const { by } = options;
  const log = await findSession(options, host);
  const { workspace } = log;
  const session = await openSession(log, workspace, host);
  try {
    const { begun, ended } = findDoubtful(session);
    const listing = toCommand({ words: ['pending', log.id], workspace }, host);
    const what = 'interrupted or in-doubt';
    const [call] = findOpenCall(options.call, begun, { session: log.id, what, listing, others: ended });
    const { callId, name } = call ?? { callId: options.call, name: '' };
    await resolveCall(session, callId, resolution, by === undefined ? {} : { by });
    if (options.json) {
      printJson(host, { session: log.id, callId, name, resolution, by: by ?? 'person' });
      return 0;
    }
    const { colors } = describeStyle(host);
    const said = resolution.type === 'done' ? 'took effect' : 'did not take effect';
    host.stdout.write(`Noted: ${toPrintable(name)} (${fitColumns(toPrintable(callId), 64)}) ${said}.\n`);
    const isOpen = begun.some((one) => one.callId === callId);
    const next = isOpen
      ? `To continue: ${toCommand({ words: ['resume', log.id], workspace }, host)}`
      : 'The call has ended and the model was told that it is in doubt; the note is for readers of the log.';
    host.stdout.write(`${colors.dim(next)}\n`);
    return 0;
  } finally {
    await session.close();
  }
}

function readResolution({ done, notDone, value, reason }: ResolveOptions): Exclude<EffectCheck, { type: 'unknown' }> {
  if (done === notDone) {
    throw usageError('resolution_missing', 'Say whether the call took effect: pass either `--done` or `--not-done`.');
  }
  const message = reason === undefined ? {} : { message: reason };
  if (notDone) {
    if (value === undefined) return { type: 'not-done', ...message };
    throw usageError(
      'value_unexpected',
      '`--value` requires `--done`: a call that did not take effect returned nothing.',
    );
  }
  return { type: 'done', ...(value === undefined ? {} : { value: parseValue(value) }), ...message };
}

function parseValue(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    throw usageError('value_invalid', '`--value` takes JSON, with text in quotes: `--value \'"done"\'`.');
  }
}

interface Doubtful {
  readonly callId: string;
  readonly name: string;
}

/** Calls that started and have no end, and calls that ended in doubt. */
function findDoubtful(session: Session): { readonly begun: readonly Doubtful[]; readonly ended: readonly Doubtful[] } {
  const ended: Doubtful[] = [];
  for (const { type, callId, name, outcome } of session.records()) {
    if (type !== 'tool-call-end' || !isPlainObject(outcome) || outcome['kind'] !== 'in-doubt') continue;
    ended.push({ callId: String(callId), name: String(name) });
  }
  return { begun: session.openWork().calls.filter(({ start }) => start !== undefined), ended };
}
