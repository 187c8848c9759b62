import { HoldfastError, type Json } from '@holdfast/core';
import type { LogEntry } from '../log/log.ts';
import type { SliceTable } from '../state/table.ts';

/** Record types that rebuild state on replay; only the session writes them. */
const reserved: ReadonlySet<string> = new Set([
  'session-start',
  'slice',
  'event',
  'snapshot',
  'restore',
  'reset',
  'import',
]);

/** Checks that an entry changes no state. @throws HoldfastError `session.invalid`. */
export function checkEntry(entry: LogEntry): void {
  if (reserved.has(entry.type) || hasItems(entry['events']) || hasItems(entry['changes'])) {
    throw new HoldfastError(
      'session.invalid',
      `A record \`${entry.type}\` would change state when replayed; commit a transaction instead.`,
      { data: { reason: 'record.reserved' } },
    );
  }
  // These fields belong to the log: overwritten, it could not be opened again.
  if ('seq' in entry || 'prev' in entry || ('atMs' in entry && !Number.isFinite(entry['atMs']))) {
    throw new HoldfastError(
      'session.invalid',
      `A record \`${entry.type}\` must not set \`seq\`, \`prev\` or a non-finite \`atMs\`; rename those fields.`,
      { data: { reason: 'record.reserved' } },
    );
  }
}

function hasItems(field: Json | undefined): boolean {
  return Array.isArray(field) && field.length > 0;
}

/** @throws HoldfastError `event.invalid` for an event that changes what rolls back. */
export function checkRetention(type: string, table: SliceTable): void {
  const rolledBack = table.listeningTo(type).find(({ retention }) => retention !== 'log');
  if (rolledBack === undefined) return;
  throw new HoldfastError(
    'event.invalid',
    `\`${type}\` changes the state slice \`${rolledBack.id}\`; dispatch it instead.`,
    { data: { reason: 'retention' } },
  );
}
