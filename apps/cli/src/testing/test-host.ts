import { PassThrough } from 'node:stream';
import { systemClock } from '@holdfast/core';
import { createJsonlLog } from '@holdfast/session/jsonl';
import type { Host, Interruption } from '../terminal/host.ts';
import { toUserFolder } from './test-folder.ts';

export interface TestHostOptions {
  readonly directory?: string;
  readonly environment?: Host['environment'];
  readonly terminals?: readonly ('stdin' | 'stdout' | 'stderr')[];
  readonly clock?: Host['clock'];
  readonly openLog?: Host['openLog'];
  /** Default: no server responds. */
  readonly fetch?: Host['fetch'];
  /** The width of the terminals. Default 80. */
  readonly columns?: number;
}

/** A host in memory that records its output. */
export interface TestHost {
  readonly host: Host;
  readonly stdin: PassThrough;
  stdout(): string;
  stderr(): string;
  interrupt(cause: Interruption): void;
}

export function createTestHost({
  directory = '.',
  environment = {},
  terminals = [],
  clock = systemClock,
  openLog = createJsonlLog,
  fetch = () => Promise.reject(new TypeError('fetch failed')),
  columns = 80,
}: TestHostOptions = {}): TestHost {
  const written = { stdout: '', stderr: '' };
  const createOutput = (name: 'stdout' | 'stderr'): PassThrough => {
    const stream = new PassThrough();
    stream.on('data', (chunk: Buffer) => {
      written[name] += chunk.toString();
    });
    return Object.assign(stream, terminals.includes(name) ? { isTTY: true, columns, rows: 24 } : {});
  };
  const stdin = Object.assign(
    new PassThrough(),
    terminals.includes('stdin') ? { isTTY: true, setRawMode: () => undefined } : {},
  );
  const stdout = createOutput('stdout');
  const listeners = new Set<(cause: Interruption) => void>();
  return {
    host: {
      stdin,
      stdout,
      stderr: createOutput('stderr'),
      environment: { HOLDFAST_HOME: toUserFolder(directory), ...environment },
      command: 'holdfast',
      directory,
      clock,
      createSuffix: () => 'test',
      openLog,
      fetch,
      onInterrupt(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      guardExit: () => () => undefined,
      reserveStdout: () => (text) => stdout.write(text),
    },
    stdin,
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    interrupt(cause) {
      for (const listener of listeners) listener(cause);
    },
  };
}
