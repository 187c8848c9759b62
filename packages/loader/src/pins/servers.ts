import type { JsonObject } from '@holdfast/core';
import { readLock, writeLock } from './lock-file.ts';

/** The entry of an MCP server in a lock; `undefined` if it has none. @throws HoldfastError `lock.invalid`. */
export function readLockedServer(lock: string, name: string): JsonObject | undefined {
  return readLock(lock)?.servers?.get(name);
}

/** Locks an MCP server; everything else in the lock stays. @throws HoldfastError `lock.invalid`. */
export async function lockServer(lock: string, name: string, entry: JsonObject): Promise<void> {
  const latest = readLock(lock);
  await writeLock(lock, {
    tools: latest?.tools ?? new Map(),
    plugins: latest?.plugins,
    servers: new Map([...(latest?.servers ?? []), [name, entry]]),
  });
}
