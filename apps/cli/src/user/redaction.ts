import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import type { LogRecord, SessionOptions } from '@holdfast/session';
import { createRedactor, sealedFiles } from '@holdfast/session/redact';
import type { Host } from '../terminal/host.ts';
import { createUserFile, userFolder } from './folder.ts';

/** Masks secrets in a session's log, and seals the arguments that its open calls need. */
export type Redaction = Pick<SessionOptions, 'redactor' | 'vault'>;

/** The file with the user's key for masks and seals, in the user folder. */
export const keyFile = 'redaction.key';

/**
 * Opens redaction for the session whose log is at `logPath`. Creates the key on first use.
 *
 * @throws HoldfastError `user_config.invalid`, `user_folder.unusable`.
 */
export async function openRedaction(
  logPath: string,
  host: Pick<Host, 'environment' | 'directory'>,
): Promise<Redaction> {
  const text = await createUserFile(keyFile, () => `${randomBytes(32).toString('hex')}\n`, host);
  const key = /^([0-9a-f]{64})\s*$/.exec(text)?.[1];
  if (key === undefined) {
    const path = join(userFolder(host), keyFile);
    throw new HoldfastError(
      'user_config.invalid',
      `\`${path}\` must contain 64 hexadecimal digits. Restore the key, or delete the file to get a new one; arguments sealed with the old key are then lost.`,
      { data: { reason: 'redaction.key', path } },
    );
  }
  const bytes = Buffer.from(key, 'hex');
  const sealed = logPath.replace(/\.jsonl$/, '.sealed');
  return { redactor: createRedactor({ key: bytes }), vault: sealedFiles(sealed, { key: bytes }) };
}

/** True if a session was started with `--no-redact`, which also applies when it is resumed. */
export function isUnredacted(records: Iterable<LogRecord>): boolean {
  for (const { type, redact } of records) if (type === 'run-options') return redact === false;
  return false;
}
