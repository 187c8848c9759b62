import { type Signal, signal } from '@preact/signals';
import { answer, type RequestError, read } from './connection.ts';
import type { InboxAnswer, Question } from './types.ts';

/** A question on the page. It keeps its place until the page is left, answered or not. */
export interface Card {
  readonly question: Question;
  /** `gone`: answered elsewhere, expired or changed. */
  readonly status: 'open' | 'sending' | 'answered' | 'gone';
  readonly said: string;
}

/** Of everything that the program has read; the views read again when it changes. */
export const version: Signal<number> = signal(-1);
export const cards: Signal<readonly Card[]> = signal([]);
export const problems: Signal<readonly string[]> = signal([]);
/** Why there is no connection; empty when there is one. */
export const lost: Signal<string> = signal('');
export const nowMs: Signal<number> = signal(Date.now());
export const isLoaded: Signal<boolean> = signal(false);

const pollMs = 300;
/** Questions expire without a change of a log. */
const inboxMs = 10_000;
let inboxAtMs = 0;

/** Looks for changes until the page is closed. */
export function follow(): void {
  const again = (): void => {
    setTimeout(follow, pollMs);
  };
  look().then(again, (thrown: unknown) => {
    lost.value = thrown instanceof Error ? thrown.message : String(thrown);
    again();
  });
}

async function look(): Promise<void> {
  const state = await read<{ readonly version: number }>('state');
  lost.value = '';
  nowMs.value = Date.now();
  if (state.version === version.value && nowMs.value - inboxAtMs < inboxMs) return;
  const inbox = await read<InboxAnswer>('inbox');
  inboxAtMs = nowMs.value;
  cards.value = merge(cards.value, inbox.questions);
  problems.value = inbox.problems;
  isLoaded.value = true;
  version.value = state.version;
}

/** New questions go to the end, so that nothing moves under a finger. */
function merge(known: readonly Card[], questions: readonly Question[]): readonly Card[] {
  const open = new Map(questions.map((question) => [question.nonce, question]));
  const kept = known.map((card): Card => {
    if (card.status !== 'open' || open.has(card.question.nonce)) return card;
    return { ...card, status: 'gone', said: 'Answered elsewhere, changed or expired.' };
  });
  const shown = new Set(known.map(({ question }) => question.nonce));
  const added = questions.filter(({ nonce }) => !shown.has(nonce));
  return [...kept, ...added.map((question): Card => ({ question, status: 'open', said: '' }))];
}

export type GivenAnswer =
  | { readonly type: 'approve'; readonly grant?: boolean }
  | { readonly type: 'deny'; readonly reason?: string };

export async function give(nonce: string, given: GivenAnswer): Promise<void> {
  change(nonce, { status: 'sending', said: '' });
  try {
    await answer({ nonce, ...given });
    const granted = given.type === 'approve' && given.grant === true;
    const said = granted
      ? 'Approved, and granted for the session.'
      : given.type === 'approve'
        ? 'Approved once.'
        : 'Denied.';
    change(nonce, { status: 'answered', said });
  } catch (thrown) {
    const { code, message } = thrown as RequestError;
    // Another answer came first, or it is about something else now.
    const isGone = code.startsWith('approval.') || code === 'work.not_open';
    change(nonce, { status: isGone ? 'gone' : 'open', said: message });
  }
}

function change(nonce: string, changes: Pick<Card, 'status' | 'said'>): void {
  cards.value = cards.value.map((card) => (card.question.nonce === nonce ? { ...card, ...changes } : card));
}
