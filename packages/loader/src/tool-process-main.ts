import { Socket } from 'node:net';
import { catchStrays, forbidSignals, forbidSocketFiles, forbidTraces } from './child/guard-process.ts';
import { createProgramFinder } from './child/tagged-programs.ts';
import { ToolServer } from './child/tool-server.ts';

// The program of a process in which a tool runs. The host is at the other end of descriptor 3.
const exit = process.exit.bind(process);
const socket = new Socket({ fd: 3, readable: true, writable: true });
// Made now, so that they count as resources that were there before any call.
const streams = [process.stdout, process.stderr];
for (const stream of streams) stream.on('error', () => undefined);
const server = new ToolServer({
  send: (frame) => void socket.write(frame),
  hold: (held) => void (held ? socket.ref() : socket.unref()),
  leavesPrograms: process.permission?.has('child') === true ? createProgramFinder() : () => false,
});
forbidSignals();
forbidTraces();
forbidSocketFiles(socket);
catchStrays((thrown) => server.crash(thrown));
process.on('beforeExit', () => server.stall());
socket.on('data', (chunk) => server.receive(chunk));
// Without a host there is nobody to work for.
socket.on('error', () => exit(0));
socket.on('close', () => exit(0));
server.start();
