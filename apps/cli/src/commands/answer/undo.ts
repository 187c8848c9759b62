import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { confirm } from '@clack/prompts';
import { describeThrown } from '@holdfast/core/internal';
import { formatCount } from '@holdfast/orchestrator/text';
import type { Command } from 'commander';
import { matchCallId, quoteIds } from '../../calls/ids.ts';
import { describeStyle } from '../../calls/line.ts';
import { type Checkpoint, checkpointsFolder, readCheckpoint } from '../../checkpoints/checkpoint.ts';
import { type FilePlan, planUndo, putBack } from '../../checkpoints/put-back.ts';
import type { CommandContext } from '../../flags/command.ts';
import { requirePerson } from '../../guard/person.ts';
import { openSession } from '../../logs/open-session.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import { findQuestionStream, type Host } from '../../terminal/host.ts';
import { paintPatch, toTextPatch } from '../../terminal/patch.ts';
import { printLines } from '../../terminal/print.ts';
import { hasCode } from '../../terminal/system.ts';
import { toPrintable } from '../../terminal/text.ts';
import { guardFolder } from '../../user/guard-folder.ts';
import { findLog } from '../../workspace/session-logs.ts';

const help = `
Examples:
  $ holdfast undo call-17
  $ holdfast undo claude-code-3f2a call-17 --yes

Needs \`"checkpoints": true\` in your own holdfast.policy.json: then the guard keeps the files that a call may write or delete in a Git
worktree, before the call runs. Shows the difference and puts back what is still as the call left it. A file that was changed since is
refused, and the command exits with 1. What a call did elsewhere is not undone: on other machines, in databases, in files it was not
known to change.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .usage('[options] [session] <call>')
    .argument('<call...>', 'session id and call id, or a unique prefix of the call id')
    .option('--yes', 'do not ask before files are put back')
    .addHelpText('after', help)
    .action(async (ids: readonly string[], { yes = false }: { readonly yes?: boolean }) => {
      const [call = '', session, ...rest] = ids.toReversed();
      if (rest.length > 0)
        command.error('error: too many arguments: `undo` takes a call id, or a session id and a call id');
      requirePerson('undo a call of a guarded agent', host);
      end(await undoCall({ call, session, yes }, host));
    });
}

export interface UndoOptions {
  /** A call id, or a prefix. */
  readonly call: string;
  readonly session?: string | undefined;
  readonly yes: boolean;
}

/**
 * Puts the files of a call back. Returns 1 if one is refused, or if the person declines.
 *
 * @throws HoldfastError `usage.invalid` (`call_unknown`, `call_ambiguous`), `log.*`.
 */
export async function undoCall({ call, session, yes }: UndoOptions, host: Host): Promise<ExitCode> {
  const found = findKept(call, session, host);
  const plans = planUndo(found.checkpoint, found.folder);
  const changes = plans.filter((plan) => plan.type === 'put-back');
  const refused = plans.filter(({ type }) => type === 'refused');
  const style = describeStyle(host);
  printLines(host, [
    `Call ${toPrintable(found.checkpoint.callId)} of session ${found.session}`,
    ...plans.flatMap((plan) => describePlan(plan, found.checkpoint.workspace)),
    ...found.checkpoint.left.map((why) => style.colors.yellow(`not kept: ${toPrintable(why)}`)),
  ]);
  if (changes.length === 0) {
    printLines(host, [
      refused.length > 0 ? 'Nothing was put back.' : 'Nothing to do: the files are as before the call.',
    ]);
    return refused.length > 0 ? 1 : 0;
  }
  if (!yes && !(await asksYes(changes.length, host))) {
    host.stderr.write('Nothing was put back.\n');
    return 1;
  }
  await note(found, changes, host);
  const failed: string[] = [];
  for (const { file } of changes) {
    // The person may have read for a while.
    const [change] = planUndo({ ...found.checkpoint, files: [file] }, found.folder);
    if (change?.type === 'refused') failed.push(`${relative(found.checkpoint.workspace, file.path)}: ${change.why}`);
    if (change?.type !== 'put-back') continue;
    try {
      putBack(change);
    } catch (thrown) {
      failed.push(`${relative(found.checkpoint.workspace, change.file.path)}: ${describeThrown(thrown)}`);
    }
  }
  printLines(host, [
    ...failed.map((line) => style.colors.red(`failed: ${toPrintable(line)}`)),
    `${formatCount(changes.length - failed.length, 'file')} put back. What the call did elsewhere is not undone.`,
  ]);
  return failed.length + refused.length > 0 ? 1 : 0;

  function describePlan(plan: FilePlan, workspace: string): readonly string[] {
    const name = toPrintable(relative(workspace, plan.file.path));
    if (plan.type === 'same') return [style.colors.dim(`${name}: as before the call`)];
    if (plan.type === 'refused') return [style.colors.red(`${name}: refused, ${toPrintable(plan.why)}`)];
    const { before } = plan.file;
    if (before.type === 'link') return [`${name}: a link to ${toPrintable(before.target)} again`];
    const [from, to] = [toText(plan.from), toText(plan.to)];
    if (from === undefined || to === undefined)
      return [`${name}: ${plan.from.length} bytes now, ${plan.to.length} bytes before`];
    const names = [`${name} now`, before.type === 'missing' ? 'no file' : `${name} before the call`] as const;
    return paintPatch(toTextPatch({ from, to, names }), style.colors);
  }
}

/** `undefined`: no text. */
function toText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

async function asksYes(count: number, host: Host): Promise<boolean> {
  const output = findQuestionStream(host, { stdin: false, stdout: false });
  if (output === undefined) return false;
  const message = `Put ${formatCount(count, 'file')} back?`;
  return (await confirm({ message, initialValue: false, input: host.stdin, output })) === true;
}

interface FoundCheckpoint {
  readonly session: string;
  readonly folder: string;
  readonly checkpoint: Checkpoint;
}

/** Before the first file: a crash between leaves a record of what was begun. */
async function note(
  { session: id, checkpoint: { callId } }: FoundCheckpoint,
  changes: readonly FilePlan[],
  host: Host,
): Promise<void> {
  const folder = guardFolder(host);
  const session = await openSession(await findLog(folder, id), folder, host, { warns: false });
  try {
    const files = changes.map(({ file }) => file.path);
    session.record({ type: 'guard-undone', callId, files, atMs: host.clock.now() });
    await session.sync();
  } finally {
    await session.close();
  }
}

function findKept(call: string, session: string | undefined, host: Host): FoundCheckpoint {
  const all = listCheckpoints(host).filter((found) => session === undefined || found.session === session);
  const ids = matchCallId(call, [...new Set(all.map(({ checkpoint }) => checkpoint.callId))]);
  const found = all.filter(({ checkpoint }) => ids.includes(checkpoint.callId));
  const [only, ...others] = found;
  if (only === undefined)
    throw usageError(
      'call_unknown',
      `No files were kept for the call \`${call}\`. Only calls that change files of a Git worktree have any, with \`"checkpoints": true\` in your own holdfast.policy.json.`,
    );
  if (others.length > 0)
    throw usageError(
      'call_ambiguous',
      `\`${call}\` matches ${formatCount(found.length, 'call')}: ${quoteIds(found.slice(0, 5).map((one) => `${one.session} ${one.checkpoint.callId}`))}. Give the session and the whole id.`,
    );
  return only;
}

function listCheckpoints(host: Host): readonly FoundCheckpoint[] {
  return listNames(checkpointsFolder('', host)).flatMap((session) =>
    listNames(checkpointsFolder(session, host)).flatMap((name) => {
      const folder = join(checkpointsFolder(session, host), name);
      const checkpoint = readCheckpoint(folder);
      return checkpoint === undefined ? [] : [{ session, folder, checkpoint }];
    }),
  );
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT') || hasCode(thrown, 'ENOTDIR')) return [];
    throw thrown;
  }
}
