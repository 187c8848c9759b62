import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PlaceView } from '@holdfast/core';
import { nodeDisk } from '@holdfast/facts/node';
import { answerLine } from './answers.ts';

const canary = 'CANARY-743186520974';
const long = new Date('2020-01-01');

/** The fate of a script: a person is asked about it, or a shell has run it and read the canary, or not. */
export type Tried = 'asked' | 'read' | 'not-read';

/** A folder with a secret, in which scripts run that facts call harmless. */
export class CanaryFolder {
  readonly #root = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-canary-')));
  readonly #folder = join(this.#root, 'w');

  constructor() {
    this.#reset();
  }

  try(script: string, shell: 'bash' | 'dash'): Tried {
    const view: PlaceView = { folder: this.#folder, workspace: this.#folder, home: this.#folder, disk: nodeDisk() };
    if (answerLine(script, view).type !== 'allow') return 'asked';
    // To answer, scripts that are there may have been read.
    this.#forgetReads();
    const { stdout, stderr } = spawnSync(shell, ['-c', script], {
      cwd: this.#folder,
      env: { PATH: '/usr/bin:/bin', HOME: this.#folder },
      input: '',
      encoding: 'utf8',
      timeout: 3_000,
      killSignal: 'SIGKILL',
      maxBuffer: 1 << 20,
    });
    const isRead = `${stdout}${stderr}`.includes('743186520974') || this.wasRead();
    this.#reset();
    return isRead ? 'read' : 'not-read';
  }

  /** True if the disk notes that a file was read. */
  notesReads(): boolean {
    spawnSync('cat', ['.env'], { cwd: this.#folder });
    const wasRead = this.wasRead();
    this.#reset();
    return wasRead;
  }

  wasRead(): boolean {
    const stats = statSync(join(this.#folder, '.env'), { throwIfNoEntry: false });
    return stats !== undefined && stats.atimeMs !== long.getTime();
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }

  #reset(): void {
    rmSync(this.#root, { recursive: true, force: true });
    mkdirSync(join(this.#folder, 'sub'), { recursive: true });
    writeFileSync(join(this.#folder, '.env'), `KEY=${canary}\n`);
    for (const name of ['a.txt', 'c.txt', 'sub/b.txt']) writeFileSync(join(this.#folder, name), 'plain\n');
    symlinkSync('.env', join(this.#folder, 'x'));
    symlinkSync('../.env', join(this.#folder, 'sub/l'));
    this.#forgetReads();
  }

  #forgetReads(): void {
    utimesSync(join(this.#folder, '.env'), long, new Date('2021-01-01'));
  }
}
