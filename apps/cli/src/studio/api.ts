import type { ApprovalAnswer, Json } from '@holdfast/core';
import { HoldfastError } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { Host } from '../terminal/host.ts';
import { toPrintableBlock } from '../terminal/text.ts';
import { type CallFilter, CallIndex, type IndexedCall, timeOf } from './call-index.ts';
import { compareSession, listPacks } from './compare.ts';
import { explainIndexed, explainSession, toneOf } from './explain.ts';
import { Inbox } from './inbox.ts';

/** The reads and the writes of the page. Texts of logs come out with hidden characters shown. */
export interface StudioApi {
  read(path: string, query: URLSearchParams): Promise<Json>;
  answer(body: Json): Promise<Json>;
}

const maxPage = 200;
const maxReason = 2_000;

export function createApi(host: Host): StudioApi {
  const index = new CallIndex(host);
  const inbox = new Inbox(index, host);
  // Before the link is opened; a request reports what fails here.
  index.refresh().catch(() => undefined);
  // One after the other: two answers to one question at once must not both find it open.
  let turn: Promise<unknown> = Promise.resolve();
  return {
    async read(path, query) {
      await index.refresh();
      return toShown(await read(path, query, { index, inbox }));
    },
    async answer(body) {
      const { nonce, answer } = readAnswer(body);
      const answered = turn.then(() => inbox.answer(nonce, answer));
      turn = answered.catch(() => undefined);
      await answered;
      return {};
    },
  };
}

interface Sources {
  readonly index: CallIndex;
  readonly inbox: Inbox;
}

async function read(path: string, query: URLSearchParams, { index, inbox }: Sources): Promise<unknown> {
  const nothing = new HoldfastError('command.failed', `There is nothing at \`${path}\`: reload the page.`, {
    data: { reason: 'studio.unknown' },
  });
  switch (path) {
    case 'inbox':
      return { version: index.version, ...(await inbox.list()) };
    case 'state':
      return { version: index.version, problems: index.problems };
    case 'calls':
      return listCalls(index, query);
    case 'facets':
      return listFacets(index);
    case 'call': {
      const call = index.call(Number(query.get('key')));
      if (call === undefined) throw nothing;
      return { ...describeCall(call), ...explainIndexed(call) };
    }
    case 'session': {
      const log = index.log(query.get('session') ?? '');
      if (log === undefined) throw nothing;
      return { session: log.id, workspace: log.workspace, ref: log.ref, ...explainSession(log) };
    }
    case 'packs':
      return { packs: await listPacks() };
    case 'compare': {
      const log = index.log(query.get('session') ?? '');
      if (log === undefined) throw nothing;
      const [pack = '', from = '', to = ''] = ['pack', 'from', 'to'].map((name) => query.get(name) ?? '');
      return compareSession(log, { pack, from, to });
    }
    default:
      throw nothing;
  }
}

function listCalls(index: CallIndex, query: URLSearchParams): unknown {
  const filter: CallFilter = Object.fromEntries(
    ['tool', 'decision', 'outcome', 'session', 'text'].map((name) => [name, query.get(name) ?? undefined]),
  );
  const found = index.find(filter);
  const offset = toCount(query.get('offset'));
  const calls = found.slice(offset, offset + Math.min(maxPage, toCount(query.get('limit'))));
  return { version: index.version, total: found.length, offset, calls: calls.map(describeCall) };
}

function toCount(text: string | null): number {
  const count = Number(text);
  return Number.isSafeInteger(count) && count >= 0 ? count : 0;
}

function describeCall(call: IndexedCall): Record<string, unknown> {
  const { key, log, callId, child, name, state, decided, question, message, durationMs, arguments: line } = call;
  const atMs = timeOf(call);
  const tone = toneOf(state);
  return {
    key,
    session: log.id,
    ref: log.ref,
    callId,
    child,
    name,
    state,
    tone,
    decided,
    question,
    message,
    durationMs,
    atMs,
    line,
  };
}

/** The values to filter by, with their counts. */
function listFacets(index: CallIndex): unknown {
  const tools = new Map<string, number>();
  const outcomes = new Map<string, number>();
  const decisions = new Map<string, number>();
  const count = (counts: Map<string, number>, value: string): unknown =>
    counts.set(value, (counts.get(value) ?? 0) + 1);
  const logs = index.logs();
  for (const { name, state, decision } of logs.flatMap(({ calls }) => calls)) {
    count(tools, name);
    count(outcomes, state);
    count(decisions, decision);
  }
  const sorted = (counts: Map<string, number>): unknown =>
    [...counts].toSorted(([, one], [, other]) => other - one).map(([value, times]) => ({ value, times }));
  const sessions = logs.map(({ ref, id, workspace, calls }) => {
    const newest = calls.at(-1);
    return { ref, id, workspace, calls: calls.length, atMs: newest === undefined ? 0 : timeOf(newest) };
  });
  return {
    tools: sorted(tools),
    outcomes: sorted(outcomes),
    decisions: sorted(decisions),
    sessions: sessions.toSorted((one, other) => other.atMs - one.atMs),
  };
}

/** @throws HoldfastError `command.failed`. */
function readAnswer(body: Json): { readonly nonce: string; readonly answer: ApprovalAnswer } {
  const { nonce, type, grant, reason } = isPlainObject(body) ? body : {};
  const isReason = reason === undefined || (typeof reason === 'string' && reason.length <= maxReason);
  if (typeof nonce === 'string' && type === 'approve') return { nonce, answer: { type, grant: grant === true } };
  if (typeof nonce === 'string' && type === 'deny' && isReason)
    return { nonce, answer: { type, ...(reason === undefined || reason === '' ? {} : { reason }) } };
  throw new HoldfastError(
    'command.failed',
    `Expected \`nonce\` and a \`type\` of \`approve\` or \`deny\`, with a \`reason\` of at most ${maxReason} characters.`,
    { data: { reason: 'studio.answer' } },
  );
}

/** JSON with control, bidirectional and invisible characters shown in every text. */
function toShown(value: unknown): Json {
  const text = JSON.stringify(value, (_, item: unknown) => (typeof item === 'string' ? toPrintableBlock(item) : item));
  return JSON.parse(text) as Json;
}
