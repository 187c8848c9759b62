import type { Json, Redactor } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { LogRecord } from '../log/log.ts';
import type { CallPlace } from '../log/open-call.ts';
import type { Session } from './session.ts';

/** The owner of sealed content: a plan, a direct call, or a call of a run. */
export interface SealedPlace extends Partial<CallPlace> {
  readonly plan?: number;
}

/** Keeps `content` in the session's vault if the log masks a part of it. */
export function sealContent(session: Session, place: SealedPlace, content: Json): void {
  const { vault, redactor } = session;
  // A log without content cannot be resumed.
  if (vault === undefined || redactor === undefined || session.content === 'none') return;
  const masked = redactor.redact(content);
  if (masked !== content) vault.put(nameOf(place), boundTo(session, place, masked), JSON.stringify(content));
}

/**
 * The content that the log stores as `masked`; `undefined` if the vault does not have it, or it was sealed for another session, place
 * or content. The redactor learns its secrets.
 */
export function openSealed(session: Session, place: SealedPlace, masked: Json): Json | undefined {
  const { vault, redactor } = session;
  const text = vault?.get(nameOf(place), boundTo(session, place, masked));
  if (text === undefined) return undefined;
  const content = JSON.parse(text) as Json;
  if (redactor !== undefined) learnMasked(redactor, masked, content);
  return content;
}

/** Removes content of ended work from the session's vault: now, according to the log, and whenever more work ends. */
export function tendVault(session: Session, records: readonly LogRecord[]): void {
  const { vault } = session;
  if (vault === undefined) return;
  const sweep = (hasEnded: (name: string) => boolean): void => {
    for (const name of vault.names()) if (hasEnded(name) || !isOpen(session, name)) vault.delete(name);
  };
  const ended = vault.names().length === 0 ? [] : records.filter(isCallEnd).map(nameOf);
  // An open direct call may reuse the id of one that has ended.
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

/** The masked content works as a digest of the content. */
function boundTo({ id }: Session, place: SealedPlace, masked: Json): string {
  return JSON.stringify([id, nameOf(place), masked]);
}

const mask = /\[redacted:[0-9a-f]{12}\]/;

/** Teaches the redactor the values behind the masks, so that later results of this process are masked, too. */
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

/** The parts of `text` that are masked in `masked`. */
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
