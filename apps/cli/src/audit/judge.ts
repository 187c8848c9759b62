import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { FactsSource, JsonObject, Policy } from '@holdfast/core';
import type { Disk } from '@holdfast/core/types';
import { createFacts } from '@holdfast/facts';
import { nodeDisk } from '@holdfast/facts/node';
import { createGuard, decisions, type Guard } from '@holdfast/guard';
import { createSession, memoryStore } from '@holdfast/session';
import { codingPolicies } from '../guard/coding.ts';
import { findWorkFolder, homeFolder } from '../guard/place.ts';
import { readGuardRules } from '../guard/rules.ts';
import type { GuardHost } from '../user/guard-folder.ts';
import { type FoundTranscript, readTranscript, type Step, type TranscriptFormat } from './transcript.ts';

/** A call of a transcript, with the answer of the policies. */
export interface JudgedCall {
  readonly agent: string;
  readonly session: string;
  readonly id: string;
  readonly tool: string;
  /** The command, path or address that the call is about, else its tool. */
  readonly about: string;
  readonly cwd: string;
  readonly atMs: number | undefined;
  readonly verdict: 'allow' | 'ask' | 'deny';
  /** The policies that did not allow it. */
  readonly policies: readonly { readonly policy: string; readonly type: 'ask' | 'deny'; readonly reason: string }[];
  /** Set if the transcript shows that the agent's person was asked. */
  readonly asked: boolean;
  readonly ok: boolean | 'unknown' | 'not-run';
}

export interface Judged {
  readonly calls: readonly JudgedCall[];
  /** The number of lines that cannot be parsed, by transcript. */
  readonly unread: ReadonlyMap<string, number>;
}

export interface JudgeOptions {
  /** Commands that count as checks, besides those of the rules. */
  readonly checks?: readonly string[];
}

type TranscriptCall = Extract<Step, { type: 'call' }>;

interface Event {
  readonly step: Exclude<Step, { type: 'place' }>;
  readonly cwd: string;
  readonly mode: string | undefined;
  readonly atMs: number | undefined;
}

interface Conversation {
  readonly format: TranscriptFormat;
  readonly id: string;
  readonly events: Event[];
}

/**
 * Sends the calls of transcripts through the guard, one session after the other: each call is decided with what the calls before it did,
 * as they ran. Runs nothing; what places and links are is read from the disk of today.
 */
export async function judge(
  found: readonly FoundTranscript[],
  host: GuardHost,
  { checks = [] }: JudgeOptions = {},
): Promise<Judged> {
  const unread = new Map<string, number>();
  const conversations = new Map<string, Conversation>();
  for (const transcript of found) {
    const bad = await gather(transcript, conversations);
    if (bad > 0) unread.set(transcript.path, bad);
  }
  const calls: JudgedCall[] = [];
  for (const conversation of conversations.values()) {
    const session = await openJudged(conversation, host, checks);
    // By time, since a sub-agent or a resumed session writes a file of its own.
    for (const event of conversation.events.toSorted((left, right) => (left.atMs ?? 0) - (right.atMs ?? 0)))
      await session.follow(event);
    calls.push(...session.calls.values());
  }
  return { calls, unread };
}

/** Adds the events of a transcript to its conversation. Returns the number of lines that cannot be read. */
async function gather(found: FoundTranscript, conversations: Map<string, Conversation>): Promise<number> {
  const { format, path } = found;
  let bad = 0;
  let atMs: number | undefined;
  let place: { readonly id: string; readonly cwd: string; readonly mode: string | undefined } = {
    id: path,
    cwd: '/',
    mode: undefined,
  };
  for await (const line of readTranscript(found)) {
    if (line === undefined) bad += 1;
    atMs = line?.atMs ?? atMs;
    for (const step of line?.steps ?? []) {
      if (step.type === 'place') {
        place = { id: step.sessionId ?? place.id, cwd: step.cwd ?? place.cwd, mode: step.mode ?? place.mode };
        continue;
      }
      const key = `${format.agent.name} ${place.id}`;
      const conversation = conversations.get(key) ?? { format, id: place.id, events: [] };
      conversations.set(key, conversation);
      conversation.events.push({ step, cwd: place.cwd, mode: place.mode, atMs });
    }
  }
  return bad;
}

