// A process that writes a log, for tests that kill it: `node log-writer.ts PATH [BYTES-TO-A-SNAPSHOT]`. Told on its standard input, a line each: `open`,
// `close`, or `write BYTES`, which appends records of about that size until the process is killed. What it did it says on its
// standard output, a line each, before it does anything else.
import { existsSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { isHoldfastError } from '@holdfast/core';
import { createSession, replay, type Session } from '@holdfast/session';
import { createJsonlLog, openJsonlLog } from '@holdfast/session/jsonl';

const path = process.argv[2] ?? '';
const options = process.argv[3] === undefined ? {} : { snapshotAfterBytes: Number(process.argv[3]) };
let session: Session | undefined;

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

function open(): string {
  try {
    if (existsSync(path)) {
      const { records, store } = openJsonlLog(path, options);
      // A process that was killed before the first record leaves an empty file.
      session = records.length === 0 ? createSession({ id: 's', store }) : replay(records, { store });
    } else {
      session = createSession({ id: 's', store: createJsonlLog(path, options) });
    }
    return 'opened';
  } catch (error) {
    if (isHoldfastError(error)) return error.code;
    throw error;
  }
}

function write(bytes: number): never {
  for (;;) {
    const seq = session?.snapshot().seq ?? 0;
    session?.record({ type: 'note', text: String(seq).padEnd(bytes, '.') });
    say(String(seq));
  }
}

say('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const [command, bytes] = line.split(' ');
  if (command === 'open') say(open());
  else if (command === 'write') write(Number(bytes));
  else {
    await session?.close();
    say('closed');
  }
}
