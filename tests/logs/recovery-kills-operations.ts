import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

type Operation = (...parameters: readonly unknown[]) => unknown;
type Operations = Record<string, Operation>;

/** Where a process ends: before its operation number `at`, counted from 0, or, with `half`, when that has written a half. */
export interface Fatal {
  readonly at: number;
  readonly half: boolean;
}

/**
 * Counts every operation of this process on files, those of open handles included, and ends the process at the fatal one. Answers
 * how many there have been.
 */
export async function countOperations({ at, half }: Fatal): Promise<() => number> {
  const { writeSync } = fs;
  let count = 0;

  const meet = (name: string, target: unknown, parameters: readonly unknown[]): void => {
    count += 1;
    if (count - 1 !== at) return;
    if (half) writeHalf(name, target, parameters);
    process.kill(process.pid, 'SIGKILL');
    // Not a line more runs here.
    for (;;);
  };
  const writeHalf = (name: string, target: unknown, [first, second]: readonly unknown[]): void => {
    if (name === 'writeSync' && typeof first === 'number') writePart(first, second);
    else if (name.startsWith('write') && typeof target === 'object' && target !== null && 'fd' in target) {
      writePart(Number(target.fd), first);
    }
  };
  const writePart = (descriptor: number, content: unknown): void => {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    if (bytes instanceof Uint8Array) writeSync(descriptor, bytes, 0, bytes.length >> 1);
  };
  const watch = (operations: Operations, names: readonly string[]): void => {
    for (const name of names) {
      const system = operations[name];
      if (system === undefined) throw new Error(`There is no \`${name}\`.`);
      const watched = function (this: unknown, ...parameters: unknown[]): unknown {
        meet(name, this, parameters);
        return Reflect.apply(system, this, parameters);
      };
      operations[name] = Object.assign(watched, system);
    }
  };

  // Their `close` cannot be reached from here; closing changes nothing on the disk.
  const handle = await fs.promises.open('.');
  const handles = Object.getPrototypeOf(handle) as Operations;
  await handle.close();
  watch(handles, ['chmod', 'datasync', 'stat', 'sync', 'truncate', 'write', 'writeFile']);
  watch(fs as unknown as Operations, synchronous);
  watch(fs.promises as unknown as Operations, asynchronous);
  // Functions imported by name are replaced as well.
  syncBuiltinESMExports();
  return () => count;
}

// Of those that only look, a process that ends before one leaves what it leaves at the next that does something.
const synchronous = [
  'closeSync',
  'copyFileSync',
  'fdatasyncSync',
  'fsyncSync',
  'ftruncateSync',
  'linkSync',
  'mkdirSync',
  'openSync',
  'renameSync',
  'rmSync',
  'unlinkSync',
  'writeSync',
];
const asynchronous = ['chmod', 'link', 'mkdir', 'open', 'rename', 'rmdir', 'unlink'];
