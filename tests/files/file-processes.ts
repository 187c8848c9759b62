import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hostFilesystem } from '@holdfast/filesystem/node';
import { expect, inject } from 'vitest';
import { random } from '../setup/random.ts';
import { expectedFiles } from './file-states.ts';

const program = fileURLToPath(new URL('./file-writer.ts', import.meta.url));

interface Workspace {
  readonly root: string;
  readonly folder: string;
  readonly log: string;
}

/** A `file-writer.ts` that runs. */
class Writer {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #lines = 0;
  #errors = '';
  #wake: () => void = () => undefined;

  constructor({ root, folder, log }: Workspace) {
    this.#child = spawn(process.execPath, ['--conditions=holdfast-source', program, root, folder, log]);
    this.#ended = once(this.#child, 'close').then(() => this.#wake());
    this.#child.stdout?.on('data', (text: Buffer) => {
      this.#lines += text.toString().split('\n').length - 1;
      this.#wake();
    });
    this.#child.stderr?.on('data', (text: Buffer) => {
      this.#errors += text.toString();
    });
    // Written to a killed process.
    this.#child.stdin?.on('error', () => undefined);
  }

  go(): void {
    this.#child.stdin?.write('go\n');
  }

  async saidLines(count: number): Promise<void> {
    while (this.#lines < count) {
      if (this.#errors !== '' || this.#child.exitCode !== null) throw new Error(`The writer failed: ${this.#errors}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}

export interface FileKillsSeen {
  kills: number;
  calls: number;
  /** Kills after which a call was completed or rolled back. */
  completed: number;
  putBack: number;
}

export const noFileKills: Readonly<FileKillsSeen> = { kills: 0, calls: 0, completed: 0, putBack: 0 };

/**
 * Kills processes that change several files per call; each continues from the state of the previous one. After each kill the files
 * match the log exactly, with nothing left over. `beside`: another session changes files of the same workspace meanwhile.
 */
export async function checkFileKills(
  { kills, beside = false }: { readonly kills: number; readonly beside?: boolean },
  seen: FileKillsSeen,
): Promise<void> {
  const base = mkdtempSync(join(tmpdir(), 'holdfast-file-kills-'));
  const root = join(base, 'root');
  mkdirSync(root);
  const own = { root, folder: 'own', log: join(base, 'own.log') };
  const other = { root, folder: 'other', log: join(base, 'other.log') };
  const neighbour = beside ? new Writer(other) : undefined;
  let next = new Writer(own);
  try {
    await neighbour?.saidLines(1);
    neighbour?.go();
    for (let kill = 0; kill < kills; kill += 1) {
      const writer = next;
      await writer.saidLines(1);
      writer.go();
      next = new Writer(own);
      await writer.saidLines(1 + Math.floor(random() * 10));
      if (inject('long') > 0) await busy(random() * 4);
      await writer.kill();
      await recover(own, seen);
      expectAsLogged(own);
      if (!beside) expect(readdirSync(root).filter((name) => name !== own.folder)).toEqual([]);
      seen.kills += 1;
    }
    seen.calls += countCalls(own);
    // It has certainly made some calls by now.
    await neighbour?.saidLines(4);
    await neighbour?.kill();
    if (beside) {
      await recover(other, seen);
      expectAsLogged(other);
      expect(countCalls(other)).toBeGreaterThan(1);
      expect(readdirSync(root).toSorted()).toEqual(['other', 'own']);
    }
  } finally {
    await next.kill();
    await neighbour?.kill();
    rmSync(base, { recursive: true, force: true });
  }
}

/** A moment unrelated to the output of the other process. */
async function busy(milliseconds: number): Promise<void> {
  for (const untilMs = performance.now() + milliseconds; performance.now() < untilMs; ) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

async function recover({ root, folder, log }: Workspace, seen: FileKillsSeen): Promise<void> {
  const files = hostFilesystem(root);
  const calls = countCalls({ log });
  const marks = (await files.unsettled?.()) ?? [];
  // Changes prepared by another session are not listed while it runs.
  expect(marks.filter((mark) => !mark.startsWith(`${folder}#`))).toEqual([]);
  for (const mark of marks) {
    const committed = Number(mark.slice(folder.length + 1)) < calls;
    await files.recover?.(mark, committed);
    if (committed) seen.completed += 1;
    else seen.putBack += 1;
  }
}

function countCalls({ log }: Pick<Workspace, 'log'>): number {
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0;
}

function expectAsLogged(workspace: Workspace): void {
  const folder = join(workspace.root, workspace.folder);
  const found: Record<string, string | null> = {};
  for (const name of existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : []) {
    const path = join(folder, name);
    found[name] = statSync(path).isDirectory() ? null : readFileSync(path, 'utf8');
  }
  expect(found).toEqual(expectedFiles(countCalls(workspace)));
}
