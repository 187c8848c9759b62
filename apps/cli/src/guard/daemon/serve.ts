import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { Agent, HookAnswer, HookInput } from '@holdfast/guard/agents';
import { newLockOwner, releaseLock, takeLock } from '@holdfast/session/lock';
import type { TurnOptions } from '../../logs/in-turn.ts';
import type { GuardHost } from '../../user/guard-folder.ts';
import { writeText } from '../files.ts';
import { answerWith, type HookQuestion } from '../hook.ts';
import { type HttpPlace, readHttpPlace } from '../http-place.ts';
import type { OpenGuard } from '../session.ts';
import type { DaemonQuestion } from './ask.ts';
import { listenForHttp } from './http.ts';
import {
  type Announcement,
  announcementPath,
  daemonFolder,
  isPrivate,
  keptEnvironment,
  readAnnouncement,
  socketPrefix,
  toSocket,
} from './place.ts';
import { HeldSessions } from './sessions.ts';
import { startingPath } from './start.ts';

const idleMs = 15 * 60_000;
/** Hooks by HTTP cannot start it again between two prompts. */
const httpIdleMs = 12 * 60 * 60_000;
const reportMs = 60 * 60_000;
const tickMs = 30_000;
/** A daemon whose own hooks have been quiet for so long leaves its place to one for other hooks. */
const leavesAfterMs = 60_000;
/** Hooks ask no longer than that, and then decide by themselves. */
const takesTurnWithinMs = 8_000;
const maxQuestionLength = 64 * 1_048_576;

export interface Daemon {
  readonly announcement: Announcement;
  /** Looks what is idle at `nowMs`. */
  tick(nowMs: number): Promise<void>;
  /** Answers what was asked, then ends. */
  end(): Promise<void>;
}

/**
 * Answers the hooks of a user from sessions that it has in memory. One a folder: `undefined` while another process does so. It ends
 * when it has been idle, or when its announcement is gone.
 *
 * @throws HoldfastError `guard.failed` for a folder that others can use; what the system answers.
 */
export async function serveGuard(program: string, host: GuardHost): Promise<Daemon | undefined> {
  const folder = daemonFolder(host);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!isPrivate(folder)) {
    const message = `\`${folder}\` must be a folder of yours that no other user can use (mode 0700).`;
    throw new HoldfastError('guard.failed', message, { data: { reason: 'daemon_folder', folder } });
  }
  const lock = join(folder, 'lock');
  const owner = newLockOwner();
  if (takeLock(lock, owner) !== undefined) return undefined;
  try {
    // Left by a daemon that has ended: this process has the lock.
    rmSync(announcementPath(folder), { force: true });
    for (const name of readdirSync(folder)) if (name.startsWith(socketPrefix)) rmSync(join(folder, name));
    const daemon = new SocketDaemon({ folder, program, host, letGo: () => releaseLock(lock, owner) });
    await daemon.open();
    return daemon;
  } catch (thrown) {
    releaseLock(lock, owner);
    throw thrown;
  }
}

interface DaemonParts {
  readonly folder: string;
  readonly program: string;
  readonly host: GuardHost;
  letGo(): void;
}

class SocketDaemon implements Daemon {
  readonly announcement: Announcement;
  readonly #parts: DaemonParts;
  readonly #server: Server;
  readonly #sessions = new HeldSessions({ idleMs, reportMs });
  readonly #connections = new Set<Socket>();
  readonly #answering = new Set<Promise<void>>();
  #http: { readonly place: HttpPlace; readonly server: HttpServer } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #askedAtMs = Date.now();
  #ending: Promise<void> | undefined;

  constructor(parts: DaemonParts) {
    this.#parts = parts;
    const { folder, program, host } = parts;
    const socket = toSocket(folder, makeSecret());
    if (socket === undefined) {
      throw new HoldfastError('guard.failed', `The path \`${folder}\` is too long for a socket.`, {
        data: { reason: 'daemon_folder', folder },
      });
    }
    const environment = keptEnvironment(host);
    const secrets = { token: makeSecret(), proof: makeSecret() };
    this.announcement = { pid: process.pid, socket, program, environment, ...secrets };
    this.#server = createServer((connection) => this.#receive(connection));
  }

