import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { answer } from './bare-answer.ts';

/** A call without a loader. */
export interface BareCalls {
  call(input: unknown): Promise<unknown>;
  close(): Promise<void>;
}

export const bareFunction: BareCalls = { call: async (input) => answer(input), close: async () => undefined };

/** Over the same kind of socket as tools in processes: one line of JSON each way. */
export function startBareProcess(): BareCalls {
  const program = fileURLToPath(new URL('bare-process.ts', import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'inherit', 'inherit', 'pipe'] });
  const socket = child.stdio[3];
  if (!(socket instanceof Duplex)) throw new TypeError('the descriptor 3 of a process is not a socket');
  const waiting: ((line: string) => void)[] = [];
  let text = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    text += chunk;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n')) {
      waiting.shift()?.(text.slice(0, end));
      text = text.slice(end + 1);
    }
  });
  return {
    call: (input) =>
      new Promise((resolve) => {
        waiting.push((line) => resolve(JSON.parse(line)));
        socket.write(`${JSON.stringify(input)}\n`);
      }),
    async close() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

/** Over the port of a thread. */
export function startBareWorker(): BareCalls {
  const worker = new Worker(new URL('bare-worker.ts', import.meta.url));
  const waiting: ((text: string) => void)[] = [];
  worker.on('message', (text: string) => waiting.shift()?.(text));
  return {
    call: (input) =>
      new Promise((resolve) => {
        waiting.push((text) => resolve(JSON.parse(text)));
        worker.postMessage(JSON.stringify(input));
      }),
    close: async () => void (await worker.terminate()),
  };
}
