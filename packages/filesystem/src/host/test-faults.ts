import * as promises from 'node:fs/promises';
import type { HostOperations } from './folder.ts';

/** Counts the calls to the operating system and makes one fail. */
export interface Faults {
  readonly operations: HostOperations;
  /** Makes the `at`-th call from now fail, counted from 0; none for `undefined`. */
  start(at: number | undefined): void;
  /** The first failed call, if any: a method, `open.read` for one that creates no file, with the prefix `handle.` for those of a handle. */
  readonly failed: string | undefined;
  /** The names of the calls since `start`. */
  readonly steps: readonly string[];
}

export interface FaultOptions {
  /** The error code. Default `EIO`. */
  readonly code?: string;
  /** Support hard links. Default true. */
  readonly links?: boolean;
  /**
   * `error`: only this call fails, the default. `crash`: all later calls fail too, as after a kill. `torn`: like `crash`, with half of the
   * call's data written.
   */
  readonly kind?: 'error' | 'crash' | 'torn';
  /** After an `error`, the number of calls that still work before all fail. Default: all work. */
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

  /** True if the current call must fail. */
  function isDue(): boolean {
    if (left === undefined) return false;
    left -= 1;
    const last = kind === 'error' ? -1 - (thenWorking ?? Number.POSITIVE_INFINITY) : -1;
    return left === -1 || left < last;
  }

  /** Wraps an object so that each of its methods may fail. */
  function wrap<Target extends object>(target: Target, prefix: string): Target {
    return new Proxy(target, {
      get(_target, property) {
        const method: unknown = Reflect.get(target, property);
        if (typeof method !== 'function') return method;
        return async (...parameters: unknown[]) => {
          const name = `${prefix}${String(property)}`;
          if (name === 'link' && !links) throw Object.assign(new Error('EPERM: no links'), { code: 'EPERM' });
          // A handle is closed even if closing reports an error.
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
