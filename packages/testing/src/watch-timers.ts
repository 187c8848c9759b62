// One at a time: who puts functions back has to be who replaced them last.
let others: Promise<unknown> = Promise.resolve();

/** Timers that were set while something ran, by the global functions, and neither fired nor were cancelled. They are cancelled. */
export function countLeftTimers(run: () => Promise<void>): Promise<number> {
  const counting = others.then(() => watch(run));
  others = counting.catch(() => undefined);
  return counting;
}

async function watch(run: () => Promise<void>): Promise<number> {
  const own = globalThis as unknown as TimerFunctions; // The functions of every platform, without what each adds to them.
  const { setTimeout, setInterval, clearTimeout, clearInterval } = own;
  const open = new Map<number, () => void>();
  // What a platform answers is a number, or an object that becomes one.
  own.setTimeout = (callback, ...rest) => {
    const handle = setTimeout(
      (...values) => {
        open.delete(Number(handle));
        callback(...values);
      },
      ...rest,
    );
    open.set(Number(handle), () => clearTimeout(handle));
    return handle;
  };
  own.setInterval = (callback, ...rest) => {
    const handle = setInterval(callback, ...rest);
    open.set(Number(handle), () => clearInterval(handle));
    return handle;
  };
  const clear = (stop: (handle: unknown) => void) => (handle: unknown) => {
    open.delete(Number(handle));
    stop(handle);
  };
  own.clearTimeout = clear(clearTimeout);
  own.clearInterval = clear(clearInterval);
  try {
    await run();
    return open.size;
  } finally {
    Object.assign(own, { setTimeout, setInterval, clearTimeout, clearInterval });
    for (const stop of open.values()) stop();
  }
}

type Set = (callback: (...values: readonly unknown[]) => void, ...rest: readonly unknown[]) => unknown;

interface TimerFunctions {
  setTimeout: Set;
  setInterval: Set;
  clearTimeout: (handle: unknown) => void;
  clearInterval: (handle: unknown) => void;
}
