import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { sep } from 'node:path';

/** The fault at one operation on files. */
export type Fault =
  /** It fails, and so do the `times` - 1 after it. */
  | { readonly type: 'error'; readonly code: string; readonly times: number }
  /** If it writes, it writes a half, and says so; `code`: the next operation fails. */
  | { readonly type: 'short'; readonly code?: string }
  /** The process ends before it, within it (of what it writes a half is there) or after it: nothing works any more. */
  | { readonly type: 'crash'; readonly done: 'nothing' | 'half' | 'all' };

/** One operation, and the `times` - 1 after it. */
export function refused(code: string, times = 1): Fault {
  return { type: 'error', code, times };
}

/** `code`: why the operation after it fails. */
export function short(code?: string): Fault {
  return code === undefined ? { type: 'short' } : { type: 'short', code };
}

export function crash(done: 'nothing' | 'half' | 'all'): Fault {
  return { type: 'crash', done };
}

type Operation = (...parameters: readonly unknown[]) => unknown;
type Operations = Record<string, Operation>;

const names = [
  'closeSync',
  'copyFileSync',
  'fdatasyncSync',
  'fstatSync',
  'fsyncSync',
  'ftruncateSync',
  'linkSync',
  'lstatSync',
  'mkdirSync',
  'openSync',
  'readFileSync',
  'readSync',
  'readdirSync',
  'realpathSync',
  'renameSync',
  'rmSync',
  'statSync',
  'truncateSync',
  'unlinkSync',
  'writeFileSync',
  'writeSync',
] as const;

/** The synchronous operations of `node:fs` on one folder and what is open in it, of which one fails. All others pass. */
export class FaultyDisk implements Disposable {
  readonly #folder: string;
  readonly #system: Operations = {};
  readonly #opened = new Set<unknown>();
  #plan: { readonly fault: Fault; readonly at: number } | undefined;
  #count = 0;
  #failed: string | undefined;
  #crashed = false;
  #failures = 0;
  #removalFailed = false;

  constructor(folder: string) {
    this.#folder = folder;
    const operations = fs as unknown as Operations;
    for (const name of names) {
      const system = operations[name];
      if (system === undefined) throw new Error(`There is no \`${name}\`.`);
      this.#system[name] = system;
      // `realpathSync.native` stays what it was.
      operations[name] = Object.assign((...parameters: unknown[]) => this.#run(name, parameters), system);
    }
    // Functions imported by name are replaced as well.
    syncBuiltinESMExports();
  }

  [Symbol.dispose](): void {
    this.repair();
    Object.assign(fs, this.#system);
    syncBuiltinESMExports();
  }

  /** From now on the `at`-th operation, counted from 0, meets the fault. */
  plan(fault: Fault, at: number): void {
    this.#plan = { fault, at };
    this.#count = 0;
    this.#failed = undefined;
    this.#crashed = false;
    this.#removalFailed = false;
  }

  /** Everything works again; what a process that has ended had open is closed. */
  repair(): void {
    this.#plan = undefined;
    if (!this.#crashed) return;
    this.#crashed = false;
    for (const descriptor of this.#opened) this.#system['closeSync']?.(descriptor);
    this.#opened.clear();
  }

  /** The operation that met the fault, if one has. */
  get failed(): string | undefined {
    return this.#failed;
  }

  get crashed(): boolean {
    return this.#crashed;
  }

  /** Something could not be removed. */
  get removalFailed(): boolean {
    return this.#removalFailed;
  }

  /** How many operations have failed since this was asked last. */
  takeFailures(): number {
    const failures = this.#failures;
    this.#failures = 0;
    return failures;
  }

  /** As if nothing was wrong. */
  removeAnyway(path: string): void {
    // `rmSync` would look at it by another of the operations.
    this.#system['unlinkSync']?.(path);
  }

  #run(name: string, parameters: readonly unknown[]): unknown {
    if (!this.#isOfFolder(parameters[0])) return this.#call(name, parameters);
    if (this.#crashed) throw ended();
    const { fault, at } = this.#plan ?? { fault: undefined, at: 0 };
    const after = this.#count - at;
    this.#count += 1;
    if (fault === undefined || after < 0) return this.#call(name, parameters);
    if (after === 0) this.#failed = name;
    switch (fault.type) {
      case 'error':
        return after < fault.times ? this.#fail(name, parameters, fault.code) : this.#call(name, parameters);
      case 'short':
        if (after === 0 && name === 'writeSync') return this.#writeHalf(parameters);
        if (after === 1 && fault.code !== undefined) return this.#fail(name, parameters, fault.code);
        return this.#call(name, parameters);
      case 'crash':
        if (fault.done === 'all') this.#call(name, parameters);
        if (fault.done === 'half' && name === 'writeSync') this.#writeHalf(parameters);
        this.#crashed = true;
        throw ended();
    }
  }

  #isOfFolder(target: unknown): boolean {
    return typeof target === 'string' ? `${target}${sep}`.startsWith(this.#folder + sep) : this.#opened.has(target);
  }

  #fail(name: string, parameters: readonly unknown[], code: string): never {
    this.#failures += 1;
    // `rmSync` looks before it removes.
    if (name === 'rmSync' || name === 'lstatSync' || name === 'unlinkSync') this.#removalFailed = true;
    // A close that fails still closes.
    if (name === 'closeSync') this.#call(name, parameters);
    throw Object.assign(new Error(`${code}: refused, ${name}`), { code });
  }

  #call(name: string, parameters: readonly unknown[]): unknown {
    const result = this.#system[name]?.(...parameters);
    if (name === 'openSync' && this.#isOfFolder(parameters[0])) this.#opened.add(result);
    if (name === 'closeSync') this.#opened.delete(parameters[0]);
    return result;
  }

  /** Of `writeSync(descriptor, bytes, start)`. */
  #writeHalf([descriptor, bytes, start = 0]: readonly unknown[]): unknown {
    if (!(bytes instanceof Uint8Array) || typeof start !== 'number')
      throw new Error('writes something else than bytes');
    const half = Math.max(1, (bytes.length - start) >> 1);
    return this.#system['writeSync']?.(descriptor, bytes, start, half);
  }
}

function ended(): Error {
  return new Error('the process has ended');
}
