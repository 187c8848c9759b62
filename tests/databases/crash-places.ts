import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { LogRecord } from '@holdfast/session';
import { readLog } from '@holdfast/session/jsonl';
import { readPostgresLog } from '@holdfast/session/postgres';
import { readSqliteLog } from '@holdfast/session/sqlite';
import type { Pool } from 'pg';
import type { Effect, Send } from './crash-plan.ts';

/** Where workers keep their sessions. */
export type CrashPlace = { readonly skewMs: number } & (
  | { readonly kind: 'jsonl' | 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres' | 'dbos'; readonly settings: object; readonly leaseMs: number }
);

export interface Place {
  readonly place: CrashPlace;
  readonly read: (id: string) => Promise<{ readonly records: readonly LogRecord[]; readonly problem?: unknown }>;
}

export function jsonlPlace(folder: string): Place {
  return {
    place: { kind: 'jsonl', path: folder, skewMs: 0 },
    read: async (id) => readLog(join(folder, `${id}.jsonl`)),
  };
}

export function sqlitePlace(folder: string): Place {
  const path = join(folder, 'sessions.db');
  return { place: { kind: 'sqlite', path, skewMs: 0 }, read: async (id) => readSqliteLog(path, { sessionId: id }) };
}

export function postgresPlace(pool: Pool, settings: object, kind: 'postgres' | 'dbos' = 'postgres'): Place {
  return {
    place: { kind, settings, leaseMs: 400, skewMs: 0 },
    read: (id) => readPostgresLog(pool, { sessionId: id }),
  };
}

/** Sends requests to a `Receiver`. */
export function sendTo(path: string): Send {
  return (effect, signal) =>
    new Promise((resolve, reject) => {
      const sent = request({ socketPath: path, method: 'POST', signal }, (response) => {
        response.resume().on('end', resolve);
      });
      sent.on('error', reject).end(JSON.stringify(effect));
    });
}

/** The outside: counts the requests that reach it, and takes its time to answer. */
export class Receiver implements AsyncDisposable {
  readonly effects: Effect[] = [];
  readonly folder: string = mkdtempSync(join(tmpdir(), 'holdfast-crash-'));
  readonly path: string = join(this.folder, 'receiver');
  readonly #server: Server;
  /** Of the request whose answer is held. */
  #answer: (() => void) | undefined;
  #holds = 0;
  #waiting: { readonly count: number; readonly resolve: () => void } | undefined;

  constructor(random: () => number) {
    this.#server = createServer((request, response) => {
      // A request that was cut before its end had no effect.
      text(request).then(
        (body) => {
          this.effects.push(JSON.parse(body) as Effect);
          if (this.#waiting !== undefined && this.effects.length >= this.#waiting.count) this.#waiting.resolve();
          const answer = (): void => void setTimeout(() => response.end(), random() * 10);
          if (this.effects.length === this.#holds) this.#answer = answer;
          else answer();
        },
        () => response.destroy(),
      );
    });
  }

  /** Resolves after so many more requests. The last is not answered before the returned function is called. */
  async holdAfter(count: number): Promise<() => void> {
    this.#holds = this.effects.length + count;
    await this.more(count);
    return () => this.#answer?.();
  }

  /** Resolves after so many more requests. */
  async more(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting = { count: this.effects.length + count, resolve };
    await promise;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.listen(this.path, resolve);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
    rmSync(this.folder, { recursive: true, force: true });
  }
}
