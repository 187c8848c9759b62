import { parentPort } from 'node:worker_threads';
import { catchStrays, forbidSignals } from './child/guard-process.ts';
import { ToolServer } from './child/tool-server.ts';

// The program of a tool's worker thread.
const port = parentPort;
if (port !== null) {
  const server = new ToolServer({
    send: (frame) => port.postMessage(frame),
    hold: (held) => void (held ? port.ref() : port.unref()),
    // Programs that it starts belong to the host.
    leavesPrograms: () => false,
  });
  forbidSignals();
  catchStrays((thrown) => server.crash(thrown));
  process.on('beforeExit', () => server.stall());
  port.on('message', (chunk: Uint8Array) => server.receive(chunk));
  server.start();
}
