import type { Json, Redactor } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { LogRecord } from '../log/log.ts';
import type { Session } from './session.ts';

/** What sealed content belongs to: a plan, a direct call, or a call of a run. */
export interface SealedPlace {
  readonly plan?: number | undefined;
  readonly callId?: string | undefined;
  readonly run?: number | undefined;
  readonly turn?: number | undefined;
}

/** Keeps `content` in the session's vault if the log gets masks of it. */
export function sealContent(session: Session, place: SealedPlace, content: Json): void {
  const { vault, redactor } = session;
  // A log without content cannot be resumed.
  if (vault === undefined || redactor === undefined || session.content === 'none') return;
  const masked = redactor.redact(content);
  if (masked !== content) vault.put(nameOf(place), boundTo(session, place, masked), JSON.stringify(content));
}

/**
 * The content of which the log has `masked`; `undefined` if the session's vault does not have it, or it was kept for another session,
 * place or content. The secrets in it are learned.
 */
export function openSealed(session: Session, place: SealedPlace, masked: Json): Json | undefined {
  const { vault, redactor } = session;
  const text = vault?.get(nameOf(place), boundTo(session, place, masked));
  if (text === undefined) return undefined;
  const content = JSON.parse(text) as Json;
  if (redactor !== undefined) learnMasked(redactor, masked, content);
  return content;
}

/** Empties the session's vault of what belongs to work that has ended: now, by its log, and whenever more of it ends. */
export function tendVault(session: Session, records: readonly LogRecord[]): void {
  const { vault } = session;
  if (vault === undefined) return;
  const sweep = (hasEnded: (name: string) => boolean): void => {
    for (const name of vault.names()) if (hasEnded(name) || !isOpen(session, name)) vault.delete(name);
  };
  const ended = vault.names().length === 0 ? [] : records.filter(isCallEnd).map(nameOf);
  // A direct call that is open may have the id of one that has ended.
  sweep((name) => !name.startsWith('/') && ended.includes(name));
  session.subscribe((record) => {
    if (isCallEnd(record)) vault.delete(nameOf(record));
    else if (record.type === 'run-end' || record.type === 'plan-end') sweep(() => false);
  });
}

function isCallEnd({ type, parentId }: LogRecord): boolean {
  return type === 'tool-call-end' && parentId === undefined;
}

function isOpen(session: Session, name: string): boolean {
  const { calls, plans, runs } = session.openWork();
  return (
    calls.some((call) => nameOf(call) === name) ||
    plans.some(({ run }) => nameOf({ plan: run }) === name) ||
    runs.some(({ run }) => name.startsWith(`${run}.`))
  );
}

function nameOf({ plan, run, turn, callId }: SealedPlace | LogRecord): string {
  if (run !== undefined) return `${String(run)}.${String(turn)}/${String(callId)}`;
  return callId === undefined ? `plan ${String(plan)}` : `/${String(callId)}`;
}

/** The masked content is as good as a digest of it, and says the same of the call. */
function boundTo({ id }: Session, place: SealedPlace, masked: Json): string {
  return JSON.stringify([id, nameOf(place), masked]);
}

const mask = /\[redacted:[0-9a-f]{12}\]/;

/** Lets the redactor know what stands where `masked` has masks, so that results of this process have masks for it, too. */
function learnMasked(redactor: Redactor, masked: Json, content: Json): void {
  if (typeof masked === 'string') {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    for (const secret of behindMasks(masked, text)) redactor.learn(secret);
  } else if (Array.isArray(masked) && Array.isArray(content)) {
    for (const [index, item] of masked.entries()) learnMasked(redactor, item, content[index] ?? null);
  } else if (isPlainObject(masked) && isPlainObject(content)) {
    for (const [key, inner] of Object.entries(masked)) {
      if (Object.hasOwn(content, key)) learnMasked(redactor, inner as Json, content[key] as Json);
    }
  }
}

/** The parts of `text` between those that `masked` has in clear. */
function behindMasks(masked: string, text: string): readonly string[] {
  const [first = '', ...rest] = masked.split(mask);
  if (rest.length === 0 || !text.startsWith(first)) return [];
  const found: string[] = [];
  let at = first.length;
  for (const [index, clear] of rest.entries()) {
    const end = index === rest.length - 1 ? text.length - clear.length : text.indexOf(clear, at);
    if (end < at || (clear === '' && index < rest.length - 1)) return found;
    found.push(text.slice(at, end));
    at = end + clear.length;
  }
  return found;
}
