import { HoldfastError, type Json } from '@holdfast/core';
import type { LogEntry } from '../log/log.ts';
import type { SliceTable } from '../state/table.ts';

/** Record types from which replay rebuilds state: the session itself writes them. */
const reserved: ReadonlySet<string> = new Set([
  'session-start',
  'slice',
  'event',
  'snapshot',
  'restore',
  'reset',
  'import',
]);

/** Whether it may be recorded as something that changes no state. @throws HoldfastError `record.reserved`. */
export function checkEntry(entry: LogEntry): void {
  if (reserved.has(entry.type) || hasItems(entry['events']) || hasItems(entry['changes'])) {
    throw new HoldfastError(
      'record.reserved',
      `A record \`${entry.type}\` stands for a change of state; commit a transaction instead.`,
    );
  }
  // They are the log's own: written over, the log could not be opened again.
  if ('seq' in entry || 'prev' in entry || ('atMs' in entry && !Number.isFinite(entry['atMs']))) {
    throw new HoldfastError(
      'record.reserved',
      `A record \`${entry.type}\` cannot say its own \`seq\`, \`prev\` or a time that is none; give them other names.`,
    );
  }
}

function hasItems(field: Json | undefined): boolean {
  return Array.isArray(field) && field.length > 0;
}

/** @throws HoldfastError `event.retention` for an event that changes what rolls back. */
export function checkRetention(type: string, table: SliceTable): void {
  const rolledBack = table.listeningTo(type).find(({ retention }) => retention !== 'log');
  if (rolledBack === undefined) return;
  throw new HoldfastError(
    'event.retention',
    `\`${type}\` changes the state slice \`${rolledBack.id}\`; dispatch it instead.`,
  );
}
