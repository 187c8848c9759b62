import { hash, randomUUID } from 'node:crypto';
import { access, constants, readdir, realpath, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../files/read-bounded.ts';
import { calledTooLate, fileChanged } from '../isolate/failures.ts';
import type { RunnableTool } from '../load/tool-host.ts';
import { createPinnedCopies, toCopiedTool } from '../pins/copies.ts';
import type { CurrentTool } from '../pins/folder.ts';

/** A tool that runs from a copy as long as it is needed. */
export interface CopiedTool {
  readonly runnable: RunnableTool;
  /** Ends the need. A later call still gets the copy while it runs. */
  release(): void;
}

/**
 * The copies of a watch, in its own folder `.holdfast/watch-…` in the root of the project. A copy is written before its tool first runs.
 */
export interface WatchCopies {
  /** Why copies cannot be made; empty if they can. */
  readonly problem: string;
  hold(tool: CurrentTool): CopiedTool;
  /** Removes the copies. Later calls fail with HoldfastError `tool.process.lost`. */
  close(): Promise<void>;
}

// A process of another machine or container that shares the folder may still be alive.
const machine = hash('sha256', hostname()).slice(0, 8);

/**
 * Removes the leftovers of watches whose process has ended.
 *
 * @param root - absolute, without symlinks.
 */
export async function createWatchCopies(root: string): Promise<WatchCopies> {
  const home = join(root, '.holdfast');
  const problem = await findProblem(root, home);
  if (problem === '') await removeLeftovers(home);
  const name = `watch-${machine}-${process.pid}-${randomUUID().slice(0, 8)}`;
  const copies = createPinnedCopies(root, { name });
  /** Number of users per digest: active versions and calls. */
  const needs = new Map<string, number>();
  const written = new Set<string>();
  let closed = false;
  let last: Promise<unknown> = Promise.resolve();

  // Sequential: a copy must not be removed right after it was found to exist.
  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  }
  function need(digest: string): void {
    needs.set(digest, (needs.get(digest) ?? 0) + 1);
  }
  function forgo(digest: string): void {
    const left = (needs.get(digest) ?? 1) - 1;
    if (left > 0) {
      needs.set(digest, left);
      return;
    }
    needs.delete(digest);
    if (!written.has(digest)) return;
    void inTurn(async () => {
      if (needs.has(digest) || !written.delete(digest)) return;
      await copies.remove(digest);
    });
  }

  return {
    problem,
    hold({ scanned: { file, metadata }, closure, tool: pin }) {
      const { digest } = pin;
      const prepare = (): Promise<void> =>
        inTurn(async () => {
          if (closed) throw calledTooLate(metadata);
          if (await copies.isWhole(pin)) return;
          written.add(digest);
          if (!(await copies.keep(closure))) await copies.replace(closure);
          if (!(await copies.isWhole(pin))) throw fileChanged(file);
        });
      let released = false;
      need(digest);
      return {
        runnable: {
          tool: toCopiedTool({ file, metadata }, pin, copies),
          fileDigest: pin.files.get(pin.entry) ?? '',
          prepare,
          async around(call) {
            need(digest);
            try {
              // Later imports need it too.
              if (released) await prepare();
              return await call();
            } finally {
              forgo(digest);
            }
          },
        },
        release() {
          if (released) return;
          released = true;
          forgo(digest);
        },
      };
    },
    async close() {
      closed = true;
      // A later watch removes what cannot be removed now.
      await inTurn(() => rm(join(home, name), { recursive: true, force: true })).catch(() => undefined);
    },
  };
}

async function findProblem(root: string, home: string): Promise<string> {
  try {
    await access(home, constants.W_OK | constants.X_OK);
    return (await realpath(home)) === home ? '' : 'it is a symbolic link';
  } catch (thrown) {
    if (codeOf(thrown) !== 'ENOENT') return codeOf(thrown);
  }
  try {
    await access(root, constants.W_OK | constants.X_OK);
    return '';
  } catch (thrown) {
    return codeOf(thrown);
  }
}

/** Best effort, because it only saves space. */
async function removeLeftovers(home: string): Promise<void> {
  const names = await readdir(home).catch(() => []);
  for (const name of names) {
    const pid = new RegExp(`^watch-${machine}-(\\d{1,10})-[\\da-f]{8}$`).exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    await rm(join(home, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    // It exists, but belongs to another user.
    return codeOf(thrown) === 'EPERM';
  }
}