  async open(): Promise<void> {
    const { folder } = this.#parts;
    this.#server.listen(this.announcement.socket);
    await once(this.#server, 'listening');
    if (process.platform !== 'win32') chmodSync(this.announcement.socket, 0o600);
    this.#updateHttp();
    rmSync(startingPath(folder), { force: true });
    await writeText(announcementPath(folder), `${JSON.stringify(this.announcement)}\n`);
    this.#timer = setInterval(() => void this.tick(Date.now()), tickMs);
  }

  async tick(nowMs: number): Promise<void> {
    if (this.#ending !== undefined) return;
    this.#updateHttp();
    await this.#sessions.closeIdle(nowMs, this.#turn(nowMs));
    const isIdle =
      this.#sessions.size === 0 &&
      this.#answering.size === 0 &&
      nowMs - this.#askedAtMs >= (this.#http === undefined ? idleMs : httpIdleMs);
    if (isIdle || !this.#isAnnounced()) await this.end();
  }

  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#isAnnounced()) rmSync(announcementPath(this.#parts.folder), { force: true });
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#http?.server.close();
    await Promise.all(this.#answering);
    for (const connection of this.#connections) connection.destroy();
    this.#http?.server.closeAllConnections();
    await closed;
    await this.#sessions.close();
    this.#parts.letGo();
  }

  #isAnnounced(): boolean {
    return readAnnouncement(this.#parts.folder)?.token === this.announcement.token;
  }

  #receive(connection: Socket): void {
    this.#connections.add(connection);
    const parts: string[] = [];
    let length = 0;
    connection.once('close', () => this.#connections.delete(connection));
    // A hook that has gone away decides by itself.
    connection.on('error', () => connection.destroy());
    connection.setTimeout(takesTurnWithinMs, () => connection.destroy());
    connection.setEncoding('utf8').on('data', (part: string) => {
      parts.push(part);
      length += part.length;
      if (length > maxQuestionLength) connection.destroy();
      if (!part.endsWith('\n')) return;
      void this.#count(this.#answer(parts.splice(0).join(''), connection));
    });
  }

  async #answer(line: string, connection: Socket): Promise<void> {
    const question = readQuestion(line, this.announcement.token);
    if (question === undefined) {
      connection.destroy();
      return;
    }
    if (question === 'leave') {
      connection.destroy();
      if (Date.now() - this.#askedAtMs >= leavesAfterMs) setImmediate(() => void this.end());
      return;
    }
    // Idle until it is answered.
    connection.setTimeout(takesTurnWithinMs + (question.waitMs ?? 0));
    const answer = await this.#decide(question, question.directory, () => connection.destroyed);
    connection.end(`${JSON.stringify({ proof: this.announcement.proof, ...answer })}\n`);
    this.#updateHttp();
  }

  /** `isGone`: the hook does not wait any longer, so that its call must not be let through. */
  #decide(question: HookQuestion, directory: string, isGone: () => boolean): Promise<HookAnswer> {
    this.#askedAtMs = Date.now();
    const host = { environment: this.announcement.environment, directory, client: question.client };
    const open = async (agent: Agent, input: HookInput): Promise<OpenGuard> => {
      const opened = await this.#sessions.take(agent, input, host, this.#turn(Date.now()));
      if (!isGone()) return opened;
      await opened.end();
      throw new HoldfastError('guard.failed', 'The hook does not wait any longer.');
    };
    const goesOn = (): boolean => !isGone() && this.#ending === undefined;
    return answerWith(question, open, { pause, goesOn });
  }

  /** Listens for hooks by HTTP while some are installed. */
  #updateHttp(): void {
    const place = this.#ending === undefined ? readHttpPlace(this.#parts.host) : undefined;
    if (place?.token === this.#http?.place.token) return;
    this.#http?.server.close();
    this.#http = undefined;
    if (place === undefined) return;
    const { HOME = homedir() } = this.announcement.environment;
    const server = listenForHttp(place, (question, isGone) => this.#count(this.#decide(question, HOME, isGone)));
    this.#http = { place, server };
    server.once('error', (thrown) => {
      if (this.#http?.server === server) this.#http = undefined;
      process.stderr.write(`${thrown.message}\n`);
    });
  }

  /** The daemon does not end before it has answered. */
  async #count<T>(answering: Promise<T>): Promise<T> {
    const settled = answering.then(
      () => undefined,
      () => undefined,
    );
    this.#answering.add(settled);
    void settled.finally(() => this.#answering.delete(settled));
    return await answering;
  }

  #turn(nowMs: number): TurnOptions {
    return { untilMs: nowMs + takesTurnWithinMs, pause };
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function readQuestion(line: string, token: string): DaemonQuestion | 'leave' | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isPlainObject(value) || !isToken(value['token'], token)) return undefined;
  if (value['leave'] === true) return 'leave';
  const isWhole =
    ['agent', 'text', 'directory'].every((name) => typeof value[name] === 'string') &&
    (value['waitMs'] === undefined || Number.isSafeInteger(value['waitMs'])) &&
    ['string', 'undefined'].includes(typeof value['client']);
  // Checked above.
  return isWhole ? (value as unknown as DaemonQuestion) : undefined;
}

function isToken(given: unknown, token: string): boolean {
  return (
    typeof given === 'string' &&
    given.length === token.length &&
    timingSafeEqual(Buffer.from(given), Buffer.from(token))
  );
}

function makeSecret(): string {
  return randomBytes(16).toString('hex');
}

/** The daemon's own process. */
export async function runDaemon(program: string): Promise<void> {
  const daemon = await serveGuard(program, { environment: process.env, directory: process.cwd() });
  if (daemon === undefined) return;
  // So that a command that stops it by name can be told.
  process.title = 'holdfast-guard';
  process.once('SIGTERM', () => void daemon.end());
}
