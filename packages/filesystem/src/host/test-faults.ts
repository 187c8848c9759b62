import * as promises from 'node:fs/promises';
import type { HostOperations } from './folder.ts';

/** Counts the calls to the operating system, of which one fails. */
export interface Faults {
  readonly operations: HostOperations;
  /** Fails the `at`-th call from now on, counted from 0; none for `undefined`. */
  start(at: number | undefined): void;
  /** What failed first, if anything did: a method, `open.read` for one that makes no file, `handle.` before those of a handle. */
  readonly failed: string | undefined;
  /** The names of the calls from `start` on. */
  readonly steps: readonly string[];
}

export interface FaultOptions {
  /** What the disk answers. Default `EIO`. */
  readonly code?: string;
  /** Whether it has hard links. Default true. */
  readonly links?: boolean;
  /**
   * `error`: the one call fails, the default. `crash`: so do all after it, as nothing comes from a process that was killed. `torn`: the
   * same, and of what the call was to write, half is written.
   */
  readonly kind?: 'error' | 'crash' | 'torn';
  /** After an `error`, so many calls still work, and then none. Default: all work. */
  readonly thenWorking?: number;
}

export function createFaults({ code = 'EIO', links = true, kind = 'error', thenWorking }: FaultOptions = {}): Faults {
  let left: number | undefined;
  let failed: string | undefined;
  let steps: string[] = [];

  function refuse(name: string): never {
    failed ??= name;
    throw Object.assign(new Error(`${code}: refused`), { code });
  }

  /** Whether it is the turn of a call to fail. */
  function isDue(): boolean {
    if (left === undefined) return false;
    left -= 1;
    const last = kind === 'error' ? -1 - (thenWorking ?? Number.POSITIVE_INFINITY) : -1;
    return left === -1 || left < last;
  }

  /** The same object, of which each method may fail. */
  function wrap<Target extends object>(target: Target, prefix: string): Target {
    return new Proxy(target, {
      get(_target, property) {
        const method: unknown = Reflect.get(target, property);
        if (typeof method !== 'function') return method;
        return async (...parameters: unknown[]) => {
          const name = `${prefix}${String(property)}`;
          if (name === 'link' && !links) throw Object.assign(new Error('EPERM: no links'), { code: 'EPERM' });
          // What is closed with an error is closed all the same.
          if (property === 'close') await Reflect.apply(method, target, parameters);
          const step = name === 'open' && parameters[1] !== 'wx' ? 'open.read' : name;
          steps.push(step);
          if (isDue()) {
            const [content] = parameters;
            const tears = kind === 'torn' && failed === undefined && name === 'handle.writeFile';
            if (tears && (typeof content === 'string' || content instanceof Uint8Array)) {
              await Reflect.apply(method, target, [content.slice(0, content.length / 2)]);
            }
            refuse(step);
          }
          if (property === 'close') return undefined;
          const result: unknown = await Reflect.apply(method, target, parameters);
          return name === 'open' && typeof result === 'object' && result !== null ? wrap(result, 'handle.') : result;
        };
      },
    });
  }

  return {
    operations: wrap({ ...promises }, ''),
    start(at) {
      left = at;
      failed = undefined;
      steps = [];
    },
    get failed() {
      return failed;
    },
    get steps() {
      return steps;
    },
  };
}
