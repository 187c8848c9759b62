import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isPlainObject, sha256, toCanonicalJson } from '@holdfast/core/internal';
import type { Guard } from '@holdfast/guard';
import type { Session } from '@holdfast/session';
import { type GuardHost, guardFolder } from '../user/guard-folder.ts';
import { findClient, identifyProcess } from './client-process.ts';

/** A server whose calls `mcp wrap` decides and records, for one client. */
export interface GovernedServer {
  /** As its client calls it. */
  readonly name: string;
  /** Id of the session that has its calls. */
  readonly session: string;
}

/** A hook's host. */
export interface HookHost extends GuardHost {
  /** The agent's process, where the hook knows it. */
  readonly client?: string | undefined;
}

/** Tells the hooks of this process's client that it governs a server. Returns what takes that back. */
export function announceGoverned({ name, session }: GovernedServer, host: GuardHost): () => void {
  const folder = governedFolder(host);
  const [client, proxy] = [findClient(), identifyProcess(process.pid)];
  // Without an identity a hook could take another server for this one: it decides too.
  if (client === undefined || proxy === undefined) return () => undefined;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const drop = (path: string): void => {
    for (const file of [path, requestPath(path)]) rmSync(file, { force: true });
  };
  for (const { path, isAlive } of listGoverned(host)) if (!isAlive) drop(path);
  const path = join(folder, `${process.pid}.json`);
  writeFileSync(path, `${JSON.stringify({ name, session, client, proxy })}\n`, { mode: 0o600 });
  return () => drop(path);
}

/** The last prompt that the user of this proxy's client typed, from a hook of the same client; `undefined` before the first. */
export function heardRequest(host: GuardHost): string | undefined {
  const { request } = readFields(requestPath(join(governedFolder(host), `${process.pid}.json`)));
  return typeof request === 'string' ? request : undefined;
}

function tellRequest(request: string, { client, ...host }: HookHost): void {
  if (client === undefined) return;
  for (const proxy of listGoverned(host)) {
    if (!proxy.isAlive || proxy.client !== client) continue;
    writeFileSync(requestPath(proxy.path), JSON.stringify({ request }), { mode: 0o600 });
  }
}

function requestPath(path: string): string {
  return path.replace(/\.json$/, '.request');
}

/** The server of that name that a running proxy governs for this very client. */
export function findGoverned(name: string, { client, ...host }: HookHost): GovernedServer | undefined {
  if (client === undefined) return undefined;
  return listGoverned(host).find((found) => found.isAlive && found.name === name && found.client === client);
}

/**
 * A guard that leaves the calls of governed servers to their proxy, which sees each one: it keeps a note that names the session, and decides
 * nothing. The proxy hears what the user typed.
 */
export function withGoverned(
  guard: Guard,
  { session, host }: { readonly session: Session; readonly host: HookHost },
): Guard {
  return {
    after: (call, report) => guard.after(call, report),
    prompt: (request) => {
      tellRequest(request, host);
      return guard.prompt(request);
    },
    end: () => guard.end(),
    before: async (call) => {
      const [, server, tool = ''] = /^mcp__(.+?)__(.+)$/.exec(call.name) ?? [];
      const governed = server === undefined ? undefined : findGoverned(server, host);
      if (governed === undefined) return guard.before(call);
      const { id, subAgentId, input } = call;
      session.record({
        type: 'guard-noted',
        ...(id === undefined ? {} : { callId: id }),
        ...(subAgentId === undefined ? {} : { subAgentId }),
        server: governed.name,
        tool,
        inputDigest: sha256(toCanonicalJson(input)),
        decidedIn: governed.session,
        atMs: Date.now(),
      });
      return { type: 'allow' };
    },
  };
}

interface Announced extends GovernedServer {
  readonly client: string;
  readonly path: string;
  readonly isAlive: boolean;
}

function governedFolder(host: GuardHost): string {
  return join(guardFolder(host), 'governed');
}

function listGoverned(host: GuardHost): readonly Announced[] {
  const folder = governedFolder(host);
  return listFiles(folder).flatMap((file) => {
    const path = join(folder, file);
    const { name, session, client, proxy } = readFields(path);
    const isWhole = [name, session, client, proxy].every((field) => typeof field === 'string');
    const isAlive = isWhole && identifyProcess(Number.parseInt(file, 10)) === proxy;
    return [{ name: String(name), session: String(session), client: String(client), path, isAlive }];
  });
}

function listFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d+\.json$/.test(name));
  } catch {
    // No proxy has run yet.
    return [];
  }
}

function readFields(path: string): Readonly<Record<string, unknown>> {
  try {
    const found: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isPlainObject(found) ? found : {};
  } catch {
    // Its proxy has just ended, or is writing it: the hook decides.
    return {};
  }
}
