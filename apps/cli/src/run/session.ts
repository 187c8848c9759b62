import { HoldfastError, isHoldfastError } from '@holdfast/core';
import { toReason } from '@holdfast/core/internal';
import { createSession, type Session } from '@holdfast/session';
import { describeStyle } from '../calls/line.ts';
import type { Host } from '../terminal/host.ts';
import { toCommand } from '../terminal/words.ts';
import { openRedaction } from '../user/redaction.ts';
import { rememberWorkspace } from '../workspace/known.ts';
import { prepareLogPath } from '../workspace/session-logs.ts';

/** Starts a session with a log in the workspace. @throws HoldfastError `log.*`, and as `openRedaction`. */
export async function beginSession(
  id: string,
  { workspace, redact }: { readonly workspace: string; readonly redact: boolean },
  host: Host,
): Promise<Session> {
  const path = await prepareLogPath(workspace, id);
  const redaction = redact ? await openRedaction(path, host).catch(addWayOut) : {};
  const store = await host.openLog(path);
  await rememberWorkspace(workspace, host);
  return createSession({ ...redaction, id, store, clock: host.clock });
}

function addWayOut(thrown: unknown): never {
  if (!isHoldfastError(thrown) || !thrown.code.startsWith('user_folder.')) throw thrown;
  const hint =
    'Redaction stores its key there. `--no-redact` avoids it, but then the log contains secrets in plain text.';
  throw new HoldfastError(thrown.code, thrown.message, { data: { ...toReason(thrown), hint }, cause: thrown });
}

/** Closes the session of a run and, unless `silent`, prints how to see its log. */
export async function closeSession(
  session: Session,
  { workspace, silent }: { readonly workspace: string; readonly silent: boolean },
  host: Host,
): Promise<void> {
  // Gives open session resources time to end: a first signal does not cut that short.
  const stopListening = host.onInterrupt(() => undefined);
  try {
    await session.close();
  } finally {
    stopListening();
    if (!silent) {
      const { colors } = describeStyle(host);
      const show = toCommand({ words: ['show', session.id], workspace }, host);
      host.stdout.write(`${colors.dim(`session log: ${show}`)}\n`);
    }
  }
}
