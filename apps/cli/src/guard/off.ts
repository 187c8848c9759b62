import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isPlainObject } from '@holdfast/core/internal';
import { hasCode } from '../terminal/system.ts';
import { type GuardHost, guardFolder } from '../user/guard-folder.ts';
import { writeText } from './files.ts';

function offPath(host: GuardHost): string {
  return join(guardFolder(host), 'off.json');
}

/** Until when the guard is off, in milliseconds; `undefined`: it is on. Read for each call. */
export function readOff(host: GuardHost, nowMs: number): number | undefined {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(offPath(host), 'utf8'));
  } catch {
    // No file, or one that cannot be read: the guard is on.
    return undefined;
  }
  const untilMs = isPlainObject(value) ? value['untilMs'] : undefined;
  return typeof untilMs === 'number' && untilMs > nowMs ? untilMs : undefined;
}

export async function switchOff(untilMs: number, host: GuardHost): Promise<void> {
  await writeText(offPath(host), `${JSON.stringify({ untilMs })}\n`);
}

/** Returns false if the guard was on already. */
export async function switchOn(host: GuardHost): Promise<boolean> {
  try {
    await rm(offPath(host));
    return true;
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return false;
    throw thrown;
  }
}