async function openJudged(
  { format: { agent }, id, events }: Conversation,
  host: GuardHost,
  checks: readonly string[],
): Promise<JudgedSession> {
  const { folder, workspace } = findWorkFolder(resolve(events[0]?.cwd ?? '/'), existsSync);
  const files = await readGuardRules(workspace, host);
  const policies = codingPolicies(agent.name, host, { ...files, checks: [...files.checks, ...checks] });
  // The number of a folder's entries alone bounds a search: a report must not depend on how busy the machine is.
  const view = { folder, workspace, home: homeFolder(host), disk: remember(nodeDisk(workspace)), now: () => 0 };
  return new JudgedSession(agent.name, id, policies, createFacts({ describers: agent.describers, view }));
}

/** A disk that is looked at once: nothing runs meanwhile. */
function remember(disk: Disk): Disk {
  const readText = keep((maxBytes: number) => keep((path: string) => disk.readText(path, maxBytes)));
  return {
    folds: disk.folds,
    look: keep((path) => disk.look(path)),
    list: keep((path) => disk.list(path)),
    readText: (path, maxBytes) => readText(maxBytes)(path),
  };
}

function keep<Key, T>(read: (key: Key) => T): (key: Key) => T {
  const kept = new Map<Key, { readonly found: T }>();
  return (key) => {
    const known = kept.get(key) ?? { found: read(key) };
    kept.set(key, known);
    return known.found;
  };
}

class JudgedSession {
  readonly calls = new Map<string, JudgedCall>();
  readonly #open = new Map<string, TranscriptCall>();
  readonly #agent: string;
  readonly #id: string;
  readonly #guard: Guard;
  /** Answers of policies about the call that is being decided. */
  #said: JudgedCall['policies'] = [];

  readonly #placeOf = keep((cwd: string) => findWorkFolder(cwd, existsSync));

  constructor(agent: string, id: string, policies: readonly Policy[], facts: FactsSource) {
    this.#agent = agent;
    this.#id = id;
    const noting = policies.map(
      (policy): Policy => ({
        ...policy,
        check: async (call, context) => {
          const decision = await policy.check(call, context);
          const { type } = decision;
          if (type !== 'allow') this.#said = [...this.#said, { policy: policy.id, type, reason: decision.reason }];
          return decision;
        },
      }),
    );
    const session = createSession({ store: memoryStore(), slices: [decisions] });
    this.#guard = createGuard({ session, policies: noting, facts });
  }

  async follow({ step, ...at }: Event): Promise<void> {
    if (step.type === 'call') await this.#decide(step, at);
    else await this.#report(step);
  }

  async #decide(call: TranscriptCall, { cwd, mode, atMs }: Omit<Event, 'step'>): Promise<void> {
    const { id, name, input, subAgentId, needsYes } = call;
    // A format may tell a call again with its result.
    if (this.calls.has(id)) return;
    const place = this.#placeOf(resolve(call.cwd ?? cwd));
    this.#said = [];
    const verdict = await this.#guard.before({
      ...{ id, name, input, cwd: place.folder, workspace: place.workspace, agent: this.#agent, agentAsks: true },
      ...(subAgentId === undefined ? {} : { subAgentId }),
    });
    this.#open.set(id, call);
    const isSilent = this.#said.length === 0 && verdict.type === 'deny';
    this.calls.set(id, {
      agent: this.#agent,
      session: this.#id,
      id,
      tool: name,
      about: describeAbout(name, input),
      cwd: place.folder,
      atMs,
      verdict: verdict.type,
      policies: isSilent ? [{ policy: verdict.code, type: 'deny', reason: verdict.reason }] : this.#said,
      asked: needsYes === true && mode !== undefined && mode !== 'never',
      ok: 'unknown',
    });
  }

  async #report({ id, ok, asked = false }: Extract<Step, { type: 'result' }>): Promise<void> {
    const call = this.#open.get(id);
    const known = this.calls.get(id);
    if (call === undefined || known === undefined) return;
    this.#open.delete(id);
    this.calls.set(id, { ...known, ok, asked: known.asked || asked });
    const { name, input, subAgentId } = call;
    await this.#guard.after({ id, name, input, ...(subAgentId === undefined ? {} : { subAgentId }) }, { ok });
  }
}

function describeAbout(tool: string, input: JsonObject): string {
  const { command, file_path: file, path, url } = input;
  // The text of a patch is not a command.
  const about = [tool === 'apply_patch' ? undefined : command, file, path, url].find(
    (value) => typeof value === 'string' && value !== '',
  );
  return typeof about === 'string' ? about : tool;
}
